"""The leading singular values of the inner weights over the run."""

from __future__ import annotations

from typing import final

import numpy as np
from PySide6.QtWidgets import QWidget

from app.state.display import DisplayData
from app.state.later import LEADING, SPECTRUM
from app.state.node_values import Floats
from app.views.curves import WAITING
from app.views.node_view import NO_INNER
from app.views.trace_view import TraceCurve, TraceView
from app.widgets.header import HeaderEntry, TimeColours
from app.widgets.overlay import Overlay
from app.widgets.screen_text import raised
from app.widgets.ticks import logarithmic
from core.figures.palette import Colours, Palette, time_colours
from core.numbers import number_text

MOST_DECADES = 6.0  # below the largest; the rest is rounding, since V V' is what is decomposed
SIGMA = "\u03c3"
SUBSCRIPTS = {ord(str(digit)): 0x2080 + digit for digit in range(10)}


def hex_of(colour: Colours) -> str:
    """An RGBA row as "#rrggbb"."""
    return "#{:02x}{:02x}{:02x}".format(*colour[:3].tolist())


@final
class SpectrumView(TraceView):
    """At most 16 singular values on a logarithmic axis, the largest in the strongest colour."""

    shows = ("singular_values",)

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(palette, "singular values of V", parent, "singular value")
        self._values: Floats = np.empty((0, 0))
        self.plot.side.set_ticks(logarithmic)

    def _absence(self, data: DisplayData) -> str:
        return super()._absence(data) or ("" if data.has_inner else NO_INNER)

    def lines(self, data: DisplayData) -> tuple[TraceCurve, ...]:
        """log10 of each singular value."""
        (values,) = self._traces(data, (SPECTRUM,))
        count = min(LEADING, data.m, data.run.dataset.d)
        self._values = values[:, :count]
        colours = time_colours(np.linspace(1.0, 0.0, max(count, 2)), self._palette)
        self._show_key(count)
        return tuple(
            TraceCurve(
                self._values[:, k],
                hex_of(colours[k]),
                name=f"{SIGMA}{str(k + 1).translate(SUBSCRIPTS)}",
                said=10.0 ** np.minimum(self._values[:, k], 300.0),
            )
            for k in reversed(range(count))  # the largest on top
        )

    def _show_key(self, count: int) -> None:
        first, last = (f"{SIGMA}{str(k).translate(SUBSCRIPTS)}" for k in (1, count))
        ramp = time_colours(np.linspace(1.0, 0.0, 17), self._palette)
        if count > 1:
            self.header.set_key(time=TimeColours(first, last, ramp))
        else:
            self.header.set_key(HeaderEntry(first, hex_of(ramp[0]), "line"))

    def limits(self, data: DisplayData, lines: tuple[TraceCurve, ...]) -> tuple[float, float]:
        """From the largest value down to what can be trusted."""
        finite = self._values[np.isfinite(self._values)]
        if not finite.size:
            return -1.0, 1.0
        high = float(finite.max())
        low = max(float(finite.min()), high - MOST_DECADES)
        pad = 0.06 * (high - low) or 0.5
        return low - pad, high + pad

    def words(self, data: DisplayData, frame: int) -> Overlay:
        """The ratio of the two largest at the frame."""
        values = self._values
        if frame >= values.shape[0] or not np.isfinite(values).any():
            return Overlay(note=WAITING if data.later.pending else "all inner weights are 0")
        here = values[frame]
        if here.size < 2 or not np.isfinite(here[:2]).all():
            return Overlay()
        ratio = raised(number_text(float(10.0 ** min(here[0] - here[1], 300.0)), 3))
        return Overlay(corner=(f"{SIGMA}\u2081/{SIGMA}\u2082 = {ratio}",))
