"""Worker that answers requests one after another, in a thread of its own.

    ask --> waits; of one key only the latest --> answer, in the thread --> result | error
                                                    `--> progress, as often as it likes

The thread begins with the first request, sleeps while there is none, and ends with `close`. Signals
arrive in the window's thread. A request emits nothing once a later one with its key has replaced
it, once it is cancelled, or after `close`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Container, Hashable
from contextlib import nullcontext
from typing import Any, final

from PySide6.QtCore import QObject, Signal

from app.errors import LOG
from app.one_core import limit_to_one_core
from core.errors import MarginscopeError
from core.reference.cancel_token import CancelToken

NO_MEMORY = "Not enough memory. Close other runs, or choose smaller ones."
OUR_ERROR = "Internal error. Details are in the log."


@final
class Request:
    """Request as seen by its answer, in the thread."""

    def __init__(self, key: Hashable, values: tuple[Any, ...], emit: Callable[..., None]) -> None:
        self.key, self.values = key, values
        self._emit = emit
        self._cancelled = threading.Event()
        self.watch = CancelToken()

    def start(self, share: Callable[[], float] | None) -> None:
        """Start the request in its thread, and the clock of its watch."""
        self.watch = CancelToken(share=share)
        if self.is_cancelled():  # cancelled while the old watch was in place
            self.watch.cancel()

    def is_cancelled(self) -> bool:
        """Return True once the request was cancelled."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Cancel the request."""
        self._cancelled.set()
        self.watch.cancel()

    def progress(self, value: object = None) -> None:
        """Report progress before the result."""
        self._emit(self, value)


Answer = Callable[..., object]  # takes a Request and the values passed to `ask`


@final
class Worker(QObject):
    """Calls `answer` for each request. It may raise a MarginscopeError, whose sentence is shown."""

    result = Signal(object)
    error = Signal(str)
    progress = Signal(object)
    _progress_made = Signal(object, object)
    _result_ready = Signal(object, object, str)

    def __init__(
        self,
        name: str,
        answer: Answer,
        parent: QObject | None = None,
        *,
        no_memory: str = NO_MEMORY,
        our_error: str = OUR_ERROR,
        one_core: bool = False,
    ) -> None:
        """`no_memory` and `our_error` are the sentences for errors without one.

        `one_core`: each answer keeps BLAS on one core.
        """
        super().__init__(parent)
        self._name, self._answer = name, answer
        self._no_memory, self._our_error, self._one_core = no_memory, our_error, one_core
        self._changed = threading.Condition()
        self._waiting: dict[Hashable, Request] = {}
        self._latest: dict[Hashable, Request] = {}  # newest unanswered request of each key
        self._current: Request | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        self.share: Callable[[], float] | None = None  # share of a core
        # Emitted in the worker's thread, received in this object's: Qt queues such signals.
        self._progress_made.connect(self._on_progress)
        self._result_ready.connect(self._on_answer)

    # ---------------------------------------------------------------------------------- any thread

    @property
    def busy(self) -> bool:
        """True while a request waits or is being answered."""
        with self._changed:
            return bool(self._latest) or self._current is not None

    def request(self, *values: object, key: Hashable = None) -> None:
        """Answer a request, after those already waiting."""
        with self._changed:
            if self._closed:
                return
            request = Request(key, values, self._progress_made.emit)
            self._waiting.pop(key, None)  # a dict keeps the position of an existing key
            self._latest[key] = self._waiting[key] = request
            if self._thread is None:
                # A daemon: closing joins it, and a process that ends in another way need not wait.
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()
            self._changed.notify()

    def cancel(self, except_keys: Container[Hashable] = ()) -> None:
        """Cancel all requests, except those of some keys."""
        with self._changed:
            for requests in (self._waiting, self._latest):
                for key in [key for key in requests if key not in except_keys]:
                    requests.pop(key).cancel()
            if self._current is not None and self._current.key not in except_keys:
                self._current.cancel()

    # ------------------------------------------------------------------------------- window thread

    def close(self, patience: float | None = None) -> bool:
        """Cancel, and wait for the thread (so many seconds); return False if it did not end."""
        self.cancel()
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(patience)
        return self._thread is None or not self._thread.is_alive()

    def _on_progress(self, request: Request, value: object) -> None:
        if self._latest.get(request.key) is request:
            self.progress.emit(value)

    def _on_answer(self, request: Request, value: object, sentence: str) -> None:
        with self._changed:
            if self._latest.get(request.key) is not request:
                return
            del self._latest[request.key]
        if sentence:
            self.error.emit(sentence)
        else:
            self.result.emit(value)

    # ------------------------------------------------------------------------------- worker thread

    def _work(self) -> None:
        while (request := self._next()) is not None:
            with limit_to_one_core() if self._one_core else nullcontext():
                request.start(self.share)
                value, sentence = self._answer_to(request)
            with self._changed:
                self._current = None  # first, since a receiver of the result may read `busy`
            self._result_ready.emit(request, value, sentence)
            # The thread may sleep long, and the result may be a picture of 30 MB.
            del request, value

    def _next(self) -> Request | None:
        """Return the oldest request, after waiting for one; None once closed."""
        with self._changed:
            while not (self._waiting or self._closed):
                self._changed.wait()
            if not self._closed:
                self._current = self._waiting.pop(next(iter(self._waiting)))
            return self._current

    def _answer_to(self, request: Request) -> tuple[object, str]:
        try:
            return self._answer(request, *request.values), ""
        except MarginscopeError as error:
            return None, error.sentence
        except MemoryError:
            return None, self._no_memory
        except Exception:
            # A cancelled request may fail in any way.
            (LOG.debug if request.is_cancelled() else LOG.error)(
                "%s failed", self._name, exc_info=True
            )
            return None, self._our_error
