"""The command palette: opened by its keys, typed into, and what a choice does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.actions import ROWS, disabled_reason
from app.settings import load_settings
from app.shell import commands
from app.shell.application import Marginscope
from app.shell.command_palette import MOST_FOUND, CommandPalette
from app.shell.commands import MADE_AT_ONCE, run_entries
from app.state.text_search import SearchEntry, make_entry
from core.library.entry import Entry as RunEntry
from core.library.library import Listing
from core.library.run_notes import change_about
from core.observables.observable import Shape
from core.observables.registry import of_shape
from core.studies.summaries import shipped_summaries
from tests.app.mouse import entry as entry_of
from tests.app.mouse import keys
from tests.app.mouse import opened as opened_menu
from tests.app.shell.conftest import Opener, trained
from tests.support.made_up_library import entry as made_up
from tests.support.run_files import record, small_problem

Key = Qt.Key
CTRL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


def opened(program: Marginscope, qtbot: QtBot) -> CommandPalette:
    keys(qtbot, program.window, Key.Key_P, CTRL_SHIFT)
    palette = program.commands.palette
    assert palette is not None
    qtbot.waitUntil(palette.isVisible)
    return palette


def typed(palette: CommandPalette, text: str) -> list[SearchEntry]:
    palette.line.clear()
    QTest.keyClicks(palette.line, text)
    return palette.found


def chosen(
    palette: CommandPalette,
    text: str,
    key: str,
    modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
) -> None:
    """Type, go down to an entry, and press Return."""
    there = [one.key for one in typed(palette, text)]
    for _ in range(there.index(key)):
        QTest.keyClick(palette.line, Key.Key_Down)
    QTest.keyClick(palette.line, Key.Key_Return, modifier)
    assert not palette.isVisible()


def of_kind(palette: CommandPalette, kind: str) -> list[SearchEntry]:
    return [one for one in palette._entries if one.kind == kind]


def test_everything_is_in_it(program: Marginscope, qtbot: QtBot) -> None:
    palette = opened(program, qtbot)
    there = {one.key: one for one in palette._entries}
    hidden = {row.key for row in ROWS if not program.actions[row.key].isVisible()}
    missing = {f"action:{key}" for key in ("palette", *hidden)}
    assert {f"action:{row.key}" for row in ROWS} - set(there) == missing
    assert {f"study:{one.id}" for one in shipped_summaries()} <= set(there)
    qtbot.waitUntil(lambda: len(of_kind(palette, "Run")) == 2)
    assert there["action:open"].shortcut == "Ctrl+O"
    assert there["action:dark"].detail.startswith("off")
    assert there["action:pause"].reason == disabled_reason("pause") != ""
    kinds = {one.kind for one in palette._entries}
    assert {"View", "Layout", "Neurons", "Curves against", "Curve"} <= kinds
    runs = [run.data.run for run in program.session]
    had = {one.name: any(map(one.applies, runs)) for one in of_shape(Shape.SCALAR)}
    assert {name: not there[f"curve:{name}"].reason for name in had} == had
    assert set(had.values()) == {False, True}


def test_the_keyboard_alone_is_enough(program: Marginscope, qtbot: QtBot) -> None:
    palette = opened(program, qtbot)
    assert palette.line.hasFocus()
    typed(palette, "export")
    assert palette.list.currentIndex().row() == 0
    for key, row in (
        (Key.Key_Down, 1),
        (Key.Key_Up, 0),
        (Key.Key_Up, len(palette.found) - 1),
    ):
        QTest.keyClick(palette.line, key)
        assert palette.list.currentIndex().row() == row
    QTest.keyClick(palette.line, Key.Key_PageUp)
    assert palette.list.currentIndex().row() == max(0, len(palette.found) - 9)
    QTest.keyClick(palette.line, Key.Key_Tab)
    assert palette.line.hasFocus()
    QTest.keyClick(palette.line, Key.Key_Escape)
    assert not palette.isVisible()
    assert program.commands.used == ()


def test_what_cannot_be_had_says_why(program: Marginscope, qtbot: QtBot) -> None:
    palette = opened(program, qtbot)
    assert typed(palette, "stop")[0].key == "action:stop"
    QTest.keyClick(palette.line, Key.Key_Return)
    assert palette.isVisible()
    assert palette.hint.text() == "No run is training."
    typed(palette, "zzq jjx")
    assert palette.found == []
    assert "Try fewer letters" in palette.hint.text()
    QTest.keyClick(palette.line, Key.Key_Return)
    assert palette.isVisible()
    QTest.keyClick(palette.line, Key.Key_Escape)


def test_curves_views_and_layouts(program: Marginscope, qtbot: QtBot) -> None:
    program.display.update_intent(views=("margins",), curves=("hard_margin",))
    chosen(opened(program, qtbot), "log10_risk", "curve:log10_risk")
    assert program.display.intent.curves == ("hard_margin", "log10_risk")
    assert program.display.view.wishes.views == ("margins", "curves")
    chosen(opened(program, qtbot), "spectrum", "View:Spectrum")
    assert "spectrum" in program.display.view.wishes.views
    layout = next(action for action in program.window.layouts.actions() if action.data())
    chosen(opened(program, qtbot), layout.text(), f"Layout:{layout.text()}")
    assert "spectrum" not in program.display.view.wishes.views


def test_a_study_is_opened_and_trained_with_control(program: Marginscope, qtbot: QtBot) -> None:
    before = [run.key for run in program.session]
    key = "study:telgarsky22-theorem-2-2"
    chosen(opened(program, qtbot), "telgarsky22-theorem-2-2", key)
    edits = program.window.form.edits
    assert edits is not None and edits.base.id == "telgarsky22-theorem-2-2"
    assert [run.key for run in program.session] == before
    assert program.window.bar.text == commands.OFFERED
    control = Qt.KeyboardModifier.ControlModifier
    chosen(opened(program, qtbot), "telgarsky22-theorem-2-2", key, control)
    assert program.window.chooser.box.currentText().startswith("Telgarsky 2022, Theorem 2.2")
    qtbot.waitUntil(lambda: bool(program.session) and [r.key for r in program.session] != before)
    program.training.stop()


def test_no_marks_of_markdown_are_shown(program: Marginscope, qtbot: QtBot) -> None:
    studies = of_kind(opened(program, qtbot), "Study")
    (cohen,) = [one for one in studies if one.key == "study:cohen21-edge-squared"]
    assert "Talwalkar, Gradient descent on neural networks" in cohen.detail


@pytest.fixture
def recorded(program: Marginscope) -> Path:
    path = program.places.runs / "other.msrun"
    record(path, small_problem(m=5))
    change_about(path, lambda about: replace(about, name="The odd one", tags=("talk",)))
    return path


def test_runs_that_come_while_it_is_open_leave_the_choice_alone(
    program: Marginscope, recorded: Path, qtbot: QtBot
) -> None:
    palette = opened(program, qtbot)
    typed(palette, "o")
    QTest.keyClick(palette.line, Key.Key_Down)
    there = palette.chosen_entry
    program.commands._on_listed(replace(program.commands._listing or Listing()))
    assert palette.chosen_entry == there
    QTest.keyClick(palette.line, Key.Key_Escape)


def check_that_runs_are_found_by_name_tag_and_file_and_opened(
    program: Marginscope, recorded: Path, qtbot: QtBot
) -> None:
    palette = opened(program, qtbot)
    qtbot.waitUntil(lambda: len(of_kind(palette, "Run")) == 3)
    for text in ("odd one", "talk odd", "other.msrun"):
        assert [one.key for one in typed(palette, text)][:1] == [f"run:{recorded}"]
    QTest.keyClick(palette.line, Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: [run.path for run in program.session][-1] == recorded)
    assert len(program.session) == 3
    palette = opened(program, qtbot)
    assert palette.found[0].key == f"run:{recorded}"
    row = palette.list.visualRect(palette.list.model().index(0, 0)).center()
    QTest.mouseClick(palette.list.viewport(), Qt.MouseButton.LeftButton, pos=row)
    qtbot.waitUntil(lambda: [run.path for run in program.session] == [recorded])
    qtbot.waitUntil(lambda: trained(program))


def check_that_the_entries_of_many_runs_are_made_a_few_in_each_turn(
    program: Marginscope, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until all are there those of the listing before are found; a newer listing takes over."""
    palette = opened(program, qtbot)
    qtbot.waitUntil(lambda: len(of_kind(palette, "Run")) == 3)
    before = of_kind(palette, "Run")
    turns: list[int] = []

    def counted(runs: Sequence[RunEntry]) -> list[SearchEntry]:
        turns.append(len(runs))
        assert of_kind(palette, "Run") == before
        return run_entries(runs)

    monkeypatch.setattr(commands, "run_entries", counted)
    program.commands._librarian.runs_listed.disconnect(program.commands._on_listed)
    runs = tuple(replace(made_up(k % 20), path=Path(f"/runs/{k}.msrun")) for k in range(2500))
    for some in (runs[:1000], runs):
        program.commands._on_listed(Listing(some))
        assert of_kind(palette, "Run") == before
    qtbot.waitUntil(lambda: len(of_kind(palette, "Run")) == 2500)
    assert [one.key for one in of_kind(palette, "Run")] == [f"run:{one.path}" for one in runs]
    assert turns == [MADE_AT_ONCE] * 7 + [100]
    assert not program.commands._rest.isActive()
    QTest.keyClick(palette.line, Key.Key_Escape)


