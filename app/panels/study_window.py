"""The window of a whole study: options, progress, the figure, the points, the cells, the claims."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QSplitter,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app.panels.cell_table import CellTable
from app.panels.claim_list import ClaimList
from app.panels.study_options import StudyOptions
from app.panels.study_picture import StudyPicture
from app.panels.sweep_axes import SweepAxes
from app.panels.sweep_plot import SweepPlot
from app.panels.sweep_progress import SweepProgress
from app.style import shades
from app.widgets.elided import ElidedLabel
from app.widgets.layouts import laid
from app.widgets.message_bar import MessageBar
from core.figures.palette import Palette

TITLE = "Whole study"
FIGURE, POINTS, CELLS = "&Figure", "&Points", "&Cells"


@final
class StudyWindow(QWidget):
    """A window of its own, so that runs stay in sight. closed: it was hidden by its user."""

    closed = Signal()

    def __init__(self, palette: Palette, cores: int) -> None:
        super().__init__(None, Qt.WindowType.Window)
        self.setObjectName("study")
        self.setWindowTitle(TITLE)
        self.resize(1180, 800)
        self.bar = MessageBar(self)
        self.options = StudyOptions(cores, self)
        self.progress = SweepProgress(self)
        self.picture = StudyPicture(palette, self)
        self.axes = SweepAxes(self)
        self.plot = SweepPlot(palette, self)
        self.note = ElidedLabel(self, Qt.TextElideMode.ElideRight)
        self.table = CellTable(self)
        self.claims = ClaimList(palette, self)
        self.figure = self._button("Save figure ...", "The study's figure as PDF, SVG or PNG")
        self.numbers = self._button(
            "Save table ...", "A row a cell as CSV or NPZ, or as Parquet with pyarrow"
        )
        self.place = self._button("Show the runs", "Open the folder of the study's runs")
        self._arrange()
        self.set_colours(palette)

    def _button(self, text: str, tip: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setToolTip(tip)
        button.setAutoDefault(False)
        return button

    def _arrange(self) -> None:
        points = QWidget(self)
        column = laid(QVBoxLayout(points), (8, 0, 8, 0), 4)
        below = laid(QHBoxLayout(), (8, 0, 8, 0))
        below.addWidget(self.note)
        column.addWidget(self.axes)
        column.addWidget(self.plot, 1)
        column.addLayout(below)
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setObjectName("side")
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.addTab(self.picture, FIGURE)
        self.tabs.addTab(points, POINTS)
        cells = QWidget(self)
        margin = laid(QVBoxLayout(cells), (16, 8, 0, 0))
        margin.addWidget(self.table)
        self.tabs.addTab(cells, CELLS)
        self.split = QSplitter(Qt.Orientation.Horizontal, self)
        self.split.setChildrenCollapsible(False)
        self.split.addWidget(self.tabs)
        self.split.addWidget(self.claims)
        self.split.setStretchFactor(0, 1)
        self.split.setStretchFactor(1, 0)
        self.split.setSizes([840, 340])
        head = laid(QVBoxLayout(), (16, 12, 16, 8), 12)
        head.addWidget(self.options)
        head.addWidget(self.progress)
        foot = laid(QHBoxLayout(), (16, 8, 16, 12), 8)
        for button in (self.figure, self.numbers, self.place):
            foot.addWidget(button)
        foot.addStretch(1)
        whole = laid(QVBoxLayout(self), spacing=0)
        whole.addWidget(self.bar)
        whole.addLayout(head)
        whole.addWidget(self.split, 1)
        whole.addLayout(foot)

    def set_has_figure(self, there: bool) -> None:
        """Whether the study has a figure; else the points stand in front."""
        if not there and self.tabs.currentIndex() == 0:
            self.tabs.setCurrentIndex(1)
        self.tabs.setTabVisible(0, there)
        self.figure.setVisible(there)

    def set_colours(self, palette: Palette) -> None:
        """Another palette for the parts that paint themselves."""
        self.picture.set_colours(palette)
        self.plot.set_colours(palette)
        self.claims.set_colours(palette)
        self.table.set_danger(shades(palette)["danger"])

    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        self.closed.emit()
