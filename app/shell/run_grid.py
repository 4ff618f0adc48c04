"""The place of the open runs: side by side, or in two rows where there are more than two."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSplitter, QWidget

# Pixels that a run needs beside others before three of them stand in one row.
ROOM = 480
EVEN = 10_000  # pixels; sizes below those that panels need are not shared out evenly
# Events that change the visible panels or the minimum size of one, as when it shows other views.
ARRANGING = (QEvent.Type.ShowToParent, QEvent.Type.HideToParent, QEvent.Type.LayoutRequest)


def columns_of(count: int, width: int) -> int:
    """In how many columns some runs stand.

    >>> [columns_of(count, 1000) for count in (1, 2, 3, 4)], columns_of(3, 1500)
    ([1, 2, 2, 2], 3)
    """
    if count <= 2:
        return max(count, 1)
    return 3 if count == 3 and width >= 3 * ROOM else 2


@final
class RunGrid(QScrollArea):
    """Shows those of its panels that are visible. One or two have all the room that they need; more
    of them can be scrolled in a small window, which does not grow for them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._panels: list[QWidget] = []
        self._shape = (0, 0)
        # Later, or Qt 6.11 crashes: a panel that moves deletes a splitter's handle, and panels move
        # while Qt goes through a list of widgets that has the handle (a new style sheet, page).
        self._soon = QTimer(self, interval=0, singleShot=True)
        self._soon.timeout.connect(self.arrange)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._whole = QSplitter(Qt.Orientation.Vertical, self, childrenCollapsible=False)
        self._rows = [
            QSplitter(Qt.Orientation.Horizontal, self._whole, childrenCollapsible=False)
            for _ in range(2)
        ]
        for row in self._rows:
            self._whole.addWidget(row)
        self.setWidget(self._whole)

    def add(self, panel: QWidget) -> None:
        """One more panel, behind all others."""
        self._panels.append(panel)
        self._rows[0].addWidget(panel)
        panel.installEventFilter(self)
        self.arrange()

    def arrange(self) -> None:
        """Put the panels that are shown where they belong."""
        shown = [panel for panel in self._panels if not panel.isHidden()]
        columns = columns_of(len(shown), self.width())
        if (len(shown), columns) != self._shape:
            self._shape = (len(shown), columns)
            for place, panel in enumerate(shown):
                row = self._rows[place // columns]
                row.insertWidget(place % columns, panel)
            # Before the sizes: those of a hidden row are not kept when it is shown.
            self._rows[1].setVisible(len(shown) > columns)
            for row in self._rows:
                row.setSizes([EVEN] * row.count())
            self._whole.setSizes([EVEN, EVEN])
        few = len(shown) <= 2
        least = self._whole.minimumSizeHint() if few else self.minimumSizeHint()
        self.setMinimumSize(least)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in ARRANGING and watched in self._panels:
            self._soon.start()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._soon.start()
