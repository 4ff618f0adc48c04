"""Notes at moments, through the window: written, shown, edited, deleted and restored."""

from __future__ import annotations

import math

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QToolTip
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from app.shell.view_menu import ViewMenu
from app.views.trace_view import TraceView
from core.library.entry import MomentNote
from core.library.run_notes import notes_file, read_about
from core.observables.margins import hard_margin
from core.problem.schedule import coordinate
from tests.app.mouse import choose, entry, keys, pick, pixel
from tests.app.shell.test_moments import answer, current_path

LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton
NONE = Qt.KeyboardModifier.NoModifier
TEXT = "gamma_gl <b>x</b> & 10^2"


def mark(program: Marginscope, number: int) -> QPoint:
    """Return the middle of the mark of a note on the time slider."""
    slider = program.window.transport.slider
    xs = [x for x in range(slider.width()) if slider.notes.note_at(QPointF(x, 5)) == number]
    return QPoint(sum(xs) // len(xs), 5)


def write(program: Marginscope, qtbot: QtBot, log10_time: float, text: str) -> None:
    program.playback.seek(float(coordinate(log10_time)))
    keys(qtbot, program.window, Qt.Key.Key_N, NONE)
    answer(qtbot, text)


def press_in_bar(program: Marginscope, text: str) -> None:
    (button,) = [one for one in program.window.bar.buttons if one.text() == text]
    QTest.mouseClick(button, LEFT)


def test_a_note_is_written_with_its_run_and_marked(program: Marginscope, qtbot: QtBot) -> None:
    path = current_path(program)
    write(program, qtbot, 1.0, TEXT)
    write(program, qtbot, 0.5, "earlier")
    earlier, note = read_about(path).moments
    assert (earlier.text, note.text) == ("earlier", TEXT)
    assert note.log10_time == pytest.approx(1.0)
    assert note.value is None
    # Numbered by time, typeset, and never markup.
    slider = program.window.transport.slider
    assert "2. \u03b3<sub>gl</sub> &lt;b&gt;x&lt;/b&gt; &amp; 10\u00b2" in slider.notes.text(1)
    QTest.mouseMove(slider, mark(program, 0))
    qtbot.waitUntil(lambda: "earlier" in QToolTip.text())
    program.playback.seek_start()
    QTest.mouseClick(slider, LEFT, NONE, mark(program, 1))
    assert program.display.view.cursor == pytest.approx(float(coordinate(1.0)))
    assert program.window.bar.text == "2. \u03b3_gl <b>x</b> & 10\u00b2"


def test_a_note_at_the_start(program: Marginscope, qtbot: QtBot) -> None:
    program.playback.seek_start()
    pick(qtbot, program.window, "Play", "Add note at this moment ...")
    answer(qtbot, "start")
    assert read_about(current_path(program)).moments == (MomentNote(-math.inf, "start"),)
    program.playback.seek_end()
    program.notes.show(0)
    assert all(run.frame == 0 for run in program.display.view.runs)


def test_notes_are_edited_and_deleted_by_mouse_with_undo(
    program: Marginscope, qtbot: QtBot
) -> None:
    path, slider = current_path(program), program.window.transport.slider
    write(program, qtbot, 1.0, "first")
    menu = context_menu(program, qtbot)
    edit = menu.actions()[0]
    QTest.mouseClick(menu, LEFT, NONE, menu.actionGeometry(edit).center())
    answer(qtbot, "second")
    assert [one.text for one in read_about(path).moments] == ["second"]
    QTest.mouseClick(slider, LEFT, NONE, mark(program, 0))
    press_in_bar(program, "Delete note")
    assert read_about(path).moments == ()
    assert not notes_file(path).exists()
    press_in_bar(program, "Undo")
    assert [one.text for one in read_about(path).moments] == ["second"]
    removals = entry(program.window.notes, "Delete note").menu()
    assert isinstance(removals, QMenu)
    (removal,) = removals.actions()
    assert removal.text() == "1. second (t = 10.0)"
    removal.trigger()
    assert read_about(path).moments == ()


def context_menu(program: Marginscope, qtbot: QtBot) -> QMenu:
    """Open the menu of the first note's mark by a right click."""
    slider, here = program.window.transport.slider, mark(program, 0)
    QTest.mouseClick(slider, RIGHT, NONE, here)
    by_mouse = QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(slider, QContextMenuEvent(by_mouse, here, slider.mapToGlobal(here)))
    qtbot.waitUntil(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


@pytest.mark.parametrize("choice", ["edit", "delete", "escape", "open"])
def test_other_menus_open_after_the_menu_of_a_mark(
    program: Marginscope, qtbot: QtBot, choice: str
) -> None:
    """Whatever became of it: an entry was chosen, it was closed, or it is still open."""
    write(program, qtbot, 1.0, "first")
    write(program, qtbot, 0.5, "second")
    menu = context_menu(program, qtbot)
    if choice in ("edit", "delete"):
        action = menu.actions()[choice == "delete"]
        QTest.mouseClick(menu, LEFT, NONE, menu.actionGeometry(action).center())
    if choice == "edit":
        answer(qtbot, "second, changed")
    if choice == "escape":
        QTest.keyClick(menu, Qt.Key.Key_Escape)
    first = program.window.notes.actions()[0].text()
    pick(qtbot, program.window, "Play", "Notes of the run", first)
    assert program.window.bar.text.startswith("1. ")
    pick(qtbot, program.window, "Play", "Story ...")
    assert program.stories.dialog is not None and program.stories.dialog.isVisible()
    program.stories.dialog.hide()
    assert not [one for one in program.window.findChildren(QMenu) if one.isVisible()]


def test_notes_that_cannot_be_stored_are_a_sentence(program: Marginscope, qtbot: QtBot) -> None:
    path = current_path(program)
    write(program, qtbot, 1.0, "a" * 501)
    assert "at most 500 characters" in program.window.bar.text
    assert not notes_file(path).exists()
    write(program, qtbot, 1.0, "   ")  # nothing is written
    assert not notes_file(path).exists()
    notes_file(path).write_text('{"moments": [[0.5, "a"]]}')
    program.window.notes.aboutToShow.emit()
    assert "cannot be read" in program.window.bar.text


def test_notes_are_those_of_the_current_run(program: Marginscope, qtbot: QtBot) -> None:
    first = current_path(program)
    write(program, qtbot, 1.0, "of one run")
    other = next(run for run in program.session if run.path != first)
    program.display.set_current(other.key)
    assert program.notes.notes == ()
    program.display.set_current(next(run.key for run in program.session if run.path == first))
    assert [one.text for one in program.notes.notes] == ["of one run"]


def test_a_note_of_another_window_appears_when_the_menu_opens(
    program: Marginscope, qtbot: QtBot
) -> None:
    path = current_path(program)
    notes_file(path).write_text('{"moments": [[0.5, "from elsewhere", "hard_margin", 0.125]]}')
    program.window.notes.aboutToShow.emit()
    assert "hard_margin = .125" in program.window.transport.slider.notes.text(0)


def test_a_note_at_a_point_of_a_curve(program: Marginscope, qtbot: QtBot) -> None:
    program.display.update_intent(playing=False)
    program.playback.seek_end()
    panel = next(one for one in program.display.panels if one.run is program.display.current)
    view = panel.view("margins")
    assert isinstance(view, TraceView)
    line = view.shown_lines[0]
    frame = line.values.size // 2
    here = pixel(view.plot, float(view.places[frame]), float(line.values[frame]))
    viewport = view.plot.viewport()
    QTest.mouseClick(viewport, RIGHT, NONE, here)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, here, viewport.mapToGlobal(here))
    QApplication.sendEvent(viewport, event)
    (menu,) = [one for one in program.window.findChildren(ViewMenu) if one.isVisible()]
    choose(menu, "Add note here ...")
    answer(qtbot, TEXT)
    (note,) = read_about(current_path(program)).moments
    assert panel.run is not None and panel.run.data is not None
    assert note.quantity == line.name == "hard"
    run = panel.run.data.run
    found = int(np.argmin(np.abs(panel.run.data.log10_time - note.log10_time)))
    assert abs(found - frame) <= 1
    assert note.value == pytest.approx(hard_margin(run, found), rel=1e-6)
    # The mark is at the point of the curve, and goes with the note.
    (mark_there,) = view.plot.overlay.marks
    assert (mark_there.x, mark_there.y) == (view.places[found], line.values[found])
    assert mark_there.label == "1"
    assert "hard = " in program.window.transport.slider.notes.text(0)
    others = [one for one in program.display.panels if one.run not in (None, panel.run)]
    assert all(not one.view("margins").plot.overlay.marks for one in others)
    program.notes.delete(0)
    assert view.plot.overlay.marks == ()
