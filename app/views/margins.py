"""The normalised margins against time, steps or |W|^2, with a cursor at the current frame."""

from __future__ import annotations

import math
from typing import final

import numpy as np
from PySide6.QtWidgets import QWidget

from app.state.display import DisplayData
from app.views.header import Entry, Sign
from app.views.overlay import Overlay
from app.views.ticks import screen_text
from app.views.trace_view import Line, TraceView
from core.figures.numbers import number_text
from core.figures.palette import Palette

# text, column of DisplayData.margins, factor, sign in the key. l1 / 2 and not l1, so that
# hard <= l1 / 2 are directly comparable, as in the figures.
CURVES: tuple[tuple[str, int, float, Sign], ...] = (
    ("hard", 0, 1.0, "line"),
    ("smoothed", 1, 1.0, "dashed"),
    ("\u2113\u2081/2", 2, 0.5, "dotted"),
)
BOUNDED = (0, 2)  # hard and l1 stay within limits of the data; the smoothed margin starts far below


@final
class MarginsView(TraceView):
    """Hard, smoothed and half the l1 margin."""

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(palette, "normalised margins", parent)
        self._show_key()

    def _colour(self, position: int) -> str:
        palette = self._palette
        return (palette.foreground, palette.references[0], palette.references[1])[position]

    def _show_key(self) -> None:
        """The margins that the run has: without a monotone loss there is no smoothed one."""
        data = self._data
        known: list[bool] = [True] * len(CURVES)
        if data is not None and np.isfinite(data.margins).any():
            known = [bool(np.isfinite(column).any()) for column in data.margins.T]
        self.header.set_key(
            *(
                Entry(text, self._colour(k), sign)
                for k, (text, column, _, sign) in enumerate(CURVES)
                if known[column]
            )
        )

    def _recolour(self) -> None:
        self._show_key()

    def refit(self, data: DisplayData) -> None:
        """The range, the key and the faint curves, from all frames read so far."""
        self._show_key()
        super().refit(data)

    def lines(self, data: DisplayData) -> tuple[Line, ...]:
        """The three margins."""
        return tuple(
            Line(factor * data.margins[:, column], self._colour(k), sign)
            for k, (_, column, factor, sign) in enumerate(CURVES)
        )

    def limits(self, data: DisplayData, lines: tuple[Line, ...]) -> tuple[float, float]:
        """The vertical range: to the largest value, and as far below 0 as it reaches above.

        The smoothed margin starts at values as low as -44 / |W|^2; a range that held them would
        show nothing else, and one that followed it would jump while the run is recorded.
        """
        shown = np.array([line.values for line in lines])
        shown[~np.isfinite(shown)] = np.nan
        top = float(np.fmax.reduce(shown, axis=None, initial=0.0))
        low = float(np.fmin.reduce(shown[list(BOUNDED)], axis=None, initial=0.0))
        bottom = max(low, -max(top, -0.5 * low))
        if not top > bottom or not math.isfinite(top - bottom):
            bottom, top = -0.01, 0.01
        pad = 0.06 * (top - bottom)
        return bottom - pad, top + pad

    def words(self, data: DisplayData, frame: int) -> Overlay:
        """A node has no margin of its own: its weights are told in a corner."""
        alone = next(iter(self._pinned), -1) if len(self._pinned) == 1 else -1
        node = self._hovered if self._hovered >= 0 else alone
        corner = self._weights(data, node) if 0 <= node < data.m else ()
        shown = np.isfinite(data.margins[: frame + 1]).any()
        return Overlay(corner=corner, note="" if shown else "no margin: the network is 0")

    def _weights(self, data: DisplayData, node: int) -> tuple[str, ...]:
        facts = data.node(self._frame, node)
        numbers = (facts.outer_weight, facts.inner_norm, facts.angle)
        a, v, angle = (screen_text(number_text(value)) for value in numbers)
        short = f"a {a}, |v| {v}"
        return (
            f"node {facts.index}: {short}, turned {angle}\u00b0",
            f"{short}, {angle}\u00b0",
            short,
        )
