"""Four linked views of one run, laid out like the panels of the paper's figure."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QGridLayout, QLabel, QStackedLayout, QVBoxLayout, QWidget

from app.state.display import DisplayData
from app.views.margins import MarginsView
from app.views.neurons import NeuronsView
from app.views.norms import norms_view
from app.views.rotations import rotations_view
from core.figures.palette import Palette


@final
class RunPanel(QWidget):
    """Neurons and rotations above, norms and margins below; shows what it is told and asks for
    the rest."""

    node_hovered = Signal(int)  # -1: none
    node_clicked = Signal(int)  # -1: the background
    nodes_selected = Signal(object)  # frozenset[int]
    moment_clicked = Signal(float)  # in the schedule's coordinate

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._data: DisplayData | None = None
        self._frame = -1
        self._hovered, self._pinned = -1, frozenset[int]()
        self.neurons = NeuronsView(palette, self)
        self.rotations = rotations_view(palette, self)
        self.norms = norms_view(palette, self)
        self.margins = MarginsView(palette, self)
        self._views = (self.neurons, self.rotations, self.norms, self.margins)
        self.heading = QLabel(self)
        self.heading.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.heading.setTextFormat(Qt.TextFormat.PlainText)
        self.heading.setMinimumWidth(1)
        font = self.heading.font()
        font.setWeight(QFont.Weight.DemiBold)
        self.heading.setFont(font)
        self.heading.setContentsMargins(8, 4, 8, 0)
        self.message = QLabel(self)
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.message.setTextFormat(Qt.TextFormat.PlainText)
        self.message.setWordWrap(True)
        self.message.setContentsMargins(24, 24, 24, 24)
        self._lay_out()
        self._connect()
        self.setAutoFillBackground(True)
        self.set_colours(palette)

    def _lay_out(self) -> None:
        self._shown = QWidget(self)
        grid = QGridLayout(self._shown)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(8)
        for position, view in enumerate(self._views):
            grid.addWidget(view, position // 2, position % 2)
        for line in (0, 1):
            grid.setRowStretch(line, 1)
            grid.setColumnStretch(line, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.heading)
        self._stack = QStackedLayout()
        self._stack.addWidget(self.message)
        self._stack.addWidget(self._shown)
        column.addLayout(self._stack, 1)

    def _connect(self) -> None:
        for view in (self.neurons, self.rotations, self.norms):
            view.node_hovered.connect(self.node_hovered)
            view.node_clicked.connect(self.node_clicked)
        self.neurons.nodes_selected.connect(self.nodes_selected)
        self.margins.moment_clicked.connect(self.moment_clicked)

    # --------------------------------------------------------------------------------- content

    def set_data(self, data: DisplayData | None, heading: str) -> None:
        """Another run, or none; no frame of it is shown until `show_frame`."""
        self._data, self._frame = data, -1
        self.heading.setText(heading)
        self.heading.setVisible(bool(heading))
        self.setAccessibleName(heading)
        for view in self._views:
            view.set_data(data)
        self._stack.setCurrentIndex(0 if data is None else 1)

    def data_grew(self) -> None:
        """New frames were read: ranges may grow."""
        for view in self._views:
            view.redraw()

    def show_frame(self, index: int) -> None:
        """Show the moment of a frame in all views; the last known one for those beyond."""
        if self._data is None or self._data.frames == 0:
            return
        self._frame = max(0, min(index, self._data.frames - 1))
        for view in self._views:
            view.show_frame(self._frame)

    def set_marked(self, hovered: int, pinned: frozenset[int]) -> None:
        """Mark nodes in all views."""
        if (hovered, pinned) == (self._hovered, self._pinned):
            return
        self._hovered, self._pinned = hovered, pinned
        for view in self._views:
            view.set_marked(hovered, pinned)

    def set_coordinates(self, first: int, second: int) -> None:
        """Show the nodes on two other coordinates, from 0."""
        if self._data is None or self._data.coordinates == (first, second):
            return
        self._data.set_coordinates(first, second)
        self.neurons.set_data(self._data)
        self.neurons.show_frame(self._frame)

    def set_margin_axis(self, name: str) -> None:
        """What margins are shown against: log10_time, step or norm_squared."""
        self.margins.set_axis(name)

    def reset_ranges(self) -> None:
        """Back from every zoom."""
        for view in self._views:
            view.plot.reset_range()

    def set_message(self, text: str) -> None:
        """What is said where there is no run."""
        self.message.setText(text)

    def set_colours(self, palette: Palette) -> None:
        """Another palette."""
        colours = self.palette()
        colours.setColor(self.backgroundRole(), palette.background)
        colours.setColor(self.foregroundRole(), palette.foreground)
        self.setPalette(colours)
        for view in self._views:
            view.set_colours(palette)
