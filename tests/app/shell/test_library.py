"""The library of runs in the window: listed, searched, described, thrown away, opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QMessageBox, QPushButton, QTableView
from pytestqt.qtbot import QtBot

from app.library.actions import TextDialog
from app.library.columns import COLUMNS, FIRST
from app.library.librarian import Librarian
from app.library.panel import LibraryPanel
from app.places import Places
from app.shell.application import Marginscope
from app.training.first_start import FIRST_STUDY, first_settings
from app.widgets.labels import menu_text
from core.library.entry import Entry
from core.library.library import Library
from core.library.reading import read_facts
from core.library.run_notes import change_about, read_about
from core.problem.problem import resolve_problem
from core.studies.study import load_study
from tests.app.mouse import click, close_menus, entry, opened, pick
from tests.app.shell.conftest import Opener, trained
from tests.app.shell.shared_window import skip_style_sheet
from tests.support.run_files import record, small_problem

Key = Qt.Key
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Return the folder of a window's runs, with three small ones and a file that is none."""
    folder = Places.in_folder(tmp_path / "user").runs
    folder.mkdir(parents=True)
    for m in (3, 4, 5):
        record(folder / f"small__network.m={m}.msrun", small_problem(m=m), count=2 + m)
    (folder / "broken.msrun").write_text("no run")
    return folder


@pytest.fixture
def library(open_program: Opener, runs: Path, study: Path, qtbot: QtBot) -> Marginscope:
    program = open_program(study)
    qtbot.waitUntil(lambda: trained(program))
    program.display.update_intent(views=("margins",))
    qtbot.keyClick(program.window, Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: len(names(program)) == 6)
    qtbot.waitUntil(lambda: all(one.facts.status != "not read yet" for one in shown(program)))
    return program


def panel(program: Marginscope) -> LibraryPanel:
    assert program.library.panel is not None
    return program.library.panel


def shown(program: Marginscope) -> list[Entry]:
    return list(panel(program).model.entries) if program.library.panel else []


def names(program: Marginscope) -> list[str]:
    return [one.path.name for one in shown(program)]


def place(program: Marginscope, name: str, column: str = "name") -> QPoint:
    table = panel(program).table
    row = next(k for k, one in enumerate(names(program)) if name in one)
    number = next(k for k, one in enumerate(COLUMNS) if one.name == column)
    index = panel(program).model.index(row, number)
    table.scrollTo(index)
    return table.visualRect(index).center()


def choose(program: Marginscope, qtbot: QtBot, *parts: str) -> QTableView:
    table = panel(program).table
    program.window.activateWindow()  # as a window manager does where a dialog was closed
    qtbot.waitUntil(program.window.isActiveWindow)
    table.setFocus()
    for number, part in enumerate(parts):
        held = Qt.KeyboardModifier.ControlModifier if number else Qt.KeyboardModifier.NoModifier
        qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, held, place(program, part))
    assert len(panel(program).selected_entries) == len(parts)
    return table


def search(program: Marginscope, qtbot: QtBot, text: str) -> None:
    panel(program).search.clear()
    qtbot.keyClicks(panel(program).search, text)


def dialog(program: Marginscope, qtbot: QtBot) -> TextDialog:
    qtbot.waitUntil(lambda: program.window.findChild(TextDialog) is not None)
    found = program.window.findChild(TextDialog)
    assert found is not None
    qtbot.waitUntil(found.isActiveWindow)
    return found


def has(program: Marginscope, count: int) -> Callable[[], bool]:
    return lambda: len(names(program)) == count


def check_that_words_and_conditions_find_runs(
    library: Marginscope, runs: Path, qtbot: QtBot
) -> None:
    assert library.window.focusWidget() is panel(library).search
    search(library, qtbot, "a title")
    qtbot.waitUntil(has(library, 3))
    search(library, qtbot, "m >= 4 and m < 8")
    qtbot.waitUntil(has(library, 2))
    assert "2 of 6 runs" in panel(library).total.text()
    search(library, qtbot, "m >= 4 and hard_margn > .1")
    qtbot.waitUntil(lambda: "did you mean 'hard_margin'" in panel(library).problem.text())
    assert panel(library).problem.isVisible()
    assert len(names(library)) == 2  # the last result stays
    qtbot.keyClick(panel(library).search, Key.Key_Escape)
    qtbot.waitUntil(has(library, 6))
    assert not panel(library).problem.isVisible()


