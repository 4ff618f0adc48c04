"""Workarounds for Qt and PySide: the version each was last needed with, and when it can go.

All but the collector, whose fault comes once in some ten whole runs of the tests, were tried
without on PySide 6.11.3, and are still needed there.
"""

from __future__ import annotations

import builtins
import gc
import sys
from typing import TYPE_CHECKING, cast, final

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QActionEvent, QPainter, QPixmap
from PySide6.QtWidgets import QGridLayout, QToolButton, QWidget
from shiboken6 import wrapInstance

if TYPE_CHECKING:  # NumPy takes 0.6 s to load, before the window is visible
    import numpy as np
    from numpy.typing import NDArray

COLLECT_MS = 100
# About 8 MB of Python memory. Scanning all 100,000 objects takes 60 to 80 ms.
GROWN_BLOCKS = 100_000


def restore_import() -> None:
    """Put back Python's import, in place of PySide's; call before loading further modules.

    PYSIDE-2029 (since 6.5): for `from __feature__ import snake_case`, PySide reads the source of
    every module that is loaded after it, and `linecache` keeps the lines: 1,800 files, 40 MB of
    text (docs/decisions/0033-sources-are-not-kept.md). Remove once PySide reads no sources.
    """
    builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)


@final
class GarbageCollector(QObject):
    """Timer that collects cyclic garbage in its owner's thread, while Python's collector is off.

    No number; napari/napari#1029 describes the fault. Python collects in whichever thread
    allocates. That thread then destroys the Qt objects of a cycle: Qt locks their connections and
    waits for the interpreter, while the window's thread holds the interpreter and waits for that
    lock (docs/decisions/0031-garbage-in-one-thread.md). pyqtgraph has such a timer as well, but
    takes 0.6 s to load before the window can be seen, and collects all without need. Remove once
    PySide destroys objects in the thread that they belong to.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_enabled = gc.isenabled()
        self._blocks = sys.getallocatedblocks()  # at the last full collection
        self._timer = QTimer(self, interval=COLLECT_MS)
        self._timer.setObjectName("garbage")
        self._timer.timeout.connect(self.collect_due)

    def start(self) -> None:
        """Collect here, and in no other thread, until `stop`."""
        self._was_enabled = gc.isenabled()
        gc.disable()
        self._timer.start()

    def stop(self) -> None:
        """Hand collection back to Python if Python collected before."""
        self._timer.stop()
        if self._was_enabled:
            gc.enable()

    def collect_due(self) -> None:
        """Collect the oldest generation that Python would; all only after memory has grown."""
        new, young, oldest = (
            count > threshold
            for count, threshold in zip(gc.get_count(), gc.get_threshold(), strict=True)
        )
        if oldest and sys.getallocatedblocks() > self._blocks + GROWN_BLOCKS:
            gc.collect()
            self._blocks = sys.getallocatedblocks()
        elif young:
            gc.collect(1)
        elif new:
            gc.collect(0)


@final
class ActionButtonSync(QObject):
    """Event filter that copies changes of a tool button's action to the button, in place of Qt.

    Qt 6.11.3, no number: at each change of its default action, a QToolButton calls
    `setDefaultAction`, which connects the action's `changed` once more. After 4,000 changes the
    action has 4,031 connections and a change takes 66 us in place of 5. Remove once
    `action.receivers(SIGNAL("changed()"))` no longer grows with each `action.setText`.
    """

    def __init__(self, button: QToolButton) -> None:
        super().__init__(button)
        button.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is not QEvent.Type.ActionChanged:
            return False
        if not (isinstance(event, QActionEvent) and isinstance(watched, QToolButton)):
            return False
        action = event.action()
        if action != watched.defaultAction():
            return False
        watched.setText(action.iconText().replace("&", "&&"))  # without the mnemonic
        watched.setIcon(action.icon())
        watched.setToolTip(action.toolTip())
        watched.setStatusTip(action.statusTip())
        watched.setWhatsThis(action.whatsThis())
        watched.setCheckable(action.isCheckable())
        watched.setChecked(action.isChecked())
        watched.setEnabled(action.isEnabled())
        return True


def hide_in_grid(grid: QGridLayout, widget: QWidget) -> None:
    """Hide a widget and take it out of its grid; `addWidget` brings it back.

    Qt 6.11.3, no number: a QGridLayout keeps the spacing and the width of a column that only a
    hidden widget spans. Remove once a hidden widget that spans two columns frees the second.
    """
    widget.hide()
    grid.removeWidget(widget)


def draw_fragments(painter: QPainter, rows: NDArray[np.float64], pixmap: QPixmap) -> None:
    """Draw parts of a pixmap, one for each row of a C-ordered array (n, 10).

    A row is a `QPainter.PixmapFragment`: x, y; left, top, width and height within the pixmap;
    two scales, angle, opacity. PySide 6.11.3 wants the first of a C array, and takes no list.
    Without an array 4,096 markers take 22 ms in place of 4. Remove once PySide takes arrays.
    """
    if len(rows):
        first = cast(
            "QPainter.PixmapFragment", wrapInstance(rows.ctypes.data, QPainter.PixmapFragment)
        )
        painter.drawPixmapFragments(first, len(rows), pixmap)
