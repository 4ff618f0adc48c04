"""Base of views whose points are neurons, which are hovered, clicked and pinned."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QWidget

from app.state.display import DisplayData
from app.state.node_values import Floats
from app.state.view_options import MOST_RINGS
from app.views.view import Numbers, RunView
from app.widgets.overlay import NodeMark, Overlay
from core.figures.palette import Palette

NO_INNER = "this network has no inner weights"


def absence_of_nodes(data: DisplayData) -> str:
    """Return a sentence about runs without neurons."""
    return "" if data.has_nodes else "a kernel predictor has no neurons"


def stepped_node(
    places: Floats, nodes: NDArray[np.int64], current: int, way: tuple[int, int]
) -> int:
    """Return the neuron to which an arrow leads from `current`; `current` if there is none.

    It is the nearest one in the direction `way` that is less far to the side than ahead. For -1 it
    is the neuron that comes first. `places` (k, 2) are pixels of `nodes` (k,). Neurons at the same
    place count as one.

    >>> places = np.array([[0.0, 0.0], [9.0, 8.0], [4.0, -6.0], [20.0, 0.0]])
    >>> [stepped_node(places, np.arange(4), 0, way) for way in ((1, 0), (0, -1), (-1, 0))]
    [1, 2, 0]
    """
    progress = places @ np.array(way, dtype=np.float64)
    if current < 0:
        return int(nodes[np.argmin(progress)])
    start = int(np.flatnonzero(nodes == current)[0])
    across = places @ np.array(way[::-1], dtype=np.float64)
    progress, side = progress - progress[start], np.abs(across - across[start])
    is_ahead = (progress > 0.5) & (side <= progress)
    if not is_ahead.any():
        return current
    distance = np.where(is_ahead, np.hypot(progress, side), np.inf)
    return int(nodes[np.argmin(distance)])


class NodeView(RunView):
    """View with neuron j at `plot.points[j]`, shape (m, 2).

    Hovered and pinned neurons have rings and labels while they are few. More pinned neurons are a
    selection, and all others are dim.
    """

    def __init__(
        self, palette: Palette, title: str, parent: QWidget | None = None, **options: Any
    ) -> None:
        super().__init__(palette, title, parent, **options)
        self._drawn_selection = frozenset[int]()
        self._mask = np.empty(0, dtype=np.bool_)
        self.plot.hovered.connect(self._hover)
        self.plot.pointer_left.connect(self._leave)
        self.plot.point_clicked.connect(self.node_clicked)
        self.focus.has_keys = True
        self.focus.arrow_pressed.connect(self._step)
        self.focus.enter_pressed.connect(self._press)
        self.focus.focus_left.connect(self._leave)

    @abstractmethod
    def _numbers(self, x: float, y: float) -> str:
        """Return the numbers after a neuron's name in the label at a point."""

    @abstractmethod
    def _emptiness(self, data: DisplayData) -> str:
        """Return why the frame shows no neuron; "" if it shows some."""

    def _corner(self, data: DisplayData) -> tuple[str, ...]:
        """Return the text of a corner, the longest wording first."""
        return ()

    def _pinned_nodes(self) -> list[int]:
        """Return the numbers of the pinned neurons that are drawn, increasing."""
        return [j for j in sorted(self._pinned) if j < len(self.plot.points)]

    @property
    def _selects(self) -> bool:
        """True if so many neurons are pinned that they are a selection."""
        return len(self._pinned) > MOST_RINGS

    def _select_mask(self, m: int) -> NDArray[np.bool_]:
        """Return True for selected neurons, (m,); all if none are. Remembered as drawn."""
        now = self._pinned if self._selects else frozenset()
        if now != self._drawn_selection or self._mask.size != m:
            self._mask = np.full(m, not now)
            self._mask[[j for j in now if j < m]] = True
            self._drawn_selection = now
        return self._mask

    def _has_new_selection(self) -> bool:
        """Return True if the drawn selection is out of date."""
        return (self._pinned if self._selects else frozenset()) != self._drawn_selection

    def _show_marks(self, data: DisplayData) -> None:
        """Mark the pinned neurons and the hovered one, and show the texts of the plot."""
        pinned = [] if self._selects else self._pinned_nodes()
        marks = [self._mark(j) for j in pinned if j != self._hovered]
        if 0 <= self._hovered < len(self.plot.points):
            marks.append(self._mark(self._hovered, hovered=True))
        note, corner = self._emptiness(data), self._corner(data)
        # Keep the readout at the pointer, which marks do not change.
        pointed = self.plot.overlay.pointed
        self.plot.set_overlay(Overlay(tuple(marks), note=note, corner=corner, pointed=pointed))

    def _mark(self, j: int, hovered: bool = False) -> NodeMark:
        x, y = (float(value) for value in self.plot.points[j])
        numbers = self._numbers(x, y)
        return NodeMark(x, y, f"neuron {j}", numbers, hovered, outward=self.on_plane)

    def _drawn_numbers(self, data: DisplayData) -> Numbers:
        numbers = super()._drawn_numbers(data)
        return (("neuron", np.arange(len(self.plot.points), dtype=np.float64)), *numbers)

    # ----------------------------------------------------------------------------------- mouse

    def _hover(self, x: float, y: float) -> None:
        self.node_hovered.emit(self.plot.find_nearest(self.plot.points, x, y))

    def _leave(self) -> None:
        self.node_hovered.emit(-1)

    def _step(self, x: int, y: int) -> None:
        """Mark another neuron after an arrow key, or the first neuron."""
        indices = np.flatnonzero(self._visible_nodes())
        if not indices.size:
            return
        node = self._hovered if self._hovered in indices else next(iter(self._pinned), -1)
        node = node if node in indices else -1
        self.node_hovered.emit(self._neighbour(node, indices, x, y))

    def _visible_nodes(self) -> NDArray[np.bool_]:
        """Return which neurons are within the shown range, (m,)."""
        if not len(self.plot.points):
            return np.zeros(0, dtype=np.bool_)
        box, places = self.plot.plot_area(), self.plot.pixels(self.plot.points)
        low, high = (box.left() - 0.5, box.top() - 0.5), (box.right() + 0.5, box.bottom() + 0.5)
        return np.asarray(((places >= low) & (places <= high)).all(axis=1))

    def _neighbour(self, node: int, nodes: NDArray[np.int64], x: int, y: int) -> int:
        """Return the neuron of `nodes` to which an arrow leads; the neuron itself without one.

        From no neuron (-1) it is the one that comes first.
        """
        return stepped_node(self.plot.pixels(self.plot.points[nodes]), nodes, node, (x, y))

    def _press(self) -> None:
        if self._hovered >= 0:
            self.node_clicked.emit(self._hovered)
