"""A thread that writes one run file, so that the loop that is recorded does not wait for it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, final

from core.errors import MarginscopeError
from core.run_files.frame import Frame
from core.run_files.held_file import FileLostError
from core.run_files.schema import UPDATE_META
from core.run_files.writer import RunWriter
from marginscope._record.rescue import Describe, rescue

PATIENCE_S = 0.03  # as long as a frame waits: with its commit it is safe after 50 ms
SOON = 8 << 20  # bytes that are not waited with
MOST_PENDING = 128 << 20  # bytes; a loop that is faster than its disk is held up beyond
Ending = tuple[str, dict[str, str]]
Note = tuple[str, dict[str, Any]]  # kind and payload of an event


@final
class Saver:
    """Hands frames to a `RunWriter` in a thread of its own, and commits each within 50 ms.

    `make` makes the writer in that thread; `describe` says what a file holds that begins with a
    frame, for one that goes on where the first one is lost. Raises what `make` raises.
    """

    def __init__(self, path: Path, make: Callable[[], RunWriter], describe: Describe) -> None:
        self.path = self._place = path
        self.failed: BaseException | None = None
        self.committed = -1
        self._make, self._describe = make, describe
        self._writer: RunWriter | None = None
        self._notices: deque[str] = deque()
        self._urgent = False
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
        """Take a frame, whose array is this thread's from now on.

        Where the file seems lost, wait until what is left of it is safe.
        """
        urgent = self._writer is not None and self._writer.seems_lost()
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
            if urgent:
                self._urgent = True
                self._change.notify_all()
                self._change.wait_for(lambda: not self._urgent or self.failed is not None)

    def note(self, kind: str, payload: dict[str, Any]) -> None:
        """Record an event after the frames that were handed over."""
        with self._change:
            self._waiting.append((kind, payload))
            self._change.notify_all()

    @property
    def experiment(self) -> Mapping[str, Any]:
        """Sections of the study file that the run file holds."""
        assert self._writer is not None
        return self._writer.description.experiment

    def take_notices(self) -> list[str]:
        """Return what is to be said to the user since the last call."""
        return [self._notices.popleft() for _ in range(len(self._notices))]

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
        self._writer, self.path, self.committed = writer, writer.path, writer.committed
        self._ready.set()
        try:
            while self._step():
                pass
        except MarginscopeError as error:  # the disk's refusal, which has closed the file
            self._fail(error)
        except BaseException as error:
            self._fail(error)
            self._writer.abandon()
        finally:
            self.path = self._writer.path

    def _fail(self, error: BaseException) -> None:
        with self._change:
            self.failed = error
            self._waiting.clear()
            self._change.notify_all()

    def _step(self) -> bool:
        """Write what is there; False when that was the last."""
        with self._change:
            self._change.wait_for(self._has_work)
            self._change.wait_for(self._has_to_hurry, PATIENCE_S)
            waiting, ending = list(self._waiting), self._ending
            self._waiting.clear()
            self._bytes = 0
            self._change.notify_all()
        while True:
            writer = self._writer
            assert writer is not None
            before = writer.committed
            try:
                self._write(writer, waiting, ending)
                break
            except FileLostError as error:
                waiting = _after(waiting, writer.committed - before)
                frames = [item for item in waiting if isinstance(item, Frame)]
                self._writer, notice = rescue(writer, self._place, error, frames, self._describe)
                self.path = self._writer.path
                self._notices.append(notice)
        with self._change:
            if self._urgent and not self._waiting:
                self._urgent = False
                self._change.notify_all()
        return ending is None

    def _write(self, writer: RunWriter, waiting: list[Frame | Note], ending: Ending | None) -> None:
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
            return
        reason, meta = ending
        if meta:
            writer.also((UPDATE_META, [(text, key) for key, text in meta.items()]))
        writer.finish(reason)
        self.committed = writer.committed

    def _has_work(self) -> bool:
        return bool(self._waiting) or self._ending is not None

    def _has_to_hurry(self) -> bool:
        return self._ending is not None or self._urgent or self._bytes > SOON


def _after(waiting: list[Frame | Note], committed: int) -> list[Frame | Note]:
    """Return what comes after the frames that were committed."""
    places = [place for place, item in enumerate(waiting, 1) if isinstance(item, Frame)]
    return waiting[places[committed - 1] :] if committed > 0 else waiting
