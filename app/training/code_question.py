"""Asks whether the Python code of a network may run, and repeats what was requested on consent."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QWidget

from app.training.code_dialog import CodeDialog
from app.training.training_roles import Repeat
from core.errors import MarginscopeError
from core.trust import UntrustedCodeError, check_shown, digest_of, trust_digest


def visible_windows() -> list[QWidget]:
    """Return all windows and dialogs of the program that are visible."""
    return [one for one in QApplication.topLevelWidgets() if one.isVisible()]


@final
class CodeQuestion(QObject):
    """One question at a time, whichever window asks.

    Further refusals of code are reported by their sentence alone.
    """

    message = Signal(str)
    """Sentence for the message bar: why the code cannot be shown, or trust cannot be saved."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._dialog: CodeDialog | None = None
        self._request: tuple[str, Repeat] | None = None  # SHA-256 of the shown code
        self._closed = False

    def ask(self, error: UntrustedCodeError, repeat: Repeat) -> None:
        """Show the refused code, and call `repeat` once the user trusts it.

        The sentence of `check_shown` is the only answer to code that may not look as it runs.
        """
        if self._closed or any(isinstance(one, CodeDialog) for one in visible_windows()):
            return
        try:
            check_shown(error.code, error.file or "network.code")
        except MarginscopeError as refusal:
            self.message.emit(refusal.sentence)
            return
        # Of the text in the dialog: the file may have changed since, and is not read again.
        self._request = digest_of(error.code), repeat
        dialog = self._dialog = CodeDialog(error, self._window)
        dialog.accepted.connect(self._on_accepted)
        dialog.rejected.connect(self._on_rejected)
        dialog.open()

    def _on_accepted(self) -> None:
        request, self._dialog, self._request = self._request, None, None
        if request is None:
            return
        digest, repeat = request
        try:
            trust_digest(digest)
        except MarginscopeError as error:
            self.message.emit(error.sentence)
            return
        repeat()

    def _on_rejected(self) -> None:
        self._dialog = self._request = None

    def close(self) -> None:
        """Close an unanswered question with the window; nothing runs."""
        self._closed = True
        if self._dialog is not None:
            self._dialog.reject()