@pytest.mark.usefixtures("own_window")
def test_runs_are_found_and_their_entries_made(
    program: Marginscope,
    recorded: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    subtests: pytest.Subtests,
) -> None:
    program.display.update_intent(views=("margins",))
    with subtests.test("found"):
        check_that_runs_are_found_by_name_tag_and_file_and_opened(program, recorded, qtbot)
    with subtests.test("many"):
        check_that_the_entries_of_many_runs_are_made_a_few_in_each_turn(program, qtbot, monkeypatch)


def test_an_action_is_done_and_stands_first_then(
    program: Marginscope, open_program: Opener, qtbot: QtBot
) -> None:
    palette = opened(program, qtbot)
    chosen(palette, "loop", "action:loop")
    assert program.actions["loop"].isChecked()
    palette = opened(program, qtbot)
    assert palette.line.text() == ""
    assert palette.found[0].key == "action:loop"
    assert palette.found[0].detail.startswith("on")
    QTest.keyClick(palette.line, Key.Key_Escape)
    program.shut_down()
    assert load_settings(program.places.settings)[0].commands == ("action:loop",)
    assert open_program().commands.used == ("action:loop",)


def test_no_key_goes_through_to_the_window(program: Marginscope, qtbot: QtBot) -> None:
    palette = opened(program, qtbot)
    playing = program.display.intent.playing
    for key in (Key.Key_Space, Key.Key_L, Key.Key_F, Key.Key_BracketLeft):
        QTest.keyClick(palette.line, key)
    assert program.display.intent.playing == playing
    assert not program.actions["loop"].isChecked()
    assert palette.isVisible()
    QTest.keyClick(palette.line, Key.Key_Escape)


