"""A process that draws the figures of all windows and panels: a start takes a second."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.figures.export import IDLE_SECONDS, FigureProcess
from core.processes import KillableProcess


@pytest.fixture(scope="package", autouse=True)
def shared_pen() -> Iterator[KillableProcess]:
    """Let the windows and panels of this folder draw in one process, which they do not stop.

    Work that is cancelled kills it, as a process of their own; the next figure starts it again.
    """
    pen = KillableProcess("The figure was not written", IDLE_SECONDS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FigureProcess, "__init__", lambda self: setattr(self, "_process", pen))
        patch.setattr(FigureProcess, "stop", lambda _: None)
        yield pen
    pen.stop()


@pytest.fixture
def own_pen(shared_pen: KillableProcess) -> Iterator[None]:
    """Start without a process, which windows stop as outside of tests."""
    shared_pen.stop()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FigureProcess, "stop", lambda _: shared_pen.stop())
        yield
    shared_pen.stop()
