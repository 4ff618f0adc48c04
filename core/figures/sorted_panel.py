"""Panels of sorted rotations and relative norms of the neurons (telgarsky22, 1c and 1d)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.figures.neurons import rings_of
from core.figures.numbers import linear_ticks
from core.figures.palette import Palette, dim_colours
from core.figures.primitives import (
    Array,
    Axis,
    Box,
    Curves,
    Dots,
    Label,
    Panel,
    PanelContent,
    TimeKey,
)
from core.figures.time_axis import Moments
from core.observables.registry import OBSERVABLES
from core.runs import Run

Chosen = NDArray[np.bool_]
OBSERVABLE = {"rotations": "rotation", "norms": "relative_norm"}
SORTED_TITLES = {"rotations": "rotations, sorted", "norms": "relative norms, sorted"}
SORTED_LABELS = {"rotations": "rotation", "norms": "relative norm"}
SORTED_EMPTY = {"rotations": "no neuron has a direction", "norms": "all neurons are 0"}
RANKS = Axis(0.0, 1.02, linear_ticks(0.0, 1.0, 5), "rank / $m$")


def sorted_values(run: Run, kind: str, index: int) -> Array:
    """Return the values of a frame in increasing order, NaN last.

    Parameters
    ----------
    run, kind, index : Run, str, int
        Open run, "rotations" or "norms", and frame.

    Returns
    -------
    array (m,)
        The neuron of rank j is at position j - 1.
    """
    return np.sort(np.asarray(OBSERVABLES[OBSERVABLE[kind]].value_at(run, index), dtype=np.float64))


def ranks(m: int) -> Array:
    """Return rank / m of m neurons in sorted order.

    Parameters
    ----------
    m : int
        Number of neurons.

    Returns
    -------
    array (m,)
        1/m, 2/m, ..., 1.

    Examples
    --------
    >>> ranks(4).tolist()
    [0.25, 0.5, 0.75, 1.0]
    """
    return np.arange(1, m + 1) / m


def value_axis(runs: Sequence[Run], kind: str, frames: Sequence[Sequence[int]]) -> Axis:
    """Return the vertical axis of sorted values, shared by some frames of all runs.

    Parameters
    ----------
    runs : sequence of Run
        Open runs.
    kind : str
        "rotations" or "norms".
    frames : sequence of sequences of int
        Frames of each run.

    Returns
    -------
    Axis
        From 0 to 1 for norms. For rotations, which are cosines, from the tenth at or below the
        least one, at most 0.9. Both ends have some air.
    """
    low = 0.0
    if kind == "rotations":
        values = [
            sorted_values(run, kind, index)[0]
            for run, indices in zip(runs, frames, strict=True)
            for index in indices
        ]
        least = min((value for value in values if math.isfinite(value)), default=0.0)
        # The range starts at a whole tenth and spans at least a tenth: neurons that hardly turn
        # must not look as if they did.
        low = max(-1.0, min(math.floor(10.0 * least) / 10.0, 0.9))
    pad = 0.025 * (1.0 - low)
    return Axis(low - pad, 1.0 + pad, linear_ticks(low, 1.0, 5), SORTED_LABELS[kind])


def sorted_ink(
    run: Run,
    kind: str,
    indices: Sequence[int],
    moments: Moments,
    palette: Palette,
    chosen: Chosen | None = None,
    pinned: Sequence[int] = (),
) -> PanelContent:
    """Return a curve for each frame, the last one wider and on top.

    With selected neurons the curves are dim, and these neurons are dots on the last one.

    Parameters
    ----------
    run, kind : Run, str
        Open run, and "rotations" or "norms".
    indices : sequence of int
        Frames, at least one.
    moments, palette : Moments, Palette
        Colours of times, and other colours.
    chosen : array (m,) of bool, optional
        Selected neurons.
    pinned : sequence of int
        Neurons with a ring and their number.

    Returns
    -------
    PanelContent
    """
    values = np.array([sorted_values(run, kind, index) for index in indices])
    m = values.shape[1]
    times = [float(run.log10_time[index]) for index in indices]
    colours = moments.colours(times, palette)
    x = np.broadcast_to(ranks(m), values.shape)
    widths = np.full(len(indices), 0.9)
    widths[-1] = 1.7
    missing = int(np.count_nonzero(np.isnan(values[-1])))
    note = SORTED_EMPTY[kind] if missing == m else ""
    dots: tuple[Dots, ...] = ()
    if m <= 2:  # a curve through one point is invisible
        area = np.full(values.size, 14.0)
        repeated = np.repeat(colours, m, axis=0)
        dots = (Dots(kind, x.ravel(), values.ravel(), repeated, area),)
    if chosen is not None:
        dots = (chosen_dots(run, kind, indices[-1], chosen, colours[-1]),)
        colours = dim_colours(colours, palette)
    names: tuple[Label, ...] = ()
    pins = [node for node in pinned if node < m]
    if pins:
        x_places, y_places = places_of(run, kind, indices[-1])
        rings, names = rings_of(x_places[pins], y_places[pins], pins, palette)
        dots = (*dots, rings)
    return PanelContent((Curves(kind, x, values, colours, widths),), dots, note, words=names)


def places_of(run: Run, kind: str, index: int) -> tuple[Array, Array]:
    """Return rank / m and value of each neuron at a frame.

    Parameters
    ----------
    run, kind, index
        As of `sorted_values`.

    Returns
    -------
    place, values : array (m,)
        In the order of the neurons. NaN values have the last ranks.
    """
    values = np.asarray(OBSERVABLES[OBSERVABLE[kind]].value_at(run, index), dtype=np.float64)
    place = np.empty(values.size)
    # Stable, as on the screen: neurons with equal values keep their order.
    place[np.argsort(values, kind="stable")] = ranks(values.size)
    return place, values


def chosen_dots(run: Run, kind: str, index: int, chosen: Chosen, colour: Array) -> Dots:
    """Return the selected neurons at their ranks in a frame, as dots of one colour.

    Parameters
    ----------
    run, kind, index, chosen, colour
        As of `sorted_ink`; `index` is the frame, and `colour` (4,) is RGBA, 0 to 255.

    Returns
    -------
    Dots
    """
    values = np.asarray(OBSERVABLES[OBSERVABLE[kind]].value_at(run, index), dtype=np.float64)
    order = np.argsort(values, kind="stable")
    is_visible = chosen[order] & np.isfinite(values[order])
    count = int(np.count_nonzero(is_visible))
    x, y = ranks(values.size)[is_visible], values[order][is_visible]
    return Dots("selected", x, y, np.tile(colour, (count, 1)), np.full(count, 9.0))


def time_key(run: Run, indices: Sequence[int], moments: Moments, palette: Palette) -> TimeKey:
    """Return the key of the curves' colours, with the times of the frames themselves.

    Parameters
    ----------
    run : Run
        Open run.
    indices : sequence of int
        Frames that have a curve, at least one.
    moments, palette : Moments, Palette
        Axis and colours of times, and colours of the figure.

    Returns
    -------
    TimeKey
        A text and a colour for each frame; t = 0 is left out unless it is the only one.
    """
    times = [float(run.log10_time[index]) for index in indices]
    # At t = 0 all rotations are 1, and a logarithmic axis has no such moment.
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
    """Build the panel of sorted rotations or norms of one run, against rank / m.

    Parameters
    ----------
    row, letter, box : int, str, Box
        Row of the run, letter, and box in millimetres.
    y : Axis
        Vertical axis, shared by the runs of a figure.
    run, kind, indices, moments, palette, chosen, pinned
        As of `sorted_ink`.

    Returns
    -------
    Panel
    """
    ink = sorted_ink(run, kind, indices, moments, palette, chosen, pinned)
    key = time_key(run, indices, moments, palette)
    return Panel(kind, row, letter, SORTED_TITLES[kind], box, RANKS, y, ink, key=key)
