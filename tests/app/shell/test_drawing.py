"""Data drawn by hand: with the mouse, with keys, from the clipboard; trained as they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from app.application import Marginscope
from app.controllers.drawing import MEND_FIRST, WAITS, points_of, with_points
from app.panels.drawing_table import PointTable
from app.panels.drawing_window import FULL, NO_ROOM, OTHERS, DrawingWindow
from app.panels.field_row import FieldRow
from app.panels.fields import text_of
from app.panels.study_edits import StudyEdits
from app.state.edits import Edits
from app.state.last_session import LastSession, parse_session, session_text
from core.data.points import ISLAND, MAX_POINTS, PointsData
from core.data.shapes import shape
from core.errors import InputError
from core.figures.palette import DARK, LIGHT
from core.library.about import change_about
from core.runs import open_run
from core.studies.study import load_study, parse_study
from tests.app.mouse import click as click_in
from tests.app.mouse import click_on, entry, keys, pick, pixel, pull
from tests.app.shell.conftest import Opener, trained

Key, Button = Qt.Key, Qt.MouseButton
NONE, SHIFT = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
CONTROL = Qt.KeyboardModifier.ControlModifier
FOUR = ((-0.5, 0.0, -1.0), (0.5, 0.0, 1.0), (0.0, 0.5, 1.0), (0.0, -0.5, -1.0))


@pytest.fixture
def window(program: Marginscope, qtbot: QtBot) -> DrawingWindow:
    """The window to draw in, opened by its keys, with four points."""
    keys(qtbot, program.window, Key.Key_F8, SHIFT)
    found = program.drawing.window
    assert found is not None
    qtbot.waitUntil(found.isVisible)
    assert found.sketch.points == ISLAND
    found.begin(FOUR)
    found.canvas.plot.set_home(type(found.canvas.plot.home)(-1.2, 1.2, -1.2, 1.2))
    return found


def click(
    window: DrawingWindow, x: float, y: float, button: Qt.MouseButton = Button.LeftButton
) -> None:
    plot = window.canvas.plot
    QTest.mouseClick(plot.viewport(), button, NONE, pixel(plot, x, y))


def drag(window: DrawingWindow, start: tuple[float, float], end: tuple[float, float]) -> None:
    plot = window.canvas.plot
    pull(plot, pixel(plot, *start), pixel(plot, *end))


def press(window: DrawingWindow, key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
    """A key while the plot has the focus."""
    window.activateWindow()
    window.canvas.plot.setFocus()
    QTest.keyClick(window.canvas.plot, key, modifiers)


def near(window: DrawingWindow, row: tuple[float, ...], x: float, y: float) -> bool:
    """Whether a point is where the mouse was, to the pixel."""
    shown, inside = window.canvas.plot.shown(), window.canvas.plot.inside()
    grain = 1.5 * shown.width() / inside.width()
    return abs(row[0] - x) <= grain and abs(row[1] - y) <= grain


# -------------------------------------------------------------------------------------- the mouse


def test_a_click_adds_a_point_of_the_chosen_label(window: DrawingWindow) -> None:
    click(window, 0.3, 0.7)
    QTest.mouseClick(window.labels[1], Button.LeftButton)
    click(window, -0.6, -0.4)
    first, second = window.sketch.points[4:]
    assert near(window, first, 0.3, 0.7)
    assert near(window, second, -0.6, -0.4)
    assert (first[2], second[2]) == (1.0, -1.0)
    assert all(round(value, 3) == value for value in first)  # no digits that nobody has chosen
    assert window.sketch.selected == {5}
    assert window.counts.text() == "6 points: 3 of +1, 3 of \u22121, 1 selected"
    press(window, Key.Key_Plus)
    click(window, 0.9, 0.9)
    assert window.sketch.points[6][2] == 1.0


def test_two_quick_clicks_are_two_points_and_no_reset(window: DrawingWindow) -> None:
    click(window, 0.3, 0.7)
    plot = window.canvas.plot
    here = QPointF(pixel(plot, -0.3, 0.7))
    for kind in (QEvent.Type.MouseButtonDblClick, QEvent.Type.MouseButtonRelease):
        there = QPointF(plot.viewport().mapToGlobal(here.toPoint()))
        left = Button.LeftButton
        event = QMouseEvent(kind, here, there, left, left, NONE)
        QApplication.sendEvent(plot.viewport(), event)
    assert len(window.sketch.points) == 6


def test_a_pull_moves_a_point_as_one_step(window: DrawingWindow) -> None:
    drag(window, (0.5, 0.0), (0.8, 0.4))
    assert near(window, window.sketch.points[1], 0.8, 0.4)
    assert window.sketch.points[1][2] == 1.0
    assert [step.words for step in window.history.past] == ["Move 1 point"]
    press(window, Key.Key_Z, CONTROL)
    assert window.sketch.points == FOUR
    drag(window, (0.5, 0.0), (0.8, 0.4))
    drag(window, (0.8, 0.4), (0.5, 0.0))
    assert [step.words for step in window.history.past] == ["Move 1 point"] * 2


def test_a_box_selects_and_all_move_together(window: DrawingWindow) -> None:
    drag(window, (-0.2, -0.8), (0.8, 0.2))
    assert window.sketch.selected == {1, 3}
    drag(window, (0.5, 0.0), (0.7, 0.0))
    moved = window.sketch.points
    assert near(window, moved[1], 0.7, 0.0)
    assert near(window, moved[3], 0.2, -0.5)
    assert moved[0] == FOUR[0]
    assert window.history.past[-1].words == "Move 2 points"


def test_the_right_button_flips_a_label(window: DrawingWindow) -> None:
    click(window, -0.5, 0.0, Button.RightButton)
    assert window.sketch.points[0] == (-0.5, 0.0, 1.0)
    click(window, 0.9, -0.9, Button.RightButton)  # beside all points
    assert len(window.sketch.points) == 4


def test_held_keys_select_more_points(window: DrawingWindow) -> None:
    plot = window.canvas.plot
    for place in (1, 2):
        here = pixel(plot, *FOUR[place][:2])
        QTest.mouseClick(plot.viewport(), Button.LeftButton, CONTROL, here)
    assert window.sketch.selected == {1, 2}
    QTest.mouseClick(plot.viewport(), Button.LeftButton, CONTROL, here)
    assert window.sketch.selected == {1}


def test_points_lie_on_the_grid(window: DrawingWindow) -> None:
    window.snaps.click()
    step = window.canvas.steps()[0]
    assert window.canvas.grid.curves
    click(window, 3.3 * step, -2.2 * step)
    assert window.sketch.points[4] == pytest.approx((3.0 * step, -2.0 * step, 1.0), abs=1e-12)


# -------------------------------------------------------------------------------------- the keys


def test_keys_do_what_the_mouse_does(window: DrawingWindow) -> None:
    press(window, Key.Key_Insert)
    assert window.sketch.points[4] == (0.0, 0.0, 1.0)
    press(window, Key.Key_Right)
    press(window, Key.Key_Up, SHIFT)
    x, y, _ = window.sketch.points[4]
    assert (x, y) == (0.05, 0.5)
    press(window, Key.Key_F)
    assert window.sketch.points[4] == (0.05, 0.5, -1.0)
    press(window, Key.Key_A, CONTROL)
    assert window.sketch.selected == set(range(5))
    press(window, Key.Key_Delete)
    assert window.sketch.points == ()
    words = [step.words for step in window.history.past]
    assert words == ["Add a point", "Move 1 point", "Flip 1 point", "Delete 5 points"]
    assert window.actions_of["undo"].toolTip() == "Undo: Delete 5 points (Ctrl+Z)"
    for _ in words:
        press(window, Key.Key_Z, CONTROL)
    assert window.sketch.points == FOUR
    assert not window.actions_of["undo"].isEnabled()
    for _ in words:
        press(window, Key.Key_Z, CONTROL | SHIFT)
    assert window.sketch.points == ()
    assert not window.train.isEnabled()
    assert window.train.toolTip() == f"There are 0 points; give 2 to {MAX_POINTS}."


def test_escape_lets_go_of_the_selection(window: DrawingWindow) -> None:
    press(window, Key.Key_A, CONTROL)
    press(window, Key.Key_Escape)
    assert not window.sketch.selected
    assert window.isVisible()


def test_everything_has_a_name_and_is_reached_by_tab(window: DrawingWindow) -> None:
    window.activateWindow()
    window.canvas.plot.setFocus()
    found = set()
    for _ in range(40):
        focused = QApplication.focusWidget()
        assert focused is not None
        found.add(focused)
        QTest.keyClick(focused, Key.Key_Tab)
    wanted = (window.canvas.plot, window.table, window.shapes, window.dimension, window.train)
    assert set(wanted) <= found
    assert window.canvas.plot.accessibleName()
    assert window.table.accessibleName()


# ------------------------------------------------------------------------------------- the table


def type_into(qtbot: QtBot, table: PointTable, row: int, column: int, text: str) -> None:
    index = table.points.index(row, column)
    table.window().activateWindow()
    table.setFocus()
    table.setCurrentIndex(index)
    table.edit(index)
    editor = QApplication.focusWidget()
    assert isinstance(editor, QLineEdit)
    editor.selectAll()
    QTest.keyClicks(editor, text)
    QTest.keyClick(editor, Key.Key_Return)
    # Qt takes the number over in its next turn.
    qtbot.waitUntil(lambda: QApplication.focusWidget() is not editor)


def test_numbers_are_edited_in_the_table(window: DrawingWindow, qtbot: QtBot) -> None:
    type_into(qtbot, window.table, 1, 0, "0.123456789")
    type_into(qtbot, window.table, 1, 2, "-")
    assert window.sketch.points[1] == (0.123456789, 0.0, -1.0)
    assert [step.words for step in window.history.past] == ["Edit point 2"] * 2
    type_into(qtbot, window.table, 1, 0, "wide")
    assert window.bar.text.startswith("'wide' is no coordinate")
    type_into(qtbot, window.table, 1, 2, "3")
    assert window.bar.text == "'3' is no label; labels are +1 and \u22121."
    type_into(qtbot, window.table, 1, 1, "1e9")
    assert window.sketch.points[1] == (0.123456789, 0.0, -1.0)
    assert len(window.history.past) == 2


def test_the_table_and_the_plot_select_alike(window: DrawingWindow) -> None:
    cell = window.table.visualRect(window.table.points.index(2, 0))
    QTest.mouseClick(window.table.viewport(), Button.LeftButton, NONE, cell.center())
    assert window.sketch.selected == {2}
    assert window.canvas.rings.points.tolist() == [[0.0, 0.5]]
    click(window, *FOUR[3][:2])
    assert [one.row() for one in window.table.selectionModel().selectedRows()] == [3]


# --------------------------------------------------------------------------------- the clipboard


def test_points_are_pasted_and_copied(window: DrawingWindow) -> None:
    QGuiApplication.clipboard().setText("u\tv\tkind\n0.1\t0.2\tdog\n0.30000000000000004\t1\tcat\n")
    press(window, Key.Key_V, CONTROL)
    pasted = ((0.1, 0.2, 1.0), (0.1 + 0.2, 1.0, -1.0))
    assert window.sketch.points == (*FOUR, *pasted)
    assert window.sketch.selected == {4, 5}
    assert window.history.past[-1].words == "Paste 2 points"
    assert window.bar.text == "cat is \u22121, dog is +1."
    press(window, Key.Key_C, CONTROL)
    text = QGuiApplication.clipboard().text()
    assert text == "x1,x2,y\n0.1,0.2,1\n0.30000000000000004,1.0,-1\n"
    press(window, Key.Key_A, CONTROL)
    press(window, Key.Key_Delete)
    press(window, Key.Key_V, CONTROL)
    assert window.sketch.points == pasted


def test_a_wrong_line_is_named_and_nothing_is_pasted(window: DrawingWindow) -> None:
    QGuiApplication.clipboard().setText("0.1,0.2,1\n0.3,0.4,5,-1\n")
    press(window, Key.Key_V, CONTROL)
    assert window.bar.text == (
        "Line 2 has 4 values, and 2 or 3 are needed: coordinates, then the label. "
        "Nothing was pasted."
    )
    assert window.sketch.points == FOUR
    assert not window.history.past
    QGuiApplication.clipboard().setText("0.1,0.2,1\n" * MAX_POINTS)
    press(window, Key.Key_V, CONTROL)
    assert window.bar.text == NO_ROOM
    assert window.sketch.points == FOUR


def test_points_of_another_dimension_take_the_place_of_all(window: DrawingWindow) -> None:
    QGuiApplication.clipboard().setText("0.1 1\n0.3 -1\n")
    press(window, Key.Key_V, CONTROL)
    assert window.sketch.points == ((0.1, 1.0), (0.3, -1.0))
    assert window.bar.text == OTHERS
    assert window.dimension.currentIndex() == 1
    press(window, Key.Key_Z, CONTROL)
    assert window.sketch.points == FOUR
    assert window.dimension.currentIndex() == 0


def test_there_is_a_most_of_points(window: DrawingWindow) -> None:
    window.begin(tuple((0.001 * k - 1.0, 0.0, (-1.0) ** k) for k in range(MAX_POINTS)))
    click(window, 0.0, 0.15)
    assert window.bar.text == FULL
    assert len(window.sketch.points) == MAX_POINTS


# ------------------------------------------------------------------------------ lines and shapes


def test_points_on_a_line_lie_at_their_labels(window: DrawingWindow) -> None:
    window.dimension.setFocus()
    QTest.keyClick(window.dimension, Key.Key_Down)
    assert window.sketch.points == tuple((x, label) for x, _, label in FOUR)
    click(window, 0.25, 0.8)
    click(window, -0.25, -0.3)
    assert [row[-1] for row in window.sketch.points[4:]] == [1.0, -1.0]
    x = window.sketch.points[4][0]
    drag(window, (x, 1.0), (x, -0.9))
    assert window.sketch.points[4] == (x, -1.0)
    drag(window, (x, -1.0), (x, -0.2))
    assert window.sketch.points[4] == (x, -1.0)
    press(window, Key.Key_Up)
    assert window.sketch.points[4] == (x, 1.0)


def test_one_begins_with_a_shape(window: DrawingWindow, qtbot: QtBot) -> None:
    for seed, name in enumerate(("XOR", "intervals", "XOR")):
        menu = window.shapes.menu()
        menu.popup(window.mapToGlobal(QPoint(0, 0)))
        click_in(qtbot, menu, entry(menu, name))
        assert window.sketch.points == shape(name, seed)
        assert window.history.past[-1].words == f"Begin with {name}"
    press(window, Key.Key_Z, CONTROL)
    assert window.sketch.d == 1


# ------------------------------------------------------------------------------------- to train


def runs_of(program: Marginscope) -> list[Path]:
    return [run.path for run in program.session]


def points_in(program: Marginscope) -> object:
    """The points that the form would train on; None for other data."""
    study = program.window.form.study()
    assert study is not None
    return getattr(next(study.each()).experiment.data, "points", None)


def test_the_run_is_trained_on_exactly_the_points(
    program: Marginscope, window: DrawingWindow, qtbot: QtBot
) -> None:
    click(window, 0.3, 0.7)
    drag(window, (0.5, 0.0), (0.8, 0.4))
    window.biases.click()
    points, before = window.sketch.points, runs_of(program)
    QTest.mouseClick(window.train, Button.LeftButton)
    qtbot.waitUntil(lambda: runs_of(program) != before and trained(program))
    for path in runs_of(program):
        with open_run(path) as run:
            assert run.dataset.x.tolist() == [list(row[:2]) for row in points]
            assert run.dataset.y.tolist() == [row[2] for row in points]
            assert run.experiment.network.kind == "bias"
            assert run.title.endswith("data = points, points = 5 rows, network = bias")
    assert {"neurons", "predictor"} <= set(program.display.view.wishes.views)
    # The library's words find it, and a session keeps it.
    edits = program.window.form.edits
    assert edits is not None
    kept = parse_session(session_text(LastSession(program.scenes.scene)))
    assert kept.scene.form == edits
    # The data are a step by name.
    words = [step.words for step in program.scenes.history.past]
    assert words[:2] == ["network = bias", "Draw the data"]
    keys(qtbot, program.window, Key.Key_Z, CONTROL)
    keys(qtbot, program.window, Key.Key_Z, CONTROL)
    assert points_in(program) is None
    assert window.sketch.points == points  # what was drawn is still there
    keys(qtbot, program.window, Key.Key_Z, CONTROL | SHIFT)
    assert points_in(program) == points


def test_the_menu_and_the_form_lead_there(program: Marginscope, qtbot: QtBot) -> None:
    assert not program.window.form.sections["data"].draw.isVisible()
    pick(qtbot, program.window, "Experiment", "Draw data ...")
    window = program.drawing.window
    assert window is not None
    assert window.isVisible()
    QTest.mouseClick(window.train, Button.LeftButton)
    window.close()
    button = program.window.form.sections["data"].draw
    qtbot.waitUntil(button.isVisible)
    QTest.mouseClick(button, Button.LeftButton)
    assert window.isVisible()
    qtbot.waitUntil(lambda: trained(program))


def test_what_is_drawn_is_in_the_form_when_the_window_is_left(
    program: Marginscope, window: DrawingWindow, qtbot: QtBot
) -> None:
    click(window, 0.3, 0.7)
    points = window.sketch.points
    window.close()
    assert points_in(program) == points
    assert [step.words for step in program.scenes.history.past] == ["Draw the data"]
    # What is no data waits, and is there again.
    program.drawing.show()
    for row in (0, 3):
        click(window, *points[row][:2], Button.RightButton)
    window.close()
    assert program.window.bar.text.startswith(WAITS.partition("{")[0])
    assert "all points have the label +1" in program.window.bar.text
    assert window.sketch.count(1.0) == 5
    assert len(program.scenes.history.past) == 1
    assert points_in(program) == points


@pytest.mark.usefixtures("own_window")
def test_a_session_keeps_what_is_drawn(program: Marginscope, window: DrawingWindow) -> None:
    click(window, 0.3, 0.7)
    points = window.sketch.points
    program.window.close()
    assert program.drawing.window is None
    form = parse_session(program.places.session.read_text()).scene.form
    assert form is not None
    assert dict(form.kinds)["data"] == "points"
    assert dict(form.texts)["data.points"] == text_of(points)


def test_the_points_of_the_form_are_shown(
    program: Marginscope, window: DrawingWindow, qtbot: QtBot
) -> None:
    click(window, 0.3, 0.7)
    window.close()
    program.drawing.show()
    rows: list[FieldRow] = program.window.form.sections["data"].rows
    (row,) = [row for row in rows if row.field.key == "data.points"]
    control = row.control
    assert isinstance(control, QLineEdit)
    program.window.activateWindow()
    control.setFocus()
    control.selectAll()
    QTest.keyClicks(control, "0.5, 1; -0.5, -1")
    assert window.sketch.points == ((0.5, 1.0), (-0.5, -1.0))
    assert window.history.past[-1].words == "Points of the form"
    QTest.keyClicks(control, "; 3")
    text = "point 3 has 1 number and point 1 has 2 numbers"
    assert text in program.window.form.problems()["data.points"]
    QTest.mouseClick(window.train, Button.LeftButton)  # the window's points are right
    qtbot.waitUntil(lambda: trained(program))
    assert not program.window.form.problems()


def test_a_wrong_value_of_the_form_is_said(
    program: Marginscope, window: DrawingWindow, qtbot: QtBot
) -> None:
    (row,) = [r for r in program.window.form.sections["network"].rows if r.field.name == "m"]
    row.control.setFocus()
    row.control.selectAll()
    QTest.keyClicks(row.control, "wide")
    before = runs_of(program)
    QTest.mouseClick(window.train, Button.LeftButton)
    assert window.bar.text.startswith(MEND_FIRST)
    assert window.bar.text.endswith("m = 'wide': a number is needed.")
    assert runs_of(program) == before


def test_a_recorded_run_gives_its_points(
    program: Marginscope, window: DrawingWindow, open_program: Opener, qtbot: QtBot
) -> None:
    click(window, 0.3, 0.7)
    points, before = window.sketch.points, runs_of(program)
    QTest.mouseClick(window.train, Button.LeftButton)
    qtbot.waitUntil(lambda: runs_of(program) != before and trained(program))
    path = runs_of(program)[0]
    other = open_program(path)
    qtbot.waitUntil(lambda: trained(other))
    other.drawing.show()
    again = other.drawing.window
    assert again is not None
    assert again.sketch.points == points
    # Another point in the points of a run, whose settings say how many there were.
    click(again, -0.7, 0.7)
    QTest.mouseClick(again.train, Button.LeftButton)
    qtbot.waitUntil(lambda: runs_of(other) != [path] and trained(other))
    with open_run(runs_of(other)[0]) as run:
        assert run.dataset.n == len(points) + 1


def test_training_follows_the_drawing(
    program: Marginscope, window: DrawingWindow, qtbot: QtBot
) -> None:
    QTest.mouseClick(window.always, Button.LeftButton, pos=QPoint(8, 8))
    assert window.always.isChecked()
    for place in ((0.3, 0.7), (-0.7, 0.7)):
        before = runs_of(program)
        click(window, *place)
        qtbot.waitUntil(lambda old=before: runs_of(program) != old)
    qtbot.waitUntil(lambda: trained(program))
    with open_run(runs_of(program)[0]) as run:
        assert run.dataset.n == len(window.sketch.points)


def test_training_while_drawing_leaves_the_last_runs_and_one_step(
    program: Marginscope, window: DrawingWindow, qtbot: QtBot
) -> None:
    """Those between go to the trash, but for what somebody has kept, or goes on from."""
    first = runs_of(program)
    QTest.mouseClick(window.always, Button.LeftButton, pos=QPoint(8, 8))
    every: list[list[Path]] = []
    for place in ((0.3, 0.7), (-0.7, 0.7), (0.9, 0.1)):
        before = runs_of(program)
        click(window, *place)
        qtbot.waitUntil(lambda old=before: runs_of(program) not in ([], old))
        qtbot.waitUntil(lambda: trained(program))
        every.append(runs_of(program))
        if len(every) == 1:
            change_about(every[0][0], lambda about: replace(about, tags=("talk",)))
    gone = [every[0][1], *every[1]]
    qtbot.waitUntil(lambda: not any(path.exists() for path in gone))
    assert all(path.exists() for path in (*first, every[0][0], *every[2]))
    trash = program.places.runs / ".trash"
    assert {path.name for path in trash.rglob("*.msrun")} == {path.name for path in gone}
    qtbot.waitUntil(lambda: not program.scenes.waiting)
    assert [step.words for step in program.scenes.history.past] == ["Draw and train"]
    points = window.sketch.points
    keys(qtbot, program.window, Key.Key_Z, CONTROL)
    qtbot.waitUntil(lambda: runs_of(program) == first)
    assert points_in(program) is None
    keys(qtbot, program.window, Key.Key_Z, CONTROL | SHIFT)
    qtbot.waitUntil(lambda: runs_of(program) == every[2])
    assert points_in(program) == points


def test_a_run_that_undo_brings_back_stays(
    program: Marginscope, window: DrawingWindow, qtbot: QtBot
) -> None:
    """Something else was done between two changes of the points: the first one's run is a part of
    a step of its own."""
    QTest.mouseClick(window.always, Button.LeftButton, pos=QPoint(8, 8))
    every: list[list[Path]] = []
    for place in ((0.3, 0.7), (-0.7, 0.7), (0.9, 0.1)):
        before = runs_of(program)
        click(window, *place)
        qtbot.waitUntil(lambda old=before: runs_of(program) not in ([], old))
        qtbot.waitUntil(lambda: trained(program))
        every.append(runs_of(program))
        if len(every) == 1:
            pick(qtbot, program.window, "View", "Curves against", "step")
            qtbot.waitUntil(lambda: not program.scenes.waiting)
    qtbot.waitUntil(lambda: not any(path.exists() for path in every[1]))
    qtbot.waitUntil(lambda: not program.library.librarian.busy)
    assert all(path.exists() for path in every[0])
    words = [step.words for step in program.scenes.history.past]
    assert words == ["Draw and train", "Curves against step", "Draw and train"]
    keys(qtbot, program.window, Key.Key_Z, CONTROL)
    qtbot.waitUntil(lambda: runs_of(program) == every[0])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("homogeneity-odd-parity", ""),
        ("frei23-figure-1", "2"),  # its variants name d
        ("wei19-theorem-2-1", "2"),  # its formulas do
    ],
)
def test_studies_of_other_data_take_points(name: str, said: str) -> None:
    edits = with_points(Edits(load_study(name)), FOUR)
    outcome = StudyEdits.of(edits).outcome()
    assert outcome.study is not None
    cell = next(outcome.study.each())
    assert cell.experiment.data == PointsData(points=FOUR)
    assert dict(edits.texts)["data.d"] == said


@pytest.mark.parametrize(
    ("name", "said", "key", "text"),
    [
        ("frei23-figure-2", "batch = 128 is larger than n = 12", "batch", "12"),
        ("telgarsky22-theorem-2-1", "fresh = true needs a distribution", "fresh", "false"),
    ],
)
def test_studies_that_points_do_not_suit_say_why_and_what_to_change(
    program: Marginscope, window: DrawingWindow, name: str, said: str, key: str, text: str
) -> None:
    """A batch of more points than there are, and fresh examples of a distribution that is not
    there: neither can be trained. What the sentence says to change helps."""
    program.experiment.offer(name)
    window.replace(ISLAND, "twelve")
    before = runs_of(program)
    QTest.mouseClick(window.train, Button.LeftButton)
    assert window.bar.text.startswith(MEND_FIRST)
    assert said in window.bar.text
    assert runs_of(program) == before
    edits = program.window.form.edits
    assert edits is not None
    mended = replace(edits, texts=(*edits.texts, (f"dynamics.{key}", text)))
    outcome = StudyEdits.of(mended).outcome()
    assert outcome.study is not None, outcome.problems
    assert next(outcome.study.each()).experiment.data.kind == "points"


def test_a_study_whose_variants_need_a_distribution_says_so(
    program: Marginscope, window: DrawingWindow
) -> None:
    """The form has no field for what variants say: no value of it would help."""
    program.experiment.offer("telgarsky22-table-1")
    window.replace(ISLAND, "twelve")
    before = runs_of(program)
    QTest.mouseClick(window.train, Button.LeftButton)
    assert "its variants SGD, lazy SGD" in window.bar.text
    assert window.bar.text.endswith("choose another study.")
    assert runs_of(program) == before


# ---------------------------------------------------------------------------------- files, looks


def test_points_of_files_are_opened(
    program: Marginscope, window: DrawingWindow, tmp_path: Path
) -> None:
    x, y = np.array([[0.1], [0.1 + 0.2]]), np.array([0, 1])
    np.savez(tmp_path / "a.npz", x=x, y=y)
    program.drawing.open(tmp_path / "a.npz")
    assert window.sketch.points == ((0.1, -1.0), (0.1 + 0.2, 1.0))
    assert window.history.past[-1].words == "Open a.npz"
    np.savez(tmp_path / "b.npz", x=np.eye(3), y=[0, 1, 1])
    program.drawing.open(tmp_path / "b.npz")
    assert window.bar.text.startswith("b.npz has n = 3 points of d = 3 coordinates and 2 classes")
    program.drawing.open(tmp_path / "c.npz")
    assert window.bar.text.startswith("there is no file")  # and not what files call it
    assert "c.npz" in window.bar.text
    (tmp_path / "e.csv").write_text("")
    program.drawing.open(tmp_path / "e.csv")
    assert window.bar.text == (
        f"{tmp_path / 'e.csv'} needs one column named y for the labels; it is empty."
    )
    np.savez_compressed(tmp_path / "d.npz", x=np.zeros((10_000, 2)), y=np.zeros(10_000))
    with pytest.raises(InputError, match="too large for points"):
        points_of(tmp_path / "d.npz")
    assert len(window.sketch.points) == 2


def test_it_takes_the_palette(program: Marginscope, window: DrawingWindow) -> None:
    for palette in (DARK, LIGHT):
        click_on(program, "dark")
        markers = window.canvas.markers
        assert [style.colour for style in markers.styles] == [palette.negative, palette.positive]
        assert window.canvas.plot.palette_of_plot is palette


def test_many_points_are_in_the_form_whole(program: Marginscope, window: DrawingWindow) -> None:
    generator = np.random.default_rng(3)
    rows = generator.standard_normal((MAX_POINTS, 2)).tolist()
    points = tuple((*row, (-1.0) ** k) for k, row in enumerate(rows))
    window.replace(points, "Many")
    window.close()
    assert points_in(program) == points
    study = program.window.form.study()
    assert study is not None
    again = next(parse_study(study.to_toml(), "t").each())
    assert again.experiment.data == PointsData(points=points)
    (row,) = [r for r in program.window.form.sections["data"].rows if r.field.rows]
    assert row.text().count(";") == MAX_POINTS - 1
    kept = parse_session(session_text(LastSession(program.scenes.scene)))
    assert kept.scene.form == program.window.form.edits
