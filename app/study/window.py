"""Window of a whole study: options, progress, figure, points, cells, hunt and claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QSplitter,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app.study.cell_table import CellTable, short_key
from app.study.claim_list import ClaimList
from app.study.hunt_page import HuntPage
from app.study.options import StudyOptions, SweepProgress
from app.study.sweep_lines import first_axis, first_choice, first_column
from app.study.sweep_plot import SweepPlot
from app.style import shades
from app.widgets.inputs import ChoiceBox, push_button
from app.widgets.labels import ElidedLabel, plain_tip, quiet_label
from app.widgets.layouts import add_all, space
from app.widgets.message_bar import MessageBar
from app.widgets.screen_room import resize_on_screen
from app.widgets.screen_text import shown_number
from app.widgets.study_picture import StudyPicture
from core.figures.palette import Palette
from core.studies.tables import value_text

FIGURE, POINTS, CELLS, HUNT = "&Figure", "&Points", "&Runs", "&Hunt"


@final
class SweepAxes(QWidget):
    """Choices of the plot's axes, scales, and values of the other axes, in a line."""

    changed = Signal()
    scales_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._axes: Mapping[str, Sequence[Any]] = {}
        self._filters: dict[str, tuple[QLabel, ChoiceBox]] = {}
        self._line = space(QHBoxLayout(self), (8, 8, 0, 0), 8)
        self.column = ChoiceBox(self, "Column", letters=14)
        self.axis = ChoiceBox(self, "Axis", letters=8)
        self.log_y = self._box("log", "Use a logarithmic vertical axis")
        self.log_x = self._box("log", "Use a logarithmic horizontal axis")
        over = quiet_label("over", self)
        add_all(self._line, self.column, self.log_y, over, self.axis, self.log_x, 1)
        self.column.activated.connect(self.changed)
        self.axis.activated.connect(self._on_axis_chosen)

    def _box(self, text: str, tip: str) -> QCheckBox:
        box = QCheckBox(text, self)
        box.setToolTip(plain_tip(tip))
        box.setAccessibleName(tip)
        box.clicked.connect(self.scales_changed)
        return box

    # --------------------------------------------------------------------------------- showing

    def show_study(self, axes: Mapping[str, Sequence[Any]], columns: Sequence[str]) -> None:
        """Offer the axes and columns of a grid, and keep the chosen ones if possible."""
        before = self.axis_name, self.column_name
        self._axes = axes
        with QSignalBlocker(self.axis), QSignalBlocker(self.column):
            self.axis.clear()
            for key in axes:
                self.axis.addItem(short_key(key), key)
            self.column.clear()
            for name in columns:
                self.column.addItem(name.replace("_", " "), name)
            axis = before[0] if before[0] in axes else first_axis(axes)
            self.axis.setCurrentIndex(self.axis.findData(axis))
            column = before[1] if before[1] in columns else first_column(columns)
            self.column.setCurrentIndex(self.column.findData(column))
        self._rebuild()

    def show_scales(self, horizontal: bool, vertical: bool) -> None:
        """Check the boxes of logarithmic axes."""
        for box, has_log in ((self.log_x, horizontal), (self.log_y, vertical)):
            with QSignalBlocker(box):
                box.setChecked(has_log)

    def _rebuild(self) -> None:
        """Offer a choice for each other axis with several values."""
        for parts in self._filters.values():
            for part in parts:
                part.hide()
                part.deleteLater()
        self._filters = {}
        first = first_choice(self._axes, self.axis_name)
        for key, values in self._axes.items():
            if key == self.axis_name or len(values) < 2 or key.endswith(".seed"):
                continue
            label = quiet_label(short_key(key), self)
            choice = ChoiceBox(self, f"Values of {short_key(key)}", letters=4)
            choice.addItem("all", None)
            for place, value in enumerate(values):
                text = shown_number(value) if isinstance(value, float) else value_text(value)
                choice.addItem(text.replace("_", " "), place)
            if key in first:
                choice.setCurrentIndex(1 + list(values).index(first[key]))
            choice.activated.connect(self.changed)
            for part in (label, choice):
                # Before the stretch at the end.
                self._line.insertWidget(self._line.count() - 1, part)
            self._filters[key] = label, choice

    # --------------------------------------------------------------------------------- reading

    @property
    def axis_name(self) -> str:
        """Key of the horizontal axis."""
        return str(self.axis.currentData() or "")

    @property
    def column_name(self) -> str:
        """Column of the vertical axis."""
        return str(self.column.currentData() or "")

    @property
    def chosen(self) -> dict[str, Any]:
        """Chosen values of the other axes; an axis with any value is left out."""
        places = {key: choice.currentData() for key, (_, choice) in self._filters.items()}
        return {k: self._axes[k][place] for k, place in places.items() if place is not None}

    # --------------------------------------------------------------------------------- editing

    def _on_axis_chosen(self, _: int) -> None:
        self._rebuild()
        self.changed.emit()


@final
class StudyWindow(QWidget):
    """Separate window, so that runs remain visible."""

    def __init__(self, palette: Palette, cores: int) -> None:
        # No parent: window systems would keep this window in front of its parent.
        super().__init__(None, Qt.WindowType.Window)
        self.setObjectName("study")
        self.setWindowTitle("Whole study")
        resize_on_screen(self, QSize(1180, 800))
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
        self.figure = push_button(
            "Export figure ...", self, "Export the study's figure as PDF, SVG or PNG"
        )
        self.numbers = push_button(
            "Save table ...", self, "Save one row per run as CSV or NPZ, or as Parquet with pyarrow"
        )
        self.place = push_button("Show runs", self, "Open the folder of the study's runs")
        self._arrange()
        self.set_colours(palette)

    def _arrange(self) -> None:
        points = QWidget(self)
        below = add_all(space(QHBoxLayout(), (8, 0, 8, 0)), self.note)
        add_all(space(QVBoxLayout(points), (8, 0, 8, 0), 4), self.axes, (self.plot, 1), below)
        self.tabs = QTabWidget(self, documentMode=True)
        self.tabs.tabBar().setObjectName("side")
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.addTab(self.picture, FIGURE)
        self.tabs.addTab(points, POINTS)
        cells = QWidget(self)
        add_all(space(QVBoxLayout(cells), (16, 8, 0, 0)), self.table)
        self.tabs.addTab(cells, CELLS)
        self.tabs.addTab(self.hunt, HUNT)
        self.split = QSplitter(Qt.Orientation.Horizontal, self, childrenCollapsible=False)
        self.split.addWidget(self.tabs)
        self.split.addWidget(self.claims)
        self.split.setStretchFactor(0, 1)
        self.split.setStretchFactor(1, 0)
        self.split.setSizes([840, 340])
        head = add_all(space(QVBoxLayout(), (16, 12, 16, 8), 12), self.options, self.progress)
        foot = space(QHBoxLayout(), (16, 8, 16, 12), 8)
        add_all(foot, self.figure, self.numbers, self.place, 1)
        add_all(space(QVBoxLayout(self), spacing=0), head, (self.split, 1), foot)
        self.bar.float_in_corner(self.split)

    def set_has_figure(self, has_figure: bool) -> None:
        """Show the figure's tab; without a figure the points are in front."""
        self.tabs.setTabVisible(0, has_figure)
        self.figure.setVisible(has_figure)

    def set_colours(self, palette: Palette) -> None:
        """Set the palette of the parts that paint themselves."""
        self.picture.set_colours(palette)
        self.plot.set_colours(palette)
        self.claims.set_colours(palette)
        self.table.set_danger(shades(palette)["danger"])
