"""Any scalar observables over the run, chosen from a menu."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, final

import numpy as np
from PySide6.QtWidgets import QWidget

from app.state.background_values import LEADING, SPECTRUM
from app.state.display import DisplayData
from app.state.intent import Intent
from app.state.node_values import Floats
from app.state.view_options import MOST_CURVES
from app.views.node_view import NO_INNER
from app.views.trace_view import TraceCurve, TraceView, padded
from app.views.view import Bound, ShownTheory
from app.widgets.axis import logarithmic, plain
from app.widgets.header import HeaderEntry, Sign, TimeColours
from app.widgets.levels import LevelLine
from app.widgets.overlay import Overlay
from app.widgets.screen_text import rich
from core.figures.palette import Colours, Palette, time_colours
from core.figures.ticks import LOG, CurveScale, scale_of, scaled
from core.numbers import number_text, raised

if TYPE_CHECKING:
    from core.figures.margin_curves import Placed


NOTHING = "choose curves from the menu View, Curves"
WAITING = "computing ..."


@final
class CurvesView(TraceView):
    """Curves on one linear or logarithmic axis, or each on a range of its own where they differ too
    much; their values at the cursor stand in the key."""

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(palette, "curves", parent)
        self._names: tuple[str, ...] = ()
        self._values: tuple[Floats, ...] = ()
        self._landmarks: tuple[tuple[Placed, float], ...] = ()  # with their places on the axis
        self.scale, self._logarithmic = CurveScale.LINEAR, False

    def set_options(self, options: Intent) -> None:
        super().set_options(options)
        self.set_names(options.shown_curves, options.log_curves)

    def set_theory(self, theory: ShownTheory) -> None:
        self.set_bounds([bound for bound in theory.bounds if bound.view != "margins"])

    def set_names(self, names: Sequence[str], logarithmic: bool = False) -> None:
        """The observables to show, by their names in the tables; `logarithmic`: log10 of those
        that are no logarithms already, where they are positive."""
        if (tuple(names), logarithmic) != (self._names, self._logarithmic):
            self._names, self._logarithmic = tuple(names), logarithmic
            self.plot.reset_range()
            self.redraw()

    @property
    def names(self) -> tuple[str, ...]:
        """Those that are shown: the ones that the run has."""
        from core.observables.registry import find_observable

        data = self.data
        if data is None:
            return self._names[:MOST_CURVES]
        found = {name: find_observable(name) for name in self._names}
        has = [name for name, item in found.items() if item and item.applies(data.run)]
        return tuple(has[:MOST_CURVES])

    # --------------------------------------------------------------------------------- content

    def lines(self, data: DisplayData) -> tuple[TraceCurve, ...]:
        """Return the curves, scaled for the axis."""
        from core.observables.registry import alike

        names = self.names
        self._values = tuple(values[:, 0] for values in self._traces(data, names))
        first = self.first(data)  # earlier ones are not seen, and far below the others
        bounds = [padded(bound.values, data.frames) for bound in self._shown_bounds()]
        self.scale = CurveScale.LOGARITHMIC
        if not self._logarithmic:
            shown = [values[first:] for values in (*self._values, *bounds)]
            self.scale = scale_of(shown, alike(names))
        axis = self.plot.side
        axis.set_ticks(logarithmic if self.scale is CurveScale.LOGARITHMIC else plain)
        self.plot.set_labels(self.plot.bottom.labelText, *self._name())
        self.plot.set_bare(not names)
        curves = []
        for k, (name, values) in enumerate(zip(names, self._values, strict=True)):
            words, sign = name.replace("_", " "), self._sign(k)
            heights, raw = self._heights(name, values), self._said(name, values)
            curves.append(TraceCurve(heights, self._colour(k), sign, words, raw))
        from core.figures.margin_curves import landmarks_of  # loaded with the first run

        self._landmarks = tuple(
            (one, self._place(names[one.position], one))
            for one in landmarks_of(data.run, names, self._values)
        )
        return (*curves, *self._bound_lines(names, bounds))

    def _place(self, name: str, one: Placed) -> float:
        value = np.array([one.landmark.value])
        return float(self._heights(name, value, self._values[one.position])[0])

    def levels(self) -> tuple[LevelLine, ...]:
        """The names of bounds, and the lines of landmarks."""
        lines = [
            LevelLine(
                place,
                place,
                place,
                one.landmark.label,
                self._colour(one.position),
                rich(one.landmark.tip),
            )
            for one, place in self._landmarks
            if math.isfinite(place)
        ]
        return (*super().levels(), *lines)

    def _is_log(self, name: str) -> bool:
        """Whether an observable stands on the logarithmic axis as it is, being a logarithm."""
        return self._logarithmic and name.startswith(LOG)

    def _heights(self, name: str, values: Floats, among: Floats | None = None) -> Floats:
        """Return values as the axis shows them."""
        return scaled(values, CurveScale.LINEAR if self._is_log(name) else self.scale, among)

    def _said(self, name: str, values: Floats) -> Floats | None:
        return None if self._is_log(name) else values

    def _name(self) -> tuple[str, str]:
        """What the vertical axis is called, and where there is little room."""
        from core.observables.registry import find_observable

        names = self.names
        if self.scale is CurveScale.OWN:
            return "share of its range", "share"
        if len(names) == 1:
            # The ticks of a logarithmic axis are those of the quantity itself.
            name = names[0].removeprefix(LOG) if self._is_log(names[0]) else names[0]
            words, known = name.replace("_", " "), find_observable(name)
            return words if known is None else known.title, words
        return "value", ""  # of several quantities; the key names each

    def _bound_lines(self, names: Sequence[str], bounds: Sequence[Floats]) -> list[TraceCurve]:
        """Bounds in the colours of their curves, on the same scale."""
        lines = []
        for bound, values in zip(self._shown_bounds(), bounds, strict=True):
            k = names.index(bound.view)
            heights = self._heights(bound.view, values, self._values[k])
            raw = self._said(bound.view, values)
            lines.append(TraceCurve(heights, self._colour(k), "dotted", bound.name, raw))
        return lines

    def _grain(self, line: TraceCurve, value: float) -> float:
        """By the axis: values, their logarithms, or shares of the range of the curve."""
        if self.scale is CurveScale.LOGARITHMIC:
            return super()._grain(line, value)
        height = self.plot.pixel_height()
        if self.scale is CurveScale.LINEAR or line.said is None:
            return height
        known = line.said[np.isfinite(line.said)]
        return height * float(np.ptp(known)) if known.size else height

    def _colour(self, position: int) -> str:
        palette = self._palette
        colours = (palette.foreground, *palette.references, palette.positive)
        return colours[position % len(colours)]

    def _sign(self, position: int) -> Sign:
        signs: tuple[Sign, ...] = ("line", "dashed")
        return signs[position % len(signs)]

    def limits(self, data: DisplayData, lines: tuple[TraceCurve, ...]) -> tuple[float, float]:
        """All values that are finite, with some room."""
        values = np.concatenate([np.empty(0), *(line.values[self.first(data) :] for line in lines)])
        near = [place for one, place in self._landmarks if one.near]
        values = np.append(values[np.isfinite(values)], [x for x in near if math.isfinite(x)])
        low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
        pad = 0.06 * (high - low) or 0.5 * abs(high) or 0.5
        return low - pad, high + pad

    def _shown_bounds(self) -> list[Bound]:
        return [bound for bound in self._bounds if bound.view in self.names]

    def help_topics(self) -> tuple[str, ...]:
        """The observables that are shown."""
        if self.data is None:
            return self.names
        from core.observables.registry import full_name

        return tuple(map(full_name, self.names))

    def _lost(self) -> list[str]:
        """The curves that a logarithmic axis cannot show, by their names."""
        if not self._logarithmic:
            return []
        curves = zip(self.names, self._values, strict=True)
        known = [(name, x) for name, x in curves if np.isfinite(x).any() and not self._is_log(name)]
        return [name.replace("_", " ") for name, values in known if not _positive(values)]

    def words(self, data: DisplayData, frame: int) -> Overlay:
        """The key says the values at the cursor."""
        from core.observables.registry import observable_of

        entries = []
        for k, (name, values) in enumerate(zip(self.names, self._values, strict=True)):
            value = float(values[frame]) if frame < values.size else math.nan
            text = raised(number_text(value, 3)) if not math.isnan(value) else "\u2013"
            title = observable_of(name).title
            short = name.replace("_", " ")
            entries.append(HeaderEntry(f"{title} {text}", self._colour(k), self._sign(k), short))
        self.header.set_key(*entries)
        if not entries:
            return Overlay(note=NOTHING)
        known = any(np.isfinite(values).any() for values in self._values)
        if known:
            lost = ", ".join(self._lost())
            return Overlay(corner=(f"not positive: {lost}", "some not positive") if lost else ())
        return Overlay(note=WAITING if data.background.pending else "no value at any frame")


def _positive(values: Floats) -> bool:
    return bool((values > 0.0).any())


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
        """Return the ratio of the two largest values at the frame."""
        values = self._values
        if frame >= values.shape[0] or not np.isfinite(values).any():
            return Overlay(note=WAITING if data.background.pending else "all inner weights are 0")
        here = values[frame]
        if here.size < 2 or not np.isfinite(here[:2]).all():
            return Overlay()
        ratio = raised(number_text(float(10.0 ** min(here[0] - here[1], 300.0)), 3))
        return Overlay(corner=(f"{SIGMA}\u2081/{SIGMA}\u2082 = {ratio}",))
