"""Row of a paper's statement: its sentence, its verdict with time and slack, and its details."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QCheckBox,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.theory.formula import FormulaLabel
from app.theory.statement_lines import StatementLine, paint_stripe
from app.widgets.inputs import line_height
from app.widgets.labels import rich_label, rich_tip
from app.widgets.layouts import add_all, space
from app.widgets.screen_text import emphasise, greek, rich, short_name, shown_number
from app.widgets.verdict_mark import (
    MET,
    VERDICT_STYLES,
    VerdictStyle,
    hue_of,
    paint_mark,
)
from core.figures.palette import Palette
from core.numbers import raise_powers, time_text
from core.studies.papers import PAPERS

if TYPE_CHECKING:
    from core.theorems.statement import Assessment

MARK = 14.0
RELATIONS = {"<=": "\u2264", ">=": "\u2265", "<": "<", ">": ">", "=": "="}
STRIPE = 4.0  # pixels
INDENT = 24.0  # pixels, of the content beside the mark
SMALL = 0.92  # factor of the font size for sentence, time and slack
WRAPPED = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap)


def takes_key(event: QEvent) -> bool:
    """Accept a key that presses a button, before the window plays the run by the space bar."""
    mine = (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)
    if event.type() is not QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    if event.key() in mine and not event.modifiers():
        event.accept()
        return True
    return False


@final
class BoundBox(QCheckBox):
    """Check box that the space bar toggles, not the window's player."""

    def event(self, event: QEvent) -> bool:
        return takes_key(event) or super().event(event)


@final
class VerdictFold(QPushButton):
    """Button that unfolds the statements without a verdict; the space bar presses it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setCheckable(True)
        self.setFlat(True)
        self._count = 0
        self.toggled.connect(self._show_words)

    def set_count(self, count: int) -> None:
        """Set how many statements are folded."""
        self._count = count
        self._show_words()

    def _show_words(self) -> None:
        verb = "Hide" if self.isChecked() else "Show"
        self.setText(f"{verb} {self._count} undecided")

    def event(self, event: QEvent) -> bool:
        return takes_key(event) or super().event(event)


@final
class VerdictLine(QAbstractButton):
    """Button with the mark, number, verdict, sentence and timing of a statement, which it opens."""

    def __init__(self, palette: Palette, parent: QWidget) -> None:
        super().__init__(parent)
        self._palette = palette
        self._verdict_style: VerdictStyle = VERDICT_STYLES["not decided"]
        self._name = self._sentence = self._timing = ""
        self.stripe: StatementLine | None = None
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        # A long name is elided and does not widen the panel.
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_verdict(
        self, names: tuple[str, str], style: VerdictStyle, timing: str, tip: str
    ) -> None:
        """Show a verdict; `names`: the statement's number and state for screen readers."""
        before = self._sentence, self._timing
        (self._name, self._sentence), self._verdict_style, self._timing = names, style, timing
        self.setText(f"{self._name}: {style.word}")
        self.setAccessibleName(self.text())
        self.setAccessibleDescription(" ".join(part for part in (names[1], timing) if part))
        self.setToolTip(rich_tip(tip))
        if before != (self._sentence, self._timing):
            self.updateGeometry()
        self.update()

    def show_stripe(self, line: StatementLine | None) -> None:
        """Show where in the run the conclusion holds and fails; hide the stripe if undecided."""
        decided_line = line if line is not None and line.is_decided else None
        if decided_line != self.stripe:
            if (decided_line is None) != (self.stripe is None):
                self.updateGeometry()
            self.stripe = decided_line
            self.update()

    @property
    def sentence(self) -> str:
        """Shown statement."""
        return self._sentence

    @property
    def timing(self) -> str:
        """Shown time and slack of the verdict."""
        return self._timing

    @property
    def word(self) -> str:
        """Shown verdict."""
        return self._verdict_style.word

    def set_colours(self, palette: Palette) -> None:
        self._palette = palette
        self.update()

    def event(self, event: QEvent) -> bool:
        return takes_key(event) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(200, self.heightForWidth(max(self.width(), 200)))

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        sizes = [self._size_of_text(text, width).height() for text in self._small_texts()]
        below = (5.0 if sizes else 0.0) + (STRIPE + 3.0 if self.stripe else 0.0)
        return math.ceil(line_height(self) + sum(sizes) + below)

    def _small_texts(self) -> list[str]:
        """Return the sentence and the timing, those that are not empty."""
        return [text for text in (self._sentence, self._timing) if text]

    def _small_font(self) -> QFont:
        """Return the font of sentence and timing."""
        font = QFont(self.font())
        font.setPointSizeF(SMALL * font.pointSizeF())
        return font

    def _size_of_text(self, text: str, width: int) -> QSizeF:
        """Return the size of a small text, wrapped in a row of this width, less its indent."""
        room = QRectF(0.0, 0.0, max(width - INDENT - 4.0, 40.0), 1e4)
        return QFontMetricsF(self._small_font()).boundingRect(room, WRAPPED, text).size()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = QColor(self._palette.foreground)
        ground.setAlpha(24 if self.isDown() else 14 if self.underMouse() else 0)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        painter.drawRoundedRect(QRectF(self.rect()), 4.0, 4.0)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QColor(hue_of("positive", self._palette)))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4.0, 4.0)
        middle = 0.5 * line_height(self)
        paint_mark(
            painter, self._verdict_style, QRectF(4.0, middle - MARK / 2, MARK, MARK), self._palette
        )
        self._paint_texts(painter)
        if self.stripe is not None:
            place = QPointF(INDENT, self.height() - STRIPE - 4.0)
            box = QRectF(place, QSizeF(self.width() - INDENT - 4.0, STRIPE))
            paint_stripe(painter, self.stripe, box, self._palette)
        painter.end()

    def _paint_texts(self, painter: QPainter) -> None:
        """Paint verdict, elided name, and below them sentence and timing."""
        metrics = self.fontMetrics()
        wide = metrics.horizontalAdvance(self._verdict_style.word)
        height = float(line_height(self))
        box = QRectF(INDENT, 0.0, self.width() - INDENT - 4.0, height)
        painter.setPen(QColor(hue_of(self._verdict_style.hue, self._palette)))
        painter.drawText(
            box,
            int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter),
            self._verdict_style.word,
        )
        room = max(box.width() - wide - 8.0, 0.0)
        name = metrics.elidedText(self._name, Qt.TextElideMode.ElideRight, int(room))
        painter.setPen(self.palette().windowText().color())
        painter.drawText(
            QRectF(INDENT, 0.0, room, height),
            int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter),
            name,
        )
        painter.setFont(self._small_font())
        painter.setPen(QColor(self._palette.muted))
        place = QPointF(INDENT, height - 3.0)
        for text in self._small_texts():
            size = QSizeF(box.width(), self._size_of_text(text, self.width()).height())
            painter.drawText(QRectF(place, size), WRAPPED, text)
            place += QPointF(0.0, size.height())


