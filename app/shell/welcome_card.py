"""The cards of the welcome page: a picture, a title, a sentence, and what there is of it."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.library.model import curve
from app.style import small
from app.widgets.inputs import heading_label, quiet_label
from app.widgets.layouts import filled, laid

PICTURE = QSize(72, 40)
# Points of two classes that no line separates, as shares of the picture.
POINTS = (
    (True, ((0.2, 0.25), (0.32, 0.6), (0.7, 0.3), (0.82, 0.62))),
    (False, ((0.46, 0.42), (0.55, 0.62), (0.5, 0.2))),
)


@final
class Card(QPushButton):
    """A button as high as its words need. `name` says which one was pressed."""

    def __init__(
        self, name: str, words: tuple[str, str, str], picture: QWidget, parent: QWidget
    ) -> None:
        """`words`: the title, a sentence, and what there is of it."""
        super().__init__(parent, autoDefault=False)
        self.setObjectName(name)
        self.setProperty("card", True)
        title, sentence, count = words
        self.setAccessibleName(f"{title}. {sentence} {count}")
        about = QLabel(sentence, self, wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        about.setFont(small(about.font()))
        count_label = quiet_label(count, self)
        count_label.setFont(small(count_label.font()))
        column = laid(QVBoxLayout(), spacing=4)
        heading = heading_label(title, self)
        heading.setWordWrap(True)
        filled(column, heading, about, count_label, 1)
        row = laid(QGridLayout(self), (12, 10, 12, 10), (12, 0))
        row.addWidget(picture, 0, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(column, 0, 1)
        row.setColumnStretch(1, 1)
        for part in self.findChildren(QWidget):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    # A button knows its own text alone, and here it has none.
    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        layout = self.layout()
        assert layout is not None
        return layout.totalHeightForWidth(width)

    def sizeHint(self) -> QSize:
        return QSize(320, self.heightForWidth(320))

    def minimumSizeHint(self) -> QSize:
        return QSize(240, self.heightForWidth(320))


@final
class CurvePicture(QWidget):
    """The margin of a run over time."""

    def __init__(self, heights: bytes) -> None:
        """`heights` as in the list of studies (core.studies.thumbnails)."""
        super().__init__()
        self._heights = heights
        self.setFixedSize(PICTURE)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.WindowText), 1.5))
        for piece in curve(self._heights, QRectF(self.rect()).adjusted(2, 4, -2, -4)):
            painter.drawPolyline(piece)
        painter.end()


@final
class PointsPicture(QWidget):
    """A few points of two classes: rings and dots."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(PICTURE)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = self.palette().color(QPalette.ColorRole.WindowText)
        painter.setPen(QPen(colour, 1.5))
        for full, points in POINTS:
            painter.setBrush(colour if full else Qt.BrushStyle.NoBrush)
            for x, y in points:
                painter.drawEllipse(QPointF(x * self.width(), y * self.height()), 3.0, 3.0)
        painter.end()
