"""Errors as sentences, and a log for developers.

Tracebacks never reach the screen: uncaught errors go to the log, and the Reporter emits a sentence
about them.
"""

from __future__ import annotations

import logging
import sys
import threading
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import final

from PySide6.QtCore import QObject, Signal

from core.errors import MarginscopeError
from core.files import set_aside

LOG = logging.getLogger("marginscope")
LOG_FILE = "marginscope.log"
# Two files of this size, 2 MB: enough for a report, too little to fill a disk.
LOG_BYTES = 1 << 20


@final
class LogHandler(RotatingFileHandler):
    """Log file that ignores write errors, as on a full disk."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Print no traceback on the terminal."""


def open_log(folder: Path) -> logging.Handler | None:
    """Write the log into a file of this folder; return None if that is impossible."""
    place = folder / LOG_FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if place.is_fifo() or place.is_dir():  # opening a pipe would block
            set_aside(place)
        handler = LogHandler(place, maxBytes=LOG_BYTES, backupCount=1, encoding="utf-8", delay=True)
    except OSError:
        # Without a handler Python prints tracebacks on the terminal.
        LOG.addHandler(logging.NullHandler())
        LOG.propagate = False
        return None
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    LOG.addHandler(handler)
    LOG.propagate = False  # keep the log off the terminal
    return handler


def sentence_of(error: BaseException, log: Path) -> str:
    """Return the sentence for the user."""
    if isinstance(error, MarginscopeError):
        return error.sentence
    if isinstance(error, MemoryError):
        return "Not enough memory. Close other runs, or choose smaller ones."
    return f"Internal error ({type(error).__name__}). Details are in {log}."


@final
class Reporter(QObject):
    """Handler of uncaught errors of any thread; signals arrive in the window's thread."""

    message = Signal(str)

    def __init__(self, log: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._log = log
        self._hooks = (sys.excepthook, threading.excepthook)

    def install(self) -> None:
        """Handle every uncaught error from now on."""
        sys.excepthook = self._uncaught
        threading.excepthook = self._uncaught_in_thread

    def uninstall(self) -> None:
        """Restore the former handlers."""
        sys.excepthook, threading.excepthook = self._hooks

    def report(self, error: BaseException) -> None:
        """Log an error with its traceback, and emit a sentence."""
        LOG.error("Not caught.", exc_info=(type(error), error, error.__traceback__))
        self.message.emit(sentence_of(error, self._log))

    def _uncaught(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        # Ctrl-C in the terminal is no error of the program.
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        self.report(error)

    def _uncaught_in_thread(self, hooked: threading.ExceptHookArgs) -> None:
        if hooked.exc_value is not None:
            self.report(hooked.exc_value)
