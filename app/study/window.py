"""The window of a whole study: options, progress, the figure, the points, the cells, a hunt, the
claims."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QTabWidget, QVBoxLayout, QWidget

from app.study.cell_table import CellTable
from app.study.claim_list import ClaimList
from app.study.hunt_page import HuntPage
from app.study.options import StudyOptions
from app.study.sweep_axes import SweepAxes
from app.study.sweep_plot import SweepPlot
from app.study.sweep_progress import SweepProgress
from app.style import shades
from app.widgets.elided import ElidedLabel
from app.widgets.inputs import push_button
from app.widgets.layouts import filled, laid
from app.widgets.message_bar import MessageBar
from app.widgets.study_picture import StudyPicture
from core.figures.palette import Palette

TITLE = "Whole study"
FIGURE, POINTS, CELLS, HUNT = "&Figure", "&Points", "&Cells", "&Hunt"


@final
class StudyWindow(QWidget):
    """A window of its own, so that runs stay in sight. closed: it was hidden by its user."""

    closed = Signal()

    def __init__(self, palette: Palette, cores: int) -> None:
        # Without a parent, in front of which window systems would always keep it.
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
        self.hunt = HuntPage(self)
        self.claims = ClaimList(palette, self)
        self.figure = push_button("Save figure ...", self, "The study's figure as PDF, SVG or PNG")
        self.numbers = push_button(
            "Save table ...", self, "A row a cell as CSV or NPZ, or as Parquet with pyarrow"
        )
        self.place = push_button("Show the runs", self, "Open the folder of the study's runs")
        self._arrange()
        self.set_colours(palette)

    def _arrange(self) -> None:
        points = QWidget(self)
        below = filled(laid(QHBoxLayout(), (8, 0, 8, 0)), self.note)
        filled(laid(QVBoxLayout(points), (8, 0, 8, 0), 4), self.axes, (self.plot, 1), below)
        self.tabs = QTabWidget(self, documentMode=True)
        self.tabs.tabBar().setObjectName("side")
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.addTab(self.picture, FIGURE)
        self.tabs.addTab(points, POINTS)
        cells = QWidget(self)
        filled(laid(QVBoxLayout(cells), (16, 8, 0, 0)), self.table)
        self.tabs.addTab(cells, CELLS)
        self.tabs.addTab(self.hunt, HUNT)
        self.split = QSplitter(Qt.Orientation.Horizontal, self, childrenCollapsible=False)
        self.split.addWidget(self.tabs)
        self.split.addWidget(self.claims)
        self.split.setStretchFactor(0, 1)
        self.split.setStretchFactor(1, 0)
        self.split.setSizes([840, 340])
        head = filled(laid(QVBoxLayout(), (16, 12, 16, 8), 12), self.options, self.progress)
        foot = laid(QHBoxLayout(), (16, 8, 16, 12), 8)
        filled(foot, self.figure, self.numbers, self.place, 1)
        filled(laid(QVBoxLayout(self), spacing=0), head, (self.split, 1), foot)
        self.bar.float_over(self.split)

    def set_has_figure(self, there: bool) -> None:
        """Whether the study has a figure; else the points stand in front."""
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
