"""Figures that another process draws (core.figures.conversation): `python -m core draw-figures`.

A figure is hundreds of thousands of small objects while matplotlib draws it, and the interpreter is
nobody else's meanwhile. The scene is made here, of arrays and texts; it goes as in
core.figures.scene_archive, after a line {"suffix": ".pdf", "dpi": 300.0, "bytes": n}.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import final

from core.errors import MarginscopeError
from core.figures.conversation import LOOK_SECONDS, Conversation
from core.figures.primitives import FigureScene
from core.figures.scene_archive import archive_of
from core.reference.watch import CancelledError

COMMAND = "draw-figures"


def _never() -> bool:
    return False


@final
class FigureDrawer:
    """Draws in a process that is started with the first figure and kept until `end`; for any
    thread, one figure after another."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._conversation: Conversation | None = None

    @property
    def started(self) -> bool:
        """Whether there is a process."""
        return self._conversation is not None

    def draw(
        self,
        scene: FigureScene,
        suffix: str,
        dpi: float = 300.0,
        cancelled: Callable[[], bool] = _never,
    ) -> bytes:
        """The content of a figure file, the same bytes as of `core.figures.export.figure_bytes`.

        Raises CancelledError, MemoryError, RuntimeError with its traceback for an error of the
        program, and MarginscopeError where there is no process or it was ended.
        """
        content = archive_of(scene)
        head = {"suffix": suffix, "dpi": dpi, "bytes": len(content)}
        with self._in_turn(cancelled):
            answer, problem = None, None
            try:
                answer = self._begun().ask(json.dumps(head).encode() + b"\n" + content, cancelled)
            finally:
                if answer is None:
                    problem = self._end()
        if answer is not None:
            return bytes(answer["content"])
        if problem is None or cancelled():
            raise CancelledError
        raise problem

    def begin(self) -> None:
        """Start the process if there is none, for a figure that will be asked for: it takes half a
        second. What is wrong with that, the figure says."""
        if self._turn.acquire(blocking=False):
            try:
                with suppress(MarginscopeError):
                    self._begun()
            finally:
                self._turn.release()

    def end(self) -> bool:
        """End the process, unless a figure is being drawn; whether there is none now."""
        if not self._turn.acquire(blocking=False):
            return False
        try:
            self._end()
        finally:
            self._turn.release()
        return True

    @contextmanager
    def _in_turn(self, cancelled: Callable[[], bool]) -> Iterator[None]:
        while not self._turn.acquire(timeout=LOOK_SECONDS):
            if cancelled():
                raise CancelledError
        try:
            yield
        finally:
            self._turn.release()

    def _begun(self) -> Conversation:
        if self._conversation is not None and not self._conversation.alive:
            self._end()  # somebody has ended it while nobody asked
        if self._conversation is None:
            self._conversation = Conversation(COMMAND, "figure")
        return self._conversation

    def _end(self) -> MarginscopeError | None:
        conversation, self._conversation = self._conversation, None
        return conversation.end() if conversation is not None else None
