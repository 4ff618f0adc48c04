"""Everything is reached and pressed by keys alone, in an order that one would guess."""

from __future__ import annotations

import math

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from app.state.views import FIGURE_1
from app.style import shades
from app.training.field_row import FieldRow
from app.views.neurons import NeuronsView
from app.widgets.plot_item import Plot
from core.figures.palette import LIGHT

Key = Qt.Key


def round_by_tab(program: Marginscope) -> list[QWidget]:
    """Return the widgets that Tab focuses in turn, from the time line until it is reached again."""
    slider = program.window.transport.slider
    slider.setFocus()
    found: list[QWidget] = []
    for _ in range(300):
        focused = QApplication.focusWidget()
        assert focused is not None
        QTest.keyClick(focused, Key.Key_Tab)
        focused = QApplication.focusWidget()
        assert focused is not None
        found.append(focused)
        if focused is slider:
            break
    return found


@pytest.mark.drawer("form")
def test_tab_goes_through_top_bar_settings_and_plots(program: Marginscope) -> None:
    program.window.resize(1280, 800)
    program.window.activateWindow()
    found = round_by_tab(program)
    assert found[-1] is program.window.transport.slider
    assert len(set(found)) == len(found)
    window = program.window
    tools = [window.top.training[0], window.top.export]
    rows: list[FieldRow] = window.form.sections["data"].rows
    first = found.index(rows[0].control)
    for button in tools:
        assert isinstance(button, QWidget)
        assert found.index(button) < first
    assert first < 20
    plots = [place for place, one in enumerate(found) if window.pages.isAncestorOf(one)]
    assert first < min(plots)
    # The form's fields follow one another.
    form = [place for place, one in enumerate(found) if window.form.isAncestorOf(one)]
    assert form == list(range(form[0], form[0] + len(form)))


def test_buttons_with_the_focus_are_pressed_by_space_and_return(
    program: Marginscope, qtbot: QtBot
) -> None:
    program.window.activateWindow()
    qtbot.waitUntil(program.window.isActiveWindow)
    program.display.update_intent(playing=False)
    button = program.window.rail.buttons["numbers"]
    for key, shown in ((Key.Key_Space, True), (Key.Key_Return, False)):
        button.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(button, key)
        assert program.window.inspector.isVisible() == shown
        assert not program.display.intent.playing
    # Elsewhere Space plays.
    program.window.transport.slider.setFocus()
    QTest.keyClick(program.window.transport.slider, Key.Key_Space)
    assert program.display.intent.playing


def test_no_name_for_readers_of_the_screen_has_the_mark_of_a_key(program: Marginscope) -> None:
    buttons = program.window.findChildren(QAbstractButton)
    assert [one.accessibleName() for one in buttons if "&" in one.accessibleName()] == []
    for panel in program.display.panels:
        for view in panel.views:
            assert view.plot.accessibleName() or view.accessibleName()


def tab_to(program: Marginscope, name: str, qtbot: QtBot) -> Plot:
    program.window.resize(1280, 800)
    program.window.activateWindow()
    qtbot.waitUntil(program.window.isActiveWindow)
    program.display.update_intent(playing=False, views=FIGURE_1)
    plot = program.display.panels[0].view(name).plot
    for _ in range(100):
        focused = QApplication.focusWidget()
        assert focused is not None
        if focused is plot:
            break
        QTest.keyClick(focused, Key.Key_Tab)
    assert QApplication.focusWidget() is plot
    return plot


def hovered(program: Marginscope) -> int:
    mark = program.display.intent.hovered
    return -1 if mark is None else mark[1]


def test_plots_are_reached_by_tab_before_the_transport(program: Marginscope) -> None:
    program.window.resize(1280, 800)
    program.window.activateWindow()
    found = round_by_tab(program)
    plots = [view.plot for panel in program.display.panels for view in panel.views]
    shown = [plot for plot in plots if plot.isVisible()]
    places = [found.index(plot) for plot in shown]
    assert len(shown) == 4
    assert places == sorted(places)
    back = program.window.transport.findChildren(QToolButton)[0]
    assert back.defaultAction() is program.actions["back"]
    assert max(places) < found.index(back)
    names = {plot.accessibleName() for plot in shown}
    assert len(names) == 4  # of every view and run another one
    heading = next(iter(program.session)).heading
    assert f"neurons |a\u2c7c| v\u2c7c, {heading}" in names
    assert not [name for name in names if "&" in name]