def citation_of(assessment: Assessment) -> str:
    """Return authors, title and year of the paper, and the statement's number in it.

    For a source that is no known paper, the number and the source.
    """
    statement = assessment.statement
    source, _, section = statement.source.partition(",")
    paper = PAPERS.get(source.strip())
    place = f"{statement.name},{section}" if section else statement.name
    return f"{place}. {source}." if paper is None else paper.citation(place)


def timing_of(assessment: Assessment) -> str:
    """Return the verdict's time and slack, with numbers as the window shows them."""
    from core.theorems.report import Style, timing_words  # loads the numerical libraries

    words = timing_words(assessment, Style(shown_number, _moment_text))
    return words[:1].upper() + words[1:]


def _moment_text(log10_time: float, steps: bool) -> str:
    """Return a moment as the window shows times."""
    return raise_powers(time_text(log10_time, steps))


@final
class StatementRow(QWidget):
    """Row of a statement, with details made at its first opening."""

    bound_requested = Signal(str, bool)  # key of the statement, True to draw its bound

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
        self.shows_bound = False

    @property
    def assessment(self) -> Assessment | None:
        """Shown judgement; None before the first one."""
        return self._assessment

    def show_assessment(self, assessment: Assessment, line: StatementLine | None = None) -> None:
        """Show a judgement of the same statement, and its line over time."""
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
        self._palette = palette
        self.line.set_colours(palette)
        self._fill_details()

    # ------------------------------------------------------------------------------- details

    def _on_toggled(self, opened: bool) -> None:
        # Made when first opened: a run has dozens of statements, and each formula is typeset.
        if opened and self._opened is None:
            self._make_details()
        if self._opened is not None:
            self._opened.setVisible(opened)

    def _make_details(self) -> None:
        """Make and fill the widgets below the line."""
        opened = QWidget(self)
        column = space(QVBoxLayout(opened), (24, 4, 4, 12), 8)
        self.formula = FormulaLabel(opened)
        self.hypotheses = rich_label(opened)
        self.comparison = rich_label(opened)
        self.slip = rich_label(opened)
        self.citation = rich_label(opened)
        self.citation.setProperty("quiet", True)
        self.bound = BoundBox("Show the bound in the views", opened)
        self.bound.setChecked(self.shows_bound)
        self.bound.toggled.connect(self._on_bound_toggled)
        labels = (self.formula, self.hypotheses, self.comparison, self.slip)
        add_all(column, *labels, self.citation, self.bound)
        self._opened = opened
        self._column.addWidget(opened)
        self._fill_details()

    def _on_bound_toggled(self, is_shown: bool) -> None:
        self.shows_bound = is_shown
        self.bound_requested.emit(self._key, is_shown)

    def _fill_details(self) -> None:
        """Show formula, hypotheses, comparison, slip and citation, if the details were opened."""
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
        """Return an HTML table of the hypotheses: required, present, and met or not."""
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
        """Return measured and promised values and the reason; else the verdict's meaning."""
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
