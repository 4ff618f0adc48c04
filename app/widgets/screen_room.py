"""Sizes of windows, limited by their screen."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

TITLE_BAR = 32  # pixels, assumed for a window not shown yet, whose frame is unknown


def room_of(window: QWidget) -> QSize:
    """Return the largest size of a window, with its frame, on its screen."""
    frame = window.frameGeometry().size() - window.geometry().size()
    if frame.isNull():
        frame = QSize(0, TITLE_BAR)
    return window.screen().availableGeometry().size() - frame


def resize_on_screen(window: QWidget, size: QSize) -> None:
    """Resize a window, at most to the room on its screen."""
    window.resize(size.boundedTo(room_of(window)))
