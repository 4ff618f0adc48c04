"""One run is current: how it is chosen, closed and moved, and what is about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QTableWidget
from pytestqt.qtbot import QtBot

from app.scenes.named_items import NO_BOOKMARKS
from app.scenes.scene import Scene
from app.scenes.scene_texts import link_of, parse_link
from app.shell.application import Marginscope
from app.state.intent import Intent
from core.library.run_notes import read_about
from tests.app.mouse import keys
from tests.app.shell.conftest import Opener
from tests.support.run_files import record, small_problem

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
NONE = Qt.KeyboardModifier.NoModifier


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"run{m}.msrun" for m in (3, 4, 5)]
    for m, path in enumerate(paths, start=3):
        record(path, small_problem(m=m))
    return [str(path) for path in paths]


@pytest.fixture
def program(qtbot: QtBot, open_program: Opener, files: list[str]) -> Marginscope:
    program = open_program(*files)
    qtbot.waitUntil(lambda: widths(program) == [3, 4, 5])
    return program


def widths(program: Marginscope) -> list[int]:
    return [run.data.m for run in program.session if run.data is not None]


def current(program: Marginscope) -> int:
    """Return the number of nodes of the current run."""
    run = program.display.current
    assert run is not None and run.data is not None
    return run.data.m


def key_of(program: Marginscope, m: int) -> int:
    """Return the key of the open run with so many nodes."""
    return next(run.key for run in program.session if run.data and run.data.m == m)


def test_a_run_is_chosen_moved_and_closed(program: Marginscope, qtbot: QtBot) -> None:
    display, emitted = program.display, list[int]()
    display.current_changed.connect(lambda: emitted.append(current(program)))
    assert current(program) == 5  # the newest
    display.set_current(key_of(program, 4))
    display.set_current(key_of(program, 4))
    assert emitted == [4]
    assert program.scenes.scene.intent.current == 1

    display.panels[1].set_zooms({"margins": QRectF(0.0, 0.0, 1.0, 0.5)})
    display.move_run(key_of(program, 5), 0)
    assert widths(program) == [5, 3, 4] and current(program) == 4
    assert dict(display.panels[2].zooms()) == {"margins": QRectF(0.0, 0.0, 1.0, 0.5)}
    program.scenes.commit()
    assert program.actions["undo"].text() == "&Undo Move a run"

    others = [run for run in program.session if run.key != key_of(program, 4)]
    program.run_choice.close_current()
    assert list(program.session) == others and emitted == [4, 5]
    program.scenes.commit()
    assert program.actions["undo"].text() == "&Undo Close m = 4"
    program.actions["undo"].trigger()
    # The other runs stayed open: nothing of them is computed anew.
    assert [run for run in program.session if run in others] == others
    assert widths(program) == [5, 3, 4] and current(program) == 4
    program.actions["undo"].trigger()
    assert widths(program) == [3, 4, 5] and current(program) == 4


def test_an_opened_run_is_current(program: Marginscope, qtbot: QtBot, files: list[str]) -> None:
    display = program.display
    display.set_current(key_of(program, 3))
    program.files.open_files(files[1:2], add=True)
    qtbot.waitUntil(lambda: widths(program) == [3, 4, 5, 4])
    assert display.current is list(program.session)[-1]
    for left in (3, 2, 1, 0):
        program.run_choice.close_current()
        assert len(program.session) == left
    assert display.current is None
    program.run_choice.close_current()  # and nothing happens
    assert not program.session.live


def test_the_place_of_the_current_run_is_in_links() -> None:
    link = link_of(Scene(intent=Intent(current=2)))
    assert link == "marginscope://view?current=2"
    assert parse_link(link, Scene()).intent.current == 2
    assert link_of(Scene()) == "marginscope://view?"


def test_it_is_chosen_by_headings_keys_and_nodes(program: Marginscope, qtbot: QtBot) -> None:
    panels, actions = program.display.panels, program.actions
    headings = [panel.heading for panel in panels[:3]]
    assert [one.is_marked for one in headings] == [False, False, True]
    pick_run = Qt.MouseButton.LeftButton
    QTest.mouseClick(headings[0], pick_run)
    assert current(program) == 3
    assert [one.is_marked for one in headings] == [True, False, False]
    assert program.window.theory.run.text() == headings[0].text()
    qtbot.waitUntil(lambda: "run3" in shown_settings(program))
    keys(qtbot, program.window, Qt.Key.Key_2, NONE)
    assert current(program) == 4
    keys(qtbot, program.window, Qt.Key.Key_4, NONE)  # of no run
    assert current(program) == 4 and not actions["run_4"].isEnabled()
    panels[2].node_clicked.emit(1)
    assert current(program) == 5
    panels[0].node_clicked.emit(0)
    assert program.display.view.inspected == (key_of(program, 3), 0)
    panels[2].nodes_selected.emit(frozenset({2}))
    assert program.display.view.inspected == (key_of(program, 5), 2)
    # Digits that are typed into a field are its own.
    program.window.activateWindow()
    box = program.window.theory.delta.lineEdit()
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_1)
    assert current(program) == 5
    # So are signs that select an item of a list.
    table = QTableWidget(1, 1, program.window.pages.currentWidget())
    table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
    table.show()
    for place in (program.window.chooser.box, table):
        place.setFocus()
        for key in (Qt.Key.Key_1, Qt.Key.Key_L):
            QTest.keyClick(place, key)
        assert current(program) == 5 and not program.actions["loop"].isChecked()
    table.deleteLater()

    keys(qtbot, program.window, Qt.Key.Key_W, CTRL | SHIFT)
    keys(qtbot, program.window, Qt.Key.Key_W, CTRL | SHIFT)
    assert widths(program) == [3] and current(program) == 3
    assert not headings[0].is_marked  # it is alone
    assert program.window.theory.run.isHidden()


def shown_settings(program: Marginscope) -> str:
    return str(program.window.inspector.run.facts())


def test_branches_and_bookmarks_are_of_it(
    program: Marginscope, qtbot: QtBot, files: list[str]
) -> None:
    display = program.display
    display.set_current(key_of(program, 4))
    pinned = frozenset({(key_of(program, 4), 1)})
    display.update_intent(pinned=pinned)
    program.bookmarks.add("here")
    (mark,) = read_about(Path(files[1])).bookmarks
    assert "pin=0:1" in mark.picture  # as its run alone has it
    display.update_intent(pinned=frozenset())
    program.bookmarks.show("here")
    assert display.intent.pinned == pinned and current(program) == 4
    display.set_current(key_of(program, 3))
    assert [one.text() for one in program.window.bookmarks.actions()] == [NO_BOOKMARKS]
    program.branches.offer()
    assert program.window.form.branch.words.text().startswith("Branch of m = 3")


def test_a_run_is_closed_while_another_is_trained(
    program: Marginscope, qtbot: QtBot, slow_study: Path, files: list[str]
) -> None:
    program.files.open_files([str(slow_study)])
    qtbot.waitUntil(lambda: bool(program.session.live) and widths(program) == [256])
    program.files.open_files(files[:1], add=True)
    assert widths(program) == [256, 3]
    program.scenes.commit()
    program.run_choice.close_current()
    program.scenes.commit()
    assert widths(program) == [256] and program.session.live
    program.actions["undo"].trigger()  # the run that is trained stays
    assert widths(program) == [256, 3] and program.session.live
    program.display.set_current(key_of(program, 256))
    program.run_choice.close_current()
    assert widths(program) == [3] and not program.session.training


def test_headings_keep_their_weight_in_other_colours(program: Marginscope) -> None:
    program.actions["dark"].toggle()  # a style sheet restores the fonts that labels had at first
    weights = [panel.heading.font().weight() for panel in program.display.panels[:3]]
    assert weights == [400, 400, 600]  # of the shipped typeface: heavier ones are smeared


def test_what_is_kept_beside_a_closed_run_is_all(program: Marginscope) -> None:
    """As for a branch whose parent was closed before it began."""
    first, *others = program.session
    program.run_choice.close_run(first.key)
    assert program.session.other_live_runs(first.key) == []
    program.session.close_others(first.key)
    assert list(program.session) == others


def test_undo_leaves_a_run_alone_that_has_no_frames_yet(program: Marginscope) -> None:
    """Its file is not opened as a recording: the run stays in training, and can be stopped."""
    program.training.close_runs()
    program.training.restart()
    live = list(program.session)
    assert all(run.live for run in live)
    assert program.files.replace([run.path for run in reversed(live)])
    assert list(program.session) == live[::-1]
