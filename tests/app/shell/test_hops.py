"""Length of the way from an event to its effect, in calls of functions of `app`.

A hop is one call of a Python function of the folder `app` that is on the stack when the effect
begins: the handler of Qt's event, each slot and method on the way, and the effect itself. Functions
that have returned by then do not count, nor do a signal that is connected to another signal, Qt,
and the test. `sys.setprofile` notes the shortest stack with which one of a way's ends is called.

A new row of WAYS has a function that prepares the window and returns what triggers the event, a
function that returns the functions at which the way ends, and the most hops. An export has two
events, the action and the dialog's button; its hops are the functions on the way to each station.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import CodeType, FrameType

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QStandardPaths, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

import app
from app.shell.application import Marginscope
from app.training.run_worker import RunWorker
from app.views.view import RunView
from tests.app.mouse import LEFT, NONE
from tests.app.shell.shared_window import trained

APP = str(Path(app.__file__).parent)
# What an export passes, in this order: the runs shown, the dialog, the runs shown then, the thread.
STATIONS = {"export_snapshot", "ExportController._open", "completed", "Worker.request"}


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
    program.display.update_intent(views=("neurons",))
    plot = program.display.panels[0].view("neurons").plot
    place = QPointF(*plot.pixels(plot.points[:1])[0].tolist()).toPoint()
    return partial(qtbot.mouseClick, plot.viewport(), LEFT, pos=place)


def drawing(program: Marginscope) -> Iterable[CodeType]:
    """Return the methods with which the views shown draw a frame or mark nodes."""
    views = {type(view) for panel in program.display.panels for view in panel.views}
    kinds = {kind for view in views for kind in view.__mro__ if issubclass(kind, RunView)}
    names = ("_show", "_mark_nodes")
    return [vars(kind)[name].__code__ for kind in kinds for name in names if name in vars(kind)]


def run(program: Marginscope, qtbot: QtBot, action: str = "run") -> Callable[[], object]:
    """Wait for the runs that are open; return what triggers an action."""
    qtbot.waitUntil(partial(trained, program))
    return program.actions[action].trigger


def run_a_branch(program: Marginscope, qtbot: QtBot) -> Callable[[], object]:
    """Fill the form with a branch of the first run; return what triggers Run."""
    trigger = run(program, qtbot)
    program.branches.offer()
    edits = program.window.form.edits
    assert edits is not None
    until = (("dynamics.until_log10_time", "1.5"),)
    program.training.show_edits(replace(edits, texts=until))
    return trigger


def submitting(_: Marginscope) -> Iterable[CodeType]:
    """Return the method that hands jobs to the training thread."""
    return [RunWorker.submit.__code__]


Prepare = Callable[[Marginscope, QtBot], Callable[[], object]]
WAYS: dict[str, tuple[Prepare, Callable[[Marginscope], Iterable[CodeType]], int]] = {
    "a drag of the slider to the drawing": (drag_slider, drawing, 5),
    "a click on a node to the drawing": (click_node, drawing, 5),
    "Run to the training thread": (run, submitting, 7),
    "Run of a branch to the training thread": (run_a_branch, submitting, 7),
    "another seed to the training thread": (partial(run, action="seed"), submitting, 7),
    "a continuation to the training thread": (partial(run, action="further"), submitting, 7),
}


def stack_of(frame: FrameType | None) -> list[FrameType]:
    """Return the calls of functions of `app` on a stack, the first call first."""
    frames: list[FrameType] = []
    while frame is not None:
        if frame.f_code.co_filename.startswith(APP):
            frames.append(frame)
        frame = frame.f_back
    return frames[::-1]


def names_of(frames: Iterable[FrameType]) -> list[str]:
    return [frame.f_code.co_qualname for frame in frames]


@contextmanager
def on_calls(note: Callable[[FrameType], None]) -> Iterator[None]:
    """Pass the frame of every call of a Python function to `note`."""

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            note(frame)

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(before)


@pytest.mark.parametrize("name", WAYS)
def test_a_way_has_few_hops(program: Marginscope, qtbot: QtBot, name: str) -> None:
    prepare, ends, most = WAYS[name]
    trigger, ways = prepare(program, qtbot), list[list[str]]()
    wanted = set(ends(program))

    def note(frame: FrameType) -> None:
        if frame.f_code in wanted:
            ways.append(names_of(stack_of(frame)))

    with on_calls(note):
        trigger()
    way = min(ways, key=len, default=[])
    assert 0 < len(way) <= most, " > ".join(way)
    qtbot.waitUntil(partial(trained, program))


def test_a_figure_is_few_hops_from_the_menu_to_the_thread(
    program: Marginscope, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QStandardPaths, "writableLocation", lambda place: str(tmp_path))
    hops, latest = list[str](), list[FrameType]()

    def note(frame: FrameType) -> None:
        if frame.f_code.co_qualname in STATIONS and frame.f_code.co_filename.startswith(APP):
            stack = stack_of(frame)
            hops.extend(names_of(one for one in stack if one not in latest))
            latest[:] = stack

    with on_calls(note):
        program.actions["figure"].trigger()
    dialog = program.export.dialog
    qtbot.waitUntil(dialog.save.isEnabled)
    program.export._preview_timer.stop()
    latest.clear()
    with qtbot.waitSignal(program.export.finished), on_calls(note):
        qtbot.mouseClick(dialog.save, LEFT)
    latest.clear()
    assert hops[0] == "ExportController.figure" and hops[-1] == "Worker.request"
    assert len(hops) <= 9, " > ".join(hops)
