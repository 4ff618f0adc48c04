"""What the views share whose points are nodes, which are hovered, clicked and pinned."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QWidget

from app.state.display import DisplayData
from app.state.intent import MOST_RINGS
from app.state.node_values import Floats
from app.views.view import RunView
from app.widgets.overlay import NodeMark, Overlay
from core.figures.palette import Palette

NOWHERE: Floats = np.empty((0, 2))
NO_INNER = "this network has no inner weight vectors"


def absence_of_nodes(data: DisplayData) -> str:
    """A sentence about runs without nodes."""
    return "" if data.has_nodes else "a kernel predictor has no nodes"


class NodeView(RunView):
    """Node j stands at the point `_points[j]`, of (m, 2). The hovered node and pinned ones have
    rings and labels, as long as these are few; more are a selection, and the others are dim."""

    def __init__(
        self, palette: Palette, title: str, parent: QWidget | None = None, **options: Any
    ) -> None:
        super().__init__(palette, title, parent, **options)
        self._points: NDArray[Any] = NOWHERE
        self._drawn_selection = frozenset[int]()
        self._mask = np.empty(0, dtype=np.bool_)
        self.plot.hovered.connect(self._hover)
        self.plot.left.connect(self._leave)
        self.plot.clicked.connect(self._click)

    @abstractmethod
    def _numbers(self, x: float, y: float) -> str:
        """What the label of a node at a point says beside its name."""

    @abstractmethod
    def _emptiness(self, data: DisplayData) -> str:
        """What is said where no node of the frame can be shown; "" where some can."""

    def _corner(self, data: DisplayData) -> tuple[str, ...]:
        """What is said in a corner, the longest wording first."""
        return ()

    def _pinned_nodes(self) -> list[int]:
        return [j for j in sorted(self._pinned) if j < len(self._points)]

    @property
    def _selects(self) -> bool:
        """Whether so many nodes are pinned that they are a selection."""
        return len(self._pinned) > MOST_RINGS

    def _chosen(self, m: int) -> NDArray[np.bool_]:
        """Which nodes are selected, (m,); all where none are. Noted as what is drawn."""
        now = self._pinned if self._selects else frozenset()
        if now != self._drawn_selection or self._mask.size != m:
            self._mask = np.full(m, not now)
            self._mask[[j for j in now if j < m]] = True
            self._drawn_selection = now
        return self._mask

    def _selected_anew(self) -> bool:
        """Whether another selection is drawn than there is."""
        return (self._pinned if self._selects else frozenset()) != self._drawn_selection

    def _show_marks(self, data: DisplayData) -> None:
        pinned = [] if self._selects else self._pinned_nodes()
        marks = [self._mark(j) for j in pinned if j != self._hovered]
        if 0 <= self._hovered < len(self._points):
            marks.append(self._mark(self._hovered, hovered=True))
        overlay = Overlay(tuple(marks), note=self._emptiness(data), corner=self._corner(data))
        self.plot.set_overlay(overlay)

    def _mark(self, j: int, hovered: bool = False) -> NodeMark:
        x, y = (float(value) for value in self._points[j])
        numbers = self._numbers(x, y)
        return NodeMark(x, y, f"node {j}", numbers, hovered, outward=self.on_plane)

    # ----------------------------------------------------------------------------------- mouse

    def _hover(self, x: float, y: float) -> None:
        self.node_hovered.emit(self.plot.nearest(self._points, x, y))

    def _leave(self) -> None:
        self.node_hovered.emit(-1)

    def _click(self, x: float, y: float) -> None:
        self.node_clicked.emit(self.plot.nearest(self._points, x, y))
