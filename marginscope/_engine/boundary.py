"""Boundary to Python programs: errors, Ctrl-C, bars, optional packages, temporary folders."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, final

from core.errors import DiskError, InputError, MarginscopeError
from core.files import scratch_prefix
from core.program.stopping import FirstSignal
from core.run_files.active_recorders import WriterLock
from core.terminal.bar import Bar, progress_bar

P = ParamSpec("P")
T = TypeVar("T")


class TrainingWarning(UserWarning):
    """Warning about training: a run did not come to its end, or cells of a sweep failed."""


def public(function: Callable[P, T]) -> Callable[P, T]:
    """Make the errors of a function sentences for Python programs.

    The sentences name no options of the command line, and no traceback leads through the program.
    """

    @wraps(function)
    def called(*args: P.args, **named: P.kwargs) -> T:
        try:
            return function(*args, **named)
        except MarginscopeError as error:
            raise public_error(error) from None
        except OSError as error:
            if error.filename is None:
                raise
            text = f"{str(error.filename)[:300]}: {error.strerror}; check the path."
            raise InputError(text) from None

    return called


def public_error(error: MarginscopeError) -> MarginscopeError:
    """Return the error in a sentence that knows no options, as one of the public types."""
    if str(error) == error.sentence:
        return error.with_traceback(None)
    kind = InputError if isinstance(error, InputError) else MarginscopeError
    kind = DiskError if isinstance(error, DiskError) else kind
    return kind(error.sentence, clauses=error.clauses)


@contextmanager
def interruptible(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` at the first Ctrl-C, and raise KeyboardInterrupt at the end of the block.

    A second Ctrl-C interrupts at once. The block runs unchanged in other threads than the main
    one, and if the caller has its own handler.
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
    """Return True in the kernel of a notebook."""
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return "IPKernelApp" in getattr(get_ipython() if get_ipython else None, "config", {})


def is_interactive(requested: bool) -> bool:
    """Return True on a terminal or in a notebook, if bars are wanted."""
    return requested and (in_notebook() or (sys.stderr is not None and sys.stderr.isatty()))


def progress(label: str, total: int, unit: str, requested: bool) -> AbstractContextManager[Bar]:
    """Return a progress bar on a terminal or in a notebook, and a bar that shows nothing elsewhere.

    Parameters
    ----------
    label : str
        Text before the bar.
    total : int
        Number of items.
    unit : str
        Name of one item.
    requested : bool
        False for no bar anywhere.

    Returns
    -------
    context manager of Bar
    """
    return progress_bar(label, total, is_interactive(requested), unit)


def import_optional(package: str, function: str) -> Any:
    """Import an optional package. Raises InputError, naming it, where it is not installed."""
    try:
        return import_module(package)
    except ImportError as error:
        raise InputError(
            f"{function} needs {package}, which is not installed here; install it with: "
            f"pip install {package}."
        ) from error


@final
class Folder:
    """Temporary folder, removed once no object holds this."""

    def __init__(self, purpose: str) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=scratch_prefix(purpose)))
        self._end = weakref.finalize(self, _remove, self.path, os.getpid(), WriterLock(self.path))

    def close(self) -> None:
        """Remove it now; harmless when repeated."""
        self._end()


def _remove(path: Path, owner: int, lock: WriterLock) -> None:
    """Release a folder's lock; remove the folder if this is the process `owner` that made it."""
    lock.release()
    if os.getpid() == owner:  # not in a forked copy of the process
        shutil.rmtree(path, ignore_errors=True)