def check_that_columns_sort_and_can_be_chosen(
    library: Marginscope, runs: Path, qtbot: QtBot
) -> None:
    table = panel(library).table
    header = table.horizontalHeader()
    number = next(k for k, one in enumerate(COLUMNS) if one.name == "size")
    for order in ("ascending", "descending"):
        table.scrollTo(panel(library).model.index(0, number))
        here = QPoint(header.sectionViewportPosition(number) + 20, header.height() // 2)
        qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=here)
        sizes = [one.size for one in shown(library)]
        assert sizes == sorted(sizes, reverse=order == "descending")
    assert panel(library).shown_columns == FIRST
    menu = panel(library).columns.menu()
    menu.popup(library.window.mapToGlobal(QPoint(10, 10)))
    qtbot.waitUntil(menu.isVisible)
    QTest.mouseClick(
        menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(entry(menu, "m")).center()
    )
    close_menus()
    assert "network.m" in panel(library).shown_columns


def check_that_runs_are_named_noted_and_tagged(
    library: Marginscope, runs: Path, qtbot: QtBot
) -> None:
    change_about(runs / "small__network.m=3.msrun", lambda about: replace(about, tags=("old",)))
    table = choose(library, qtbot, "m=3", "m=4")
    qtbot.keyClick(table, Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    asked = dialog(library, qtbot)
    qtbot.keyClicks(asked.line, "talk, figure 1")
    qtbot.keyClick(asked.line, Key.Key_Return)
    qtbot.waitUntil(lambda: sum("talk" in one.about.tags for one in shown(library)) == 2)
    assert read_about(runs / "small__network.m=3.msrun").tags == ("old", "talk", "figure 1")
    assert read_about(runs / "small__network.m=4.msrun").tags == ("talk", "figure 1")
    qtbot.waitUntil(lambda: library.window.findChild(TextDialog) is None)
    table = choose(library, qtbot, "m=4")
    qtbot.keyClick(table, Key.Key_F2)
    asked = dialog(library, qtbot)
    qtbot.keyClicks(asked.line, "The one")
    qtbot.keyClick(asked.line, Key.Key_Return)
    qtbot.waitUntil(lambda: any(one.about.name == "The one" for one in shown(library)))
    change_about(runs / "small__network.m=3.msrun", lambda about: replace(about, note="first"))
    panel(library).run_actions["again"].trigger()
    qtbot.waitUntil(lambda: any(one.about.note == "first" for one in shown(library)))
    table = choose(library, qtbot, "m=3", "m=4")
    for typed, found in (("", {"first", ""}), ("both", {"both"})):
        qtbot.keyClick(table, Key.Key_M, Qt.KeyboardModifier.ControlModifier)
        asked = dialog(library, qtbot)
        qtbot.keyClicks(asked.field, typed)
        asked.accept()
        qtbot.waitUntil(lambda: library.window.findChild(TextDialog) is None)
        library.window.activateWindow()
        qtbot.waitUntil(library.window.isActiveWindow)
        qtbot.waitUntil(
            lambda found=found: {one.about.note for one in panel(library).selected_entries} == found
        )
    search(library, qtbot, 'tag == "talk" and not name == "the one"')
    qtbot.waitUntil(lambda: names(library) == ["small__network.m=3.msrun"])


def check_that_runs_go_to_the_trash_come_back_and_are_removed(
    library: Marginscope, runs: Path, qtbot: QtBot
) -> None:
    table = choose(library, qtbot, "m=3", "m=4")
    qtbot.keyClick(table, Key.Key_Delete)
    qtbot.waitUntil(has(library, 4))
    assert not (runs / "small__network.m=3.msrun").exists()
    assert library.window.bar.text == "Moved 2 runs to the trash."
    assert len(panel(library).selected_entries) == 1, "the next run takes their place"
    qtbot.mouseClick(library.window.bar.buttons[0], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(has(library, 6))
    assert (runs / "small__network.m=3.msrun").exists()
    choose(library, qtbot, "m=3", "m=4")
    qtbot.keyClick(table, Key.Key_Delete)
    qtbot.waitUntil(has(library, 4))
    qtbot.mouseClick(panel(library).trash, Qt.MouseButton.LeftButton, pos=QPoint(8, 10))
    qtbot.waitUntil(has(library, 2))
    record(runs / "small__network.m=3.msrun")  # another one, in its place
    choose(library, qtbot, "m=3")
    qtbot.keyClick(table, Key.Key_Backspace, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(has(library, 1))
    assert (runs / "small__network.m=3-2.msrun").exists()
    assert "small__network.m=3-2.msrun" in library.window.bar.text
    choose(library, qtbot, "m=4")
    for button, left in (("Cancel", 1), ("Delete", 0)):
        qtbot.keyClick(table, Key.Key_Delete, SHIFT)
        box = library.window.findChild(QMessageBox, "purge")
        pressed = next(
            one for one in box.findChildren(QPushButton) if one.text().replace("&", "") == button
        )
        qtbot.mouseClick(pressed, Qt.MouseButton.LeftButton)
        box.setObjectName("answered")
        qtbot.waitUntil(has(library, left))
    assert not [one for one in runs.rglob("*m=4*") if one.is_file()]


def check_that_each_change_is_undone_by_its_message_or_by_keys(
    library: Marginscope, runs: Path, qtbot: QtBot
) -> None:
    path, bar = runs / "small__network.m=3.msrun", library.window.bar
    change_about(path, lambda about: replace(about, name="first", tags=("old",)))
    for key, typed in ((Key.Key_F2, "Mine {name}"), (Key.Key_T, "new")):
        modifiers = Qt.KeyboardModifier.ControlModifier
        if key == Key.Key_F2:
            modifiers = Qt.KeyboardModifier.NoModifier
        table = choose(library, qtbot, "m=3")
        qtbot.keyClick(table, key, modifiers)
        asked = dialog(library, qtbot)
        asked.line.setText(typed)
        asked.accept()
        qtbot.waitUntil(lambda: library.window.findChild(TextDialog) is None)
        qtbot.waitUntil(lambda: bool(bar.buttons) and bar.text.startswith(("Renamed", "Changed")))
        assert (read_about(path).name, read_about(path).tags) != ("first", ("old",))
        qtbot.mouseClick(bar.buttons[0], Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: bar.text.startswith("Reverted"))
        assert (read_about(path).name, read_about(path).tags) == ("first", ("old",))
    undo = Qt.KeyboardModifier.ControlModifier
    table = choose(library, qtbot, "m=3", "m=4")
    qtbot.keyClick(table, Key.Key_Delete)
    qtbot.waitUntil(has(library, 4))
    qtbot.keyClick(table, Key.Key_Z, undo)
    qtbot.waitUntil(has(library, 6))
    assert library.actions["library"].isChecked(), "a change of runs, and not of the views"
    qtbot.keyClick(choose(library, qtbot, "m=4"), Key.Key_Delete)
    qtbot.waitUntil(has(library, 5))
    panel(library).trash.setChecked(True)
    qtbot.waitUntil(has(library, 1))
    table = choose(library, qtbot, "m=4")
    qtbot.keyClick(table, Key.Key_Backspace, undo)
    qtbot.waitUntil(has(library, 0))
    assert bar.text.startswith("Restored"), "no offer to undo the deletion is left"
    qtbot.keyClick(table, Key.Key_Z, undo)
    qtbot.waitUntil(has(library, 1))
    qtbot.keyClick(choose(library, qtbot, "m=4"), Key.Key_Backspace, undo)
    panel(library).trash.setChecked(False)
    qtbot.waitUntil(has(library, 6))


def check_that_a_wrong_condition_moves_no_row(
    library: Marginscope, runs: Path, qtbot: QtBot
) -> None:
    table = panel(library).table
    before = table.mapTo(library.window, QPoint(0, 0))
    search(library, qtbot, "m >= and")
    qtbot.waitUntil(panel(library).problem.isVisible)
    QApplication.processEvents()
    assert table.mapTo(library.window, QPoint(0, 0)) == before


def check_that_the_trash_is_emptied_by_the_menu_of_the_table(
    library: Marginscope, runs: Path, qtbot: QtBot
) -> None:
    table = choose(library, qtbot, "m=3", "m=4")
    assert not panel(library).run_actions["empty"].isVisible()
    qtbot.keyClick(table, Key.Key_Delete)
    qtbot.waitUntil(has(library, 4))
    panel(library).trash.setChecked(True)
    qtbot.waitUntil(has(library, 2))
    table.customContextMenuRequested.emit(QPoint(20, 150))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    click(qtbot, menu, entry(menu, "Empty the trash ..."))
    box = library.window.findChild(QMessageBox, "purge")
    assert "2 runs" in box.text()
    next(one for one in box.buttons() if one.text() == "Delete").click()
    qtbot.waitUntil(has(library, 0))
    assert "the trash is empty" in panel(library).total.text()
    assert not list((runs / ".trash").iterdir())


def check_that_a_run_that_is_open_is_not_thrown_away(
    library: Marginscope, runs: Path, qtbot: QtBot
) -> None:
    name = next(iter(library.session)).path.name
    table = choose(library, qtbot, name)
    qtbot.keyClick(table, Key.Key_Delete)
    qtbot.waitUntil(lambda: "is open" in library.window.bar.text)
    assert next(iter(library.session)).path.exists()


def check_that_runs_are_opened_and_compared(library: Marginscope, runs: Path, qtbot: QtBot) -> None:
    def open_names() -> list[str]:
        return [run.path.name for run in library.session]

    table = choose(library, qtbot, "m=3")
    qtbot.keyClick(table, Key.Key_Return)
    qtbot.waitUntil(lambda: open_names() == ["small__network.m=3.msrun"])
    choose(library, qtbot, "m=4")
    qtbot.keyClick(table, Key.Key_Return, SHIFT)
    qtbot.waitUntil(
        lambda: open_names() == ["small__network.m=3.msrun", "small__network.m=4.msrun"]
    )
    choose(library, qtbot, "m=5", "m=4")
    panel(library).run_actions["compare"].trigger()
    qtbot.waitUntil(lambda: library.display.intent.compared is not None)
    names_compared = [Path(name).name for name in library.display.intent.compared.runs]
    assert sorted(names_compared) == ["small__network.m=4.msrun", "small__network.m=5.msrun"]
    assert library.window.pages.currentWidget() is library.compare.page
    choose(library, qtbot, "m=5")
    assert not panel(library).run_actions["compare"].isEnabled()


def check_that_an_own_name_is_that_of_the_open_run(
    library: Marginscope, runs: Path, qtbot: QtBot
) -> None:
    """The user's name of a run reached the library alone."""
    paths = [runs / f"small__network.m={m}.msrun" for m in (3, 4)]
    for path, name in zip(paths, ("", "Before"), strict=True):
        change_about(path, lambda about, name=name: replace(about, name=name))
    library.files.replace([])
    library.files.replace(paths)
    display, chips = library.display, library.window.chips

    def shown_names() -> list[str]:
        return [panel.heading.text() for panel in display.panels if panel.run is not None]

    assert shown_names() == [run.heading for run in library.session] == ["m = 3", "Before"]
    library.compare.compare([str(run.path) for run in library.session])
    page = library.compare.page
    assert page is not None

    def compared_names() -> tuple[str, ...]:
        named = library.compare.model.named
        lines = [one.answer.lines for one in library.compare.model.answers.values()]
        assert all(tuple(line.label for line in of) == named.labels for of in lines)
        return named.labels

    typed = "<b>Wide & $x$</b>"
    table = choose(library, qtbot, "m=4")
    qtbot.keyClick(table, Key.Key_F2)
    asked = dialog(library, qtbot)
    asked.line.setText(typed)
    asked.accept()
    for name in (typed, "Before"):
        qtbot.waitUntil(lambda name=name: shown_names() == ["m = 3", name])
        assert menu_text(name) in chips.tabText(1)
        assert name in library.window.windowTitle()
        assert display.panels[1].heading.textFormat() == Qt.TextFormat.PlainText
        qtbot.waitUntil(lambda name=name: compared_names() == ("m = 3", name))
        if name == typed:
            qtbot.mouseClick(library.window.bar.buttons[0], Qt.MouseButton.LeftButton)
    library.compare.leave()


def check_that_pictures_of_what_is_seen_are_drawn(
    library: Marginscope, runs: Path, qtbot: QtBot
) -> None:
    model = panel(library).model
    readable = [one for one in shown(library) if one.readable]
    library.window.grab()
    qtbot.waitUntil(lambda: all(model.picture(one.path) is not None for one in readable))
    assert all(model.picture(one.path) for one in readable)


def check_that_verdicts_of_open_runs_are_kept(
    library: Marginscope, runs: Path, qtbot: QtBot
) -> None:
    keys = {run.path: run.key for run in library.session}
    qtbot.waitUntil(lambda: all(library.theory.results(key).judgement for key in keys.values()))
    qtbot.waitUntil(
        lambda: all(one.verdicts is not None for one in shown(library) if one.path in keys)
    )
    for one in shown(library):
        assert (one.verdicts is not None) is (one.path in keys)


def check_that_the_library_is_closed_remembered_and_reached_by_the_menu(
    library: Marginscope, runs: Path, qtbot: QtBot
) -> None:
    drawer = panel(library)
    QTest.mouseClick(library.window.rail.buttons["library"], Qt.MouseButton.LeftButton)
    assert not library.actions["library"].isChecked() and not drawer.isVisible()
    opened(qtbot, library.window, "View")
    close_menus()
    pick(qtbot, library.window, "View", "Library of runs")
    assert drawer.isVisible()
    with skip_style_sheet():
        qtbot.keyClick(library.window, Key.Key_F11)
        assert not drawer.isVisible()
        library.window.transport.slider.setFocus()
        qtbot.keyClick(library.window, Key.Key_F11)
    assert drawer.isVisible()
    assert library.window.focusWidget() is library.window.transport.slider
    columns = panel(library).shown_columns
    library.shut_down()
    assert library.settings.values.drawer == "library"
    assert library.settings.values.library_columns == columns != FIRST


CHECKS = (
    check_that_pictures_of_what_is_seen_are_drawn,
    check_that_verdicts_of_open_runs_are_kept,
    check_that_words_and_conditions_find_runs,
    check_that_columns_sort_and_can_be_chosen,
    check_that_a_run_that_is_open_is_not_thrown_away,
    check_that_runs_are_named_noted_and_tagged,
    check_that_each_change_is_undone_by_its_message_or_by_keys,
    check_that_a_wrong_condition_moves_no_row,
    check_that_runs_are_opened_and_compared,
    check_that_an_own_name_is_that_of_the_open_run,
    check_that_the_library_is_closed_remembered_and_reached_by_the_menu,
)


def test_the_library_in_one_window(
    library: Marginscope, runs: Path, qtbot: QtBot, subtests: pytest.Subtests
) -> None:
    """All that leaves the runs where they are; the last check shuts the program down."""
    for check in CHECKS:
        with subtests.test(check.__name__):
            search(library, qtbot, "")
            qtbot.waitUntil(has(library, 6))
            check(library, runs, qtbot)


def test_the_trash_in_one_window(
    library: Marginscope, runs: Path, qtbot: QtBot, subtests: pytest.Subtests
) -> None:
    with subtests.test("emptied"):
        check_that_the_trash_is_emptied_by_the_menu_of_the_table(library, runs, qtbot)
    panel(library).trash.setChecked(False)
    for m in (3, 4):
        record(runs / f"small__network.m={m}.msrun", small_problem(m=m), count=2 + m)
    panel(library).run_actions["again"].trigger()
    qtbot.waitUntil(has(library, 6))
    qtbot.waitUntil(lambda: all(one.facts.status != "not read yet" for one in shown(library)))
    with subtests.test("come back"):
        check_that_runs_go_to_the_trash_come_back_and_are_removed(library, runs, qtbot)


def test_runs_of_first_starts_are_known_by_their_settings(tmp_path: Path) -> None:
    cell = load_study(FIRST_STUDY).cells()[0]
    facts = read_facts(record(tmp_path / "a.msrun", resolve_problem(cell.experiment), count=2))
    other = read_facts(record(tmp_path / "b.msrun", small_problem(), count=2))
    assert facts.settings in first_settings()
    assert other.settings not in first_settings()


def test_old_runs_of_first_starts_go_to_the_trash(
    open_program: Opener, runs: Path, study: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    problem = resolve_problem(load_study(FIRST_STUDY).cells()[0].experiment)
    for number in range(3):
        record(runs / f"start-{number}.msrun", problem, count=2)
    change_about(runs / "start-0.msrun", lambda about: replace(about, note="mine"))
    (tmp_path / "user" / "settings.json").write_text('{"first_starts_mb": 0.0}')
    program = open_program(study)
    qtbot.waitUntil(lambda: trained(program))
    program.library._starts.setInterval(1)
    program.library._starts.start()
    qtbot.waitUntil(lambda: not (runs / "start-1.msrun").exists())
    qtbot.waitUntil(lambda: not (runs / "start-2.msrun").exists())
    assert (runs / "start-0.msrun").exists()
    assert len(list(runs.glob("*.msrun"))) == 7
    assert len(list((runs / ".trash").glob("*/start-*.msrun"))) == 2


def test_the_librarian_says_what_could_not_be_done(tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "runs").mkdir()
    path = record(tmp_path / "runs" / "a.msrun")
    librarian = Librarian(tmp_path / "runs", tmp_path / "index.sqlite")
    try:
        with qtbot.waitSignal(librarian.runs_listed) as listed:
            librarian.list()
        path.unlink()
        with qtbot.waitSignal(librarian.operations_finished) as finished:
            librarian.run(partial(_trash, entry) for entry in listed.args[0].entries)
        (sentence,) = finished.args[0].errors
        assert "no longer exists" in sentence
    finally:
        librarian.close()


def _trash(entry: Entry, library: Library) -> str:
    library.move_to_trash(entry)
    return ""
