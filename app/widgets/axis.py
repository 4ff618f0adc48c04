"""The axes of the plots: ticks and texts of our own, which have room and stand apart."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, final

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFontMetricsF

from app.widgets.ticks import TickMaker, Ticks
from core.figures.palette import Palette

TICK_PIXELS = 4
FEWEST = 3  # ticks that are asked for, however little room there is
BETWEEN = 6.0  # pixels between the texts of ticks


@final
class PlotAxis(pg.AxisItem):
    """An axis at the left or the bottom. At the left it has room for `widest`, and grows, for good,
    where the text of a tick is wider."""

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
        self._short = ""
        self.narrow = False  # no more room than the ticks need
        self._room = self._given = 0.0  # what the ticks were found to need, and what they have
        self.set_label(label)

    def set_ticks(self, ticks: TickMaker) -> None:
        """Another kind of ticks."""
        if ticks is not self._maker:
            self._maker = ticks
            self.picture = None  # pyqtgraph keeps the axis as it was painted
            self.update()

    def shows_same(self, other: PlotAxis) -> bool:
        """Whether it is in the units of another axis, by its name and its kind of ticks."""
        mine, its = (self.labelText, self._maker), (other.labelText, other._maker)
        return bool(mine == its)

    def set_label(self, label: str, short: str = "") -> None:
        """The name of what the axis shows, and one for where it does not fit; "" for none."""
        if (label, short) != (self._label, self._short):
            self._label, self._short = label, short
            self.setLabel(label)
            self.showLabel(bool(label))

    def labelString(self) -> str:
        return f"<span>{escape(self.fitting())}</span>"

    def fitting(self) -> str:
        """The label as it fits: whole, short, or cut before its unit in brackets."""
        metrics, label = QFontMetricsF(self.label.font()), str(self.labelText)
        size = self.size()
        # A document has a margin of 4 pixels around its text.
        room = (size.height() if self.orientation == "left" else size.width()) - 8.0
        if room <= 0.0 or metrics.horizontalAdvance(label) <= room:
            return label
        label = self._short or label
        name, bracket, unit = label.partition(" (")
        rest = room - metrics.horizontalAdvance(bracket + unit)
        return (
            metrics.elidedText(name, Qt.TextElideMode.ElideRight, max(rest, 0.0)) + bracket + unit
        )

    def resizeEvent(self, ev: Any = None) -> None:
        if self.label is not None:
            self.label.setHtml(self.labelString())
        super().resizeEvent(ev)

    def set_look(self, palette: Palette, metrics: QFontMetricsF, font: Any) -> None:
        """Colours and size."""
        self.setPen(pg.mkPen(palette.muted, width=1))
        self.setTextPen(pg.mkPen(palette.muted))
        self.setStyle(tickFont=font)
        self.label.setFont(font)
        self.label.setDefaultTextColor(QColor(palette.muted))
        label = metrics.height() + 2.0 if self.labelText else 0.0
        if self.orientation == "left":
            room = max(self._least(metrics), self._room)
            self._given = room
            self.setWidth(room + TICK_PIXELS + 4.0 + label)
        else:
            self.setHeight(metrics.height() + TICK_PIXELS + 4.0 + label)
        self.label.setHtml(self.labelString())

    def needs(self, low: float, high: float, size: float) -> bool:
        """Whether the ticks of a range want another width; `set_look` gives it."""
        metrics = self._metrics()
        widest = max(
            (metrics.horizontalAdvance(text) for _, text in self._ticks(low, high, size)),
            default=0.0,
        )
        self._room = max(self._room, widest, self._least(metrics))
        return self._room != self._given

    def _least(self, metrics: QFontMetricsF) -> float:
        return 0.0 if self.narrow else metrics.horizontalAdvance(self._widest)

    def forget(self) -> None:
        """Other ticks are to come, which may be shorter."""
        self._room = 0.0

    def _metrics(self) -> QFontMetricsF:
        return QFontMetricsF(self.style["tickFont"] or self.label.font())

    def _ticks(self, low: float, high: float, size: float) -> Ticks:
        """As many ticks as stand apart."""
        if not high > low:
            return ()
        metrics = self._metrics()
        across = self.orientation == "bottom"
        # Room for a number of seven digits across, and for two lines up.
        room = metrics.horizontalAdvance("0") * 7 if across else metrics.height() * 2.2
        most = int(np.clip(size // room, FEWEST, 8))
        ticks = self._shown(low, high, most)
        while across and most > FEWEST and not _apart(ticks, metrics, size / (high - low)):
            most -= 1
            ticks = self._shown(low, high, most)
        while across and len(ticks) > 1 and not _apart(ticks, metrics, size / (high - low)):
            ticks = ticks[::2]
        return ticks

    def _shown(self, low: float, high: float, most: int) -> Ticks:
        return tuple(tick for tick in self._maker(low, high, most) if low <= tick[0] <= high)

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        self._texts = dict(self._ticks(low, high, size))
        return [(high - low, list(self._texts))]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        # By the very floats that tickValues gave, which pyqtgraph hands back.
        return [self._texts.get(value, "") for value in values]


def _apart(ticks: Ticks, metrics: QFontMetricsF, unit: float) -> bool:
    """Whether no text reaches into the next one, at `unit` pixels for a unit of the axis."""
    halves = [0.5 * metrics.horizontalAdvance(text) for _, text in ticks]
    places = [unit * place for place, _ in ticks]
    return all(
        right - left >= one + other + BETWEEN
        for left, right, one, other in zip(places, places[1:], halves, halves[1:], strict=False)
    )
