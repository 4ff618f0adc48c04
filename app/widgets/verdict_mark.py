"""Marks of verdicts and of hypotheses, each with its own shape, colour and word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from app.style import shades
from core.figures.palette import Palette

Shape = Literal["disc", "ring", "square", "triangle", "open triangle", "dash", "dots"]
VerdictSign = Literal["check", "cross", "mark", "none"]
Hue = Literal["positive", "negative", "warning", "muted"]


@final
@dataclass(frozen=True, slots=True)
class VerdictStyle:
    """Mark, colour, word and meaning of a verdict."""

    word: str
    shape: Shape
    sign: VerdictSign
    hue: Hue
    meaning: str


# Keys are values of core.theorems.statement.Verdict, which would load the numerical libraries.
VERDICT_STYLES: dict[str, VerdictStyle] = {
    "holds": VerdictStyle(
        "holds",
        "disc",
        "check",
        "positive",
        "The hypotheses are met, and the conclusion holds on this run.",
    ),
    "holds although the hypotheses are not met": VerdictStyle(
        "holds (hypotheses not met)",
        "ring",
        "check",
        "positive",
        "The conclusion holds on this run, although some hypotheses are not met and the "
        "theorem does not promise it.",
    ),
    "violated with hypotheses not met": VerdictStyle(
        "fails (hypotheses not met)",
        "open triangle",
        "mark",
        "warning",
        "The conclusion fails on this run. This does not contradict the theorem, since some "
        "hypotheses are not met.",
    ),
    "violated": VerdictStyle(
        "violated",
        "square",
        "cross",
        "negative",
        "The hypotheses are met, but the conclusion fails on this run.",
    ),
    "no constant stated": VerdictStyle(
        "no explicit constant",
        "dash",
        "none",
        "muted",
        "The theorem does not state its constant, so no run can test it.",
    ),
    "the text's constant does not hold": VerdictStyle(
        "fails as printed",
        "triangle",
        "mark",
        "warning",
        "The printed constant is known to be wrong, and the conclusion fails with it on this run.",
    ),
    "not decided": VerdictStyle(
        "undecided",
        "dots",
        "none",
        "muted",
        "The run does not provide all the values needed (yet).",
    ),
}
MET: dict[bool | None, tuple[str, Hue, str]] = {
    True: ("\u2713", "positive", "met"),
    False: ("\u2717", "negative", "not met"),
    None: ("?", "muted", "unknown"),
}


def hue_of(hue: Hue, palette: Palette) -> str:
    shade = shades(palette)
    colours = {
        # Text needs a contrast of 4.5, which the class colours of lines do not always have.
        "positive": shade["accent"],
        "negative": shade["danger"],
        "warning": palette.references[2],
        "muted": palette.muted,
    }
    return colours[hue]


def paint_mark(painter: QPainter, style: VerdictStyle, box: QRectF, palette: Palette) -> None:
    """Draw a verdict's mark into a square."""
    colour = QColor(hue_of(style.hue, palette))
    solid = style.shape in ("disc", "square", "triangle")
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    inner = box.adjusted(1.0, 1.0, -1.0, -1.0)
    painter.setPen(Qt.PenStyle.NoPen if solid else QPen(colour, 1.4))
    painter.setBrush(colour if solid else Qt.BrushStyle.NoBrush)
    if style.shape in ("disc", "ring"):
        painter.drawEllipse(inner)
    elif style.shape == "square":
        painter.drawRoundedRect(inner, 2.0, 2.0)
    elif style.shape in ("triangle", "open triangle"):
        corners = (inner.bottomLeft(), inner.bottomRight(), QPointF(inner.center().x(), inner.y()))
        painter.drawPolygon(QPolygonF(list(corners)))
    elif style.shape == "dash":
        painter.drawLine(
            QPointF(inner.left() + 1, box.center().y()),
            QPointF(inner.right() - 1, box.center().y()),
        )
    else:
        painter.setBrush(colour)
        painter.setPen(Qt.PenStyle.NoPen)
        for step in (-1, 0, 1):
            painter.drawEllipse(box.center() + QPointF(4.0 * step, 0.0), 1.3, 1.3)
    _paint_sign(painter, style, inner, QColor(palette.background) if solid else colour)
    painter.restore()


def _paint_sign(painter: QPainter, style: VerdictStyle, box: QRectF, colour: QColor) -> None:
    pen = QPen(colour, 1.5, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    unit, middle = box.width() / 12.0, box.center()
    if style.sign == "check":
        points = ((-2.6, 0.2), (-0.8, 2.1), (2.8, -2.0))
        painter.drawPolyline([middle + QPointF(unit * x, unit * y) for x, y in points])
    elif style.sign == "cross":
        for turn in (1.0, -1.0):
            arm = QPointF(2.3 * unit, turn * 2.3 * unit)
            painter.drawLine(middle - arm, middle + arm)
    elif style.sign == "mark":
        painter.drawLine(middle + QPointF(0.0, -1.6 * unit), middle + QPointF(0.0, 1.6 * unit))
        painter.drawPoint(middle + QPointF(0.0, 3.8 * unit))
