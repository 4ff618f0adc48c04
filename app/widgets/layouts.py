"""Margins, spacing and content of a layout, in the line that makes it."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtWidgets import QApplication, QBoxLayout, QGridLayout, QLayout, QWidget

Layout = TypeVar("Layout", bound=QBoxLayout | QGridLayout)
Box = TypeVar("Box", bound=QBoxLayout)
Part = QWidget | QLayout | int | tuple[QWidget | QLayout, int]
NONE = (0, 0, 0, 0)


def space(
    layout: Layout,
    margins: tuple[int, int, int, int] = NONE,
    spacing: int | tuple[int, int] | None = None,
) -> Layout:
    """Set margins (left, top, right, bottom) and spacing (of a grid: across, down) of a layout.

    Without a spacing the layout has that of the style. Return the layout.
    """
    layout.setContentsMargins(*margins)
    if isinstance(layout, QGridLayout) and isinstance(spacing, tuple):
        layout.setHorizontalSpacing(spacing[0])
        layout.setVerticalSpacing(spacing[1])
    elif isinstance(spacing, int):
        layout.setSpacing(spacing)
    return layout


def add_all(layout: Box, *parts: Part) -> Box:
    """Add parts to a row or column, and return it.

    A part is a widget or a layout, alone or with its share of the room that is left, or a number:
    empty room of such a share.
    """
    for part in parts:
        if isinstance(part, int):
            layout.addStretch(part)
            continue
        item, share = part if isinstance(part, tuple) else (part, 0)
        if isinstance(item, QLayout):
            layout.addLayout(item, share)
        else:
            layout.addWidget(item, share)
    return layout


# Of a title bar beside the title: icon, buttons and margins of common window managers.
AROUND_TITLE = 220


def widen_for_title(dialog: QWidget) -> None:
    """Give a dialog the least width at which its title bar shows the whole title."""
    title = f"{dialog.windowTitle()} - {QApplication.applicationDisplayName()}"
    dialog.setMinimumWidth(dialog.fontMetrics().horizontalAdvance(title) + AROUND_TITLE)
