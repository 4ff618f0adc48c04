"""The axes of the plots: ticks and texts of our own, of a width that does not depend on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QColor, QFontMetricsF

from app.widgets.ticks import TickMaker
from core.figures.palette import Palette

TICK_PIXELS = 4


@final
class PlotAxis(pg.AxisItem):
    """An axis at the left or the bottom, of a width that does not depend on its ticks."""

    def __init__(self, orientation: str, ticks: TickMaker, label: str, widest: str = "") -> None:
        super().__init__(orientation, maxTickLength=TICK_PIXELS)
        self._widest = widest  # the longest text of a tick that there is to be room for
        # Else pyqtgraph would write (x0.001) beside a label, and multiply the ticks.
        self.enableAutoSIPrefix(False)
        # pyqtgraph would make room for each text that comes, and plots would jump while they play.
        self.setStyle(autoExpandTextSpace=False, autoReduceTextSpace=False, tickTextOffset=3)
        # Our ticks are few enough to fit: pyqtgraph would leave out those that fill more than 80 %.
        self.setStyle(textFillLimits=[(0, 1.0)], hideOverlappingLabels=False)
        self._maker = ticks
        self._texts: dict[float, str] = {}
        self._label: str | None = None
        self.set_label(label)

    def set_ticks(self, ticks: TickMaker) -> None:
        """Another kind of ticks."""
        if ticks is not self._maker:
            self._maker = ticks
            self.picture = None  # pyqtgraph keeps the axis as it was painted
            self.update()

    def set_label(self, label: str) -> None:
        """The name of what the axis shows; "" for none."""
        if label != self._label:
            self._label = label
            self.setLabel(label)
            self.showLabel(bool(label))

    def set_look(self, palette: Palette, metrics: QFontMetricsF, font: Any) -> None:
        """Colours and size."""
        self.setPen(pg.mkPen(palette.muted, width=1))
        self.setTextPen(pg.mkPen(palette.muted))
        self.setStyle(tickFont=font)
        self.label.setFont(font)
        self.label.setDefaultTextColor(QColor(palette.muted))
        label = metrics.height() + 2.0 if self.labelText else 0.0
        if self.orientation == "left":
            self.setWidth(metrics.horizontalAdvance(self._widest) + TICK_PIXELS + 4.0 + label)
        else:
            self.setHeight(metrics.height() + TICK_PIXELS + 4.0 + label)

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        metrics = QFontMetricsF(self.style["tickFont"] or self.label.font())
        room = (
            metrics.horizontalAdvance("0") * 7
            if self.orientation == "bottom"
            else (metrics.height() * 2.2)
        )
        # Room for a number of seven digits across, and for two lines up.
        most = int(np.clip(size // room, 3, 8))
        self._texts = dict(self._maker(low, high, most)) if high > low else {}
        return [(high - low, [place for place in self._texts if low <= place <= high])]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        # By the very floats that tickValues gave, which pyqtgraph hands back.
        return [self._texts.get(value, "") for value in values]
