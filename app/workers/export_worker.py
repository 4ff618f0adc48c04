"""One export at a time, in a thread of its own."""

from __future__ import annotations

import logging
import threading
from typing import final

from PySide6.QtCore import QObject, Signal

from app.state.exports import Job
from core.errors import MarginscopeError

log = logging.getLogger(__name__)


@final
class ExportWorker(QObject):
    """Runs jobs; signals carry numbers and sentences and arrive in the thread of the window."""

    progressed = Signal(int, int)  # done, all
    ended = Signal(str, str)  # what was done, or what went wrong; both empty: cancelled
    _thread_done = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread: threading.Thread | None = None
        self._cancel = threading.Event()
        self._thread_done.connect(self._on_done)

    @property
    def busy(self) -> bool:
        return self._thread is not None

    def start(self, job: Job) -> None:
        """Begin a job; there must be none at work."""
        assert self._thread is None, "one export at a time"
        self._cancel.clear()
        self._thread = threading.Thread(target=self._work, args=(job,), name="export")
        self._thread.start()

    def cancel(self) -> None:
        """Ask the job to stop; `ended` follows."""
        self._cancel.set()

    def close(self) -> None:
        """Cancel the job and wait for its thread; nothing is said about it any more."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._cancel.set()
            thread.join()

    def _work(self, job: Job) -> None:
        done, wrong = "", ""
        try:
            done = job.work(self._report, self._cancel.is_set)
        except MarginscopeError as error:
            wrong = error.sentence
        except MemoryError:
            wrong = "There is not enough memory for this; choose fewer runs or a smaller picture."
        except Exception:
            log.exception("an export failed")
            wrong = (
                "The export stopped because of an error in the program, and nothing was written; "
                "the log says more."
            )
        self._thread_done.emit(done, wrong)

    def _report(self, done: int, total: int) -> None:
        self.progressed.emit(done, total)

    def _on_done(self, done: str, wrong: str) -> None:
        thread, self._thread = self._thread, None
        if thread is None:  # closed meanwhile
            return
        thread.join()
        self.ended.emit(done, wrong)
