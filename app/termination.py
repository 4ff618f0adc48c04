"""Ends the program in order when the system asks for it: SIGTERM, or the terminal is gone."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from types import FrameType
from typing import final

from PySide6.QtCore import QObject, QSocketNotifier

# As a shell reports a program that a signal has ended: this and the signal's number.
ENDED_BY = 128


@final
class Termination(QObject):
    """Calls `end` in the thread of the window when the system asks for the end.

    Python runs the handlers of signals between two of its own instructions, and there are none
    while Qt waits: each signal writes a byte into a socket, which wakes Qt up.
    """

    def __init__(self, end: Callable[[], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._end = end
        self.code: int | None = None  # what the program ends with, once it was asked
        self._read, self._write = socket.socketpair()
        for one in (self._read, self._write):
            one.setblocking(False)
        self._notifier = QSocketNotifier(self._read.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_wake)

    def install(self) -> None:
        """Take the signals from here on."""
        # A full buffer has woken Qt already.
        signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        for name in ("SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), self._note)

    def uninstall(self) -> None:
        """Leave them to the system again."""
        signal.set_wakeup_fd(-1)
        for name in ("SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.SIG_DFL)
        self._notifier.setEnabled(False)
        self._read.close()
        self._write.close()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.code = ENDED_BY + number

    def _on_wake(self) -> None:
        self._read.recv(4096)
        if self.code is not None:
            self._end()