def test_it_is_in_the_menu_and_a_click_elsewhere_closes_it(
    program: Marginscope, qtbot: QtBot
) -> None:
    menu = opened_menu(qtbot, program.window, "Help")
    place = menu.actionGeometry(entry_of(menu, "Command palette ...")).center()
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=place)
    palette = program.commands.palette
    assert palette is not None and palette.isVisible()
    QTest.mouseClick(palette, Qt.MouseButton.LeftButton, pos=palette.rect().bottomRight() * 2)
    qtbot.waitUntil(lambda: QApplication.activePopupWidget() is None)
    assert not palette.isVisible()


def test_thousands_are_cut_to_what_can_be_looked_at(qtbot: QtBot, program: Marginscope) -> None:
    palette = opened(program, qtbot)
    palette.set_entries([make_entry(str(k), "Run", f"m = {k}") for k in range(1000)])
    assert len(palette.found) == MOST_FOUND
    assert f"{1000 - MOST_FOUND} more" in palette.hint.text()
    assert [one.key for one in typed(palette, "999")] == ["999"]
    QTest.keyClick(palette.line, Key.Key_Escape)


def test_marked_letters_are_bold(program: Marginscope, qtbot: QtBot) -> None:
    """Bold letters have more ink: the same entry, found by its title and by its kind."""
    palette = opened(program, qtbot)
    palette.set_entries([make_entry("a", "Kind", "millimeter"), make_entry("b", "Kind", "other")])
    ink = []
    for text in ("millimeter", "kind"):
        typed(palette, text)
        palette._choose(1)  # so that neither is on the ground of what is chosen
        palette.list.clearSelection()
        row = palette.list.visualRect(palette.list.model().index(0, 0))
        image = palette.list.viewport().grab(row).toImage()
        back = image.pixelColor(2, 2)
        places = [(x, y) for x in range(image.width() // 3) for y in range(image.height() // 2)]
        ink.append(sum(_apart(image.pixelColor(x, y), back) for x, y in places))
    assert ink[0] > 1.15 * ink[1]
    QTest.keyClick(palette.line, Key.Key_Escape)


def _apart(one: QColor, other: QColor) -> int:
    return abs(one.lightness() - other.lightness())


def test_lines_of_reference_margins_are_shown_and_hidden(
    program: Marginscope, qtbot: QtBot
) -> None:
    key = next(iter(program.session)).key
    qtbot.waitUntil(lambda: bool(program.theory.curves.drawn_margins_of(key)))
    palette = opened(program, qtbot)
    first = of_kind(palette, "Reference margin")[0]
    name = program.window.margin_choice.actions()[0].data()  # as it is called in study files
    assert not program.display.intent.hidden_margins
    chosen(palette, name, first.key)
    assert len(program.display.intent.hidden_margins) == 1
    palette = opened(program, qtbot)
    chosen(palette, name, first.key)
    assert not program.display.intent.hidden_margins
