"""Grid of the open runs: one below the other, with their views in columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QStyle, QWidget

from app.style import LEAST_PLOT
from app.widgets.grid import GAP, columns_for_area, columns_for_width

if TYPE_CHECKING:  # loads pyqtgraph, which must not delay the window
    from app.views.run_panel import RunPanel

# Events that change which panels are visible or how much room they need.
ARRANGING = (QEvent.Type.ShowToParent, QEvent.Type.HideToParent, QEvent.Type.FontChange)


@final
class RunGrid(QScrollArea):
    """Grid of its visible panels; it scrolls if they do not fit.

    One run has its views in a grid. Of several runs each is a row of views, in columns that all
    share. If they show a single view, the runs themselves are in a grid.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._panels: list[RunPanel] = []
        # Deferred: several panels may be shown and filled in a row.
        self._soon = QTimer(self, interval=0, singleShot=True)
        self._soon.timeout.connect(self.arrange)
        # Deferred until the layouts have placed the views.
        self._placed = QTimer(self, interval=0, singleShot=True)
        self._placed.timeout.connect(self._update_sight)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._content = QWidget(self)
        self.setWidget(self._content)
        self.verticalScrollBar().valueChanged.connect(self._update_sight)
        self.setMinimumSize(LEAST_PLOT[0] + self._bar_width, LEAST_PLOT[1])

    @property
    def _bar_width(self) -> int:
        return self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent, None, self)

    def add(self, panel: RunPanel) -> None:
        """Add a panel behind all others."""
        self._panels.append(panel)
        panel.setParent(self._content)
        panel.show()
        panel.installEventFilter(self)
        panel.views_arranged.connect(self._soon.start)
        self.arrange()

    def arrange(self) -> None:
        """Place the visible panels."""
        panels = [panel for panel in self._panels if not panel.isHidden()]
        if not panels:
            return
        room = self.maximumViewportSize()
        width, height = room.width(), room.height()
        needed = self._arrange(panels, width, height)
        if needed > height:
            width -= self._bar_width
            needed = self._arrange(panels, width, height)
        self._content.resize(width, max(needed, height))
        self._placed.start()

    def _update_sight(self) -> None:
        """Draw panels that have scrolled into sight."""
        visible_area = QRect(-self._content.pos(), self.maximumViewportSize())
        for panel in self._panels:
            if not panel.isHidden():
                panel.set_sight(visible_area.translated(-panel.pos()))

    def reveal(self, panel: RunPanel) -> None:
        """Scroll until a panel is visible."""
        self.ensureWidgetVisible(panel, 0, 0)

    def _arrange(self, panels: Sequence[RunPanel], width: int, height: int) -> int:
        """Place panels within a width; return the height that they need."""
        runs, views = len(panels), max(len(panel.names) for panel in panels)
        across, columns = 1, columns_for_width(views, width)
        if runs == 1:
            columns = columns_for_area(views, width, height)
        elif views == 1:
            across = columns_for_area(runs, width, height)
        for place, panel in enumerate(panels):
            above = panels[place - across] if place >= across else None
            lowest = panels[place % across :: across][-1]
            panel.arrange(columns, above, lowest if lowest is not panel else None)
        rows = [panels[start : start + across] for start in range(0, runs, across)]
        least = [max(panel.least_height for panel in row) for row in rows]
        spare = max(height - sum(least), 0)
        top = 0
        for number, row in enumerate(rows):
            bottom = sum(least[: number + 1]) + spare * (number + 1) // len(rows)
            for place, panel in enumerate(row):
                left, right = ((width + GAP) * k // across for k in (place, place + 1))
                panel.setGeometry(left, top, right - GAP - left, bottom - top)
            top = bottom
        return sum(least)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in ARRANGING and watched in self._panels:
            self._soon.start()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.arrange()
