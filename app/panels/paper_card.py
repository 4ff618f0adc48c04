"""A paper as a card: what it shows, a picture, and how many of its studies there are."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.panels.inputs import heading_label, quiet_label
from app.panels.library_model import curve
from app.style import small
from app.widgets.layouts import filled, laid
from core.studies.papers import Paper

PICTURE = QSize(72, 40)


@final
class PaperCard(QPushButton):
    """A button as high as its words need. Pressing it is choosing the paper."""

    def __init__(self, paper: Paper, heights: bytes, studies: int, parent: QWidget) -> None:
        """`heights` draw a margin over time, as in the list of studies."""
        super().__init__(parent, autoDefault=False)
        self.paper = paper
        self.setProperty("card", True)
        self.setToolTip(f"{paper.title}\n{paper.authors}")
        count = "1 study" if studies == 1 else f"{studies} studies"
        self.setAccessibleName(f"{paper.short}. {paper.sentence} {count}")
        name = heading_label(paper.short, self)
        name.setWordWrap(True)
        about = QLabel(paper.sentence, self, wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        about.setFont(small(about.font()))
        count_label = quiet_label(count, self)
        count_label.setFont(small(count_label.font()))
        words = filled(laid(QVBoxLayout(), spacing=4), name, about, count_label, 1)
        row = laid(QGridLayout(self), (12, 10, 12, 10), (12, 0))
        row.addWidget(_Curve(heights, self), 0, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 0, 1)
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
        return QSize(240, self.heightForWidth(max(self.width(), 240)))


@final
class _Curve(QWidget):
    """The margin of one run of a paper's first study over time."""

    def __init__(self, heights: bytes, parent: QWidget) -> None:
        super().__init__(parent)
        self._heights = heights
        self.setFixedSize(PICTURE)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.WindowText), 1.5))
        for piece in curve(self._heights, QRectF(self.rect()).adjusted(2, 4, -2, -4)):
            painter.drawPolyline(piece)
        painter.end()
