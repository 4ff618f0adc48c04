"""Normalised margins against time, steps or |W|^2, with a cursor at the current frame."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, final

import numpy as np
from PySide6.QtWidgets import QWidget

from app.state.display import MARGINS, DisplayData
from app.state.frame_reading import TOO_LONG
from app.views.trace_view import TraceCurve, TraceView, pad_trace
from app.views.view import ShownTheory
from app.widgets.header import HeaderEntry, Sign
from app.widgets.levels import LevelLine
from app.widgets.overlay import NodeMark, Overlay, Reading
from app.widgets.screen_text import greek, margin_digits, margin_tip
from core.figures.palette import Palette
from core.figures.reference_colours import reference_colour
from core.network.recorded_network import why_no_margin
from core.numbers import number_text, raise_powers, time_text
from core.reference.share import REACHED, Reach, find_promise_reach

if TYPE_CHECKING:
    from core.reference.margin import ReferenceMargin
    from core.reference.share import Promise

# Text, column of DisplayData.margins, factor, and mark in the key. The l1 margin is halved, as in
# the figures, so that hard <= l1 / 2 can be read off.
CURVES: tuple[tuple[str, int, float, Sign], ...] = (
    ("hard", 0, 1.0, "line"),
    ("smoothed", 1, 1.0, "dashed"),
    ("\u2113\u2081/2", 2, 0.5, "dotted"),
)
REACH = 2.5  # a reference line may raise the range to this multiple of the highest curve
BOUNDED = (0, 2)  # the data bound hard and l1; the smoothed margin starts far below


@final
class MarginsView(TraceView):
    """View of the hard, the smoothed and half the l1 margin, with reference lines and bounds."""

    shows = MARGINS

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(palette, "normalised margins", parent, "normalised margin")
        self.plot.side.set_label("normalised margin", "margin")
        self._references: tuple[ReferenceMargin, ...] = ()
        self._promise: Promise | None = None
        self._reach: Reach | None = None
        self._show_key()

    def set_theory(self, theory: ShownTheory) -> None:
        self.set_references(theory.references)
        self.set_promise(theory.promise)
        self.set_bounds([bound for bound in theory.bounds if bound.view == "margins"])

    def set_references(self, references: Sequence[ReferenceMargin]) -> None:
        """Show reference margins as lines, if they have a value and a factor."""
        chosen = tuple(one for one in references if one.bracket.exists and one.factor is not None)
        if chosen != self._references:
            self._references = chosen
            self.redraw()

    def set_promise(self, promise: Promise | None) -> None:
        """Show margins as shares of the promised one, once known; None for plain margins."""
        if promise != self._promise:
            self._promise = promise
            label = promise.label if promise is not None else ""
            words = greek(f"share of {label}") if label else "normalised margin"
            self.plot.side.set_label(words, "share" if label else "margin")
            self.plot.reset_range()
            self.redraw()

    @property
    def scale(self) -> float:
        """Factor of the shown margins, 1 for plain ones."""
        return 1.0 if self._promise is None else self._promise.scale

    @property
    def reach(self) -> Reach | None:
        """Moment when the hard margin first reaches 90 % of the promise, if known."""
        return self._reach

    def levels(self) -> tuple[LevelLine, ...]:
        """Return the reference lines, and the labels of bounds at the ends of their curves."""
        margins = self._references
        # With shares, always show the margin that is 1 and its bracket.
        margin = None if self._promise is None else self._promise.margin
        if margin is not None and margin not in margins:
            margins = (*margins, margin)
        lines = [
            level_of(one, reference_colour(one.reference.name, self._palette), self.scale)
            for one in margins
        ]
        return (*lines, *super().levels())

    def help_topics(self) -> tuple[str, ...]:
        """Return the names of the three margins and of the reference lines."""
        return (*MARGINS, *(one.reference.name for one in self._references))

    def _colour(self, position: int) -> str:
        palette = self._palette
        return (palette.foreground, palette.references[0], palette.references[1])[position]

    def _show_key(self) -> None:
        """Show the margins of the run: without a monotone loss no smoothed one."""
        data = self.data
        is_known: list[bool] = [True] * len(CURVES)
        if data is not None and np.isfinite(data.margins).any():
            is_known = [bool(np.isfinite(column).any()) for column in data.margins.T]
        self.header.set_key(
            *(
                HeaderEntry(text, self._colour(k), sign)
                for k, (text, column, _, sign) in enumerate(CURVES)
                if is_known[column]
            )
        )

    def _recolour(self) -> None:
        self._show_key()

    def refit(self, data: DisplayData) -> None:
        """Update the range, the key and the faint curves from all frames read so far."""
        self._show_key()
        self._reach = None
        if self._promise is not None:
            self._reach = find_promise_reach(data.margins[:, 0], data.log10_time, self._promise)
        super().refit(data)

    def lines(self, data: DisplayData) -> tuple[TraceCurve, ...]:
        """Return the three margins, then the bounds."""
        margins = [
            TraceCurve(self.scale * factor * data.margins[:, column], self._colour(k), sign, text)
            for k, (text, column, factor, sign) in enumerate(CURVES)
        ]
        colours = cycle((self._palette.negative, self._palette.positive))
        bounds = [
            TraceCurve(
                self.scale * pad_trace(bound.values, data.frames), colour, "dashed", bound.name
            )
            for bound, colour in zip(self._bounds, colours, strict=False)
        ]
        return (*margins, *bounds)

    def past_lines(self, data: DisplayData) -> tuple[TraceCurve, ...]:
        """Return the three margins of the parent run."""
        if not data.past.is_complete:
            return ()
        return tuple(
            TraceCurve(self.scale * factor * data.past.margins[:, column], self._colour(k), sign)
            for k, (_, column, factor, sign) in enumerate(CURVES)
        )

    def limits(self, data: DisplayData, lines: tuple[TraceCurve, ...]) -> tuple[float, float]:
        """Return the vertical range of all values of the hard and the l1 margin.

        The data bound these. Of the smoothed margin the range holds the largest value: it starts at
        values as low as -44 / |W|^2; a range that held them would show nothing else, and one that
        followed it would jump while the run is recorded. Where it is beyond the range at the
        cursor, it is named at the edge.
        """
        values = np.array([line.values for line in lines[: len(CURVES)]])
        before = [line.values for line in self.past_lines(data)]
        if before:
            values = np.concatenate([np.array(before), values], axis=1)
        values[~np.isfinite(values)] = np.nan
        top = float(np.fmax.reduce(values, axis=None, initial=0.0))
        low = float(np.fmin.reduce(values[list(BOUNDED)], axis=None, initial=0.0))
        top, bottom = max(top, *self._near_levels(top), 0.0), low
        if not top > bottom or not math.isfinite(top - bottom):
            bottom, top = -0.01, 0.01
        pad = 0.06 * (top - bottom)
        return bottom - pad, top + pad

    def _near_levels(self, top: float) -> list[float]:
        """Return the reference lines and bounds near enough to be in the range.

        An arrow at the edge stands for the others.
        """
        scale = self.scale
        values = [scale * one.bracket.upper * (one.factor or 0.0) for one in self._references]
        values += [
            scale * float(np.fmax.reduce(one.values, initial=-math.inf)) for one in self._bounds
        ]
        # With shares, the range contains 1, however far the curves are from it.
        margin = None if self._promise is None else self._promise.margin
        levels = [] if margin is None else [scale * margin.bracket.upper * (margin.factor or 0.0)]
        return [0.0, *levels, *(value for value in values if 0.0 < value <= REACH * top)]

    def words(self, data: DisplayData, frame: int) -> Overlay:
        """Return the texts at a frame. A neuron has no margin: its weights are in a corner."""
        alone = next(iter(self._pinned), -1) if len(self._pinned) == 1 else -1
        node = self._hovered if self._hovered >= 0 else alone
        corner = self._weights(data, node) if 0 <= node < data.m else ()
        is_shown = np.isfinite(data.margins[: frame + 1]).any()
        reason = why_no_margin(data.run.experiment.network)
        note = "" if is_shown else f"no margin: {reason}"
        if not corner:
            corner = self._of_share(data)
        if not corner and data.past.too_long:
            corner = TOO_LONG
        readings = self._readings(data, frame)
        return Overlay(self._mark(), corner=corner, note=note, readings=readings)

    def _of_share(self, data: DisplayData) -> tuple[str, ...]:
        """Return what the shares wait for, or that 90 % is not reached."""
        promise = self._promise
        if promise is None or self._reach is not None:
            return ()
        if promise.margin is None:
            if promise.waits:
                waits = greek(", ".join(promise.waits))
                return (f"plain margins: {waits} not computed yet", f"waiting for {waits}")
            return ("plain margins: no promised margin", "no promised margin")
        when = "" if data.complete else " yet"
        label = greek(promise.label)
        return (f"90 % of {label} not reached{when}", f"90 % not reached{when}")

    def _mark(self) -> tuple[NodeMark, ...]:
        """Return a ring at 90 %, with its time."""
        reach = self._reach
        if reach is None or not self.places.size:
            return ()
        # Interpolate between frames as the curve does.
        after, part = float(self.places[reach.frame]), reach.part
        before = float(self.places[max(reach.frame - 1, 0)])
        place = before + part * (after - before)
        height = REACHED
        if part == 1.0 and self.data is not None:
            height = self.scale * float(self.data.margins[reach.frame, 0])
        steps = self.data is not None and self.data.run.counts_steps
        return (
            NodeMark(place, height, raise_powers(f"90 % at {time_text(reach.log10_time, steps)}")),
        )

    def _readings(self, data: DisplayData, frame: int) -> tuple[Reading, ...]:
        readings = []
        for k, (text, column, factor, _) in enumerate(CURVES):
            value = self.scale * factor * float(data.margins[frame, column])
            number = raise_powers(number_text(value, 3))
            readings.append(Reading(value, self._colour(k), text, number))
        return tuple(readings)

    def _weights(self, data: DisplayData, node: int) -> tuple[str, ...]:
        """Return the weights and angle of a neuron in words: alternatives, the longest first."""
        facts = data.node(self.frame, node)
        numbers = (facts.outer_weight, facts.inner_norm, facts.angle)
        a, v, angle = (raise_powers(number_text(value)) for value in numbers)
        short = f"a {a}, |v| {v}"
        if math.isnan(facts.angle):  # of a neuron of length 0
            return (f"neuron {facts.index}: {short}", short)
        return (
            f"neuron {facts.index}: {short}, turned {angle}\u00b0",
            f"{short}, {angle}\u00b0",
            short,
        )


def level_of(margin: ReferenceMargin, colour: str, scale: float = 1.0) -> LevelLine:
    """Return the line of a reference margin with its bracket, times its factor and a scale."""
    factor, bracket = scale * (margin.factor or 1.0), margin.bracket
    low, high = sorted((factor * bracket.lower, factor * bracket.upper))
    words = margin.reference.label + (
        "" if bracket.certified else f" ({raise_powers(margin.certainty)})"
    )
    height = raise_powers(number_text(factor * bracket.value, margin_digits(bracket)))
    tip = margin_tip(margin) + f"<p>Line at {height}.</p>"
    return LevelLine(factor * bracket.value, low, high, words, colour, tip)
