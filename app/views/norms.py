"""How large each node is beside the largest, sorted (telgarsky22, Figure 1d)."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.views.sorted_nodes import SortedView
from core.figures.palette import Palette


def norms_view(palette: Palette, parent: QWidget | None = None) -> SortedView:
    """Sorted |a_j v_j| / max_k |a_k v_k|."""
    return SortedView(palette, "relative_norm", "relative norms, sorted", parent)
