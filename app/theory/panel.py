"""Theory panel of a run: its reference margins, its final margin and the papers' statements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QApplication,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from app.theory.importance import OPEN, make_short_summary, make_summary, sort_by_importance
from app.theory.results import FINAL
from app.theory.statement_buttons import BoundBox, VerdictFold
from app.theory.statement_lines import StatementLine
from app.theory.statement_row import StatementRow
from app.widgets.inputs import DecimalBox, line_height
from app.widgets.labels import ElidedLabel, heading_label, plain_label, quiet_label, rich_tip
from app.widgets.layouts import add_all, fill_scrolled, space
from app.widgets.screen_text import certainty, emphasise, margin_text, margin_tip, rich
from core.figures.palette import Palette

if TYPE_CHECKING:
    from core.reference.margin import Reference, ReferenceMargin
    from core.theorems.statement import Assessment

NO_RUN = "Reference margins and theorems appear here once a run is open."
NO_MARGIN = "The papers define no reference margin for these data and this network."
NO_STATEMENT = (
    "No theorem in the catalogue applies to this run. For the claims of its study, open Study."
)
JUDGING = "Checking theorems ..."
REACH_TIP = (
    "First time at which the hard margin reaches 90 % of the promised margin. The margin view "
    "marks it with a ring when margins are shown as shares."
)
DELTA_TIP = "Failure probability \u03b4 of theorems that hold with probability 1 \u2212 \u03b4."
CURRENT_TIP = "{heading} is the current run. Click the heading of another run to see its theory."
COMPUTING, WAITING, NONE, STOPPED = "computing ...", "waiting", "none", "cancelled"


def reference_tip(reference: Reference) -> str:
    """Return title, formula and source of a margin that is not computed yet, as HTML."""
    lines = (emphasise(rich(reference.title)), rich(reference.formula), rich(reference.source))
    return "".join(f"<p>{line}</p>" for line in lines)


def short_name(reference: Reference) -> str:
    """Return a name such as gamma_gl, or the label, less " / 2", of a margin without a symbol."""
    if reference.name.startswith("gamma"):
        return reference.name
    return reference.label.removesuffix(" / 2")


@final
class MarginList(QWidget):
    """Heading, and a row for each reference margin: name, value, certainty.

    Without references the label `hint` is shown in place of rows. Rows are reused.
    """

    def __init__(self, hint: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._grid = space(QGridLayout(self), spacing=(8, 4))
        self._grid.setColumnStretch(1, 1)
        heading = heading_label("Reference margins", self)
        heading.setFixedHeight(line_height(self))
        self._grid.addWidget(heading, 0, 0, 1, 3)
        self.hint = quiet_label(hint, self, wrap=True)
        self._grid.addWidget(self.hint, 1, 0, 1, 3)
        self._rows: list[tuple[QLabel, QLabel, QLabel]] = []

    def texts(self) -> list[tuple[str, str, str]]:
        """Return accessible name, value, and certainty or state of each visible row, in order."""
        return [
            (name.accessibleName(), value.text(), sure.text())
            for name, value, sure in self._rows
            if not name.isHidden()
        ]

    def show_margins(
        self,
        references: Sequence[Reference],
        margins: Sequence[ReferenceMargin],
        current: frozenset[str],
        stopped: bool,
    ) -> None:
        """Show a row for each reference, in the given order.

        Without a margin among `margins` a row says "cancelled" if `stopped`, "computing ..." if its
        name is in `current`, and else "waiting". Without references show the hint.
        """
        by_name = {margin.reference.name: margin for margin in margins}
        while len(self._rows) < len(references):
            self._add_row()
        self.hint.setVisible(not references)
        for place, row in enumerate(self._rows):
            for label in row:
                label.setVisible(place < len(references))
            if place < len(references):
                reference = references[place]
                waiting = COMPUTING if reference.name in current else WAITING
                margin = by_name.get(reference.name)
                self._show_row(row, reference, margin, STOPPED if stopped else waiting)

    def _show_row(
        self,
        row: tuple[QLabel, QLabel, QLabel],
        reference: Reference,
        margin: ReferenceMargin | None,
        absence: str,
    ) -> None:
        """Show a margin in a row; without a margin a dash, and `absence` as its certainty."""
        name, value, sure = row
        name.setText(rich(short_name(reference)))
        name.setAccessibleName(reference.name)
        if margin is not None:
            value.setText(margin_text(margin.bracket))
            sure.setText(certainty(margin) or NONE)
            tip = margin_tip(margin)
        else:
            value.setText("\u2013")
            sure.setText(absence)
            tip = reference_tip(reference)
        for label in row:
            label.setToolTip(rich_tip(tip))
        value.setAccessibleName(f"{reference.name} {value.text()} {sure.text()}")

    def _add_row(self) -> None:
        """Append a row of three empty labels to the grid: name, value, certainty."""
        name = quiet_label("", self)
        name.setTextFormat(Qt.TextFormat.RichText)
        value = plain_label(parent=self)
        value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        sure = quiet_label("", self)
        # As wide as the widest word, so that values do not move when certainties arrive.
        sure.setMinimumWidth(sure.fontMetrics().horizontalAdvance("heuristic") + 2)
        row = 2 + len(self._rows)
        for column, label in enumerate((name, value, sure)):
            label.setFixedHeight(line_height(self) - 4)
            self._grid.addWidget(label, row, column)
        self._rows.append((name, value, sure))


@final
class FinalLine(QWidget):
    """Line about a run's final margin, with a check box to draw its bracket among the margins.

    Both are hidden while no bracket is known. `shown` is the check box.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.words = quiet_label("", self, wrap=True)
        self.words.setTextFormat(Qt.TextFormat.RichText)
        self.shown = BoundBox("Show in the margin view", self)
        add_all(space(QVBoxLayout(self), (0, 0, 0, 4), 4), self.words, self.shown)
        self.hide()

    def show_words(self, words: tuple[str, str, str], bounds: frozenset[str]) -> None:
        """Show the bracket's ends, its condition and a tip; hide the line if the ends are "".

        Check the box if FINAL is in `bounds`, without emitting its signal.
        """
        ends, condition, tip = words
        text = f"Final margin {emphasise(rich(ends))}, {rich(condition)}"
        self.words.setText(text if ends else "")
        self.words.setAccessibleName(f"Final margin {ends}, {condition}" if ends else "")
        self.words.setToolTip(rich_tip(tip))
        with QSignalBlocker(self.shown):
            self.shown.setChecked(FINAL in bounds)
        self.setVisible(bool(ends))


