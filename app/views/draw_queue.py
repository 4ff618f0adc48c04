"""Views of a run that are drawn in turn, as there is time."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import final

from app.views.view import RunView


@final
class DrawQueue:
    """Views to be drawn again, the one that waits longest first."""

    def __init__(self) -> None:
        self._grown: dict[RunView, bool] = {}  # by view: whether frames came
        self._costs: dict[RunView, float] = {}  # seconds that each took the last time

    def __len__(self) -> int:
        return len(self._grown)

    def add(self, views: Iterable[RunView], grown: bool) -> None:
        """Add views; `grown`: with the ranges of frames read since. A view keeps its turn."""
        for view in views:
            self._grown[view] = grown or self._grown.get(view, False)

    def has_grown(self, view: RunView) -> bool:
        """Return True if a view waits to be drawn with further frames."""
        return self._grown.get(view, False)

    def clear(self) -> None:
        self._grown.clear()

    def draw(self, shown: Iterable[RunView], frame: int, seconds: float = math.inf) -> None:
        """Draw views that are shown in turn, one at least, for about so long.

        The painting that follows is counted: many views at once would keep the window from the
        mouse.
        """
        shown = frozenset(shown)
        spent = -math.inf  # of this thread, whose time is taken: others run meanwhile
        while self._grown and spent + self._costs.get(next(iter(self._grown)), 0.0) < seconds:
            view = next(iter(self._grown))
            grown = self._grown.pop(view)
            begun = time.thread_time()
            if view in shown and view.draw_pending(frame, grown):
                cost = time.thread_time() - begun + view.plot.paint_seconds
                self._costs[view] = cost
                spent = max(spent, 0.0) + cost
