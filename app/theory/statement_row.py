"""Row of a paper's statement: its sentence, its verdict with time and slack, and its details."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.theory.formula import FormulaLabel
from app.theory.statement_buttons import BoundBox, VerdictLine
from app.theory.statement_lines import StatementLine
from app.widgets.labels import rich_label
from app.widgets.layouts import add_all, space
from app.widgets.screen_text import emphasise, greek, rich, short_name, shown_number
from app.widgets.verdict_mark import MET, VERDICT_STYLES, hue_of
from core.figures.palette import Palette
from core.numbers import raise_powers, time_text
from core.studies.papers import PAPERS

if TYPE_CHECKING:
    from core.theorems.statement import Assessment

RELATIONS = {"<=": "\u2264", ">=": "\u2265", "<": "<", ">": ">", "=": "="}


def citation_of(assessment: Assessment) -> str:
    """Return authors, title and year of the paper, and the statement's number and section in it.

    For a source that is not among PAPERS, return the number and the source. Plain text.
    """
    statement = assessment.statement
    source, _, section = statement.source.partition(",")
    paper = PAPERS.get(source.strip())
    place = f"{statement.name},{section}" if section else statement.name
    return f"{place}. {source}." if paper is None else paper.citation(place)


def timing_of(assessment: Assessment) -> str:
    """Return the verdict's time and slack in words, with a capital; "" if neither is known."""
    from core.theorems.report import Style, timing_words  # loads the numerical libraries

    words = timing_words(assessment, Style(shown_number, _moment_text))
    return words[:1].upper() + words[1:]


def _moment_text(log10_time: float, steps: bool) -> str:
    """Return log10 t as the window shows times; `steps`: t counts steps."""
    return raise_powers(time_text(log10_time, steps))


