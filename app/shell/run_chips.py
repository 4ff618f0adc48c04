"""Open runs as chips in the top bar, where they are selected, moved and closed.

Qt's tab bar does what chips need: moving by dragging, a cross each, arrows where there is no room,
and the arrow keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import QTabBar, QWidget

from app.widgets.labels import menu_text, plain_tip

MOST_NUMBERED = 9  # runs with a shortcut
NARROWEST, WIDEST = 112, 232  # pixels; narrower chips show no name, and arrows appear
BESIDE = 8


@final
class RunChips(QTabBar):
    """Chips of the open runs, from left to right; hidden while no run is open."""

    chosen = Signal(int)
    """Key of the run to be the current one."""
    close_requested = Signal(int)
    """Key of the run to be closed."""
    chip_moved = Signal(int, int)
    """Key of a run, and its new place from the left."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            parent,
            movable=True,
            tabsClosable=True,
            expanding=False,
            drawBase=False,
            documentMode=True,
            usesScrollButtons=True,
            elideMode=Qt.TextElideMode.ElideMiddle,
        )
        self.setObjectName("chips")
        self.setAccessibleName("Open runs")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the focus where it was
        self.currentChanged.connect(self._on_current)
        self.tabCloseRequested.connect(self._on_close)
        self.tabMoved.connect(self._on_moved)
        self.hide()

    def show_runs(self, runs: Sequence[tuple[int, str]], current: int) -> None:
        """Show runs by key and heading; `current` is the key of the current one."""
        with QSignalBlocker(self):
            while self.count() > len(runs):
                self.removeTab(self.count() - 1)
            for place, (key, heading) in enumerate(runs):
                if place == self.count():
                    self.addTab("")
                number = f"{place + 1}  " if len(runs) > 1 and place < MOST_NUMBERED else ""
                if self.tabText(place) != (words := menu_text(f"{number}{heading}")):
                    self.setTabText(place, words)
                self.setTabData(place, key)
                self.setTabToolTip(place, plain_tip(heading))
                if key == current:
                    self.setCurrentIndex(place)
        self.setVisible(bool(runs))

    def tabSizeHint(self, index: int) -> QSize:
        size = super().tabSizeHint(index)
        # Qt's hint leaves no room for margins beside the cross, and every text would be elided.
        return QSize(min(size.width() + BESIDE, WIDEST), size.height())

    def minimumTabSizeHint(self, index: int) -> QSize:
        size = self.tabSizeHint(index)
        return QSize(min(size.width(), NARROWEST), size.height())

    def _on_current(self, place: int) -> None:
        if place >= 0:
            self.chosen.emit(int(self.tabData(place)))

    def _on_close(self, place: int) -> None:
        self.close_requested.emit(int(self.tabData(place)))

    def _on_moved(self, _before: int, _after: int) -> None:
        """Report the new position of the dragged chip, which is the current one."""
        place = self.currentIndex()
        self.chip_moved.emit(int(self.tabData(place)), place)
