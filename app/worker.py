"""What answers requests beside the window: one after another, in a thread of its own.

    ask --> waits; of one key only the latest --> answer, in the thread --> result | error
                                                    `--> progress, as often as it likes

The thread begins with the first request, sleeps while there is none, and ends with `close`. Signals
arrive in the window's thread. Nothing is said of a request that another one of its key has
followed, that was cancelled, or after `close`.
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
from core.reference.watch import CancelToken

NO_MEMORY = "Not enough memory. Close other runs, or choose smaller ones."
OUR_ERROR = "Internal error. Details are in the log."


@final
class Request:
    """A request as its answer sees it, in the thread."""

    def __init__(self, key: Hashable, values: tuple[Any, ...], tell: Callable[..., None]) -> None:
        self.key, self.values = key, values
        self._emit = tell
        self._cancelled = threading.Event()
        self.watch = CancelToken()

    def start(self, share: Callable[[], float] | None) -> None:
        """Start the request in its thread: its watch counts the seconds from here on."""
        self.watch = CancelToken(share=share)
        if self.is_cancelled():  # a moment ago, by the watch before
            self.watch.cancel()

    def is_cancelled(self) -> bool:
        """Whether nobody wants the answer any more."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Want the answer no more."""
        self._cancelled.set()
        self.watch.cancel()

    def progress(self, value: object = None) -> None:
        """Tell something before the answer is there."""
        self._emit(self, value)


Answer = Callable[..., object]  # of a Request and the values it was asked with


@final
class Worker(QObject):
    """Calls `answer` for each request. It may raise a MarginscopeError, whose sentence is told."""

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
        """`no_memory` and `our_error` are what is told of errors that are no sentences themselves.

        `one_core`: each answer keeps BLAS on one core.
        """
        super().__init__(parent)
        self._name, self._answer = name, answer
        self._no_memory, self._our_error, self._one_core = no_memory, our_error, one_core
        self._changed = threading.Condition()
        self._waiting: dict[Hashable, Request] = {}
        self._latest: dict[Hashable, Request] = {}  # of each key, until it is answered
        self._current: Request | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        self.share: Callable[[], float] | None = None  # share of a core
        # Emitted in the thread and received in that of this object: Qt queues what crosses threads.
        self._progress_made.connect(self._on_progress)
        self._result_ready.connect(self._on_answer)

    # ------------------------------------------------------------------------- any thread

    @property
    def busy(self) -> bool:
        """Whether an answer is on its way."""
        with self._changed:
            return bool(self._latest) or self._current is not None

    def request(self, *values: object, key: Hashable = None) -> None:
        """Answer a request, after those that wait already."""
        with self._changed:
            if self._closed:
                return
            request = Request(key, values, self._progress_made.emit)
            self._waiting.pop(key, None)  # a dict keeps the position of an existing key
            self._latest[key] = self._waiting[key] = request
            if self._thread is None:
                # A daemon: whoever closes waits for it, and a process that ends otherwise need not.
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()
            self._changed.notify()

    def cancel(self, keep: Container[Hashable] = ()) -> None:
        """Answers are wanted no more, but to the requests of some keys."""
        with self._changed:
            for requests in (self._waiting, self._latest):
                for key in [key for key in requests if key not in keep]:
                    requests.pop(key).cancel()
            if self._current is not None and self._current.key not in keep:
                self._current.cancel()

    # --------------------------------------------------------------- the thread of the window

    def close(self, patience: float | None = None) -> bool:
        """Cancel, and wait for the thread (so many seconds); False if it did not end in time."""
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

    # ------------------------------------------------------------------------ in the thread

    def _work(self) -> None:
        while (request := self._next()) is not None:
            with limit_to_one_core() if self._one_core else nullcontext():
                request.start(self.share)
                value, sentence = self._answer_to(request)
            with self._changed:
                self._current = None  # before anybody who hears of it may ask whether it is busy
            self._result_ready.emit(request, value, sentence)
            # It sleeps for as long as nobody asks, and an answer may be a picture of 30 MB.
            del request, value

    def _next(self) -> Request | None:
        """Return the oldest request; sleeps until there is one. None at the end."""
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
            # What was cancelled may end in any way.
            (LOG.debug if request.is_cancelled() else LOG.error)(
                "%s failed", self._name, exc_info=True
            )
            return None, self._our_error
