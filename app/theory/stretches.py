"""How a stretch of the theorem time line is drawn: each state has a shape as well as a colour."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app.state.statement_lines import Stretch
from app.widgets.verdict_mark import Hue, hue_of
from core.figures.palette import Palette

# State, whether of the hypotheses, and what it is called in the legend.
SHAPES = (
    ("HOLDS", False, "holds"),
    ("FAILS", False, "does not hold"),
    ("OPEN", False, "not decided"),
    ("HOLDS", True, "hypotheses, above each"),
)
LEGEND = (
    "A full bar: the conclusion holds; a hatched one: it does not hold; dots: it is not decided. "
    "The thin line above each is for the hypotheses: whole, broken or dotted. Where nothing is "
    "drawn the statement says nothing of such times."
)
HATCH = 5.0  # pixels between the strokes
SWATCH = 22.0


def hue_of_stretch(stretch: Stretch, upper: bool) -> Hue:
    """The kind of colour: failing is grave only where the hypotheses hold."""
    if stretch.state == "HOLDS":
        return "positive"
    if stretch.state == "FAILS":
        return "negative" if stretch.promised and not upper else "warning"
    return "muted"


def paint_stretch(painter: QPainter, box: QRectF, state: str, colour: QColor, upper: bool) -> None:
    """Draw a stretch into its box: a bar for the conclusion, a line for the hypotheses."""
    if state == "SILENT":
        return
    middle = box.center().y()
    line = QLineF(box.left(), middle, box.right(), middle)
    pen = QPen(colour, 2.0 if upper else 2.5)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    if state == "OPEN":
        pen.setDashPattern([1.0, 2.0])
        pen.setWidthF(1.5 if upper else 2.0)
    elif upper and state == "FAILS":
        pen.setDashPattern([3.0, 2.5])
    elif not upper:
        _paint_bar(painter, box, colour, hatched=state == "FAILS")
        return
    painter.setPen(pen)
    painter.drawLine(line)


def _paint_bar(painter: QPainter, box: QRectF, colour: QColor, hatched: bool) -> None:
    painter.save()
    if not hatched:
        painter.fillRect(box, colour)
    else:
        faint = QColor(colour)
        faint.setAlpha(60)
        painter.setClipRect(box.adjusted(-0.5, -0.5, 0.5, 0.5))
        painter.fillRect(box, faint)
        painter.setPen(QPen(colour, 1.2))
        painter.drawRect(box)
        x = box.left() - box.height()
        while x < box.right():
            painter.drawLine(QPointF(x, box.bottom()), QPointF(x + box.height(), box.top()))
            x += HATCH
    painter.restore()


def paint_legend(painter: QPainter, box: QRectF, palette: Palette) -> None:
    """The shapes with their names, from the right, as many as there is room for."""
    metrics = painter.fontMetrics()
    x, height = box.right(), 0.5 * metrics.height()
    for state, upper, name in reversed(SHAPES):
        wide = metrics.horizontalAdvance(name)
        x -= wide
        if x - SWATCH - 6.0 < box.left():
            return
        painter.setPen(QColor(palette.muted))
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        painter.drawText(QRectF(x, box.top(), wide + 2.0, box.height()), flags, name)
        x -= SWATCH + 6.0
        swatch = QRectF(x, box.center().y() - 0.5 * height, SWATCH, height)
        hue = hue_of_stretch(Stretch(state, 0.0, 0.0, "", promised=False), upper)
        paint_stretch(painter, swatch, state, QColor(hue_of(hue, palette)), upper)
        x -= 14.0
