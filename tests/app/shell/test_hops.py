"""Length of the way from an event to its effect, in calls of functions of `app`.

A hop is one call of a Python function of the folder `app` that is on the stack when the effect
begins: the handler of Qt's event, each slot and method on the way, and the effect itself. Functions
that have returned by then do not count, nor do a signal that is connected to another signal, Qt,
and the test. `sys.setprofile` notes the shortest stack with which one of a way's ends is called.

A new row of WAYS has a function that prepares the window and returns what triggers the event, a
function that returns the functions at which the way ends, and the most hops.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from types import CodeType, FrameType

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

import app
from app.shell.application import Marginscope
from app.views.view import RunView
from tests.app.mouse import LEFT, NONE

APP = str(Path(app.__file__).parent)


def drag_slider(program: Marginscope, qtbot: QtBot) -> Callable[[], object]:
    """Press the slider; return what drags it to another moment."""
    slider = program.window.transport.slider
    start, end = (QPoint(int(share * slider.width()), slider.height() // 2) for share in (0.3, 0.7))
    qtbot.mousePress(slider, LEFT, pos=start)
    there = QPointF(slider.mapToGlobal(end))
    kind, nothing = QEvent.Type.MouseMove, Qt.MouseButton.NoButton
    event = QMouseEvent(kind, QPointF(end), there, nothing, LEFT, NONE)
    return partial(QApplication.sendEvent, slider, event)


def click_node(program: Marginscope, qtbot: QtBot) -> Callable[[], object]:
    """Show the neurons of the first run; return what clicks one."""
    program.display.ask(views=("neurons",))
    plot = program.display.panels[0].view("neurons").plot
    place = QPointF(*plot.pixels(plot.points[:1])[0].tolist()).toPoint()
    return partial(qtbot.mouseClick, plot.viewport(), LEFT, pos=place)


def drawing(program: Marginscope) -> Iterable[CodeType]:
    """Return the methods with which the views shown draw a frame or mark nodes."""
    views = {type(view) for panel in program.display.panels for view in panel.views}
    kinds = {kind for view in views for kind in view.__mro__ if issubclass(kind, RunView)}
    names = ("_show", "_mark_nodes")
    return [vars(kind)[name].__code__ for kind in kinds for name in names if name in vars(kind)]


Prepare = Callable[[Marginscope, QtBot], Callable[[], object]]
WAYS: dict[str, tuple[Prepare, Callable[[Marginscope], Iterable[CodeType]], int]] = {
    "a drag of the slider to the drawing": (drag_slider, drawing, 5),
    "a click on a node to the drawing": (click_node, drawing, 5),
}


def stack_of(frame: FrameType | None) -> list[str]:
    """Return the functions of `app` on a stack, the first call first."""
    names: list[str] = []
    while frame is not None:
        if frame.f_code.co_filename.startswith(APP):
            names.append(frame.f_code.co_qualname)
        frame = frame.f_back
    return names[::-1]


def shortest_way(trigger: Callable[[], object], ends: Iterable[CodeType]) -> list[str]:
    """Return the shortest stack with which an end is called; [] if none is."""
    wanted, ways = set(ends), list[list[str]]()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code in wanted:
            ways.append(stack_of(frame))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        trigger()
    finally:
        sys.setprofile(before)
    return min(ways, key=len, default=[])


@pytest.mark.parametrize("name", WAYS)
def test_a_way_has_few_hops(program: Marginscope, qtbot: QtBot, name: str) -> None:
    prepare, ends, most = WAYS[name]
    trigger = prepare(program, qtbot)
    way = shortest_way(trigger, ends(program))
    assert 0 < len(way) <= most, " > ".join(way)
