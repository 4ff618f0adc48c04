"""The panel of theory: a run's reference margins, and what the papers' statements say of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from app.theory.final_line import FinalLine
from app.theory.margin_list import MarginList
from app.theory.statement_row import StatementRow
from app.widgets.inputs import heading_label, line_height, quiet_label
from app.widgets.layouts import filled, laid
from app.widgets.number_boxes import DecimalBox
from app.widgets.scrolled import fill_scrolled
from app.widgets.symbols import rich
from core.figures.palette import Palette
from core.theorems.naming import key_of, paper_of

if TYPE_CHECKING:
    from core.reference.margin import Reference, ReferenceMargin
    from core.theorems.statement import Assessment

NO_RUN = (
    "Run a study, or open a run: its reference margins, and what the theorems say of it, appear "
    "here."
)
NO_MARGIN = "The papers define no reference margin for these data and this network."
NO_STATEMENT = "None of the statements is about such a run."
PLANNING = "The reference margins of the run are being looked up ..."
JUDGING = "The run is being judged ..."
REACH_TIP = (
    "When the hard margin first comes to 90 % of what theory promises: the ring in the view of "
    "margins as shares."
)
DELTA_TIP = "The failure probability delta of statements that hold with probability 1 - delta."


@final
class TheoryPanel(QWidget):
    """Shows margins and verdicts. run_chosen(key), bound_requested(key, shown)."""

    run_chosen = Signal(int)
    delta_requested = Signal(float)
    bound_requested = Signal(str, bool)

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette = palette
        self._rows: dict[str, StatementRow] = {}
        self._headings: dict[str, QWidget] = {}
        self._content = content = QWidget(self)
        self._column = laid(QVBoxLayout(content), (16, 8, 16, 16), 4)
        self.runs = QComboBox(content)
        self.runs.setAccessibleName("Run")
        # Not as wide as the longest name, which would make the panel wider than it is.
        self.runs.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.runs.setMinimumContentsLength(6)
        self.runs.setToolTip("The run that the theory is about")
        self.runs.activated.connect(self._run_chosen)
        self.runs.hide()
        self.margins = MarginList(NO_RUN, content)
        self.note = quiet_label("", content, wrap=True)
        self.note.hide()
        self.reach = quiet_label("", content, wrap=True)
        self.reach.setTextFormat(Qt.TextFormat.RichText)
        self.reach.setToolTip(REACH_TIP)
        self.reach.hide()
        delta = self._delta_line(content)
        self.final = FinalLine(content)
        above = (self.runs, self.margins, self.reach, self.final)
        filled(self._column, *above, delta, self.note, 1)
        fill_scrolled(self, content)

    def _delta_line(self, parent: QWidget) -> QHBoxLayout:
        self.statements = heading_label("Theorems", parent)
        self.statements.setFixedHeight(line_height(self) + 8)
        self.delta = DecimalBox(
            parent, decimals=3, minimum=0.001, maximum=0.999, singleStep=0.01, value=0.05
        )
        self.delta.setKeyboardTracking(False)  # the runs are judged anew for every value
        self.delta.setPrefix("\u03b4 = ")
        self.delta.setAccessibleName("Failure probability delta")
        self.delta.setToolTip(DELTA_TIP)
        self.delta.setFixedWidth(self.delta.fontMetrics().horizontalAdvance("\u03b4 = 0.000") + 24)
        self.delta.valueChanged.connect(self.delta_requested)
        for part in (self.statements, self.delta):
            part.hide()
        return filled(QHBoxLayout(), self.statements, 1, self.delta)

    # --------------------------------------------------------------------------------- showing

    def show_runs(self, runs: Sequence[tuple[int, str]], key: int) -> None:
        """The runs to choose from, and the one that is shown."""
        shown = [(self.runs.itemData(k), self.runs.itemText(k)) for k in range(self.runs.count())]
        if shown != list(runs):
            self.runs.clear()
            for number, heading in runs:
                self.runs.addItem(heading, number)
        self.runs.setCurrentIndex(self.runs.findData(key))
        self.runs.setVisible(len(runs) > 1)

    def show_margins(
        self,
        references: Sequence[Reference] | None,
        margins: Sequence[ReferenceMargin],
        current: frozenset[str] = frozenset(),
        stopped: bool = False,
        planned: bool = True,
    ) -> None:
        """The margins of the run; None where there is no run, not `planned` where it is not known
        yet which ones it has."""
        known = NO_MARGIN if planned else PLANNING
        self.margins.hint.setText(NO_RUN if references is None else known)
        self.margins.show_margins(references or (), margins, current, stopped)

    def show_reach(self, reach: tuple[str, str]) -> None:
        """Of what 90 % are reached, and when; empty where nothing is promised."""
        label, when = reach
        self.reach.setText(rich(f"{label}: {when}") if label else "")
        self.reach.setVisible(bool(label))

    def show_assessments(
        self, assessments: Sequence[Assessment] | None, shown_bounds: frozenset[str], live: bool
    ) -> None:
        """The statements of the run; None where it is not judged yet, `live` if it will be."""
        for part in (self.statements, self.delta):
            part.setVisible(live or bool(assessments))
        self.note.setText(NO_STATEMENT if assessments is not None else JUDGING)
        self.note.setVisible(live and not assessments)
        names = [key_of(assessment.statement) for assessment in assessments or ()]
        # Of the same statements those that are open, and the scroll bar, stay as they are.
        if names != list(self._rows):
            self._rebuild(assessments or (), shown_bounds)
        for assessment in assessments or ():
            self._rows[key_of(assessment.statement)].show_assessment(assessment)

    def row(self, key: str) -> StatementRow:
        """The row of a statement; KeyError for one that is not shown."""
        return self._rows[key]

    @property
    def names(self) -> tuple[str, ...]:
        """The statements that are shown, from the top."""
        return tuple(self._rows)

    def _rebuild(self, assessments: Sequence[Assessment], shown_bounds: frozenset[str]) -> None:
        """Other rows; those that stay keep their state."""
        before, self._rows = self._rows, {}
        for heading in self._headings.values():
            heading.hide()
            heading.deleteLater()
        self._headings = {}
        place = self._column.indexOf(self.note) + 1
        for assessment in assessments:
            statement = assessment.statement
            paper = paper_of(statement.source)
            if paper not in self._headings:
                heading = quiet_label(paper, self._content)
                heading.setFixedHeight(line_height(self))
                self._headings[paper] = heading
                self._column.insertWidget(place, heading)
                place += 1
            key = key_of(statement)
            # A row that is opened, or has the focus, is the same widget after other statements
            # came.
            row = before.pop(key, None) or self._new_row(key, shown_bounds)
            self._rows[key] = row
            self._column.insertWidget(place, row)
            place += 1
        for row in before.values():
            row.hide()
            row.deleteLater()

    def _new_row(self, key: str, shown_bounds: frozenset[str]) -> StatementRow:
        row = StatementRow(key, self._palette, self._content)
        row.shows_bound = key in shown_bounds
        row.bound_requested.connect(self.bound_requested)
        return row

    def set_colours(self, palette: Palette) -> None:
        self._palette = palette
        for row in self._rows.values():
            row.set_colours(palette)

    def _run_chosen(self, index: int) -> None:
        self.run_chosen.emit(int(self.runs.itemData(index)))
