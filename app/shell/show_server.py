"""Local socket by which a window opened by `marginscope.show` accepts further requests.

A request is one line with a link. Other input is refused, with a line in the log. A window started
by its user does not listen.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import final

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from PySide6.QtWidgets import QWidget

from app.errors import LOG
from app.scenes.scene import Scene
from app.scenes.scene_texts import parse_link
from app.state.session import Session
from core.errors import MarginscopeError
from core.program.window_address import BUSY, MOST_BYTES, OK, REFUSED
from core.terminal.text import escape_controls

MOST_CALLERS = 8  # at a time; the one that has waited longest is dropped for another
GREETING_MS = 200


@final
class ShowServer(QObject):
    """Server of `marginscope.show`.

    `show_requested(link)`: a link that can be read is to be shown. `busy` is true while the window
    must not be disturbed.
    """

    show_requested = Signal(str)

    def __init__(self, busy: Callable[[], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._busy = busy
        self._callers: dict[QLocalSocket, bytes] = {}
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_caller)

    def listen(self, place: Path | None) -> bool:
        """Accept requests from now on; return False if another window does, or it is impossible."""
        if place is None:
            return False
        if place.exists():
            if _answers(place):
                return False
            QLocalServer.removeServer(str(place))  # left behind by a killed window
        if not self._server.listen(str(place)):
            LOG.warning("cannot receive requests: %s", self._server.errorString())
            return False
        return True

    def close(self) -> None:
        """Stop accepting requests."""
        self._server.close()
        for caller in tuple(self._callers):
            caller.abort()

    # ------------------------------------------------------------------------------ callers

    def _on_caller(self) -> None:
        while self._server.hasPendingConnections():
            caller = self._server.nextPendingConnection()
            if len(self._callers) == MOST_CALLERS:
                next(iter(self._callers)).abort()
            self._callers[caller] = b""
            caller.readyRead.connect(self._on_bytes)
            caller.disconnected.connect(self._on_disconnected)
            if caller.bytesAvailable():
                self._read(caller)

    def _on_bytes(self) -> None:
        caller = self.sender()
        if isinstance(caller, QLocalSocket) and caller in self._callers:
            self._read(caller)

    def _on_disconnected(self) -> None:
        caller = self.sender()
        if isinstance(caller, QLocalSocket):
            self._callers.pop(caller, None)
            caller.deleteLater()

    def _read(self, caller: QLocalSocket) -> None:
        room = MOST_BYTES - len(self._callers[caller])
        self._callers[caller] += caller.read(room).data()
        line, mark, _ = self._callers[caller].partition(b"\n")
        if mark:
            self._answer(caller, line)
        elif len(line) >= MOST_BYTES:
            LOG.warning("ignored a request of more than %d bytes", MOST_BYTES)
            caller.abort()

    def _answer(self, caller: QLocalSocket, line: bytes) -> None:
        del self._callers[caller]  # one request per caller; further bytes are not read
        try:
            link = line.decode("utf-8")
            problem = refusal(link)
        except UnicodeDecodeError:
            link, problem = "", "the request is not text."
        if problem:
            LOG.warning("refused a request: %.200r", problem)
        reply = REFUSED + problem if problem else BUSY if self._busy() else OK
        caller.write(f"{one_line(reply)}\n".encode())
        caller.flush()
        caller.disconnectFromServer()
        if reply == OK:
            self.show_requested.emit(link)


def refusal(link: str) -> str:
    """Return why a link cannot be shown; "" if it can be read."""
    try:
        parse_link(link, Scene())
    except MarginscopeError as error:
        return error.sentence
    return ""


def bring_up(window: QWidget) -> None:
    """Show a window that may be minimised or covered."""
    window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
    window.show()
    window.raise_()
    window.activateWindow()


def training(session: Session) -> Callable[[], bool]:
    """Return a function that is true while a run trains here, which opening would stop."""
    return lambda: bool(session.live)


def print_status(line: str) -> None:
    """Print the status for the program that started this process, and nothing afterwards."""
    with suppress(OSError, ValueError):  # the caller may be gone
        print(one_line(line), flush=True)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def one_line(text: str) -> str:
    """Return a text in one line, its control characters as escapes: links come from strangers."""
    return escape_controls(" ".join(text.split()))


def _answers(place: Path) -> bool:
    """Return True if a window listens at the address."""
    socket = QLocalSocket()
    socket.connectToServer(str(place))
    is_connected = socket.waitForConnected(GREETING_MS)
    socket.abort()
    return is_connected
