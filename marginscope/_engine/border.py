"""Where the program ends and somebody's Python begins: errors, Ctrl-C, bars, temporary folders."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, final

from core.cli.output import Bar
from core.files import scratch_prefix
from core.stopping import FirstSignal
from marginscope._errors import DiskError, InputError, MarginscopeError
from marginscope._files.machine import WriterLock

P = ParamSpec("P")
T = TypeVar("T")


class TrainingWarning(UserWarning):
    """A run that was trained and recorded, and did not come to its end."""


def public(function: Callable[P, T]) -> Callable[P, T]:
    """A function whose errors are sentences for somebody who writes Python.

    They are raised anew at the border: no options of the command line, and no traceback through
    the program.
    """

    @wraps(function)
    def called(*given: P.args, **named: P.kwargs) -> T:
        try:
            return function(*given, **named)
        except MarginscopeError as error:
            raise told(error) from None
        except OSError as error:
            if error.filename is None:
                raise
            text = f"{str(error.filename)[:300]}: {error.strerror}; check the path."
            raise InputError(text) from None

    return called


def told(error: MarginscopeError) -> MarginscopeError:
    """An error in the words of a sentence that knows no options, as one of the public types."""
    if str(error) == error.sentence:
        return error.with_traceback(None)
    kind = InputError if isinstance(error, InputError) else MarginscopeError
    kind = DiskError if isinstance(error, DiskError) else kind
    return kind(error.sentence, clauses=error.clauses)


@contextmanager
def interruptible(stop: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C calls `stop`, and is raised at the end; a second one interrupts at once.

    Where Ctrl-C is answered by somebody else, or this is no main thread, nothing changes.
    """
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    handle = FirstSignal(stop)
    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if handle.heard:
        raise KeyboardInterrupt


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook."""
    ask = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return "IPKernelApp" in getattr(ask() if ask else None, "config", {})


def shows(wanted: bool) -> bool:
    """Whether somebody watches: a terminal, or a notebook."""
    return wanted and (in_notebook() or (sys.stderr is not None and sys.stderr.isatty()))


@contextmanager
def progress(label: str, total: int, unit: str, wanted: bool) -> Iterator[Bar]:
    """A bar on a terminal or in a notebook; none elsewhere."""
    if not shows(wanted):
        yield Bar()
        return
    from tqdm import tqdm

    # No thread that looks after bars; and no change to other people's.
    quiet: Any = type("tqdm", (tqdm,), {"monitor_interval": 0})
    with quiet(total=total, desc=label, unit=unit, leave=False, file=sys.stderr) as bar:
        yield Bar(bar)


@final
class Folder:
    """A temporary folder for as long as somebody holds this."""

    def __init__(self, purpose: str) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=scratch_prefix(purpose)))
        self._end = weakref.finalize(self, _remove, self.path, os.getpid(), WriterLock(self.path))

    def close(self) -> None:
        """Remove it now; harmless when repeated."""
        self._end()


def _remove(path: Path, owner: int, lock: WriterLock) -> None:
    lock.release()
    if os.getpid() == owner:  # not a copy of the process
        shutil.rmtree(path, ignore_errors=True)
