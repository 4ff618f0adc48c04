"""Kernels that are not compiled yet: compiled beside the window, those first that are waited for.

Compiling holds the interpreter's lock, so the window's process never does it. The process that
does ends with this one, however it ends: its standard input is closed then (core.compiled.warming).
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

from PySide6.QtCore import QObject, Signal

from app.errors import LOG
from app.worker import Request, Worker
from core.compiled import beside, store, warming


@final
@dataclass(frozen=True, slots=True)
class Stage:
    """How far compiling is: groups ready, of how many, and the one at work."""

    done: int
    of: int
    group: str

    @property
    def words(self) -> str:
        """As the status line says it."""
        return f"Compiling numerical code: {self.done} of {self.of}"


@final
class CompilerProcess(QObject):
    """Owns the process that compiles, and a worker that reads what it says.

    progress(Stage or None): another group is ready; None when compiling has ended.
    refused(sentence): compiled kernels cannot be kept, and why. Any thread may ask `is_missing`,
    `request` and `stage`.
    """

    progress = Signal(object)
    compiling_refused = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = threading.Lock()
        self._first: tuple[str, ...] = ()
        self._missing: tuple[str, ...] = ()
        self.process: subprocess.Popen[str] | None = None
        self._worker = Worker("kernels", self._compile, self)
        self._worker.progress.connect(self.progress)
        self._worker.result.connect(self.progress)
        self._again = self._closed = self._failed = False

    # ------------------------------------------------------------------------------ asked

    def is_missing(self, groups: Iterable[str]) -> bool:
        """Return True if some of these are still to be compiled here.

        False after a failure: runs then compile for themselves.
        """
        with self._lock:
            return not self._failed and not set(groups).isdisjoint(self._missing)

    @property
    def stage(self) -> Stage | None:
        """How far it is; None where nothing is to be compiled."""
        with self._lock:
            order = self._order()
            if not order or self._failed:
                return None
            count = len(warming.GROUPS)
            return Stage(count - len(order), count, order[0])

    def check_cache(self) -> bool:
        """See what the cache lacks; whether it is anything. Takes a moment: not for the window."""
        with self._lock:
            self._missing = warming.missing()
            return bool(self._missing)

    def request(self, groups: Iterable[str]) -> None:
        """Compile these first, and then all others that are missing."""
        with self._lock:
            urgent = tuple(group for group in groups if group in self._missing)
            if self._closed or self._failed or not self._missing:
                return
            working = self._worker.busy
            late = bool(urgent) and working and self._order()[0] not in urgent
            self._again = self._again or late  # a process may be ending for an earlier wish
            self._first = (*urgent, *(one for one in self._first if one not in urgent))
            if self._again and self.process is not None:
                self.process.kill()
            if not working:
                self._worker.request()

    def close(self) -> None:
        """End the process and the thread."""
        with self._lock:  # under which processes are begun: none comes after this
            self._closed = True
            if self.process is not None:
                self.process.kill()
        self._worker.close()

    # ------------------------------------------------------------------------- in the thread

    def _order(self) -> tuple[str, ...]:
        """Return the missing groups in the order of their compilation."""
        first = tuple(group for group in self._first if group in self._missing)
        return (*first, *(group for group in self._missing if group not in first))

    def _compile(self, request: Request) -> None:
        while self._start(request) and self._read(request):
            pass
        with self._lock:  # a process that ends with some of them missing has failed
            failed = self._failed = bool(self._missing) and not self._closed
        if failed and (sentence := store.problem()):
            self.compiling_refused.emit(sentence)

    def _start(self, request: Request) -> bool:
        with self._lock:
            self._again = False
            order = self._order()
            if self._closed or not order:
                return False
            try:
                self.process = beside.start_compiling(order)
            except OSError:
                LOG.exception("The numerical code could not be compiled in a separate process.")
                return False
        request.progress(self.stage)
        return True

    def _read(self, request: Request) -> bool:
        """Follow one process to its end; whether to begin another one."""
        process = self.process
        assert process is not None and process.stdout is not None
        for line in process.stdout:
            self._note(request, line)
        process.wait()  # first: to communicate closes its input, which would end it as failed
        _, words = process.communicate()
        with self._lock:
            self.process = None
            again = self._again
        if process.returncode and not (again or self._closed):
            LOG.error("Compiling the numerical code failed: %s", words)
        return again

    def _note(self, request: Request, line: str) -> None:
        try:
            group = json.loads(line)["group"]
        except (ValueError, KeyError, TypeError):
            LOG.error("Compiling the numerical code reported: %s", line.strip())
            return
        with self._lock:
            self._missing = tuple(one for one in self._missing if one != group)
        request.progress(self.stage)
