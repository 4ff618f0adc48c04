"""Queue that draws the views of a run in turn, as time allows."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import final

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QWidget

from app.views.view import RunView

OUT_OF_SIGHT = -1  # frame number of a view scrolled out of sight


@final
class DrawQueue:
    """Views of a panel to be redrawn, the longest waiting first.

    Views out of sight draw no frames. `sight`: the part of the panel that is not scrolled away;
    None for all of it.
    """

    def __init__(self, panel: QWidget) -> None:
        self.sight: QRect | None = None
        self._panel = panel
        self._grown: dict[RunView, bool] = {}  # view -> True if frames arrived
        self._costs: dict[RunView, float] = {}  # view -> seconds of its last drawing

    def __len__(self) -> int:
        return len(self._grown)

    def add(self, views: Iterable[RunView], grown: bool) -> None:
        """Add views; `grown`: with the ranges of new frames. A view keeps its turn."""
        for view in views:
            self._grown[view] = grown or self._grown.get(view, False)

    def current(self, views: Iterable[RunView]) -> list[RunView]:
        """Return the views not waiting for further frames."""
        return [view for view in views if not self._grown.get(view, False)]

    def in_sight(self, views: Iterable[RunView]) -> list[RunView]:
        """Return the views that are not scrolled out of sight."""
        return [view for view in views if self._sees(view)]

    def _sees(self, view: RunView) -> bool:
        place = QRect(view.mapTo(self._panel, QPoint(0, 0)), view.size())
        return self.sight is None or self.sight.intersects(place)

    def catch_up(self, views: Iterable[RunView], frame: int) -> None:
        """Show a frame in the views that missed it and are not in the queue."""
        for view in self.current(views):
            view.show_frame(frame)

    def clear(self) -> None:
        self._grown.clear()

    def draw(self, views: Iterable[RunView], frame: int, seconds: float = math.inf) -> None:
        """Draw visible views in turn, at least one, for about so long.

        The painting that follows is counted: many views at once would keep the window from the
        mouse. Views out of sight only fit their ranges, which others may share.
        """
        views = frozenset(views)
        cpu_time = -math.inf  # CPU time of this thread, since other threads run at the same time
        while self._grown and cpu_time + self._costs.get(next(iter(self._grown)), 0.0) < seconds:
            view = next(iter(self._grown))
            grown = self._grown.pop(view)
            start, is_visible = time.thread_time(), self._sees(view)
            if view in views and view.draw_pending(frame if is_visible else OUT_OF_SIGHT, grown):
                painting = view.plot.paint_seconds if is_visible else 0.0
                cost = time.thread_time() - start + painting
                self._costs[view] = cost
                cpu_time = max(cpu_time, 0.0) + cost
