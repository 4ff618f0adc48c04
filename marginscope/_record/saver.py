"""A thread that writes one run file, so that the loop that is recorded does not wait for it."""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from marginscope._errors import MarginscopeError
from marginscope._files.frame import Frame
from marginscope._files.meta import Description, dump_json
from marginscope._files.schema import WHOLE
from marginscope._files.writer import UPDATE_META, RunWriter

PATIENCE_S = 0.03  # as long as a frame waits: with its commit it is safe after 50 ms
SOON = 8 << 20  # bytes that are not waited with
MOST_PENDING = 128 << 20  # bytes; a loop that is faster than its disk is held up beyond
Ending = tuple[str, dict[str, str]]
Note = tuple[str, dict[str, Any]]  # kind and payload of an event


@final
class Saver:
    """Hands frames to a `RunWriter` in a thread of its own, and commits each within 50 ms.

    Raises what the writer raises for a file that cannot be made.
    """

    def __init__(
        self,
        path: Path,
        description: Description,
        arrays: dict[str, NDArray[np.float64]],
        force: bool,
        is_whole: Callable[[Path], bool],
    ) -> None:
        self.path = path
        self.failed: BaseException | None = None
        self.committed = -1
        self._make = partial(RunWriter, path, description, arrays, force=force, is_whole=is_whole)
        self._waiting: deque[Frame | Note] = deque()
        self._bytes = 0
        self._ending: Ending | None = None
        self._change = threading.Condition()
        self._ready = threading.Event()
        # Never waited for by an interpreter that ends: whoever records sees to the end (atexit).
        self._thread = threading.Thread(target=self._run, name=f"record {path.name}", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self.failed is not None:
            raise self.failed

    def add(self, frame: Frame) -> None:
        """Take a frame, whose array is this thread's from now on."""
        with self._change:
            while self._bytes > MOST_PENDING and self.failed is None:
                self._change.wait(1.0)
            if self.failed is not None:
                raise self.failed
            # The thread wakes for the first of some frames, and not for each.
            first, before = not self._waiting, self._bytes
            self._waiting.append(frame)
            self._bytes += frame.parameters.nbytes
            if first or before <= SOON < self._bytes:
                self._change.notify_all()

    def note(self, kind: str, payload: dict[str, Any]) -> None:
        """Record an event after the frames that were handed over."""
        with self._change:
            self._waiting.append((kind, payload))
            self._change.notify_all()

    def end(self, reason: str, meta: dict[str, str]) -> None:
        """Write what is left, and rows of meta that are only known now; waits until it is done.

        Raises what the writer raised.
        """
        with self._change:
            self._ending = (reason, meta)
            self._change.notify_all()
        self._thread.join()
        if self.failed is not None:
            raise self.failed

    def _run(self) -> None:
        try:
            writer = self._make()
        except BaseException as error:
            self.failed = error
            self._ready.set()
            return
        self.path = writer.path
        self._ready.set()
        try:
            while self._step(writer):
                pass
        except MarginscopeError as error:  # the disk's refusal, which has closed the file
            self._fail(error)
        except BaseException as error:
            self._fail(error)
            writer.abandon()
        finally:
            self.path = writer.path

    def _fail(self, error: BaseException) -> None:
        with self._change:
            self.failed = error
            self._waiting.clear()
            self._change.notify_all()

    def _step(self, writer: RunWriter) -> bool:
        """Write what is there; False when that was the last."""
        with self._change:
            self._change.wait_for(self._has_work)
            self._change.wait_for(self._has_to_hurry, PATIENCE_S)
            waiting, ending = list(self._waiting), self._ending
            self._waiting.clear()
            self._bytes = 0
            self._change.notify_all()
        frames: list[Frame] = []
        for item in waiting:
            if isinstance(item, Frame):
                frames.append(item)
                continue
            writer.append(frames)
            frames = []
            writer.event(*item)
        writer.append(frames)
        self.committed = writer.flush()
        if ending is None:
            return True
        reason, meta = ending
        if meta:
            writer.also((UPDATE_META, [(text, key) for key, text in meta.items()]))
        writer.finish(reason)
        self.committed = writer.committed
        return False

    def _has_work(self) -> bool:
        return bool(self._waiting) or self._ending is not None

    def _has_to_hurry(self) -> bool:
        return self._ending is not None or self._bytes > SOON


def is_whole(path: Path) -> bool:
    """Return True for a run that came to its end, which no shorter one may replace."""
    with suppress(sqlite3.Error, OSError):
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=1.0)
        try:
            sql = "SELECT key, value FROM meta WHERE key IN ('status', 'reason')"
            said = dict(connection.execute(sql).fetchall())
        finally:
            connection.close()
        return said.get("status") == '"finished"' and said.get("reason") in {
            dump_json(reason) for reason in WHOLE
        }
    return False
