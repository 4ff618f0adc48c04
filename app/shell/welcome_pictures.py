"""Pictures on the cards of the welcome page: a panel of each paper's figure, and points."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QWidget

from core.figures.palette import DARK, LIGHT, PALETTES
from core.studies.study import load_study

Floats = NDArray[np.float64]
HEIGHT, LINE = 96, 1.4  # pixels: height of a picture, width of its lines
MIDDLE = 128  # between dark and light backgrounds
# Panel of a study's figure that illustrates each paper.
PICTURED = {
    "telgarsky22": ("telgarsky22-table-1", 3),
    "homogeneity": ("homogeneity-mirror-flow", 0),
    "frei23": ("frei23-figure-1", 0),
    "wei19": ("wei19-theorem-2-1", 0),
    "batchnorm": ("batchnorm-theorem-2-2", 0),
    "boursier25": ("boursier25-alignment-times", 0),
    "boursier22": ("boursier22-orthonormal", 0),
    "morwani24": ("morwani24-grokking", 0),
    "cohen21": ("cohen21-edge-squared", 0),
    "cohen22": ("cohen22-every-edge", 0),
    "damian21": ("damian21-label-noise", 0),
    "saxe14": ("saxe14-modes", 0),
    "gunasekar18": ("gunasekar18-depth", 2),
    "benarous21": ("benarous21-exponents", 2),
    "saad95": ("saad95-plateau", 0),
    "tsilivis25": ("tsilivis25-order-turns-over", 1),
    "chizat19": ("chizat19-lazy-and-rich", 0),
}
# Points of two classes that no line separates, as fractions of the picture.
POINTS = (
    (True, ((0.2, 0.25), (0.32, 0.6), (0.7, 0.3), (0.82, 0.62))),
    (False, ((0.46, 0.42), (0.55, 0.62), (0.5, 0.2))),
)


@final
class FigurePicture(QWidget):
    """Lines of a panel of a paper, from the shipped result of its study."""

    def __init__(self, paper: str) -> None:
        super().__init__()
        self._study_id, self._panel = PICTURED[paper]
        self.setFixedHeight(HEIGHT)

    @cached_property
    def lines(self) -> dict[str, Sequence[tuple[Floats, str]]]:
        """Lines with their colours, by the name of the palette."""
        from core.figures.study_panels import miniature
        from core.studies.shipped_result import shipped_result

        layout, result = load_study(self._study_id).layout(), shipped_result(self._study_id)
        if layout is None or result is None:
            return {}
        own, lines = layout.panels[self._panel], result.panels[self._panel]
        return {name: miniature(own, lines, palette) for name, palette in PALETTES.items()}

    def paintEvent(self, event: QPaintEvent) -> None:
        role = QPalette.ColorRole.Window
        name = LIGHT.name if self.palette().color(role).lightness() > MIDDLE else DARK.name
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        room = QRectF(self.rect()).adjusted(2, 2, -2, -2)
        for points, colour in self.lines.get(name, ()):
            painter.setPen(QPen(QColor(colour), LINE))
            xs = room.left() + room.width() * points[:, 0]
            ys = room.bottom() - room.height() * points[:, 1]
            painter.drawPolyline([*map(QPointF, xs.tolist(), ys.tolist())])
        painter.end()


@final
class PointsPicture(QWidget):
    """Picture of a few points of two classes: rings and dots."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = self.palette().color(QPalette.ColorRole.WindowText)
        painter.setPen(QPen(colour, 1.5))
        for full, points in POINTS:
            painter.setBrush(colour if full else Qt.BrushStyle.NoBrush)
            for x, y in points:
                painter.drawEllipse(QPointF(x * self.width(), y * self.height()), 5.0, 5.0)
        painter.end()
