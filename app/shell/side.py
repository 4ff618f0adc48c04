"""The side panel at the right of the window: theory or the inspector, one at a time."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QStackedWidget, QTabBar, QVBoxLayout, QWidget

from app.playback.inspector import Inspector
from app.style import panel_width
from app.theory.panel import TheoryPanel
from app.widgets.layouts import filled, laid
from app.widgets.plain_text import plain_tip
from core.figures.palette import Palette

TABS = (
    ("Theory", "Reference margins, and what the theorems say of the run"),
    ("Numbers", "The node that is looked at, the scalars at the cursor, and the run's settings"),
)


@final
class SidePanel(QWidget):
    """Tabs that the arrow keys reach."""

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tabs = QTabBar(self)
        self.tabs.setObjectName("side")
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.tabs.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the focus where it is
        for place, (text, tip) in enumerate(TABS):
            self.tabs.addTab(text)
            self.tabs.setTabToolTip(place, plain_tip(tip))
        self.theory = TheoryPanel(palette, self)
        self.inspector = Inspector(self)
        self.pages = QStackedWidget(self)
        for page in (self.theory, self.inspector):
            self.pages.addWidget(page)
        self.tabs.currentChanged.connect(self.pages.setCurrentIndex)
        filled(laid(QVBoxLayout(self), spacing=0), self.tabs, (self.pages, 1))

    def sizeHint(self) -> QSize:
        return QSize(panel_width(self.font()), 640)

    def set_colours(self, palette: Palette) -> None:
        self.theory.set_colours(palette)
