"""A column that is higher than its panel, to be scrolled."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from app.widgets.layouts import filled, laid


def fill_scrolled(panel: QWidget, content: QWidget) -> QScrollArea:
    """Let a panel show its content, as wide as the panel, in a scroll area without a frame."""
    area = QScrollArea(panel)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(content)
    filled(laid(QVBoxLayout(panel)), area)
    return area
