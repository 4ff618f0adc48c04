"""Axes of plots, with our own ticks and labels, which have room and do not overlap."""

from __future__ import annotations

from html import escape
from typing import Any, final

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QLineF, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem

from core.figures import ticks
from core.figures.numbers import linear_ticks
from core.figures.palette import Palette
from core.figures.primitives import Strip
from core.figures.ticks import TickMaker, Ticks
from core.numbers import raise_powers

NORM_SQUARED = "|W|\u00b2"


def _raise_powers(make_ticks: TickMaker) -> TickMaker:
    """Return a maker of the same ticks with raised powers, for the screen."""

    def make_raised(low: float, high: float, max_ticks: int) -> Ticks:
        return tuple(
            (place, raise_powers(text)) for place, text in make_ticks(low, high, max_ticks)
        )

    return make_raised


plain, whole = _raise_powers(linear_ticks), _raise_powers(ticks.integer_ticks)
rooted = _raise_powers(ticks.root_ticks)  # signed roots, labelled by the quantity
# log10 of a quantity, labelled by the quantity; `logarithmic` has closer ticks on short axes.
powers, logarithmic = _raise_powers(ticks.power_ticks), _raise_powers(ticks.log_ticks)
far_times = _raise_powers(ticks.far_times)  # the schedule's coordinate, labelled by log10 t

TICK_PIXELS = 4
STRIP_LINES = 1.8  # lines of text per tick of a strip
FEWEST, MOST = 3, 8  # ticks requested even with little room, and with much
OVER = 8.0  # pixels free to the right of a plot
BETWEEN = 6.0  # pixels between tick labels
ENDS = 2.0  # pixels by which the axis line extends the plot
TEXT_GAP = 3.0  # pixels between a tick and its label
OVERLAP = 3.0  # pixels of the plot painted with the axis, which holds only ticks there
PAST_ENDS = 15.0  # pixels by which labels may extend beyond the ends
LEAN = 0.8  # fraction of a label's height that it needs


