"""Functions that run in worker processes of joblib's loky; cancelling a call kills its worker.

A function, its arguments and its result are pickled, from this program to itself and back. Workers
end with this process, even when it is killed. Importing this module does not import joblib.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, wait
from contextlib import suppress
from typing import Any, TypeVar, final

from core.errors import MarginscopeError
from core.program.stopping import exit_now

T = TypeVar("T")
CHECK_SECONDS = 0.05
# Libraries in a new worker use one thread each.
ENVIRONMENT = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}


def make_executor(workers: int, idle_seconds: float = 20.0) -> Any:
    """Return a loky executor. Its workers end after `idle_seconds` without a task."""
    from joblib.externals.loky import ProcessPoolExecutor

    return ProcessPoolExecutor(
        max_workers=workers,
        timeout=idle_seconds,
        initializer=_start_worker,
        initargs=(os.getpid(),),
        env=ENVIRONMENT,
    )


def _start_worker(parent: int) -> None:
    """Leave Ctrl-C, which reaches the whole process group, to the parent process.

    The parent passes its own id: a worker whose parent was killed before would see another.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, args=(parent,), daemon=True).start()


def _exit_with_parent(parent: int) -> None:
    """End this process, and remove its temporary files, once its parent process is gone."""
    while os.getppid() == parent:
        time.sleep(CHECK_SECONDS)
    exit_now(signal.SIGTERM)


@final
class KillableProcess:
    """Worker process for one call at a time, from any thread. Cancelling a call kills it.

    The first call starts the process, and so does the next one after it was idle or killed.
    `failure` starts the sentence of errors about the process: "The figure was not written".
    """

    def __init__(self, failure: str, idle_seconds: float = 20.0) -> None:
        self._failure, self._idle_seconds = failure, idle_seconds
        self._turn = threading.Lock()
        self._executor: Any = None
        self._last: Future[Any] = Future()

    def prestart(self, function: Callable[..., object], *arguments: Any) -> None:
        """Start the process with a first call whose result is ignored, unless it is busy.

        Returns at once. The next `run` raises what is wrong with the process.
        """
        if self._turn.acquire(blocking=False):
            task = (function, *arguments)
            # In a thread: importing joblib takes 0.2 s, starting the process 10 ms.
            try:
                threading.Thread(target=self._prestart, args=task, daemon=True).start()
            except RuntimeError:  # no thread available: the first call starts the process
                self._turn.release()

    def run(
        self, is_cancelled: Callable[[], bool], function: Callable[..., T], *arguments: Any
    ) -> T | None:
        """Return what a function returns in the process, or None once the call is cancelled.

        Raises what the function raises, and MarginscopeError where the process cannot be started,
        or died.
        """
        while not self._turn.acquire(timeout=CHECK_SECONDS):
            if is_cancelled():
                return None
        future: Future[T] | None = None
        try:
            future = self._submit(function, *arguments)
            while not future.done():
                if is_cancelled():
                    return None
                wait([future], timeout=CHECK_SECONDS)
            return future.result()
        except BrokenExecutor as error:
            raise self._error("its worker process was killed") from error
        finally:
            if future is None or not future.done():
                self._kill()
            self._turn.release()

    def stop(self) -> None:
        """Kill the process, after the call that is running, and wait until it is gone."""
        with self._turn:
            self._kill()

    def _prestart(self, function: Callable[..., object], *arguments: Any) -> None:
        """Submit the first call, from the thread of `prestart`, and release its lock."""
        try:
            with suppress(MarginscopeError):
                self._submit(function, *arguments)
        finally:
            self._turn.release()

    def _submit(self, function: Callable[..., T], *arguments: Any) -> Future[T]:
        try:
            if self._executor is not None:
                with suppress(BrokenExecutor):
                    self._last = self._executor.submit(function, *arguments)
                    return self._last
                self._kill()
            self._executor = make_executor(1, self._idle_seconds)
            self._last = self._executor.submit(function, *arguments)
        except OSError as error:
            raise self._error(f"no process can be started ({error.strerror or error})") from error
        return self._last

    def _kill(self) -> None:
        executor, self._executor = self._executor, None
        if executor is None:
            return
        while not (self._last.running() or self._last.done()):
            time.sleep(0.001)
        executor.shutdown(wait=True, kill_workers=True)

    def _error(self, reason: str) -> MarginscopeError:
        remedy = "close other programs, or reduce the task, and try again"
        return MarginscopeError(f"{self._failure}: {reason}", remedy=remedy)


def run_in_process(
    failure: str, is_cancelled: Callable[[], bool], function: Callable[..., T], *arguments: Any
) -> T | None:
    """Return the result of a function that runs in a fresh process.

    Parameters
    ----------
    failure : str
        Start of errors about the process: "The figure was not written".
    is_cancelled : callable
        Returns True to cancel the call, which kills the process.
    function : callable
        Picklable function.
    arguments : Any
        Picklable arguments.

    Returns
    -------
    T or None
        Result, or None once the call is cancelled.

    Raises
    ------
    MarginscopeError
        The process cannot be started, or died; else what the function raises.
    """
    process = KillableProcess(failure)
    try:
        return process.run(is_cancelled, function, *arguments)
    finally:
        process.stop()
