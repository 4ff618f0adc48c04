"""How far each node has turned from its start, sorted (telgarsky22, Figure 1c)."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.views.sorted_nodes import SortedView
from core.figures.palette import Palette


def rotations_view(palette: Palette, parent: QWidget | None = None) -> SortedView:
    """Sorted cosines of the angle between v_j(0) and v_j(t)."""
    return SortedView(palette, "rotation", "rotations, sorted", parent)
