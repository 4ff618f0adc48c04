"""One row of the form: label, control, and under them the sentence about a wrong value."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QObject, QSignalBlocker, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QWidget

from app.training.fields import PATHS, Field
from app.widgets.inputs import (
    ChoiceBox,
    ValueEdit,
    problem_label,
    quiet_label,
    set_property,
    show_short,
)
from app.widgets.plain_text import plain_tip
from core.data.files import DATA_FILTER

MOST_LETTERS = 1_000_000


@final
class FieldRow(QObject):
    """The three widgets of a field; the section that owns them puts them into its grid."""

    edited = Signal(str, str)  # key, text
    restored = Signal(str)  # key
    submitted = Signal()

    def __init__(self, field: Field, editable: bool, parent: QWidget) -> None:
        super().__init__(parent)
        self.field = field
        self.is_shown = True
        self.label = quiet_label(field.label, parent)
        self.note = quiet_label("", parent, wrap=True)
        self.note.hide()
        self.problem = problem_label(parent)
        self.control: ValueEdit | ChoiceBox
        if field.choices:
            self.control = self._choice(parent)
        else:
            self.control = self._line(parent, editable)
        self.control.setObjectName(field.key)
        self.control.setAccessibleName(field.label)
        self.control.setAccessibleDescription(field.meaning)
        self.control.setEnabled(editable or field.read_only)
        self.label.setBuddy(self.control)
        for widget in (self.label, self.control):
            widget.setToolTip(plain_tip(field.explanation))

    def _choice(self, parent: QWidget) -> ChoiceBox:
        control = ChoiceBox(parent)
        control.addItems(list(self.field.choices))
        control.textActivated.connect(self._on_edited)
        return control

    def _line(self, parent: QWidget, editable: bool) -> ValueEdit:
        control = ValueEdit(parent)
        control.setPlaceholderText(self.field.placeholder)
        if self.field.rows:
            control.setMaxLength(MOST_LETTERS)  # Qt would cut it off at 32,767
        control.setReadOnly(not editable)
        # Edited, not changed: only what somebody types, and never what show_text puts in.
        control.textEdited.connect(self._on_edited)
        control.returnPressed.connect(self._on_return)
        control.restore_requested.connect(self._on_restore)
        if self.field.name in PATHS:
            browse = QAction("Browse ...", control)
            browse.triggered.connect(self._on_browse)
            control.addAction(browse, ValueEdit.ActionPosition.TrailingPosition)
        return control

    # ------------------------------------------------------------------------------- showing

    def text(self) -> str:
        if isinstance(self.control, ChoiceBox):
            return self.control.currentText()
        return self.control.text()

    def show_text(self, text: str, edited: bool) -> None:
        """Put a text into the control without anybody having edited it."""
        if self.text() != text:
            with QSignalBlocker(self.control):
                if isinstance(self.control, ChoiceBox):
                    self._select(self.control, text)
                else:
                    self.control.setText(text)
                    # Qt leaves the cursor at the end, so that of a long path the beginning would be
                    # out of sight.
                    self.control.setCursorPosition(0)
        if isinstance(self.control, ValueEdit):
            # Escape brings back the value from before only where this is set, and setText has
            # cleared it.
            self.control.setModified(edited)
        set_property(self.label, "edited", edited)

    def _select(self, control: ChoiceBox, text: str) -> None:
        if control.findText(text) < 0:  # an axis over several of the choices
            control.addItem(text)
        control.setCurrentIndex(control.findText(text))

    def show_note(self, note: str) -> None:
        """Say what the text in the control does not; nothing with an empty note."""
        show_short(self.note, note)
        self.note.setVisible(bool(note) and self.is_shown)
        self.control.setAccessibleDescription(" ".join(filter(None, (self.field.meaning, note))))

    def show_problem(self, sentence: str) -> None:
        """Mark the value as wrong, or with an empty sentence as right."""
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence) and self.is_shown)
        set_property(self.control, "wrong", bool(sentence))
        # What is wrong first; what is meant is needed all the more.
        tips = (sentence, self.field.explanation)
        self.control.setToolTip(plain_tip("\n\n".join(filter(None, tips))))

    def set_shown(self, shown: bool) -> None:
        """Show the row, or fold it away; a row with a wrong value is always shown."""
        self.is_shown = shown or bool(self.problem.text())
        self.label.setVisible(self.is_shown)
        self.control.setVisible(self.is_shown)
        self.problem.setVisible(self.is_shown and bool(self.problem.text()))
        self.note.setVisible(self.is_shown and bool(self.note.text()))

    # ------------------------------------------------------------------------------- editing

    def _on_edited(self, text: str) -> None:
        self.edited.emit(self.field.key, text)

    def _on_return(self) -> None:
        if isinstance(self.control, ValueEdit):
            self.control.selectAll()  # so that the next value is typed over this one
        self.submitted.emit()

    def _on_restore(self) -> None:
        self.restored.emit(self.field.key)

    def _on_browse(self) -> None:
        kinds = "Arrays (*.npz)"
        if self.field.name == "path":  # images on the disk have names of their own
            kinds = f"{DATA_FILTER};;All files (*)"
        path, _ = QFileDialog.getOpenFileName(
            self.control.window(), f"Choose the {self.field.label}", "", kinds
        )
        if path:
            self.show_text(path, True)
            self._on_edited(path)
