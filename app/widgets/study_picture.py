"""Picture of a study's figure, scaled to the room, with clickable points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QImage,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QScrollArea, QToolTip, QWidget

from app.widgets.labels import show_tip
from core.figures.palette import Palette

EDGE = 8.0
# Relative differences up to which a figure is not scaled: a missing scroll bar leaves more room.
CLOSE, WIDER = 0.01, 0.05
REACH, RING = 10.0, 6.0  # pixels: distance within which a click hits a point; radius of its ring
HIGHER = 1.2  # in multiples of the available height; a higher figure is scrolled


@final
class StudyPicture(QScrollArea):
    """Widget that shows a PNG as large as possible, or a sentence.

    A figure much higher than wide has the width of the room, and can be scrolled. resized: the room
    changed. spot_chosen(number): a point was clicked.
    """

    resized = Signal()
    spot_chosen = Signal(int)

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumSize(240, 160)
        self.setAccessibleName("The study's figure")
        self._canvas = Canvas(palette, self)
        self._canvas.spot_chosen.connect(self.spot_chosen)
        self.setWidget(self._canvas)

    @property
    def image(self) -> QImage:
        return self._canvas.image

    @property
    def words(self) -> str:
        """Sentence shown in place of a figure."""
        return self._canvas.words

    def show_png(
        self, png: bytes, spots: Sequence[tuple[float, float]] = (), tips: Sequence[str] = ()
    ) -> None:
        """Show a figure; `spots` are clickable points, as fractions of its size."""
        self._canvas.image, self._canvas.words = QImage.fromData(png), ""
        self._canvas.set_spots(spots, tips)
        self._fit()

    def show_words(self, words: str) -> None:
        """Show a sentence in place of a figure."""
        self._canvas.image, self._canvas.words = QImage(), words
        self._canvas.set_spots((), ())
        self._fit()

    def place_of(self, spot: int) -> QPoint:
        """Return the place of a point, in the coordinates of the canvas."""
        return self._canvas.place_of(spot).toPoint()

    @property
    def canvas(self) -> QWidget:
        """Widget on which the figure is painted."""
        return self._canvas

    def set_colours(self, palette: Palette) -> None:
        """Set the palette; the owner draws the figure again."""
        self._canvas.palette_ = palette
        self._canvas.update()

    def pixels_wide(self) -> int:
        """Return the width in device pixels of a figure, beside a scroll bar or not.

        It does not depend on the scroll bar of a high figure, which would be drawn twice.
        """
        # In device pixels, which are smaller than Qt's on a scaled screen.
        room = self.width() - self.verticalScrollBar().sizeHint().width() - 2.0 * EDGE
        return max(round(room * self.devicePixelRatioF()), 1)

    def sizeHint(self) -> QSize:
        return QSize(640, 420)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
        self.resized.emit()

    def _fit(self) -> None:
        """Fit to the room, or be higher for a figure that would be too small."""
        image, room = self._canvas.image, self.viewport().size()
        height = 0
        if not image.isNull():
            full_height = 2.0 * EDGE + (room.width() - 2.0 * EDGE) * image.height() / image.width()
            # Shrink a figure that is slightly too high, instead of showing scroll bars.
            height = round(full_height) if full_height > HIGHER * room.height() else 0
        self._canvas.setMinimumHeight(height)
        self._canvas.update()


@final
class Canvas(QWidget):
    """Widget that paints the picture or sentence, and a ring around the pointed spot."""

    spot_chosen = Signal(int)

    def __init__(self, palette: Palette, parent: QWidget) -> None:
        super().__init__(parent)
        self.palette_ = palette  # `palette` is a method of QWidget
        self.image = QImage()
        self.words = ""
        self._spots: Sequence[tuple[float, float]] = ()
        self._tips: Sequence[str] = ()
        self._pointed = -1
        self.setMouseTracking(True)

    def set_spots(self, spots: Sequence[tuple[float, float]], tips: Sequence[str]) -> None:
        """Set the clickable points, with their tips."""
        self._spots, self._tips = spots, tips
        self._point_at(-1)

    def place_of(self, spot: int) -> QPointF:
        """Return the place of a spot."""
        x_share, y_share = self._spots[spot]
        place = self._place(self._room())
        return QPointF(place.x() + x_share * place.width(), place.y() + y_share * place.height())

    def _spot_at(self, where: QPointF) -> int:
        """Return the nearest spot within reach, -1 for none."""
        if not self._spots or self.image.isNull():
            return -1
        place = self._place(self._room())
        width, height = place.width(), place.height()
        x, y = where.x() - place.x(), where.y() - place.y()
        distances = [
            (x_share * width - x) ** 2 + (y_share * height - y) ** 2
            for x_share, y_share in self._spots
        ]
        nearest = min(range(len(distances)), key=distances.__getitem__)
        return nearest if distances[nearest] <= REACH**2 else -1

    def _point_at(self, spot: int) -> None:
        """Mark a spot as pointed at, and show its tip; -1 for none."""
        if spot == self._pointed:
            return
        self._pointed = spot
        pointing = Qt.CursorShape.PointingHandCursor
        self.setCursor(pointing if spot >= 0 else Qt.CursorShape.ArrowCursor)
        if spot >= 0:
            show_tip(self.mapToGlobal(self.place_of(spot).toPoint()), self._tips[spot], self)
        else:
            QToolTip.hideText()
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point_at(self._spot_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._point_at(-1)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        spot = self._spot_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and spot >= 0:
            self.spot_chosen.emit(spot)

    def _room(self) -> QRectF:
        return QRectF(self.rect()).adjusted(EDGE, EDGE, -EDGE, -EDGE)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(self.palette_.background))
        room = self._room()
        if self.image.isNull():
            painter.setPen(QColor(self.palette_.muted))
            flags = int(Qt.AlignmentFlag.AlignCenter) | int(Qt.TextFlag.TextWordWrap)
            painter.drawText(room, flags, self.words)
        else:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(self._place(room), self.image)
        if self._pointed >= 0:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(self.palette_.foreground), 1.5))
            painter.drawEllipse(self.place_of(self._pointed), RING, RING)
        painter.end()

    def _place(self, room: QRectF) -> QRectF:
        """Return the middle of the room, in the image's proportions."""
        width, height = float(self.image.width()), float(self.image.height())
        scale = min(room.width() / width, room.height() / height)
        ratio = self.devicePixelRatioF()
        if -CLOSE < scale * ratio - 1.0 < WIDER:
            scale = 1.0 / ratio  # one image pixel per device pixel keeps letters sharp
        place = QRectF(0.0, 0.0, scale * width, scale * height)
        place.moveCenter(room.center())
        place.moveTopLeft(QPointF(*(round(v * ratio) / ratio for v in (place.x(), place.y()))))
        return place