@final
class PlotAxis(pg.AxisItem):
    """Axis at the left or the bottom of a plot.

    At the left it has room for `widest`, and grows permanently where the text of a tick is wider.
    """

    picture: Any  # lines, and texts with their positions; None if pyqtgraph paints the ticks

    def __init__(self, orientation: str, ticks: TickMaker, label: str, widest: str = "") -> None:
        super().__init__(orientation, maxTickLength=TICK_PIXELS)
        self._widest = widest  # longest tick label to reserve room for
        # Otherwise pyqtgraph writes (x0.001) beside a label and multiplies the ticks.
        self.enableAutoSIPrefix(False)
        # pyqtgraph would adjust the room to each new label, and plots would jump during playback.
        self.setStyle(autoExpandTextSpace=False, autoReduceTextSpace=False)
        # Gives `paint` the exposed rectangle, which is mostly the strip beside the plot.
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self._maker = ticks
        self.strips: tuple[Strip, ...] = ()
        self._found: tuple[Any, Ticks] = (None, ())  # last request, and its ticks
        self._sizes: dict[str, QSizeF] = {}  # text -> size
        self._label: str | None = None
        self._short = self._label_html = ""
        self.titled = True
        self.narrow = False  # True: take only the width that the ticks need
        self._room = self._given = 0.0  # room found necessary for the ticks, and their present room
        self._pen = self.pen()
        self.set_label(label)

    def set_ticks(self, ticks: TickMaker) -> None:
        if ticks is not self._maker:
            self._maker = ticks
            self.picture = None  # pyqtgraph caches the painted axis
            self.update()

    def set_strips(self, strips: tuple[Strip, ...]) -> None:
        """Show the axes of strips, whose titles the plot shows."""
        if strips != self.strips:
            self.strips = strips
            self.picture = None
            self.update()

    def shows_same(self, other: PlotAxis) -> bool:
        """Return True if another axis has the same name, kind of ticks, and strips."""
        mine, its = (
            (one.labelText, one._maker, [strip.name for strip in one.strips])
            for one in (self, other)
        )
        return bool(mine == its)

    def set_label(self, label: str, short: str = "") -> None:
        """Set the axis's label, and a short one for narrow plots; "" for none."""
        if (label, short) != (self._label, self._short):
            self._label, self._short = label, short
            self.setLabel(label)
            self.showLabel(bool(label) and self.titled)
            self.resizeEvent()  # pyqtgraph places a label only when the axis is resized

    def set_titled(self, titled: bool) -> None:
        """Show or hide the label; `set_style` makes room for it."""
        self.titled = titled
        self.showLabel(bool(self.labelText) and titled)

    def has_same_quantity(self, other: PlotAxis) -> bool:
        """Return True for the same quantity as another axis, perhaps in another unit."""
        mine, its = (str(one.labelText).partition(" (")[0] for one in (self, other))
        return mine == its and self._maker is other._maker

    def labelString(self) -> str:
        self._label_html = f"<span>{escape(self.fitting())}</span>"
        return self._label_html

    def fitting(self) -> str:
        """Return the label that fits: whole, short, or cut before its unit in brackets."""
        metrics, label = QFontMetricsF(self.label.font()), str(self.labelText)
        size = self.size()
        # QTextDocument adds a margin of 4 pixels around its text.
        room = (size.height() if self.orientation == "left" else size.width()) - 8.0
        if room <= 0.0 or metrics.horizontalAdvance(label) <= room:
            return label
        label = self._short or label
        name, bracket, unit = label.partition(" (")
        room_left = room - metrics.horizontalAdvance(bracket + unit)
        return (
            metrics.elidedText(name, Qt.TextElideMode.ElideRight, max(room_left, 0.0))
            + bracket
            + unit
        )

    def resizeEvent(self, ev: Any = None) -> None:
        before = self._label_html
        if self.label is not None and self.labelString() != before:
            self.label.setHtml(self._label_html)
        super().resizeEvent(ev)

    def boundingRect(self) -> QRectF:
        # A label extends half its size beyond each end. pyqtgraph's own method is called and slow.
        x, y = (0.0, PAST_ENDS) if self.orientation == "left" else (PAST_ENDS, 0.0)
        return QRectF(self.rect()).adjusted(-x, -y, x, y)

    def set_style(self, palette: Palette, metrics: QFontMetricsF, font: Any) -> None:
        """Set colours and size."""
        self._pen = pg.mkPen(palette.muted, width=1)
        self.setPen(self._pen)
        self.setTextPen(pg.mkPen(palette.muted))
        self.setStyle(tickFont=font)
        self._found, self._sizes = (None, ()), {}
        self.label.setFont(font)
        self.label.setDefaultTextColor(QColor(palette.muted))
        label = title_height(metrics) if self.labelText and self.titled else 0.0
        if self.orientation == "left":
            room = max(self._least_width(metrics), self._room)
            self._given = room
            self.setWidth(room + TICK_PIXELS + 4.0 + label)
        else:
            self.setHeight(metrics.height() + TICK_PIXELS + 4.0 + label)
        self.resizeEvent()  # places the label

    def needs(self, low: float, high: float, size: float) -> bool:
        """Return True if the ticks of a range need another width, which `set_style` sets."""
        metrics = self._metrics()
        widest = max(
            (metrics.horizontalAdvance(text) for _, text in self.ticks(low, high, size + ENDS)),
            default=0.0,
        )
        self._room = max(self._room, widest, self._least_width(metrics))
        return self._room != self._given

    def _least_width(self, metrics: QFontMetricsF) -> float:
        return 0.0 if self.narrow else metrics.horizontalAdvance(self._widest)

    def forget(self) -> None:
        """Forget the width kept for tick labels, so that narrower ones can reduce it."""
        self._room = 0.0

    def _metrics(self) -> QFontMetricsF:
        return QFontMetricsF(self.style["tickFont"] or self.label.font())

    def ticks(self, low: float, high: float, size: float) -> Ticks:
        """Return as many ticks as fit apart."""
        # Requested at least twice: to measure the room, and to paint.
        key = (low, high, size, self._maker, self.strips)
        if key != self._found[0]:
            self._found = key, self._find_ticks(low, high, size)
        return self._found[1]

    def tick_places(self) -> list[float]:
        """Return the values at the painted ticks."""
        low, high = (float(end) for end in self.range)
        size = self.size().width() if self.orientation == "bottom" else self.size().height()
        return [value for value, _ in self.ticks(low, high, size + ENDS)]

    def _find_ticks(self, low: float, high: float, size: float) -> Ticks:
        """Return the ticks of a range over `size` pixels whose labels have room."""
        if not high > low:
            return ()
        metrics = self._metrics()
        if self.strips:
            strip_ticks = ticks.strip_ticks(
                self.strips, low, high, size / (STRIP_LINES * metrics.height())
            )
            return tuple((place, raise_powers(text)) for place, text in strip_ticks)
        is_bottom = self.orientation == "bottom"
        # Room for a number of seven digits horizontally, for two lines vertically.
        room = metrics.horizontalAdvance("0") * 7 if is_bottom else metrics.height() * 2.2
        max_ticks = int(np.clip(size // room, FEWEST, MOST))
        visible = self._visible_ticks(low, high, max_ticks)
        while len(visible) < 2 and max_ticks < MOST:  # a single tick shows no scale
            max_ticks += 1
            visible = self._visible_ticks(low, high, max_ticks)
        while (
            is_bottom
            and max_ticks > FEWEST
            and not _are_apart(visible, metrics, size / (high - low))
        ):
            max_ticks -= 1
            visible = self._visible_ticks(low, high, max_ticks)
        while (
            is_bottom and len(visible) > 1 and not _are_apart(visible, metrics, size / (high - low))
        ):
            visible = visible[::2]
        if (
            is_bottom and len(visible) > 2
        ):  # the last label may extend beyond the end, but not be cut
            half = 0.5 * metrics.horizontalAdvance(visible[-1][1])
            over = (visible[-1][0] - low) / (high - low) * size + half - size
            visible = visible[:-1] if over > OVER else visible
        return visible

    def _visible_ticks(self, low: float, high: float, max_ticks: int) -> Ticks:
        """Return the ticks of the maker that are within the range."""
        return tuple(tick for tick in self._maker(low, high, max_ticks) if low <= tick[0] <= high)

    # -------------------------------------------------------------------------------- painting

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, *_: Any) -> None:
        """Draw the line, the ticks and their labels.

        pyqtgraph itself would draw all texts with each change of the plot.
        """
        if self.picture is None:
            self.picture = self._place_ticks(painter)
        lines, texts = self.picture
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(self._pen)
        painter.drawLines(lines)
        if not option.exposedRect.intersects(self._inner_rect()):
            return
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing, True)
        painter.setFont(self.style["tickFont"] or self.label.font())
        painter.setClipRect(self.boundingRect().toAlignedRect())
        for rect, text in texts:
            painter.drawText(rect, self._flags(), text)

    def _inner_rect(self) -> QRectF:
        bounds = self.boundingRect()
        if self.orientation == "left":
            return bounds.adjusted(0.0, 0.0, -OVERLAP, 0.0)
        return bounds.adjusted(0.0, OVERLAP, 0.0, 0.0)

    def _flags(self) -> int:
        is_bottom = self.orientation == "bottom"
        align = Qt.AlignmentFlag
        flags = align.AlignHCenter | align.AlignTop if is_bottom else align.AlignRight
        return int(flags if is_bottom else flags | align.AlignVCenter) | int(
            Qt.TextFlag.TextDontClip
        )

    def _place_ticks(self, painter: QPainter) -> tuple[list[QLineF], list[tuple[QRectF, str]]]:
        """Return the lines, and the labels with their places."""
        bounds, is_bottom = self.rect(), self.orientation == "bottom"
        low, high = (float(end) for end in self.range)
        length = bounds.width() if is_bottom else bounds.height()
        if is_bottom:
            start, end = bounds.topLeft(), bounds.topRight()
            lines = [QLineF(start + QPointF(-1.0, 1.0), end + QPointF(1.0, 1.0))]
        else:
            start, end = bounds.bottomRight(), bounds.topRight()
            lines = [QLineF(end + QPointF(-1.0, -1.0), start + QPointF(-1.0, 1.0))]
        texts: list[tuple[QRectF, str]] = []
        if not high > low or length <= 0.0:
            return lines, texts
        reach = self.boundingRect()
        for value, text in self.ticks(low, high, length + ENDS):
            way = (value - low) / (high - low)
            point = start + way * (end - start)
            tick = QPointF(0.0, TICK_PIXELS) if is_bottom else QPointF(-TICK_PIXELS, 0.0)
            lines.append(QLineF(point, point + tick))
            size = self._size(text, painter)
            if is_bottom:
                corner = QPointF(-0.5 * size.width(), TICK_PIXELS + TEXT_GAP)
            else:
                corner = QPointF(-TICK_PIXELS - TEXT_GAP - size.width(), -0.5 * size.height())
            rect = QRectF(point + corner, size)
            if not is_bottom:  # a label at the upper end is moved down where the widget ends
                rect.translate(0.0, max(-self.mapRectToScene(rect).top(), 0.0))
            if reach.contains(rect):
                texts.append((rect, text))
        return lines, texts

    def _size(self, text: str, painter: QPainter) -> QSizeF:
        """Return the size of a label, with its margins."""
        if text not in self._sizes:
            painter.setFont(self.style["tickFont"] or self.label.font())
            space, flags = QRectF(0.0, 0.0, 100.0, 100.0), int(Qt.AlignmentFlag.AlignCenter)
            size = painter.boundingRect(space, flags, text).size()
            self._sizes[text] = QSizeF(size.width(), LEAN * size.height())
        return self._sizes[text]


def title_height(metrics: QFontMetricsF) -> float:
    """Return the height of an axis title in pixels."""
    return metrics.height() + 2.0


def _are_apart(ticks: Ticks, metrics: QFontMetricsF, unit: float) -> bool:
    """Return True if no label reaches into the next one, at `unit` pixels per axis unit."""
    halves = [0.5 * metrics.horizontalAdvance(text) for _, text in ticks]
    places = [unit * place for place, _ in ticks]
    return all(
        right - left >= half + next_half + BETWEEN
        for left, right, half, next_half in zip(
            places, places[1:], halves, halves[1:], strict=False
        )
    )
