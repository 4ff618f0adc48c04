"""The panels of sorted rotations and sorted relative norms (telgarsky22, 1c and 1d)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.figures.neurons import rings_of
from core.figures.numbers import linear_ticks
from core.figures.palette import Palette, dimmed
from core.figures.primitives import Array, Axis, Box, Curves, Dots, Ink, Panel, TimeKey, Words
from core.figures.time_axis import Moments
from core.observables.registry import OBSERVABLES
from core.runs import Run

Chosen = NDArray[np.bool_]
OBSERVABLE = {"rotations": "rotation", "norms": "relative_norm"}
TITLES = {"rotations": "rotations, sorted", "norms": "relative norms, sorted"}
LABELS = {"rotations": "rotation", "norms": "relative norm"}
EMPTY = {"rotations": "no node has a direction", "norms": "all nodes are 0"}
RANKS = Axis(0.0, 1.02, linear_ticks(0.0, 1.0, 5), "rank / $m$")


def sorted_values(run: Run, kind: str, index: int) -> Array:
    """The m values of a frame in increasing order, NaN last: node of rank j at position j - 1."""
    return np.sort(np.asarray(OBSERVABLES[OBSERVABLE[kind]].at(run, index), dtype=np.float64))


def ranks(m: int) -> Array:
    """rank / m of nodes in sorted order: 1/m, ..., 1."""
    return np.arange(1, m + 1) / m


def value_axis(runs: Sequence[Run], kind: str, frames: Sequence[Sequence[int]]) -> Axis:
    """The vertical axis for some frames of all runs: to 1, and for rotations from the least."""
    low = 0.0
    if kind == "rotations":
        values = [
            sorted_values(run, kind, index)[0]
            for run, indices in zip(runs, frames, strict=True)
            for index in indices
        ]
        least = min((value for value in values if math.isfinite(value)), default=0.0)
        # From a whole tenth, and a tenth at least: nodes that hardly turn must not look as if they
        # did.
        low = max(-1.0, min(math.floor(10.0 * least) / 10.0, 0.9))
    pad = 0.025 * (1.0 - low)
    return Axis(low - pad, 1.0 + pad, linear_ticks(low, 1.0, 5), LABELS[kind])


def sorted_ink(
    run: Run,
    kind: str,
    indices: Sequence[int],
    moments: Moments,
    palette: Palette,
    chosen: Chosen | None = None,
    pinned: Sequence[int] = (),
) -> Ink:
    """One curve a frame; the last is drawn wider and on top. Of nodes that are selected, (m,), the
    curves are dim, and they themselves are dots on the last one."""
    values = np.array([sorted_values(run, kind, index) for index in indices])
    m = values.shape[1]
    times = [float(run.log10_time[index]) for index in indices]
    colours = moments.colours(times, palette)
    x = np.broadcast_to(ranks(m), values.shape)
    widths = np.full(len(indices), 0.9)
    widths[-1] = 1.7
    missing = int(np.count_nonzero(np.isnan(values[-1])))
    note = EMPTY[kind] if missing == m else ""
    dots: tuple[Dots, ...] = ()
    if m <= 2:  # a curve through one point is invisible
        area = np.full(values.size, 14.0)
        repeated = np.repeat(colours, m, axis=0)
        dots = (Dots(kind, x.ravel(), values.ravel(), repeated, area),)
    if chosen is not None:
        dots = (chosen_dots(run, kind, indices[-1], chosen, colours[-1]),)
        colours = dimmed(colours, palette)
    names: tuple[Words, ...] = ()
    pins = [node for node in pinned if node < m]
    if pins:
        across, up = places_of(run, kind, indices[-1])
        rings, names = rings_of(across[pins], up[pins], pins, palette)
        dots = (*dots, rings)
    return Ink((Curves(kind, x, values, colours, widths),), dots, note, words=names)


def places_of(run: Run, kind: str, index: int) -> tuple[Array, Array]:
    """rank / m and value of each node of a frame, (m,) each."""
    values = np.asarray(OBSERVABLES[OBSERVABLE[kind]].at(run, index), dtype=np.float64)
    place = np.empty(values.size)
    # Stable, as on the screen: nodes of equal values keep their order.
    place[np.argsort(values, kind="stable")] = ranks(values.size)
    return place, values


def chosen_dots(run: Run, kind: str, index: int, chosen: Chosen, colour: Array) -> Dots:
    """The selected nodes at their ranks in a frame."""
    values = np.asarray(OBSERVABLES[OBSERVABLE[kind]].at(run, index), dtype=np.float64)
    order = np.argsort(values, kind="stable")
    shown = chosen[order] & np.isfinite(values[order])
    count = int(np.count_nonzero(shown))
    x, y = ranks(values.size)[shown], values[order][shown]
    return Dots("selected", x, y, np.tile(colour, (count, 1)), np.full(count, 9.0))


def time_key(run: Run, indices: Sequence[int], moments: Moments, palette: Palette) -> TimeKey:
    """The key of the curves' colours, with the times that the frames really have."""
    times = [float(run.log10_time[index]) for index in indices]
    # At t = 0 all rotations are 1, and the moment has no place on a logarithmic axis.
    if len(times) > 1:
        times = [time for time in times if math.isfinite(time)]
    texts = tuple(moments.axis.text(time) for time in times)
    return TimeKey(moments.axis.name, texts, moments.colours(times, palette))


def sorted_panel(
    run: Run,
    row: int,
    kind: str,
    letter: str,
    box: Box,
    y: Axis,
    indices: Sequence[int],
    moments: Moments,
    palette: Palette,
    chosen: Chosen | None = None,
    pinned: Sequence[int] = (),
) -> Panel:
    """The panel of one run; `y` is shared by the runs of a figure."""
    ink = sorted_ink(run, kind, indices, moments, palette, chosen, pinned)
    key = time_key(run, indices, moments, palette)
    return Panel(kind, row, letter, TITLES[kind], box, RANKS, y, ink, key=key)
