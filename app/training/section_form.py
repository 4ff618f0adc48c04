"""Section of the form: a heading with the kind, and a row for each field.

Pressing the heading folds the section to a line that sums it up. Changed and wrong settings stay in
sight whatever is folded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import final

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QPalette, QResizeEvent, QStandardItemModel
from PySide6.QtWidgets import QGridLayout, QPushButton, QWidget

from app.training.field_row import MARK_WIDTH, FieldRow, ResetMark
from app.training.fields import VARIED, section_of
from app.training.form_search import NO_FILTER, RowFilter
from app.training.problem_line import WrongValue
from app.training.study_edits import StudyEdits
from app.widgets.inputs import (
    ChoiceBox,
    ValueEdit,
    line_height,
    push_button,
    set_property,
    text_width,
)
from app.widgets.labels import ElidedLabel, plain_tip, quiet_label, show_short
from app.widgets.layouts import space
from core.plugins import origin
from core.study_file.experiment import KINDS
from core.study_file.words import kind_words

DRAW_TIP = "Draw, paste and edit points, and train on them"
SHOW_TIP = "Show the points, classes and norms read from the file"
LABEL_WIDTH = 96
BETWEEN, GAP = 8, 4
CLOSED, OPEN = "\u25b8", "\u25be"  # triangles before a heading
ROWS = 3  # grid rows per line: label, control if below its label, note


@final
class SectionForm(QWidget):
    """Fields of one section; it requests edits, and shows them once the form confirms."""

    text_edited = Signal(str, str)
    restored = Signal(str)
    reset = Signal(str)  # key of a setting, or of the kind
    submitted = Signal()
    kind_chosen = Signal(str, str)  # section, kind; the text of the current axis of kinds
    kinds_needed = Signal(str)  # section whose kinds are about to be listed
    fold_changed = Signal()
    drawing_requested = Signal()
    preview_requested = Signal()

    def __init__(self, section: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.section = section
        self.rows: list[FieldRow] = []
        self._built: tuple[object, ...] = ()
        self._unfolded = False  # True if the advanced settings are shown
        self.folded = False  # True if all settings are hidden
        self._filter = NO_FILTER
        self._tip = self._kinds_tip = ""
        self._changed: frozenset[str] = frozenset()
        self._grid = space(QGridLayout(self), spacing=(BETWEEN, GAP))
        self._grid.setColumnMinimumWidth(0, LABEL_WIDTH)
        self._grid.setColumnStretch(1, 1)
        self._title = "Varied" if section == VARIED else section.capitalize()
        self.heading = push_button("", self)
        self.heading.setProperty("fold", True)
        self.heading.setFixedHeight(line_height(self))
        self.heading.clicked.connect(self._on_fold)
        self.summary = ElidedLabel(
            self, Qt.TextElideMode.ElideRight, QPalette.ColorRole.PlaceholderText
        )
        self.summary.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.summary.setFixedHeight(line_height(self))
        self.mark = ResetMark(f"the kind of {section}", self)
        policy = self.mark.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # otherwise the first mark would shift the controls
        self.mark.setSizePolicy(policy)
        self.mark.clicked.connect(self._on_kind_reset)
        self.problem = ""  # sentence on the kind
        self.kinds = self._make_kinds()
        self._wrapped: dict[QWidget, bool] = {}  # control -> True if it is below its label
        self.note = quiet_label("", self, wrap=True)  # effect of variants on the kind
        self.note.hide()
        self._grid.addWidget(self.summary, 0, 1)
        self._grid.addWidget(self.mark, 0, 2)
        self._grid.addWidget(self.note, 2, 1)
        self.draw = push_button("Draw data ...", self, DRAW_TIP)
        self.draw.clicked.connect(self.drawing_requested)
        self.preview = push_button("Show data ...", self, SHOW_TIP)
        self.preview.clicked.connect(self.preview_requested)
        for button in (self.draw, self.preview):
            button.hide()
        self.more = QPushButton(self)
        self.more.setProperty("quiet", True)
        self.more.setAccessibleName(f"More settings of {section}")
        self.more.clicked.connect(self._on_more)
        self._wrap()

    def _make_kinds(self) -> ChoiceBox | None:
        """Return the choice of kinds, in words; None for a section without kinds."""
        if self.section not in KINDS:
            return None
        kinds = ChoiceBox(self, f"{self._title}: kind")
        kinds.setObjectName(f"{self.section}.kind")
        for kind in KINDS[self.section]:
            kinds.addItem(kind_words(self.section, kind), kind)
        # `activated`, not `changed`: only the user's choices.
        kinds.activated.connect(self._on_kind)
        kinds.choices_needed.connect(self._on_kinds_needed)
        return kinds

    # ------------------------------------------------------------------------------------- display

    def show_edits(self, edits: StudyEdits) -> None:
        """Show the edits; rows are rebuilt only for another kind."""
        fields = edits.fields(self.section)
        editable = [edits.can_be_edited(field) for field in fields]
        # Rows that remain keep the focus and the text cursor.
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
            for button in (self.draw, self.preview):  # at most one of them is visible
                self._grid.addWidget(button, below, 1)
            self._grid.addWidget(self.more, below + 1, 0, 1, 2)
        self._show_kind(edits)
        for row, field in zip(self.rows, fields, strict=True):
            row.field = field
            row.show_text(edits.text(field), edits.is_edited(field))
        self._wrap()
        self.show_problems({}, edits)

    def set_filter(self, row_filter: RowFilter) -> None:
        """Show only the rows that pass a filter, from the next `show_problems` on."""
        self._filter = row_filter

    def set_changed(self, keys: frozenset[str]) -> None:
        """Mark the settings that differ from the study's, from the next `show_problems` on."""
        self._changed = keys

    def show_problems(self, problems: Mapping[str, str], edits: StudyEdits) -> None:
        """Mark the wrong values, clear the others, and show the relevant rows."""
        self.problem = problems.get(f"{self.section}.kind", "")
        if self.kinds is not None:
            set_property(self.kinds, "wrong", bool(self.problem))
            self.kinds.setAccessibleDescription(self.problem)
            tips = (self.problem, self._kinds_tip)
            self.kinds.setToolTip(plain_tip("\n\n".join(filter(None, tips))))
        for row in self.rows:
            row.show_problem(problems.get(row.field.key, ""))
            row.show_change(row.field.key in self._changed)
            row.set_shown(edits.is_shown(row.field) and self._is_row_visible(row))
        can_fold = any(row.field.advanced and edits.is_shown(row.field) for row in self.rows)
        self.more.setVisible(can_fold and not (self.folded or self._filter.is_active))
        self.more.setText("Fewer settings" if self._unfolded else "More settings ...")
        fields = [row.field for row in self.rows if row.is_shown]
        self.draw.setVisible(any(field.rows for field in fields))
        self.preview.setVisible(any(field.key == "data.path" for field in fields))
        self._show_heading(edits)

    def _is_row_visible(self, row: FieldRow) -> bool:
        """Return True if the search, or else folding and the changes, show a row."""
        changed = row.field.key in self._changed
        if self._filter.is_active:
            return row.matches(self._filter.words) and (changed or not self._filter.only_changed)
        # A changed setting is always visible.
        return changed or not (self.folded or (row.field.advanced and not self._unfolded))

    def _show_heading(self, edits: StudyEdits) -> None:
        """Show the kind, or in a folded section a summary of its rows; nothing without rows."""
        key, row_filter, searched = f"{self.section}.kind", self._filter, self._filter.is_active
        changed = key in self._changed
        self.mark.setVisible(changed)
        fits = self.kinds is not None and self._names_kinds(row_filter.words)
        fits = fits and (changed or not row_filter.only_changed)
        has_rows = bool(self.rows) or self.kinds is not None
        is_needed = fits or any(row.is_shown for row in self.rows) or bool(self.problem)
        self.setVisible(has_rows and (is_needed or not searched))
        open_ = searched or not self.folded
        self.heading.setText(f"{OPEN if open_ else CLOSED} {self._title}")
        self.heading.setAccessibleName(f"{self._title} settings{'' if open_ else ', folded'}")
        by_kind = open_ or changed or bool(self.problem)
        if self.kinds is not None:
            self.kinds.setVisible(by_kind)
        self.summary.setVisible(not open_ and (self.kinds is None or not by_kind))
        summed_up = "" if open_ else self._summed_up(edits)
        self.summary.set_text(summed_up)
        self.heading.setToolTip(plain_tip("\n".join(filter(None, (summed_up, self._tip)))))

    def _names_kinds(self, words: Sequence[str]) -> bool:
        label = f"{self._title} {self.section}.kind"
        texts = [f"{kind} {kind_words(self.section, kind)}" for kind in KINDS[self.section]]
        label = " ".join((label, *texts)).lower()
        return all(word in label for word in words)

    def _summed_up(self, edits: StudyEdits) -> str:
        """Return kind and values in a line, without the visible ones."""
        kind = [self.kinds.currentText()] if self.kinds is not None else []
        values = [
            f"{row.field.label} {row.text()}"
            for row in self.rows
            if row.text() and edits.is_shown(row.field) and not row.is_shown
            if not row.field.advanced
        ]
        return ", ".join((*kind, *values))

    def show_notes(self, notes: Mapping[str, str], has_study: bool, waiting: str) -> None:
        """Show beside the fields what their texts do not.

        Without a study, or at the field whose file is `waiting` to be read, earlier notes stay,
        dimmed, so that nothing moves.
        """
        own = notes.get(f"{self.section}.kind", "")
        self.note.setEnabled(bool(own))
        if own or has_study:
            show_short(self.note, own)
            self.note.setVisible(bool(own))
        for row in self.rows:
            key = row.field.key
            if key in notes or (has_study and key != waiting):
                row.show_note(notes.get(key, ""))
            else:
                row.dim_note()

    def _show_kind(self, edits: StudyEdits) -> None:
        if self.section == VARIED:
            return
        cls = section_of(self.section, edits.kind(self.section))
        title = cls.title + origin(cls.__module__)
        title += f"\nSource: {cls.source}." if cls.source else ""
        self._tip = title
        if self.kinds is None:
            return
        with QSignalBlocker(self.kinds):
            # Offer kinds over which the study varies, and a kind that only recordings have.
            kinds = edits.kind_axis(self.section) or (edits.kind(self.section),)
            ident = ", ".join(kinds)
            if self.kinds.findData(ident) < 0:
                self.kinds.addItem(", ".join(kind_words(self.section, one) for one in kinds), ident)
            self.kinds.setCurrentIndex(self.kinds.findData(ident))
        self._kinds_tip = f"{title}\n{self.section}.kind = {ident}"

    def show_reasons(self, reasons: Mapping[str, str]) -> None:
        """Enable the kinds that fit the other settings; give the reasons for the others."""
        if self.kinds is None:
            return
        model = self.kinds.model()
        assert isinstance(model, QStandardItemModel)
        for place in range(self.kinds.count()):
            kind = str(self.kinds.itemData(place))
            reason, item = reasons.get(kind, ""), model.item(place)
            item.setEnabled(not reason)
            cls = KINDS[self.section].get(kind)
            lines = (reason, cls.title if cls is not None else "", f"{self.section}.kind = {kind}")
            item.setToolTip(plain_tip("\n".join(filter(None, lines))))

    def forget_axis(self) -> None:
        """Offer the plain kinds only, for another study."""
        if self.kinds is not None:
            with QSignalBlocker(self.kinds):
                while self.kinds.count() > len(KINDS[self.section]):
                    self.kinds.removeItem(self.kinds.count() - 1)

    def _add_row(self, row: FieldRow) -> None:
        self.rows.append(row)
        place = ROWS * len(self.rows)
        self._grid.addWidget(row.note, place + 2, 0, 1, 2)
        row.text_edited.connect(self.text_edited)
        row.restored.connect(self.restored)
        row.reset.connect(self.reset)
        row.submitted.connect(self.submitted)

    def _wrap(self) -> None:
        """Place each control beside its label, or below it if its text would be cut."""
        lines: list[tuple[QWidget, ValueEdit | ChoiceBox, ResetMark]] = []
        if self.kinds is not None:
            lines.append((self.heading, self.kinds, self.mark))
        else:
            self._grid.addWidget(self.heading, 0, 0, 1, 2)
        first = 0 if self.kinds is not None else 1
        lines += [(row.label, row.control, row.mark) for row in self.rows]
        column = max([LABEL_WIDTH, *(label.sizeHint().width() for label, _, _ in lines)])
        room = self.width() - column - 2 * BETWEEN - MARK_WIDTH
        for number, (label, control, mark) in enumerate(lines, first):
            is_below = text_width(control) > room
            if self._wrapped.get(control) == is_below:
                continue
            self._wrapped[control] = is_below
            for widget in (label, control, mark):
                self._grid.removeWidget(widget)
            place = ROWS * number
            # The heading spans the section below its summary, which lets clicks through.
            self._grid.addWidget(label, place, 0, 1, 2 if is_below or label is self.heading else 1)
            where = (place + 1, 0, 1, 2) if is_below else (place, 1, 1, 1)
            self._grid.addWidget(control, *where)
            self._grid.addWidget(mark, where[0], 2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._wrap()

    def _remove_rows(self) -> None:
        for row in self.rows:
            self._wrapped.pop(row.control, None)
            # Later: one of them may be emitting the signal handled here. Hidden until then.
            for widget in (row.label, row.control, row.mark, row.note):
                self._grid.removeWidget(widget)
                widget.hide()
                widget.deleteLater()
            row.deleteLater()
        self.rows = []
        for button in (self.draw, self.preview, self.more):
            self._grid.removeWidget(button)

    def wrong_values(self) -> list[WrongValue]:
        """Return the sentences on the wrong values, with their controls, from above."""
        values = [WrongValue(row.problem, row.control) for row in self.rows if row.problem]
        return [WrongValue(self.problem, self.kinds), *values] if self.problem else values

    def controls(self) -> list[QWidget]:
        """Return all controls in Tab order."""
        kinds: list[QWidget] = [] if self.kinds is None else [self.kinds, self.mark]
        rows = [widget for row in self.rows for widget in (row.control, row.mark)]
        return [self.heading, *kinds, *rows, self.draw, self.preview, self.more]

    # ------------------------------------------------------------------------------- editing

    def _on_kind(self, place: int) -> None:
        assert self.kinds is not None
        self.kind_chosen.emit(self.section, self.kinds.itemData(place))

    def _on_kind_reset(self) -> None:
        if self.kinds is not None:
            self.kinds.setFocus()  # the mark, now hidden, may have had the focus
        self.reset.emit(f"{self.section}.kind")

    def _on_kinds_needed(self) -> None:
        self.kinds_needed.emit(self.section)

    def _on_more(self) -> None:
        self._unfolded = not self._unfolded
        self.fold_changed.emit()

    def _on_fold(self) -> None:
        self.folded = not self.folded
        self.fold_changed.emit()
