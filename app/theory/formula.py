"""Formulas as outlines: sharp at any resolution, in the window's text colour.

matplotlib's mathtext gives the letters as curves. A formula that is too wide for its label is
broken before a relation or a plus sign, and after a comma or a wide space.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import final

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

log = logging.getLogger(__name__)
# Size at which outlines are computed; painting scales them to any other.
UNIT = 100.0
INDENT = 1.2  # of continuation lines, in units of the letters' size
GAP = 0.45  # between lines, in units of the letters' size
# Possible line ends: before a relation or a sum, after a comma or a wide space.
BREAKS = re.compile(
    r"(?P<before>\\(?:leq?|geq?|ll|gg|in|to|Rightarrow|Longrightarrow|implies|approx|sim)(?![A-Za-z])"
    r"|[=+<>](?!=))|(?P<after>,\\?;?|;|\\qquad|\\quad)"
)
OPENING, CLOSING = ("{", "(", "[", "\\left", "\\langle"), ("}", ")", "]", "\\right", "\\rangle")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """Line of a formula at UNIT points: its curves, with the baseline at y = 0, y downwards.

    `ascent` and `descent` are both positive, and at least those of ordinary letters.
    """

    path: QPainterPath
    width: float  # from x = 0 to the right edge
    ascent: float
    descent: float


# mathtext takes 6 ms a formula, and each is broken into lines again at every change of width.
@lru_cache(maxsize=512)
def outline_of_tex(tex: str) -> Outline:
    """Return the curves of TeX without dollar signs, on one line; fractions are full-sized. Cached.

    Raises ValueError for TeX that mathtext cannot read.
    """
    from matplotlib.font_manager import FontProperties
    from matplotlib.path import Path
    from matplotlib.textpath import TextPath

    properties = FontProperties(family="DejaVu Sans", math_fontfamily="stix")
    displayed = tex.replace("\\frac", "\\dfrac")  # a displayed formula has room for full fractions
    letters = TextPath((0.0, 0.0), f"${displayed}$", size=UNIT, prop=properties)
    path = QPainterPath()
    for points, code in letters.iter_segments(simplify=False):
        # The vertical axis points upwards in matplotlib and downwards in Qt.
        x = [(float(a), -float(b)) for a, b in points.reshape(-1, 2)]
        if code == Path.MOVETO:
            path.moveTo(*x[0])
        elif code == Path.LINETO:
            path.lineTo(*x[0])
        elif code == Path.CURVE3:
            path.quadTo(*x[0], *x[1])
        elif code == Path.CURVE4:
            path.cubicTo(*x[0], *x[1], *x[2])
        elif code == Path.CLOSEPOLY:
            path.closeSubpath()
    # Fonts need the winding rule; by Qt's default overlapping parts would be holes.
    path.setFillRule(Qt.FillRule.WindingFill)
    box = path.boundingRect()
    # At least as high and deep as letters, so that lines of flat symbols keep their distance.
    return Outline(path, box.right(), max(-box.top(), 0.7 * UNIT), max(box.bottom(), 0.2 * UNIT))


def split_formula(tex: str) -> tuple[str, ...]:
    r"""Split a formula into the parts between which a line may end, outside brackets only.

    A relation, an arrow or a plus sign starts a part. A comma, semicolon or wide space ends a part.
    Parts are stripped, and empty parts left out.

    >>> split_formula(r"a(x, y) \leq b, c = d")
    ('a(x, y)', '\\leq b,', 'c', '= d')
    """
    depth, start, place, parts = 0, 0, 0, []
    while place < len(tex):
        step = 1
        opening = next((word for word in OPENING if tex.startswith(word, place)), "")
        closing = next((word for word in CLOSING if tex.startswith(word, place)), "")
        # \leftarrow and its like begin as \left does, but open nothing.
        if opening == "\\left" and re.match(r"\\left[a-z]*arrow", tex[place:]):
            opening = ""
        # The delimiter after \left or \right must not be counted twice.
        if opening:
            depth, step = depth + 1, len(opening) + (opening == "\\left")
        elif closing:
            depth, step = depth - 1, len(closing) + (closing == "\\right")
        elif depth == 0 and (match := BREAKS.match(tex, place)):
            step = len(match[0])
            cut = place if match["before"] else place + step
            parts.append(tex[start:cut].strip())
            start = cut
        elif tex[place] == "\\":
            command = re.match(r"\\[A-Za-z]+", tex[place:])
            step = len(command[0]) if command else 2
        place += step
    return tuple(part for part in (*parts, tex[start:].strip()) if part)


@final
class FormulaLabel(QWidget):
    """Formula in the text colour, over as many lines as the label's width needs.

    The height follows from the lines. Lines after the first are indented, and a line that is still
    too wide is painted smaller. TeX that mathtext cannot read is shown as plain text, with a
    warning in the log.
    """

    def __init__(self, parent: QWidget | None = None, tex: str = "") -> None:
        super().__init__(parent)
        self._tex = ""
        self._lines: tuple[Outline, ...] = ()
        self._broken = False
        # A long formula must not widen the panel: it is broken to the available width.
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.set_tex(tex)

    @property
    def tex(self) -> str:
        """Shown TeX, also if unreadable; "" for no formula."""
        return self._tex

    @property
    def readable(self) -> bool:
        """True if mathtext can read the formula, or no formula is set."""
        return not self._broken

    @property
    def lines(self) -> int:
        """Number of lines; 0 for an empty or unreadable formula."""
        return len(self._lines)

    def set_tex(self, tex: str) -> None:
        """Show a formula, TeX without dollar signs; "" for none. The accessible name is the TeX."""
        if tex == self._tex:
            return
        self._tex = tex
        self.setAccessibleName(tex)
        self._break()

    def _scale(self) -> float:
        """Return the pixels per unit of an outline, by the height of the widget's font."""
        return 1.4 * self.fontMetrics().height() / (1.35 * UNIT)

    def _break(self) -> None:
        """Break the formula for the present width and font, and set the height."""
        self._broken = False
        self._lines = ()
        if self._tex:
            try:
                self._lines = tuple(self._fill_lines(max(self.width(), 40) / self._scale()))
            except (ValueError, RuntimeError):
                log.warning("mathtext cannot read %s", self._tex)
                self._broken = True
        self.setFixedHeight(self.heightForWidth(self.width()))
        self.update()

    def _fill_lines(self, width: float) -> list[Outline]:
        """Return the lines for a width in units of outlines; a part alone may be wider.

        Raises ValueError or RuntimeError for TeX that mathtext cannot read.
        """
        if outline_of_tex(self._tex).width <= width:
            return [outline_of_tex(self._tex)]
        lines: list[str] = []
        for part in split_formula(self._tex):
            longer = f"{lines[-1]} {part}" if lines else part
            room = width - (INDENT * UNIT if len(lines) > 1 else 0.0)
            if lines and outline_of_tex(longer).width <= room:
                lines[-1] = longer
            else:
                lines.append(part)
        return [outline_of_tex(line) for line in lines]

    def heightForWidth(self, width: int) -> int:
        """Return the height of the lines as broken for the present width; 0 for no formula.

        `width` counts only for an unreadable formula, whose plain text is wrapped.
        """
        if self._broken:
            flags = int(Qt.TextFlag.TextWrapAnywhere)
            box = self.fontMetrics().boundingRect(0, 0, max(width, 40), 9999, flags, self._tex)
            return box.height() + 4
        letters = sum(line.ascent + line.descent for line in self._lines)
        gaps = GAP * UNIT * max(len(self._lines) - 1, 0)
        return round((letters + gaps) * self._scale()) + 8 if self._lines else 0

    def sizeHint(self) -> QSize:
        return QSize(160, self.heightForWidth(self.width()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Break the formula again if the width changed."""
        if event.size().width() != event.oldSize().width():
            self._break()

    def changeEvent(self, event: QEvent) -> None:
        """Break the formula again after a change of font."""
        if event.type() is QEvent.Type.FontChange:
            self._break()
        super().changeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the lines, each made smaller if too wide; an unreadable formula as its TeX."""
        painter = QPainter(self)
        colour = self.palette().windowText().color()
        painter.setPen(colour)
        if self._broken:
            flags = int(Qt.TextFlag.TextWrapAnywhere)
            painter.drawText(QRectF(self.rect()), flags, self._tex)
            painter.end()
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        y = 4.0
        for number, line in enumerate(self._lines):
            indent = INDENT * UNIT if number else 0.0
            # A part without a break may be too wide: draw it smaller.
            fit = self.width() / max(line.width + indent, 1.0)
            scale = min(self._scale(), fit)
            painter.save()
            painter.translate(indent * scale, y + line.ascent * self._scale())
            painter.scale(scale, scale)
            painter.drawPath(line.path)
            painter.restore()
            y += (line.ascent + line.descent + GAP * UNIT) * self._scale()
        painter.end()
