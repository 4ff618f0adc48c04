"""Row of the form: a label, a control, a mark of a change, and a note.

The sentence on a wrong value is in the form's ProblemLine and in the control's tooltip: a label
below the control would move the rows below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from PySide6.QtCore import QObject, QSignalBlocker, Signal
from PySide6.QtWidgets import QFileDialog, QPushButton, QWidget

from app.training.fields import PATHS, Field
from app.widgets.inputs import ChoiceBox, ValueEdit, line_height, set_property
from app.widgets.labels import plain_tip, quiet_label, show_short
from core.data.files import DATA_FILTER

MOST_LETTERS = 1_000_000
MARK = "\u25cf"  # a disc
MARK_WIDTH = 14


@final
class ResetMark(QPushButton):
    """Disc beside a changed setting; pressing it restores the study's value."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(MARK, parent, autoDefault=False)
        self.setProperty("mark", True)
        self.setFixedSize(MARK_WIDTH, line_height(self))
        self.setAccessibleName(f"Reset {name}")
        self.setToolTip(plain_tip(f"{name} is changed; click to restore the study's value"))
        self.hide()


@final
class FieldRow(QObject):
    """Label, control and mark of a field, which its section puts into a grid."""

    text_edited = Signal(str, str)  # key, text
    restored = Signal(str)  # key
    reset = Signal(str)  # key
    submitted = Signal()

    def __init__(self, field: Field, editable: bool, parent: QWidget) -> None:
        super().__init__(parent)
        self.field = field
        self.is_shown = True
        self.mark = ResetMark(field.label, parent)
        self.mark.clicked.connect(self._on_reset)
        self.label = quiet_label(field.label, parent)
        self.note = quiet_label("", parent, wrap=True)
        self.note.hide()
        self.problem = ""  # sentence on the wrong value
        self._described = ""  # note that holds for the present text
        self.control: ValueEdit | ChoiceBox
        if field.choices:
            self.control = self._choice(parent)
        else:
            self.control = self._line(parent, editable)
        self.control.setObjectName(field.key)
        self.control.setAccessibleName(field.label)
        self.control.setEnabled(editable or field.read_only)
        self.label.setBuddy(self.control)
        for widget in (self.label, self.control):
            widget.setToolTip(plain_tip(field.explanation))
        self._describe()
        self._words = f"{field.label} {field.explanation}".lower()

    def matches(self, words: Sequence[str]) -> bool:
        """Return True if label, key or explanation contain all words."""
        return all(word in self._words for word in words)

    def _choice(self, parent: QWidget) -> ChoiceBox:
        control = ChoiceBox(parent)
        control.addItems(list(self.field.choices))
        control.textActivated.connect(self._on_edited)
        return control

    def _line(self, parent: QWidget, editable: bool) -> ValueEdit:
        control = ValueEdit(parent)
        control.setPlaceholderText(self.field.placeholder)
        if self.field.rows:
            control.setMaxLength(MOST_LETTERS)  # Qt's limit is 32,767
        control.setReadOnly(not editable)
        # `textEdited`, not `textChanged`: emitted for the user's typing only, not by `show_text`.
        control.textEdited.connect(self._on_edited)
        control.returnPressed.connect(self._on_return)
        control.restore_requested.connect(self._on_restore)
        if self.field.name in PATHS and editable:
            control.add_browse()
            control.browse_requested.connect(self._on_browse)
        return control

    # ------------------------------------------------------------------------------------- display

    def text(self) -> str:
        if isinstance(self.control, ChoiceBox):
            return self.control.currentText()
        return self.control.text()

    def show_text(self, text: str, edited: bool) -> None:
        """Put a text into the control without the signal of an edit."""
        if self.text() != text:
            with QSignalBlocker(self.control):
                if isinstance(self.control, ChoiceBox):
                    self._select(self.control, text)
                else:
                    self.control.setText(text)
                    # Qt leaves the cursor at the end, which would hide the start of a long path.
                    self.control.setCursorPosition(0)
        if isinstance(self.control, ValueEdit):
            # setText clears this flag, on which Escape depends to restore the old value.
            self.control.setModified(edited)

    def show_change(self, changed: bool) -> None:
        """Mark the setting as changed or unchanged."""
        set_property(self.label, "edited", changed)
        self.mark.setVisible(changed and self.is_shown)

    def _select(self, control: ChoiceBox, text: str) -> None:
        if control.findText(text) < 0:  # an axis over several of the choices
            control.addItem(text)
        control.setCurrentIndex(control.findText(text))

    def show_note(self, note: str) -> None:
        """Show what the control's text does not, or nothing."""
        show_short(self.note, note)
        self.note.setEnabled(True)
        self.note.setVisible(bool(note) and self.is_shown)
        self._described = note
        self._describe()

    def dim_note(self) -> None:
        """Show that the note is of an earlier text, without moving the rows below it."""
        self.note.setEnabled(False)
        self._described = ""
        self._describe()

    def show_problem(self, sentence: str) -> None:
        """Mark the value as wrong, or as right for an empty sentence."""
        self.problem = sentence
        set_property(self.control, "wrong", bool(sentence))
        # The problem first, and the meaning below: it is needed even more then.
        tips = (sentence, self.field.explanation)
        self.control.setToolTip(plain_tip("\n\n".join(filter(None, tips))))
        self._describe()

    def _describe(self) -> None:
        """Give screen readers the problem, the meaning and the note."""
        parts = (self.problem, self.field.meaning, self._described)
        self.control.setAccessibleDescription(" ".join(filter(None, parts)))

    def set_shown(self, is_shown: bool) -> None:
        """Show or hide the row; a row with a wrong value is always shown."""
        self.is_shown = is_shown or bool(self.problem)
        self.label.setVisible(self.is_shown)
        self.control.setVisible(self.is_shown)
        self.mark.setVisible(self.is_shown and bool(self.label.property("edited")))
        self.note.setVisible(self.is_shown and bool(self.note.text()))

    # ------------------------------------------------------------------------------- editing

    def _on_edited(self, text: str) -> None:
        self.text_edited.emit(self.field.key, text)

    def _on_return(self) -> None:
        if isinstance(self.control, ValueEdit):
            self.control.selectAll()  # so that typing replaces the value
        self.submitted.emit()

    def _on_restore(self) -> None:
        self.restored.emit(self.field.key)

    def _on_reset(self) -> None:
        self.control.setFocus()  # the mark, now hidden, may have had the focus
        self.reset.emit(self.field.key)

    def _on_browse(self) -> None:
        kinds = "Arrays (*.npz)"
        if self.field.name == "path":  # images on the disk have their own names
            kinds = f"{DATA_FILTER};;All files (*)"
        path, _ = QFileDialog.getOpenFileName(
            self.control.window(), f"Choose the {self.field.label}", "", kinds
        )
        if path:
            self.show_text(path, True)
            self._on_edited(path)