def test_a_plot_has_a_ring_for_keys_and_none_for_the_mouse(
    program: Marginscope, qtbot: QtBot
) -> None:
    view = program.display.panels[0].view("neurons")
    plot = tab_to(program, "neurons", qtbot)
    plot.clearFocus()
    before = plot.grab().toImage()
    QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(4, 4))
    assert plot.hasFocus()
    assert not view.focus.is_visible
    # The keys stay those of the window.
    frame = program.display.view.runs[0].frame
    QTest.keyClick(plot, Key.Key_Right)
    assert program.display.view.runs[0].frame == frame + 1
    assert hovered(program) == -1
    QTest.keyClick(plot, Key.Key_Left)
    tab_to(program, "norms", qtbot)
    plot = tab_to(program, "neurons", qtbot)
    assert view.focus.is_visible
    after = plot.grab().toImage()
    accent = QColor(shades(LIGHT)["accent"])
    middle = plot.height() // 2
    assert after.pixelColor(1, middle) == accent
    assert before.pixelColor(1, middle) != accent


@pytest.mark.parametrize("name", ["norms", "rotations"])
def test_arrows_go_along_the_rank(program: Marginscope, qtbot: QtBot, name: str) -> None:
    plot = tab_to(program, name, qtbot)
    data = program.display.panels[0].run.data
    frame = program.display.view.runs[0].frame
    kind = {"norms": "relative_norm", "rotations": "rotation"}[name]
    places = data.sorted_nodes(kind, frame).place
    seen = []
    for _ in range(data.m + 1):
        QTest.keyClick(plot, Key.Key_Right)
        seen.append(int(places[hovered(program)]))
    assert seen == [*range(data.m), data.m - 1]
    QTest.keyClick(plot, Key.Key_Left)
    assert places[hovered(program)] == data.m - 2
    assert program.display.view.runs[0].frame == frame
    values = data.values(kind, frame)
    before = values[hovered(program)]
    QTest.keyClick(plot, Key.Key_Up)
    assert values[hovered(program)] >= before


def test_arrows_go_through_the_neurons_and_space_pins(program: Marginscope, qtbot: QtBot) -> None:
    plot = tab_to(program, "neurons", qtbot)
    program.playback.seek_end()
    frame = program.display.view.runs[0].frame
    view = program.display.panels[0].view("neurons")
    assert isinstance(view, NeuronsView)
    places = plot.pixels(view.plot.points)
    QTest.keyClick(plot, Key.Key_Right)
    first = hovered(program)
    assert places[first, 0] == places[:, 0].min()
    for key, axis, sign in ((Key.Key_Right, 0, 1), (Key.Key_Up, 1, -1), (Key.Key_Left, 0, -1)):
        for _ in range(4):
            here = hovered(program)
            QTest.keyClick(plot, key)
            step = sign * (places[hovered(program)] - places[here])
            assert step[axis] > 0.5 or hovered(program) == here
            assert abs(step[1 - axis]) <= step[axis]
            # No other node in that quarter is nearer.
            ways = sign * (places - places[here])
            ahead = (ways[:, axis] > 0.5) & (abs(ways[:, 1 - axis]) <= ways[:, axis])
            if ahead.any():
                nearest = min(math.hypot(*way) for way in ways[ahead])
                assert math.hypot(*step) == pytest.approx(nearest)
    node = hovered(program)
    assert f"neuron {node}: (" in plot.accessibleDescription()
    for key, pinned in ((Key.Key_Space, {node}), (Key.Key_Return, set()), (Key.Key_Space, {node})):
        QTest.keyClick(plot, key)
        assert {mark[1] for mark in program.display.intent.pinned} == pinned
    assert not program.display.intent.playing
    assert program.display.view.runs[0].frame == frame
    QTest.keyClick(plot, Key.Key_Escape)
    assert not program.display.intent.pinned
    # Elsewhere the node is marked no more, and the keys are the window's.
    QTest.keyClick(plot, Key.Key_Tab)
    assert hovered(program) == -1
    QTest.keyClick(tab_to(program, "margins", qtbot), Key.Key_Left)
    assert program.display.view.runs[0].frame == frame - 1


def test_arrows_move_the_cursor_in_plots_of_curves(program: Marginscope, qtbot: QtBot) -> None:
    plot = tab_to(program, "margins", qtbot)
    program.playback.seek_end()
    said = plot.accessibleDescription()
    frame = program.display.view.runs[0].frame
    QTest.keyClick(plot, Key.Key_Left)
    assert program.display.view.runs[0].frame == frame - 1
    assert "t = " in said
    assert "hard" in said
    assert plot.accessibleDescription() != said
