"""Export: few functions lie between the menu and the thread that writes the file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from PySide6.QtCore import QStandardPaths, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope

MOST_HOPS = 9
APP = str(Path(__file__).resolve().parents[3] / "app")
# What an export passes, in this order: the runs shown, the dialog, the runs shown then, the thread.
STATIONS = {"export_snapshot", "ExportController._open", "completed", "Worker.ask"}


@contextmanager
def recorded_hops(stations: set[str]) -> Iterator[list[str]]:
    """Record the program's functions that lead to stations, in the order of their calls."""
    hops: list[str] = []
    latest: list[FrameType] = []

    def record(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_qualname in stations and is_ours(frame):
            stack = [one for one in stack_of(frame) if is_ours(one)]
            hops.extend(one.f_code.co_qualname for one in stack if one not in latest)
            latest[:] = stack

    before = sys.getprofile()
    sys.setprofile(record)
    try:
        yield hops
    finally:
        sys.setprofile(before)
        latest.clear()


def is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(APP)


def stack_of(frame: FrameType | None) -> list[FrameType]:
    """Return a stack of calls, the outermost first."""
    stack = []
    while frame is not None:
        stack.append(frame)
        frame = frame.f_back
    return stack[::-1]


def test_a_figure_is_few_hops_from_the_menu_to_the_thread(
    program: Marginscope, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QStandardPaths, "writableLocation", lambda place: str(tmp_path))
    with recorded_hops(STATIONS) as hops:
        program.actions["figure"].trigger()
    dialog = program.export.dialog
    assert dialog is not None
    qtbot.waitUntil(dialog.save.isEnabled)
    program.export._preview_timer.stop()
    with qtbot.waitSignal(program.export.finished), recorded_hops(STATIONS) as more:
        QTest.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    assert hops[0] == "ExportController.figure" and more[-1] == "Worker.ask"
    assert len(hops + more) <= MOST_HOPS, hops + more