@final
class TheoryPanel(QWidget):
    """Margins, final margin and verdicts of one run, in a scrolled column.

    The rows of undecided statements are below a button that unfolds them.
    """

    summary_changed = Signal(str)  # counts of the verdicts, or ""; at each `show_assessments`
    bound_requested = Signal(str, bool)
    """Key of a statement or FINAL, True to draw its bound: by the user's click in a check box."""

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette = palette
        self._rows: dict[str, StatementRow] = {}
        self._bounds: frozenset[str] = frozenset()  # keys of statements whose bounds are drawn
        self._arranged: dict[str, str] = {}  # key -> verdict by which the rows are ordered
        self._content = content = QWidget(self)
        self._column = space(QVBoxLayout(content), (16, 8, 16, 16), 4)
        self.run = ElidedLabel(content, Qt.TextElideMode.ElideRight)
        self.run.hide()
        self.margins = MarginList(NO_RUN, content)
        self.note = quiet_label("", content, wrap=True)
        self.note.hide()
        self.reach = quiet_label("", content, wrap=True)
        self.reach.setTextFormat(Qt.TextFormat.RichText)
        self.reach.setToolTip(REACH_TIP)
        self.reach.hide()
        delta = self._make_delta_line(content)
        self.summary = quiet_label("", content, wrap=True)
        self.fold = VerdictFold(content)
        self.fold.toggled.connect(self._show_rows)
        for part in (self.summary, self.fold):
            part.hide()
        self.final = FinalLine(content)
        self.final.shown.toggled.connect(self._on_final_toggled)
        above = (self.run, self.margins, self.reach, self.final)
        add_all(self._column, *above, delta, self.summary, self.note, self.fold, 1)
        fill_scrolled(self, content)

    def _make_delta_line(self, parent: QWidget) -> QHBoxLayout:
        """Return a line with the heading of the statements and the box of delta, both hidden."""
        self.statements = heading_label("Theorems", parent)
        self.statements.setFixedHeight(line_height(self) + 8)
        self.delta = DecimalBox(
            parent, decimals=3, minimum=0.001, maximum=0.999, singleStep=0.01, value=0.05
        )
        self.delta.setKeyboardTracking(False)  # each value would judge all runs again
        self.delta.setPrefix("\u03b4 = ")
        self.delta.setAccessibleName("Failure probability \u03b4")
        self.delta.setToolTip(DELTA_TIP)
        self.delta.setFixedWidth(self.delta.fontMetrics().horizontalAdvance("\u03b4 = 0.000") + 24)
        for part in (self.statements, self.delta):
            part.hide()
        return add_all(QHBoxLayout(), self.statements, 1, self.delta)

    # ------------------------------------------------------------------------------------- display

    def show_run(self, heading: str) -> None:
        """Show the name of the panel's run; hide the name if `heading` is "", as for one run."""
        self.run.set_text(heading, CURRENT_TIP.format(heading=heading))
        self.run.setVisible(bool(heading))

    def show_margins(
        self,
        references: Sequence[Reference] | None,
        margins: Sequence[ReferenceMargin],
        current: frozenset[str] = frozenset(),
        stopped: bool = False,
        planned: bool = True,
    ) -> None:
        """Show reference margins as `MarginList.show_margins` does, or a hint in place of them.

        The hint says that no run is open (`references` is None), that no reference applies
        (`references` is empty), or that references are not listed yet (empty, and not `planned`).
        `current`: names of the margins being computed. `stopped`: computing was cancelled.
        """
        text = NO_MARGIN if planned else "Finding reference margins ..."
        self.margins.hint.setText(NO_RUN if references is None else text)
        self.margins.show_margins(references or (), margins, current, stopped)

    def show_reach(self, reach: tuple[str, str]) -> None:
        """Show a label and a time, as "90 % of ...: at t = ..."; hide the line for a label ""."""
        label, when = reach
        self.reach.setText(rich(f"{label}: {when}") if label else "")
        self.reach.setVisible(bool(label))

    def show_assessments(
        self,
        assessments: Sequence[Assessment] | None,
        shown_bounds: frozenset[str],
        live: bool,
        lines: Sequence[StatementLine] = (),
    ) -> None:
        """Show the statements of the run, and emit `summary_changed`.

        Without assessments a note says that theorems are being checked (None, before the first
        judgement), or that no theorem applies (empty). A run that is not `live`, a recording, is
        never judged: without assessments heading, delta and note are hidden.
        `lines` are the timelines of some statements. `shown_bounds` are as of `show_bounds`. Rows
        are reordered by importance, but not under the pointer or keyboard focus, unless other
        statements apply.
        """
        for part in (self.statements, self.delta):
            part.setVisible(live or bool(assessments))
        self.note.setText(NO_STATEMENT if assessments is not None else JUDGING)
        self.note.setVisible(live and not assessments)
        self.show_bounds(shown_bounds)
        verdicts = {one.statement.key: one.verdict.value for one in assessments or ()}
        self.summary.setText(make_summary(list(verdicts.values())))
        self.summary.setVisible(bool(verdicts))
        self.summary_changed.emit(make_short_summary(list(verdicts.values())))
        if verdicts.keys() != self._arranged.keys() or (
            verdicts != self._arranged and not self._is_in_use()
        ):
            self._arrange(assessments or ())
        over_time = {line.key: line for line in lines}
        for assessment in assessments or ():
            key = assessment.statement.key
            self._rows[key].show_assessment(assessment, over_time.get(key))

    def show_bounds(self, keys: frozenset[str]) -> None:
        """Check the boxes of the statements whose bounds are drawn, without emitting a signal."""
        self._bounds = keys
        for key, row in self._rows.items():
            row.show_bound(key in keys)

    def row(self, key: str) -> StatementRow:
        """Return the row of a statement by its key, folded ones too; KeyError if unknown."""
        return self._rows[key]

    @property
    def names(self) -> tuple[str, ...]:
        """Keys of all statements from the top, undecided ones at the end, folded or not."""
        return tuple(self._rows)

    def _is_in_use(self) -> bool:
        """Return True while the pointer or the keyboard focus is on the panel's content."""
        focus = QApplication.focusWidget()
        return self._content.underMouse() or (
            focus is not None and self._content.isAncestorOf(focus)
        )

    def _arrange(self, assessments: Sequence[Assessment]) -> None:
        """Order the rows by importance, make missing ones, and delete those of other statements.

        Rows of the same statements are reused, and remain open. New verdicts are not shown here.
        """
        decided, undecided = sort_by_importance(assessments)
        before, self._rows = self._rows, {}
        for one in (*decided, *undecided):
            key = one.statement.key
            self._rows[key] = before.pop(key) if key in before else self._make_row(key)
        for row in before.values():
            row.hide()
            row.deleteLater()
        rows = list(self._rows.values())
        column = [*rows[: len(decided)], self.fold, *rows[len(decided) :]]
        for part in column:
            self._column.removeWidget(part)
        place = self._column.indexOf(self.note) + 1
        for offset, part in enumerate(column):
            self._column.insertWidget(place + offset, part)
        self._arranged = {one.statement.key: one.verdict.value for one in assessments}
        self.fold.set_count(len(undecided))
        self.fold.setVisible(bool(undecided))
        self._show_rows()

    def _show_rows(self) -> None:
        """Show the rows of decided statements, and undecided ones if the button unfolds them."""
        for key, row in self._rows.items():
            row.setVisible(self.fold.isChecked() or self._arranged[key] not in OPEN)

    def leaveEvent(self, event: QEvent) -> None:
        """Reorder the rows if verdicts changed since the last ordering, as under the pointer."""
        super().leaveEvent(event)
        assessed = [one for row in self._rows.values() if (one := row.assessment) is not None]
        if any(self._arranged[one.statement.key] != one.verdict.value for one in assessed):
            self._arrange(assessed)

    def _make_row(self, key: str) -> StatementRow:
        """Make the row of a statement, outside the layout; check its box if its bound is drawn."""
        row = StatementRow(key, self._palette, self._content)
        row.show_bound(key in self._bounds)
        row.bound_requested.connect(self.bound_requested)
        return row

    def set_colours(self, palette: Palette) -> None:
        """Set the palette of all rows, and of rows made later."""
        self._palette = palette
        for row in self._rows.values():
            row.set_colours(palette)

    def _on_final_toggled(self, is_shown: bool) -> None:
        """Request to draw or remove the bracket of the final margin."""
        self.bound_requested.emit(FINAL, is_shown)
