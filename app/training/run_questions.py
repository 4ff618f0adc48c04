"""Questions before a run: trust in its code, its size, and the fate of other runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import final

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from app.widgets.dialogs import Question, Role
from app.widgets.labels import ElidedLabel, plain_label, quiet_label
from app.widgets.layouts import add_all, space
from core.errors import MarginscopeError
from core.terminal.text import escape_controls
from core.trust import UntrustedCodeError, check_shown, digest_of, trust_digest

TRUST, TRAIN, TRAIN_FAST, CANCEL = "Trust and run", "Train anyway", "Train quick size", "Cancel"
STOP, QUEUE = "Stop and train", "Train afterwards"
TITLE = "Run the Python code of a network?"
PACKAGE_TITLE = "Load the Python package {package}?"
WARNING = (
    "This network is written in Python. Its code can do anything that you can do on this "
    "computer, such as read, change and send your files. Run it only if you trust its author."
)
PACKAGE_WARNING = (
    "What you open needs kinds that this installed package adds. Its code can do anything that you "
    "can do on this computer, such as read, change and send your files. Load it only if you trust "
    "its author."
)
REMEMBERED = "Marginscope remembers exactly this code ({lines}) and asks again after every change."
ASKER, FILE, HOLDER, FOLDER = "Study", "Python file", "Code file", "Package"
UNKNOWN = "the network of this run"
TAB = 8  # columns, as `core.trust.check_shown` counts them
SIDE, WIDTH, HEIGHT = 16, 720, 520  # fit into the smallest window

Repeat = Callable[[], object]
"""Repeats a request of the user."""


@final
class RunQuestions(QObject):
    """Questions over one window, which remains usable while one is open."""

    message = Signal(str)
    """Sentence for the message bar: why code cannot be shown, or trust cannot be saved."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._question = Question(window, "run")
        self._question.answer_given.connect(self._on_answered)
        self._actions: Mapping[str, Repeat] = {}  # actions of answers that have one
        self._dialog: CodeDialog | None = None
        # SHA-256 of the shown code, and its request.
        self._request: tuple[str, Repeat] | None = None
        self._closed = False

    def confirm_size(
        self, warnings: Sequence[str], train: Repeat, small_size: tuple[str, Repeat] | None = None
    ) -> None:
        """Ask about runs larger or longer than usual; call `train` on consent.

        `small_size`: what the quick size of the study takes, and the call that trains it.
        """
        self._actions = {TRAIN: train}
        details = list(warnings)
        answers = {TRAIN: Role.AcceptRole, CANCEL: Role.RejectRole}
        if small_size is not None:
            words, self._actions[TRAIN_FAST] = small_size
            details.append(f"At quick size, {words}")
            answers = {TRAIN_FAST: Role.AcceptRole, TRAIN: Role.ActionRole, CANCEL: Role.RejectRole}
        self._question.show(
            "This is larger than most runs. Train it anyway?",
            "\n\n".join(details),
            answers,
            # Without a quick size, Return and Escape start nothing.
            default=CANCEL if small_size is None else TRAIN_FAST,
        )

    def confirm_replacement(self, title: str, n_live: int, replace: Repeat, queue: Repeat) -> None:
        """Ask whether a study replaces `n_live` training runs, or waits for them."""
        self._actions = {STOP: replace, QUEUE: queue}
        self._question.show(
            f"{'A run is' if n_live == 1 else f'{n_live} runs are'} still training.",
            f"Train {title} in {'its' if n_live == 1 else 'their'} place? Everything recorded so "
            "far is saved and can be continued later.",
            {STOP: Role.DestructiveRole, QUEUE: Role.AcceptRole, CANCEL: Role.RejectRole},
            default=QUEUE,  # Return and Escape lose nothing
        )

    def _on_answered(self, answer: str) -> None:
        actions, self._actions = self._actions, {}
        if answer in actions:
            actions[answer]()

    def confirm_trust(self, error: UntrustedCodeError, repeat: Repeat) -> None:
        """Show the refused code, and call `repeat` once the user trusts it.

        Only one window asks at a time: further refusals are reported by their sentence alone, as is
        code that may not look as it runs.
        """
        windows = QApplication.topLevelWidgets()
        if self._closed or any(isinstance(w, CodeDialog) and w.isVisible() for w in windows):
            return
        try:
            check_shown(error.code, error.file or "network.code")
        except MarginscopeError as refusal:
            self.message.emit(refusal.sentence)
            return
        # Digest of the text in the dialog; the file may have changed and is not read again.
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
        """Close unanswered questions with the window; nothing runs."""
        self._closed = True
        self._actions = {}
        self._question.withdraw()
        if self._dialog is not None:
            self._dialog.reject()


@final
class CodeDialog(QDialog):
    """Dialog with the code and its origin. Return and Escape cancel."""

    def __init__(self, error: UntrustedCodeError, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("code")
        self.setWindowTitle("Marginscope")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        package = error.package
        heading = plain_label(PACKAGE_TITLE.format(package=package) if package else TITLE, self)
        heading.setProperty("heading", True)
        self.names = QFormLayout(horizontalSpacing=12, verticalSpacing=4)
        names_asker = bool(error.asker) and error.asker != error.file
        if names_asker:
            self._add_name(ASKER, error.asker)
        holder = FOLDER if package else FILE if names_asker else HOLDER
        self._add_name(holder, error.file or UNKNOWN)
        self.code = self._make_code(error.code)
        count = error.code.rstrip("\n").count("\n") + 1
        lines = f"{count} lines" if count > 1 else "1 line"
        self.buttons = QDialogButtonBox(self)
        self.trust = self.buttons.addButton(TRUST, QDialogButtonBox.ButtonRole.AcceptRole)
        self.cancel = self.buttons.addButton(CANCEL, QDialogButtonBox.ButtonRole.RejectRole)
        self.trust.setAutoDefault(False)
        self.cancel.setDefault(True)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        add_all(
            space(QVBoxLayout(self), (SIDE, SIDE, SIDE, SIDE), 8),
            heading,
            plain_label(PACKAGE_WARNING if package else WARNING, self, wrap=True),
            self.names,
            (self.code, 1),
            quiet_label(REMEMBERED.format(lines=lines), self, wrap=True),
            self.buttons,
        )
        self.resize(WIDTH, HEIGHT)
        self.code.setFocus()  # keys scroll, and none can run the code

    def _add_name(self, role: str, name: str) -> None:
        """Add a row with a file name of any length."""
        label = ElidedLabel(self)
        label.set_text(escape_controls(name))
        label.setAccessibleName(f"{role}: {label.text()}")
        self.names.addRow(quiet_label(role, self), label)

    def _make_code(self, code: str) -> QPlainTextEdit:
        """Return the read-only text, with long lines wrapped so that all of it is visible."""
        field = QPlainTextEdit(self, readOnly=True, tabChangesFocus=True, undoRedoEnabled=False)
        family = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family()
        font = field.font()
        font.setFamilies([family, "DejaVu Sans Mono", "monospace"])
        font.setFixedPitch(True)
        field.setFont(font)
        field.setTabStopDistance(TAB * field.fontMetrics().horizontalAdvance(" "))
        field.setProperty("code", True)
        field.setAccessibleName("The Python code")
        field.setPlainText(code)
        return field
