"""Scalar observables over the run as strips, and the singular values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, final

import numpy as np
from PySide6.QtWidgets import QWidget

from app.state.background_values import LEADING, SPECTRUM
from app.state.display import DisplayData
from app.state.intent import Intent
from app.state.node_values import Floats
from app.state.view_options import MOST_CURVES
from app.views.node_view import NO_INNER
from app.views.pixels import log10_text
from app.views.predictions import find_refusals, predicted_bounds
from app.views.trace_view import TraceCurve, TraceView, pad_trace
from app.views.view import Bound, ShownTheory
from app.widgets.axis import logarithmic
from app.widgets.header import HeaderEntry, Sign, TimeColours
from app.widgets.items import PlotLines
from app.widgets.levels import DOWN, UP, LevelLine
from app.widgets.overlay import Overlay
from app.widgets.screen_text import greek, rich
from app.widgets.strips import StripLines, StripTitle, title_room
from core.figures.palette import Colours, Palette, time_colours
from core.figures.primitives import Strip
from core.figures.strips import Extent, extent_of, stack_limits, stack_strips, strip_room
from core.figures.ticks import MOST_EXPONENT
from core.numbers import number_text, raise_powers

if TYPE_CHECKING:
    from core.figures.levels import PlacedLandmark


NOTHING = "choose curves in View, Choose curves"
WAITING = "computing ..."
REFUSED = "no prediction"
LEAST_STRIP = 56  # pixels; a lower strip is illegible
MOST_TITLE = 0.45  # fraction of a strip


@final
class CurvesView(TraceView):
    """Curves as strips under one cursor, each with its axis, and its value in the title."""

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        # Before the plot, whose signals use them.
        self._names: tuple[str, ...] = ()
        self._values: tuple[Floats, ...] = ()
        self._landmarks: tuple[PlacedLandmark, ...] = ()
        self._predicted: tuple[Bound, ...] = ()
        self._refused: Mapping[str, str] = {}
        self._extents: dict[str, Extent] = {}
        self._common: Mapping[str, Extent] = {}
        self._logarithmic = False
        super().__init__(palette, "curves", parent)
        self.header.set_keyed(False)  # each strip has its own title

    def _make_lines(self) -> PlotLines:
        return StripLines(self.plot.side)

    def set_options(self, options: Intent) -> None:
        super().set_options(options)
        self.set_names(options.shown_curves, options.log_curves)

    def set_theory(self, theory: ShownTheory) -> None:
        self.set_bounds([bound for bound in theory.bounds if bound.view != "margins"])

    def set_names(self, names: Sequence[str], logarithmic: bool = False) -> None:
        """Show observables by their names in the tables.

        `logarithmic`: log10 of those that are no logarithms already, where they are positive.
        """
        if (tuple(names), logarithmic) != (self._names, self._logarithmic):
            self._names, self._logarithmic = tuple(names), logarithmic
            self.plot.reset_range()
            self.redraw()

    @property
    def names(self) -> tuple[str, ...]:
        """Shown observables: the chosen ones that the run has."""
        from core.observables.registry import find_observable

        data = self.data
        if data is None:
            return self._names[:MOST_CURVES]
        observables = {name: find_observable(name) for name in self._names}
        has = [name for name, item in observables.items() if item and item.applies(data.run)]
        return tuple(has[:MOST_CURVES])

    # ------------------------------------------------------------------------------------ axes

    @property
    def strips(self) -> tuple[Strip, ...]:
        """Axes of the curves, from the top."""
        return self.plot.side.strips

    @property
    def extents(self) -> Mapping[str, Extent]:
        return self._extents

    def set_common_extents(self, extents: Mapping[str, Extent]) -> None:
        self._common = extents
        self._follow_axes()

    def _stack(self) -> tuple[Strip, ...]:
        """Return the strips of the curves, with the extents of linked runs and room for titles."""
        extents = {
            name: extent | self._common.get(name, Extent())
            for name, extent in self._extents.items()
        }
        height = self.plot.view.rect().height() / max(len(extents), 1)
        share = title_room(self.plot.lettering()[0]) / max(height, 1.0)
        return stack_strips(extents, round(min(share, MOST_TITLE), 3), self._logarithmic)

    def _follow_axes(self) -> bool:
        """Redraw the curves if their axes changed; return True if they did."""
        changed = self._stack() != self.strips
        if changed:
            self.redraw()
        return changed

    def _scale_changed(self) -> None:
        if not self._follow_axes():
            super()._scale_changed()

    def _least_plot_height(self) -> int:
        return max(super()._least_plot_height(), LEAST_STRIP * len(self.names))

    # --------------------------------------------------------------------------------- content

    def _clear(self) -> None:
        super()._clear()
        self._values, self._landmarks, self._extents = (), (), {}
        self._predicted, self._refused = (), {}
        self.plot.side.set_strips(())

    def lines(self, data: DisplayData) -> tuple[TraceCurve, ...]:
        """Return the curves in their strips, then the bounds in the strips of their curves.

        Also fit the strips to the values, landmarks and bounds that are drawn.
        """
        from core.figures.levels import landmarks_of  # loaded with the first run
        from core.observables.registry import predictions_of

        names = self.names
        possible = [one for name in names for one in predictions_of(data.run, name)]
        columns = [column for one in possible for column in one.columns]
        traces = self._traces(data, (*names, *columns))
        self._values = tuple(values[:, 0] for values in traces[: len(names)])
        traces_by_column = {
            k: one[:, 0] for k, one in zip(columns, traces[len(names) :], strict=True)
        }
        measured = dict(zip(names, self._values, strict=True))
        self._predicted = predicted_bounds(possible, measured, traces_by_column)
        self._refused = find_refusals(possible, self._predicted, data.run)
        self._landmarks = landmarks_of(data.run, names, self._values)
        bounds = [(one, pad_trace(one.values, data.frames)) for one in self._shown_bounds()]
        first = self.first(data)  # earlier frames are off the screen, and far below the others
        named_values = [*zip(names, self._values, strict=True)]
        named_values += [(bound.view, values) for bound, values in bounds]
        self._extents = dict.fromkeys(names, Extent())
        for name, values in named_values:
            self._extents[name] |= extent_of(values[first:])
        for one in self._landmarks:
            if one.near:
                self._extents[names[one.position]] |= extent_of(np.array([one.landmark.value]))
        self.plot.set_bare(not names)
        strips = self._stack()
        if strips != self.strips:
            self.plot.side.set_strips(strips)
            self._set_least_size()
            self.plot.fit_side()
        curves = []
        for k, (strip, values) in enumerate(zip(self.strips, self._values, strict=True)):
            heights, words = strip.heights(values), _words_of(strip)
            curves.append(TraceCurve(heights, self._colour(k), name=words, plain=values))
        for bound, values in bounds:
            k = names.index(bound.view)
            heights = self.strips[k].heights(values)
            colour = self._palette.theory if bound.predicted else self._colour(k)
            sign: Sign = "dashed" if bound.predicted else "dotted"
            curves.append(TraceCurve(heights, colour, sign, bound.name, values))
        return tuple(curves)

    def levels(self) -> tuple[LevelLine, ...]:
        """Return the names of bounds, and the lines of landmarks.

        A landmark beyond its strip is named at the end of the strip, with an arrow.
        """
        lines = []
        for one in self._landmarks:
            strip, landmark = self.strips[one.position], one.landmark
            place = float(strip.heights(np.array([landmark.value]))[0])
            if not math.isfinite(place):
                continue
            low, high = strip_room(self.strips, one.position)
            height = min(max(place, low), high)
            label = (UP if place > height else DOWN if place < height else "") + landmark.label
            colour, tip = self._colour(one.position), rich(landmark.tip)
            lines.append(
                LevelLine(
                    *(height, height, height, label, colour, tip),
                    line=place == height,
                    room=(low, high),
                )
            )
        for name, tip in self._refused.items():
            place = self.names.index(name)
            foot, room = self.strips[place].start, strip_room(self.strips, place)
            text = (REFUSED, self._palette.muted, tip)
            lines.append(LevelLine(foot, foot, foot, *text, line=False, room=room))
        return (*super().levels(), *lines)

    def _room_of(self, bound: Bound) -> tuple[float, float]:
        return strip_room(self.strips, self.names.index(bound.view))

    def limits(self, data: DisplayData, lines: tuple[TraceCurve, ...]) -> tuple[float, float]:
        """Return the ends of the stack of strips."""
        return stack_limits(self.strips)

    def _grain(self, line: TraceCurve, value: float) -> float:
        """Return the difference of values that one pixel of height means in the line's strip."""
        place = next(k for k, one in enumerate(self._lines) if one is line)
        bounds = [self.names.index(bound.view) for bound in self._shown_bounds()]
        strip = self.strips[[*range(len(self.strips)), *bounds][place]]
        height = self.plot.pixel_height() / strip.unit
        return float(abs(value) * math.log(10.0) * height if strip.takes_log else height)

    def _colour(self, position: int) -> str:
        palette = self._palette
        colours = (palette.foreground, *palette.references, palette.positive)
        return colours[position % len(colours)]

    def _shown_bounds(self) -> list[Bound]:
        return [*(bound for bound in self._bounds if bound.view in self.names), *self._predicted]

    def help_topics(self) -> tuple[str, ...]:
        """Return the shown observables."""
        if self.data is None:
            return self.names
        from core.observables.registry import full_name

        return tuple(map(full_name, self.names))

    def words(self, data: DisplayData, frame: int) -> Overlay:
        """Return the titles of the strips with the values at the cursor."""
        from core.observables.registry import title_with_unit

        titles = []
        for k, (strip, values) in enumerate(zip(self.strips, self._values, strict=True)):
            value = float(values[frame]) if frame < values.size else math.nan
            text, short = greek(title_with_unit(strip.quantity)), _words_of(strip)
            number = _number(strip, value)
            if self._logarithmic and not strip.takes_log and strip.shows == "plain":
                number += ", not positive" if np.isfinite(values).any() else ""
            titles.append(StripTitle(strip.start, strip.end, text, short, number, self._colour(k)))
        self.header.set_key(
            *(HeaderEntry(f"{one.text} ({one.number})", one.colour, "line") for one in titles)
        )
        if not titles:
            return Overlay(note=NOTHING)
        if any(np.isfinite(values).any() for values in self._values):
            return Overlay(titles=tuple(titles))
        return Overlay(note=WAITING if data.background.pending else "no data")


