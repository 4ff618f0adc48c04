"""Export takes few calls of the program from the menu to the process that draws."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope

MOST_HOPS = 9
APP = str(Path(__file__).resolve().parents[3] / "app")
HANDED_OVER = "FigureProcess.draw"  # of core.figures.render_process
OPENED = "_open_dialog"


def chain(frame: FrameType | None) -> list[str]:
    """Return the program's functions on a stack, the outermost first."""
    names: list[str] = []
    while frame is not None:
        if frame.f_code.co_filename.startswith(APP):
            names.append(frame.f_code.co_qualname)
        frame = frame.f_back
    return names[::-1]


@contextmanager
def chains_to(*names: str) -> Iterator[dict[str, list[str]]]:
    """Record the first chain of calls, in any thread, that ends with each of some functions."""
    found: dict[str, list[str]] = {}

    def note(frame: FrameType, event: str, _argument: object) -> None:
        name = frame.f_code.co_qualname
        if event == "call" and name in names and name not in found:
            found[name] = chain(frame)

    before = sys.getprofile()
    threading.setprofile_all_threads(note) if sys.version_info >= (3, 12) else threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