@final
class StatementRow(QWidget):
    """Row of a statement: a VerdictLine, and details below it while the line is checked.

    The details are made at the first opening.
    """

    bound_requested = Signal(str, bool)  # key of the statement, True to draw its bound; by a click

    def __init__(self, key: str, palette: Palette, parent: QWidget) -> None:
        super().__init__(parent)
        self._key = key
        self._palette = palette
        self._assessment: Assessment | None = None
        self._opened: QWidget | None = None
        self.line = VerdictLine(palette, self)
        self.line.toggled.connect(self._on_toggled)
        self._column = space(QVBoxLayout(self), spacing=0)
        self._column.addWidget(self.line)
        self._is_bound_shown = False

    @property
    def assessment(self) -> Assessment | None:
        """Shown assessment; None before the first `show_assessment`."""
        return self._assessment

    def show_assessment(self, assessment: Assessment, line: StatementLine | None = None) -> None:
        """Show an assessment of the row's statement, also in open details.

        `line` is the statement over time; None hides the stripe.
        """
        self._assessment = assessment
        statement, style = assessment.statement, VERDICT_STYLES[assessment.verdict.value]
        words = f"{statement.name} of {statement.source}. {statement.text}"
        tip = f"<p>{rich(words)}</p><p>{rich(style.meaning)}</p>"
        paper = PAPERS.get(statement.paper)
        source = statement.paper if paper is None else paper.short
        names = short_name(statement.name), f"{source}: {greek(statement.text)}"
        self.line.show_verdict(names, style, timing_of(assessment), tip)
        self.line.show_stripe(line)
        self._fill_details()

    def set_colours(self, palette: Palette) -> None:
        """Set the palette of the line, and fill the details again with its colours."""
        self._palette = palette
        self.line.set_colours(palette)
        self._fill_details()

    def show_bound(self, is_shown: bool) -> None:
        """Check or clear the box of the bound, without emitting a signal."""
        self._is_bound_shown = is_shown
        if self._opened is not None:
            with QSignalBlocker(self.bound):
                self.bound.setChecked(is_shown)

    # ------------------------------------------------------------------------------- details

    def _on_toggled(self, opened: bool) -> None:
        """Show or hide the details, made at the first opening."""
        # A run has dozens of statements, and each formula is typeset.
        if opened and self._opened is None:
            self._make_details()
        if self._opened is not None:
            self._opened.setVisible(opened)

    def _make_details(self) -> None:
        """Make and fill the widgets of the details below the line."""
        opened = QWidget(self)
        column = space(QVBoxLayout(opened), (24, 4, 4, 12), 8)
        self.formula = FormulaLabel(opened)
        self.hypotheses = rich_label(opened)
        self.comparison = rich_label(opened)
        self.slip = rich_label(opened)
        self.citation = rich_label(opened)
        self.citation.setProperty("quiet", True)
        self.bound = BoundBox("Show the bound in the views", opened)
        self.bound.setChecked(self._is_bound_shown)
        self.bound.toggled.connect(self._on_bound_toggled)
        labels = (self.formula, self.hypotheses, self.comparison, self.slip)
        add_all(column, *labels, self.citation, self.bound)
        self._opened = opened
        self._column.addWidget(opened)
        self._fill_details()

    def _on_bound_toggled(self, is_shown: bool) -> None:
        """Store the state of the check box, and request to draw or remove the bound."""
        self._is_bound_shown = is_shown
        self.bound_requested.emit(self._key, is_shown)

    def _fill_details(self) -> None:
        """Fill the details, if they were made and an assessment is known.

        Parts that the statement lacks are hidden, and the check box for a bound without a trace.
        """
        assessment = self._assessment
        if self._opened is None or assessment is None:
            return
        statement = assessment.statement
        self.formula.set_tex(statement.formula)
        self.formula.setVisible(bool(statement.formula))
        self.hypotheses.setText(self._hypotheses_table(assessment))
        self.hypotheses.setVisible(bool(assessment.hypotheses))
        self.comparison.setText(self._comparison_text(assessment))
        self.slip.setText(f"<i>{rich(statement.slip)}</i>")
        self.slip.setVisible(bool(statement.slip))
        self.citation.setText(html.escape(citation_of(assessment)))
        comparison = assessment.comparison
        self.bound.setVisible(comparison.bound_trace is not None and bool(comparison.view))

    def _hypotheses_table(self, assessment: Assessment) -> str:
        """Return an HTML table of hypotheses: required, present, and met, not met or unknown."""
        rows = []
        for hypothesis in assessment.hypotheses:
            sign, hue, word = MET[hypothesis.met]
            colour = hue_of(hue, self._palette)
            rows.append(
                f"<tr><td style='color:{colour}; padding-right:6px' rowspan='2'>{sign}</td>"
                f"<td>{rich(hypothesis.text)} <span style='color:{colour}'>{word}</span></td></tr>"
                f"<tr><td style='color:{self._palette.muted}; padding-bottom:4px'>"
                f"Required: {rich(hypothesis.needed)}. Here: {rich(hypothesis.present)}</td></tr>"
            )
        return f"{emphasise('Hypotheses')}<table cellspacing='0'>{''.join(rows)}</table>"

    def _comparison_text(self, assessment: Assessment) -> str:
        """Return the finite ones of measured and promised value, and the reason, as HTML.

        If all three are missing, return the meaning of the verdict.
        """
        comparison = assessment.comparison
        words = []
        if math.isfinite(comparison.measured):
            words.append(f"{emphasise('Measured')} {shown_number(comparison.measured, 4)}")
        if math.isfinite(comparison.bound):
            relation = html.escape(RELATIONS.get(comparison.sense, comparison.sense))
            words.append(f"{emphasise('Promised')} {relation} {shown_number(comparison.bound, 4)}")
        if comparison.why:
            words.append(rich(comparison.why))
        if not words:
            words.append(html.escape(greek(VERDICT_STYLES[assessment.verdict.value].meaning)))
        return "<br>".join(words)
