"""Picture of a study's figure, scaled to the room."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from core.figures.palette import Palette

EDGE = 8.0
CLOSE = 0.01
HIGHER = 1.2  # times the room's height, beyond which a figure is scrolled


@final
class StudyPicture(QScrollArea):
    """Shows a PNG as large as the room allows, or a sentence.

    A figure much higher than wide has the width of the room, and can be scrolled. resized: the room
    changed.
    """

    resized = Signal()

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumSize(240, 160)
        self.setAccessibleName("The study's figure")
        self._canvas = Canvas(palette, self)
        self.setWidget(self._canvas)

    @property
    def image(self) -> QImage:
        return self._canvas.image

    @property
    def words(self) -> str:
        """Sentence shown in place of a figure."""
        return self._canvas.words

    def show_png(self, png: bytes) -> None:
        self._canvas.image, self._canvas.words = QImage.fromData(png), ""
        self._fit()

    def show_words(self, words: str) -> None:
        """Show a sentence in place of a figure."""
        self._canvas.image, self._canvas.words = QImage(), words
        self._fit()

    def set_colours(self, palette: Palette) -> None:
        """Set the palette; the owner draws the figure again."""
        self._canvas.palette_ = palette
        self._canvas.update()

    def pixels_wide(self) -> int:
        """Return the width in screen pixels of a figure of the usual proportions."""
        # In pixels of the screen and not of Qt, which are larger where the screen is scaled.
        return max(round((self.viewport().width() - 2.0 * EDGE) * self.devicePixelRatioF()), 1)

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
            whole = 2.0 * EDGE + (room.width() - 2.0 * EDGE) * image.height() / image.width()
            # A figure a little too high is shown smaller instead: scroll bars for a line would be a
            # nuisance.
            height = round(whole) if whole > HIGHER * room.height() else 0
        self._canvas.setMinimumHeight(height)
        self._canvas.update()


@final
class Canvas(QWidget):
    """Paints the picture, or the sentence, in the middle."""

    def __init__(self, palette: Palette, parent: QWidget) -> None:
        super().__init__(parent)
        self.palette_ = palette  # palette() is QWidget's
        self.image = QImage()
        self.words = ""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(self.palette_.background))
        room = QRectF(self.rect()).adjusted(EDGE, EDGE, -EDGE, -EDGE)
        if self.image.isNull():
            painter.setPen(QColor(self.palette_.muted))
            flags = int(Qt.AlignmentFlag.AlignCenter) | int(Qt.TextFlag.TextWordWrap)
            painter.drawText(room, flags, self.words)
        else:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(self._place(room), self.image)
        painter.end()

    def _place(self, room: QRectF) -> QRectF:
        """Return the middle of the room, in the image's proportions."""
        width, height = float(self.image.width()), float(self.image.height())
        scale = min(room.width() / width, room.height() / height)
        ratio = self.devicePixelRatioF()
        if abs(scale * ratio - 1.0) < CLOSE:
            scale = 1.0 / ratio  # pixel by pixel, or letters are blurred
        place = QRectF(0.0, 0.0, scale * width, scale * height)
        place.moveCenter(room.center())
        place.moveTopLeft(QPointF(*(round(v * ratio) / ratio for v in (place.x(), place.y()))))
        return place
