"""Background compilation of missing kernels, those that runs wait for first.

Compiling holds the interpreter's lock, so a separate process does it. That process ends with this
one, however this one ends, because its standard input is then closed (core.compiled.kernel_groups).
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
from core.compiled import headless_process, kernel_groups, store


@final
@dataclass(frozen=True, slots=True)
class Stage:
    """Progress of compilation: ready groups, their total, and the present one."""

    done: int
    of: int
    group: str

    @property
    def words(self) -> str:
        """Stage as the status line shows it."""
        return f"Compiling numerical code: {self.done} of {self.of}"


@final
class CompilerProcess(QObject):
    """Owner of the compiling process, and of a worker that reads its output.

    progress(Stage or None): another group is ready; None when compiling has ended.
    refused(sentence): the reason why compiled kernels cannot be stored. `is_missing`, `request` and
    `stage` are thread-safe.
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

    # ------------------------------------------------------------------------------------ requests

    def is_missing(self, groups: Iterable[str]) -> bool:
        """Return True if some of these groups are still to be compiled here.

        False after a failure: runs then compile for themselves.
        """
        with self._lock:
            return not self._failed and not set(groups).isdisjoint(self._missing)

    @property
    def stage(self) -> Stage | None:
        """Progress of compilation; None if nothing is to be compiled."""
        with self._lock:
            order = self._order()
            if not order or self._failed:
                return None
            count = len(kernel_groups.GROUPS)
            return Stage(count - len(order), count, order[0])

    def check_cache(self) -> bool:
        """Check the cache, and return True if kernels are missing. Not for the window's thread."""
        with self._lock:
            self._missing = kernel_groups.missing_groups()
            return bool(self._missing)

    def request(self, groups: Iterable[str]) -> None:
        """Compile these groups first, then all other missing ones."""
        with self._lock:
            urgent = tuple(group for group in groups if group in self._missing)
            if self._closed or self._failed or not self._missing:
                return
            working = self._worker.busy
            late = bool(urgent) and working and self._order()[0] not in urgent
            # The running process may be ending for an earlier request.
            self._again = self._again or late
            self._first = (*urgent, *(one for one in self._first if one not in urgent))
            if self._again and self.process is not None:
                self.process.kill()
            if not working:
                self._worker.request()

    def close(self) -> None:
        """End the process and the thread."""
        with self._lock:  # processes are started under this lock: none can start afterwards
            self._closed = True
            if self.process is not None:
                self.process.kill()
        self._worker.close()

    # ------------------------------------------------------------------------------- worker thread

    def _order(self) -> tuple[str, ...]:
        """Return the missing groups in the order of their compilation."""
        first = tuple(group for group in self._first if group in self._missing)
        return (*first, *(group for group in self._missing if group not in first))

    def _compile(self, request: Request) -> None:
        """Run processes until all groups are compiled, or one fails; in the thread."""
        while self._start(request) and self._read(request):
            pass
        with self._lock:  # a process that ended without compiling all groups has failed
            failed = self._failed = bool(self._missing) and not self._closed
        if failed and (sentence := store.problem()):
            self.compiling_refused.emit(sentence)

    def _start(self, request: Request) -> bool:
        """Start a process for the missing groups; return False if none is missing or it fails."""
        with self._lock:
            self._again = False
            order = self._order()
            if self._closed or not order:
                return False
            try:
                self.process = headless_process.start_compiling(order)
            except OSError:
                LOG.exception("The numerical code could not be compiled in a separate process.")
                return False
        request.progress(self.stage)
        return True

    def _read(self, request: Request) -> bool:
        """Follow one process to its end; return True if another one has to be started."""
        process = self.process
        assert process is not None and process.stdout is not None
        for line in process.stdout:
            self._note(request, line)
        process.wait()  # first: `communicate` closes stdin, and the process would report a failure
        _, words = process.communicate()
        with self._lock:
            self.process = None
            again = self._again
        if process.returncode and not (again or self._closed):
            LOG.error("Compiling the numerical code failed: %s", words)
        return again

    def _note(self, request: Request, line: str) -> None:
        """Remove a group from the missing ones that a line of the process reports as compiled."""
        try:
            group = json.loads(line)["group"]
        except (ValueError, KeyError, TypeError):
            LOG.error("Compiling the numerical code reported: %s", line.strip())
            return
        with self._lock:
            self._missing = tuple(one for one in self._missing if one != group)
        request.progress(self.stage)