def _words_of(strip: Strip) -> str:
    return greek(strip.name.replace("_", " "))


def _number(strip: Strip, value: float) -> str:
    """Return a value in the strip's form: the quantity, if ticks are labelled by it."""
    if math.isnan(value):
        return "\u2013"
    if strip.shows == "log" and not strip.takes_log:
        if abs(value) > MOST_EXPONENT:
            return log10_text(value, 0.01)
        value = 10.0**value
    return raise_powers(number_text(value, 3))


MOST_DECADES = 6.0  # below the largest; the rest is rounding error of the decomposition of V V'
SIGMA = "\u03c3"
SUBSCRIPTS = {ord(str(digit)): 0x2080 + digit for digit in range(10)}


def hex_of(colour: Colours) -> str:
    """Return an RGBA row as "#rrggbb"."""
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
        """Return log10 of each singular value."""
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
                plain=10.0 ** np.minimum(self._values[:, k], 300.0),
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
        """Return the range of log10 sigma, with room: the reliable decades up to the largest."""
        finite = self._values[np.isfinite(self._values)]
        if not finite.size:
            return -1.0, 1.0
        high = float(finite.max())
        low = max(float(finite.min()), high - MOST_DECADES)
        pad = 0.06 * (high - low) or 0.5
        return low - pad, high + pad

    def words(self, data: DisplayData, frame: int) -> Overlay:
        """Return the ratio of the two largest values at the frame."""
        values = self._values
        if frame >= values.shape[0] or not np.isfinite(values).any():
            return Overlay(
                note=WAITING if data.background.pending else "all inner weights are zero"
            )
        row = values[frame]
        if row.size < 2 or not np.isfinite(row[:2]).all():
            return Overlay()
        ratio = raise_powers(number_text(float(10.0 ** min(row[0] - row[1], 300.0)), 3))
        return Overlay(corner=(f"{SIGMA}\u2081/{SIGMA}\u2082 = {ratio}",))
