"""Margins and spacing of a layout, in the line that makes it."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtWidgets import QBoxLayout, QGridLayout

Layout = TypeVar("Layout", bound=QBoxLayout | QGridLayout)
NONE = (0, 0, 0, 0)


def laid(
    layout: Layout,
    margins: tuple[int, int, int, int] = NONE,
    spacing: int | tuple[int, int] | None = None,
) -> Layout:
    """The layout with margins (left, top, right, bottom) and a spacing (of a grid: across, down);
    without one the style's own."""
    layout.setContentsMargins(*margins)
    if isinstance(layout, QGridLayout) and isinstance(spacing, tuple):
        layout.setHorizontalSpacing(spacing[0])
        layout.setVerticalSpacing(spacing[1])
    elif isinstance(spacing, int):
        layout.setSpacing(spacing)
    return layout
