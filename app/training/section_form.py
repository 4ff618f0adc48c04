"""Section of the form: a heading with the kind, and a row for each field.

A row has a label, a control, and under them a note and the sentence about a wrong value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from PySide6.QtCore import QObject, QSignalBlocker, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFileDialog, QGridLayout, QLabel, QPushButton, QWidget

from app.training.fields import PATHS, VARIED, Field, section_of
from app.training.study_edits import StudyEdits
from app.widgets.inputs import ChoiceBox, ValueEdit, line_height, set_property, text_width
from app.widgets.labels import heading_label, plain_tip, problem_label, quiet_label, show_short
from app.widgets.layouts import space
from core.data.files import DATA_FILTER
from core.study_file.experiment import KINDS

LABEL_WIDTH = 96
BETWEEN, GAP = 8, 4
MOST_LETTERS = 1_000_000
ROWS = 4  # of the grid for each line: label, control where it stands below, note, problem


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
        if self.field.name in PATHS and editable:
            control.add_browse()
            control.browse_requested.connect(self._on_browse)
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


@final
class SectionForm(QWidget):
    """The fields of one section; what is typed is asked for, and shown when the form says so."""

    edited = Signal(str, str)
    restored = Signal(str)
    submitted = Signal()
    kind_chosen = Signal(str, str)  # section, kind; the present axis of kinds as its text
    fold_changed = Signal()
    drawing_requested = Signal()

    def __init__(self, section: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.section = section
        self.rows: list[FieldRow] = []
        self._built: tuple[object, ...] = ()
        self._unfolded = False
        self._grid = space(QGridLayout(self), spacing=(BETWEEN, GAP))
        self._grid.setColumnMinimumWidth(0, LABEL_WIDTH)
        self._grid.setColumnStretch(1, 1)
        self._heading = heading_label("Varied" if section == VARIED else section.capitalize(), self)
        self._heading.setFixedHeight(line_height(self))
        self.problem = problem_label(self)
        self.kinds: ChoiceBox | None = None
        self._kind_label: QLabel | None = None
        self._add_kinds()
        self._wrapped: dict[
            QWidget, bool
        ] = {}  # of each control, whether it stands below its label
        self.note = quiet_label("", self, wrap=True)  # what variants do to the kind
        self.note.hide()
        self._grid.addWidget(self.note, 2, 1)
        self._grid.addWidget(self.problem, 3, 0, 1, 2)
        self.draw = QPushButton("Draw data ...", self)
        self.draw.setToolTip("Draw and edit the points with the mouse, paste them, train at once")
        self.draw.clicked.connect(self.drawing_requested)
        self.draw.hide()
        self.more = QPushButton(self)
        self.more.setProperty("quiet", True)
        self.more.setAccessibleName(f"More settings of {section}")
        self.more.clicked.connect(self._on_more)
        self._wrap()

    def _add_kinds(self) -> None:
        kinds = list(KINDS.get(self.section, {}))
        if len(kinds) > 1:
            self.kinds = ChoiceBox(self)
            self.kinds.setObjectName(f"{self.section}.kind")
            self.kinds.setAccessibleName(f"{self._heading.text()}: kind")
            self.kinds.addItems(kinds)
            # Activated, not changed: what the form itself puts in is no choice of the user's.
            self.kinds.textActivated.connect(self._on_kind)
            self._heading.setBuddy(self.kinds)
        elif kinds:
            self._kind_label = quiet_label(kinds[0], self)
            self._kind_label.setIndent(8)
            self._grid.addWidget(self._kind_label, 0, 1)
        if self.kinds is None:
            self._grid.addWidget(self._heading, 0, 0)

    # ------------------------------------------------------------------------------- showing

    def show_edits(self, edits: StudyEdits) -> None:
        """Show what the edits say; rows are made anew only for another kind."""
        fields = edits.fields(self.section)
        editable = [edits.can_be_edited(field) for field in fields]
        # Rows that stay keep the focus and the cursor of whoever is typing.
        shape = (
            edits.kind(self.section),
            tuple(editable),
            tuple((field.key, field.unknown) for field in fields),
        )
        if shape != self._built:
            self._built = shape
            self._remove_rows()
            for field, may in zip(fields, editable, strict=True):
                self._add_row(FieldRow(field, may, self))
            below = ROWS * (1 + len(self.rows))
            self._grid.addWidget(self.draw, below, 1)
            self._grid.addWidget(self.more, below + 1, 0, 1, 2)
            self.draw.setVisible(any(field.rows for field in fields))
        if self.section == VARIED:
            self.setVisible(bool(fields))
        else:
            self._show_kind(edits)
        for row, field in zip(self.rows, fields, strict=True):
            row.field = field
            row.show_text(edits.text(field), edits.edited(field))
        self._wrap()
        self.show_problems({}, edits)

    def show_problems(self, problems: dict[str, str], edits: StudyEdits) -> None:
        """Mark the wrong values, clear the others, and show the rows that count."""
        sentence = problems.get(f"{self.section}.kind", "")
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))
        for row in self.rows:
            row.show_problem(problems.get(row.field.key, ""))
            # What is not as it was before is never folded away.
            unfolded = self._unfolded or not row.field.advanced or edits.edited(row.field)
            row.set_shown(edits.is_shown(row.field) and unfolded)
        foldable = (row.field.advanced and edits.is_shown(row.field) for row in self.rows)
        self.more.setVisible(any(foldable))
        self.more.setText("Fewer settings" if self._unfolded else "More settings ...")

    def show_notes(self, notes: Mapping[str, str]) -> None:
        """Say beside the fields what their texts do not."""
        own = notes.get(f"{self.section}.kind", "")
        show_short(self.note, own)
        self.note.setVisible(bool(own))
        for row in self.rows:
            row.show_note(notes.get(row.field.key, ""))

    def _show_kind(self, edits: StudyEdits) -> None:
        cls = section_of(self.section, edits.kind(self.section))
        title = cls.title + (f"\nSource: {cls.source}." if cls.source else "")
        self._heading.setToolTip(plain_tip(title))
        if self._kind_label is not None:
            self._kind_label.setToolTip(plain_tip(title))
        if self.kinds is None:
            return
        with QSignalBlocker(self.kinds):
            # Kinds that the study varies over, or one that only recordings have, are offered too.
            shown = ", ".join(edits.kind_axis(self.section)) or edits.kind(self.section)
            if self.kinds.findText(shown) < 0:
                self.kinds.addItem(shown)
            self.kinds.setCurrentIndex(self.kinds.findText(shown))
        self.kinds.setToolTip(plain_tip(title))

    def forget_axis(self) -> None:
        """Offer the plain kinds only, for another study."""
        if self.kinds is not None:
            with QSignalBlocker(self.kinds):
                while self.kinds.count() > len(KINDS[self.section]):
                    self.kinds.removeItem(self.kinds.count() - 1)

    def _add_row(self, row: FieldRow) -> None:
        self.rows.append(row)
        place = ROWS * len(self.rows)
        self._grid.addWidget(row.note, place + 2, 1)
        self._grid.addWidget(row.problem, place + 3, 0, 1, 2)
        row.edited.connect(self.edited)
        row.restored.connect(self.restored)
        row.submitted.connect(self.submitted)

    def _wrap(self) -> None:
        """Each control beside its label, or below it where its text would be cut."""
        lines: list[tuple[QLabel, ValueEdit | ChoiceBox]] = []
        if self.kinds is not None:
            lines.append((self._heading, self.kinds))
        first = 0 if self.kinds is not None else 1
        lines += [(row.label, row.control) for row in self.rows]
        column = max([LABEL_WIDTH, *(label.sizeHint().width() for label, _ in lines)])
        room = self.width() - column - BETWEEN
        for number, (label, control) in enumerate(lines, first):
            below = text_width(control) > room
            if self._wrapped.get(control) == below:
                continue
            self._wrapped[control] = below
            for widget in (label, control):
                self._grid.removeWidget(widget)
            place = ROWS * number
            self._grid.addWidget(label, place, 0, 1, 2 if below else 1)
            where = (place + 1, 0, 1, 2) if below else (place, 1, 1, 1)
            self._grid.addWidget(control, *where)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._wrap()

    def _remove_rows(self) -> None:
        for row in self.rows:
            self._wrapped.pop(row.control, None)
            # Later: one of them may be sending the signal that this answers. Hidden until then.
            for widget in (row.label, row.control, row.note, row.problem):
                self._grid.removeWidget(widget)
                widget.hide()
                widget.deleteLater()
            row.deleteLater()
        self.rows = []
        for button in (self.draw, self.more):
            self._grid.removeWidget(button)

    def controls(self) -> list[QWidget]:
        """All that Tab goes through, in order."""
        first: list[QWidget] = [] if self.kinds is None else [self.kinds]
        return [*first, *(row.control for row in self.rows), self.draw, self.more]

    # ------------------------------------------------------------------------------- editing

    def _on_kind(self, kind: str) -> None:
        self.kind_chosen.emit(self.section, kind)

    def _on_more(self) -> None:
        self._unfolded = not self._unfolded
        self.fold_changed.emit()
