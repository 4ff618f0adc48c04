"""One statement of a paper: a line with its verdict, and what lies behind it when it is opened."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QSizePolicy, QVBoxLayout, QWidget

from app.panels.formula import FormulaLabel
from app.panels.inputs import line_height, rich_label
from app.panels.verdict_mark import LOOKS, MET, Look, hue_of, paint_mark
from app.widgets.layouts import filled, laid
from app.widgets.screen_text import shown_number
from app.widgets.symbols import greek, rich, short_name
from core.figures.palette import Palette

if TYPE_CHECKING:
    from core.theorems.statement import Assessment

MARK = 14.0
RELATIONS = {"<=": "\u2264", ">=": "\u2265", "<": "<", ">": ">", "=": "="}
SHOW_BOUND = "Show the bound in the views"


def takes_key(event: QEvent) -> bool:
    """Keep a key that presses a button from the window, where the space bar plays the run."""
    mine = (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)
    if event.type() is not QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    if event.key() in mine and not event.modifiers():
        event.accept()
        return True
    return False


@final
class BoundBox(QCheckBox):
    """A box that the space bar checks."""

    def event(self, event: QEvent) -> bool:
        return takes_key(event) or super().event(event)


@final
class VerdictLine(QAbstractButton):
    """Mark, numbering and verdict in one line; pressing it opens or closes the statement."""

    def __init__(self, palette: Palette, parent: QWidget) -> None:
        super().__init__(parent)
        self._palette = palette
        self._look: Look = LOOKS["not decided"]
        self._name = ""
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        # The name is shortened to the panel, and does not widen it.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_verdict(self, name: str, look: Look, tip: str) -> None:
        """Another verdict."""
        self._name, self._look = name, look
        self.setText(f"{name}: {look.word}")
        self.setAccessibleName(self.text())
        self.setToolTip(tip)
        self.update()

    @property
    def word(self) -> str:
        """The verdict as it stands there."""
        return self._look.word

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
        return QSize(200, line_height(self))

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
        middle = 0.5 * self.height()
        paint_mark(painter, self._look, QRectF(4.0, middle - MARK / 2, MARK, MARK), self._palette)
        self._paint_texts(painter)
        painter.end()

    def _paint_texts(self, painter: QPainter) -> None:
        metrics = self.fontMetrics()
        wide = metrics.horizontalAdvance(self._look.word)
        box = QRectF(24.0, 0.0, self.width() - 28.0, self.height())
        painter.setPen(QColor(hue_of(self._look.hue, self._palette)))
        painter.drawText(
            box, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), self._look.word
        )
        room = max(box.width() - wide - 8.0, 0.0)
        name = metrics.elidedText(self._name, Qt.TextElideMode.ElideRight, int(room))
        painter.setPen(self.palette().windowText().color())
        painter.drawText(
            QRectF(24.0, 0.0, room, self.height()),
            int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter),
            name,
        )


@final
class StatementRow(QWidget):
    """A statement. bound_requested(key, shown): its bound is wanted in the views, or no more."""

    bound_requested = Signal(str, bool)

    def __init__(self, key: str, palette: Palette, parent: QWidget) -> None:
        super().__init__(parent)
        self._key = key
        self._palette = palette
        self._assessment: Assessment | None = None
        self._opened: QWidget | None = None
        self.line = VerdictLine(palette, self)
        self.line.toggled.connect(self._toggled)
        self._column = laid(QVBoxLayout(self), spacing=0)
        self._column.addWidget(self.line)
        self.shows_bound = False

    @property
    def assessment(self) -> Assessment | None:
        return self._assessment

    def show_assessment(self, assessment: Assessment) -> None:
        """Another judgement of the same statement."""
        self._assessment = assessment
        statement, look = assessment.statement, LOOKS[assessment.verdict.value]
        words = f"{statement.name} of {statement.source}. {statement.text}"
        self.line.show_verdict(
            short_name(statement.name), look, f"<p>{rich(words)}</p><p>{look.meaning}</p>"
        )
        self._fill()

    def set_colours(self, palette: Palette) -> None:
        self._palette = palette
        self.line.set_colours(palette)
        self._fill()

    # ------------------------------------------------------------------------------- details

    def _toggled(self, opened: bool) -> None:
        # Made when it is first opened: a run has dozens of statements, and mathtext sets each
        # formula.
        if opened and self._opened is None:
            self._make()
        if self._opened is not None:
            self._opened.setVisible(opened)

    def _make(self) -> None:
        opened = QWidget(self)
        column = laid(QVBoxLayout(opened), (24, 4, 4, 12), 8)
        self.text = rich_label(opened)
        self.formula = FormulaLabel(opened)
        self.hypotheses = rich_label(opened)
        self.comparison = rich_label(opened)
        self.slip = rich_label(opened)
        self.bound = BoundBox(SHOW_BOUND, opened)
        self.bound.setChecked(self.shows_bound)
        self.bound.toggled.connect(self._bound_toggled)
        parts = (self.text, self.formula, self.hypotheses, self.comparison, self.slip, self.bound)
        filled(column, *parts)
        self._opened = opened
        self._column.addWidget(opened)
        self._fill()

    def _bound_toggled(self, shown: bool) -> None:
        self.shows_bound = shown
        self.bound_requested.emit(self._key, shown)

    def _fill(self) -> None:
        assessment = self._assessment
        if self._opened is None or assessment is None:
            return
        statement = assessment.statement
        self.text.setText(rich(statement.text))
        self.formula.set_tex(statement.formula)
        self.formula.setVisible(bool(statement.formula))
        self.hypotheses.setText(self._hypotheses(assessment))
        self.hypotheses.setVisible(bool(assessment.hypotheses))
        self.comparison.setText(self._comparison(assessment))
        self.slip.setText(f"<i>{rich(statement.slip)}</i>")
        self.slip.setVisible(bool(statement.slip))
        comparison = assessment.comparison
        self.bound.setVisible(comparison.bound_trace is not None and bool(comparison.view))

    def _hypotheses(self, assessment: Assessment) -> str:
        """A table of what is needed and what is there."""
        rows = []
        for hypothesis in assessment.hypotheses:
            sign, hue, word = MET[hypothesis.met]
            colour = hue_of(hue, self._palette)
            rows.append(
                f"<tr><td style='color:{colour}; padding-right:6px' rowspan='2'>{sign}</td>"
                f"<td>{rich(hypothesis.text)} <span style='color:{colour}'>{word}</span></td></tr>"
                f"<tr><td style='color:{self._palette.muted}; padding-bottom:4px'>needed "
                f"{rich(hypothesis.needed)}; present {rich(hypothesis.present)}</td></tr>"
            )
        return f"<b>Hypotheses</b><table cellspacing='0'>{''.join(rows)}</table>"

    def _comparison(self, assessment: Assessment) -> str:
        comparison = assessment.comparison
        words = []
        if math.isfinite(comparison.bound) or math.isfinite(comparison.measured):
            relation = html.escape(RELATIONS.get(comparison.sense, comparison.sense))
            words.append(
                f"<b>Measured</b> {shown_number(comparison.measured, 4)}, promised {relation} "
                f"{shown_number(comparison.bound, 4)}"
            )
        if comparison.why:
            words.append(rich(comparison.why))
        if not words:
            words.append(html.escape(greek(LOOKS[assessment.verdict.value].meaning)))
        return "<br>".join(words)
