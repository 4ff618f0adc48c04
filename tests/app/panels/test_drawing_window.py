"""The window in which data are drawn: by the mouse, by keys, in its table, from the clipboard."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.data.drawing_table import PointTable
from app.data.drawing_window import FULL, NO_ROOM, OTHERS, DrawingWindow
from core.data.points import MAX_POINTS, shape
from core.figures.palette import LIGHT
from tests.app.drawing import FOUR, begin_with_four, click, drag, press, steps_of
from tests.app.mouse import click as click_in
from tests.app.mouse import entry, pixel

Key, Button = Qt.Key, Qt.MouseButton
NONE, SHIFT = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def window(qtbot: QtBot) -> DrawingWindow:
    window = DrawingWindow(LIGHT)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitUntil(window.isVisible)
    begin_with_four(window)
    return window


def near(window: DrawingWindow, row: tuple[float, ...], x: float, y: float) -> bool:
    """Return True if a point is where the mouse was, to the pixel."""
    shown, inside = window.canvas.plot.visible_range(), window.canvas.plot.plot_area()
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
    assert steps_of(window) == ["Move 1 point"]
    press(window, Key.Key_Z, CONTROL)
    assert window.sketch.points == FOUR
    drag(window, (0.5, 0.0), (0.8, 0.4))
    drag(window, (0.8, 0.4), (0.5, 0.0))
    assert steps_of(window) == ["Move 1 point"] * 2


def test_a_box_selects_and_all_move_together(window: DrawingWindow) -> None:
    drag(window, (-0.2, -0.8), (0.8, 0.2))
    assert window.sketch.selected == {1, 3}
    drag(window, (0.5, 0.0), (0.7, 0.0))
    moved = window.sketch.points
    assert near(window, moved[1], 0.7, 0.0)
    assert near(window, moved[3], 0.2, -0.5)
    assert moved[0] == FOUR[0]
    assert window.history.undoText() == "Move 2 points"


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


@pytest.mark.parametrize("near", ["0.1", "1e-9", "1e-300"])
def test_the_grid_has_few_lines_at_any_scale(window: DrawingWindow, near: str) -> None:
    window.snaps.click()
    press(window, Key.Key_A, CONTROL)
    press(window, Key.Key_Delete)
    QGuiApplication.clipboard().setText(f"0,0,1\n{near},1e6,-1\n")
    press(window, Key.Key_V, CONTROL)
    assert len(window.sketch.points) == 2
    window.canvas.fit()
    window.canvas.grab()
    lines = sum(path.elementCount() for path, _ in window.canvas.grid.curves)
    assert 0 < lines < 2000


# -------------------------------------------------------------------------------------- the keys


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
    editor.selectAll()
    QTest.keyClicks(editor, text)
    QTest.keyClick(editor, Key.Key_Return)
    # Qt takes the number over in its next turn.
    qtbot.waitUntil(lambda: QApplication.focusWidget() is not editor)


def test_numbers_are_edited_in_the_table(window: DrawingWindow, qtbot: QtBot) -> None:
    type_into(qtbot, window.table, 1, 0, "0.123456789")
    type_into(qtbot, window.table, 1, 2, "-")
    assert window.sketch.points[1] == (0.123456789, 0.0, -1.0)
    assert steps_of(window) == ["Edit point 2"] * 2
    type_into(qtbot, window.table, 1, 0, "wide")
    assert window.bar.text.startswith("'wide' is not a coordinate")
    type_into(qtbot, window.table, 1, 0, "1,257")
    assert window.bar.text == (
        "'1,257' is ambiguous: is the comma a decimal or a thousands separator? Enter 1.257 or "
        "1257."
    )
    type_into(qtbot, window.table, 1, 2, "3")
    assert window.bar.text == "'3' is not a label. Enter +1 or \u22121."
    type_into(qtbot, window.table, 1, 1, "1e9")
    assert window.sketch.points[1] == (0.123456789, 0.0, -1.0)
    assert window.history.index() == 2


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
    assert window.history.undoText() == "Paste 2 points"
    assert window.bar.text == "Understood: label column 'kind' (last); cat is \u22121, dog is +1."
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
        "Line 2 has 4 values, and the lines before it have 3; check its separators, and that no "
        "number has a comma. Nothing was pasted."
    )
    assert window.sketch.points == FOUR
    assert not window.history.canUndo()
    QGuiApplication.clipboard().setText("0.1,0.2,1\n" * MAX_POINTS)
    press(window, Key.Key_V, CONTROL)
    assert window.bar.text == NO_ROOM
    assert window.sketch.points == FOUR


def test_points_of_another_dimension_take_the_place_of_all(window: DrawingWindow) -> None:
    QGuiApplication.clipboard().setText("0.1 1\n0.3 -1\n")
    press(window, Key.Key_V, CONTROL)
    assert window.sketch.points == ((0.1, 1.0), (0.3, -1.0))
    read = "Understood: columns are separated by blanks; no header; label column 2 (last)."
    assert window.bar.text == f"{read} {OTHERS}"
    assert window.dimension.currentIndex() == 1
    press(window, Key.Key_Z, CONTROL)
    assert window.sketch.points == FOUR
    assert window.dimension.currentIndex() == 0


def test_there_is_a_most_of_points(window: DrawingWindow) -> None:
    window.start(tuple((0.001 * k - 1.0, 0.0, (-1.0) ** k) for k in range(MAX_POINTS)))
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
        assert window.history.undoText() == f"Start from {name}"
    press(window, Key.Key_Z, CONTROL)
    assert window.sketch.d == 1
