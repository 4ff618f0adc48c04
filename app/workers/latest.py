"""What is asked again and again while somebody edits: of several requests the last one counts."""

from __future__ import annotations

import logging
import threading
from abc import abstractmethod
from typing import Any

from PySide6.QtCore import QObject, Signal

from core.errors import MarginscopeError

log = logging.getLogger(__name__)


class LatestWorker(QObject):
    """Answers requests in a thread of its own, one at a time.

    Signals arrive in the thread of the window: `made(answer)`, or `refused(sentence)`. Nothing is
    said of a request that another one has followed, nor after `close`.
    """

    made = Signal(object)
    refused = Signal(str)
    _thread_done = Signal(object, str)

    NAME = "latest"
    NO_MEMORY = "There is not enough memory for this; close other runs or choose smaller ones."
    OUR_ERROR = "It stopped because of an error in the program; the log says more."

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread: threading.Thread | None = None
        self._next: tuple[Any, ...] | None = None
        self._closed = False
        self._given_up = threading.Event()
        self._thread_done.connect(self._on_done)

    @abstractmethod
    def compute(self, *request: Any) -> object:
        """The answer to a request, in the thread. Raises MarginscopeError with a sentence."""

    @property
    def busy(self) -> bool:
        """Whether an answer is on its way."""
        return self._thread is not None

    @property
    def given_up(self) -> bool:
        """For `compute`: whether nobody wants the answer any more."""
        return self._given_up.is_set()

    def ask(self, *request: Any) -> None:
        """Answer a request; while another one is at work, afterwards."""
        if self._closed:
            return
        if self._thread is not None:
            self._next = request
            return
        self._given_up.clear()
        self._thread = threading.Thread(target=self._work, args=request, name=self.NAME)
        self._thread.start()

    def cancel(self) -> None:
        """The present request is wanted no more."""
        self._next = None
        self._given_up.set()

    def close(self) -> None:
        """Wait for the thread; nothing is said any more."""
        self._closed = True
        self.cancel()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def _work(self, *request: Any) -> None:
        found, wrong = None, ""
        try:
            found = self.compute(*request)
        except MarginscopeError as error:
            wrong = error.sentence
        except MemoryError:
            wrong = self.NO_MEMORY
        except Exception:
            log.exception("%s failed", self.NAME)
            wrong = self.OUR_ERROR
        self._thread_done.emit(found, wrong)

    def _on_done(self, found: object, wrong: str) -> None:
        thread, self._thread = self._thread, None
        if thread is None:  # closed meanwhile
            return
        thread.join()
        if self._next is not None:
            request, self._next = self._next, None
            self.ask(*request)
        elif self._given_up.is_set():
            return
        elif wrong:
            self.refused.emit(wrong)
        else:
            self.made.emit(found)
