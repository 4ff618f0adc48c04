"""Panels of neurons except their trajectories: rotations and norms, sorted, and waves.

Sorted rotations and relative norms are 1c and 1d of telgarsky22. Waves are those of quadratic
networks on addition modulo p (core.observables.fourier): the power of neurons at each frequency,
and how their phases go together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.figures.neurons import rings_of
from core.figures.numbers import linear_ticks
from core.figures.palette import Palette, dim_colours, rgb, rgba, time_colours
from core.figures.primitives import (
    Array,
    Axis,
    Box,
    Curves,
    Dots,
    KeyEntry,
    Label,
    Marker,
    Panel,
    PanelContent,
    Raster,
    TimeKey,
)
from core.figures.ticks import with_range
from core.figures.time_axis import Moments
from core.observables.fourier import frequencies, is_modular_addition, node_powers, phases
from core.observables.registry import OBSERVABLES
from core.runs import Run

# -------------------------------------------------------------- sorted rotations and relative norms

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
    """Return rank / m of neurons in sorted order, (m,): 1/m, ..., 1."""
    return np.arange(1, m + 1) / m


def value_axis(runs: Sequence[Run], kind: str, frames: Sequence[Sequence[int]]) -> Axis:
    """Return the vertical axis for some frames of all runs: to 1, rotations from the least one.

    Parameters
    ----------
    runs, kind, frames
        Open runs, "rotations" or "norms", and the frames of each run.

    Returns
    -------
    Axis
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
        In the order of the neurons.
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

    `indices` are the frames of the run that have a curve.
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
    """Build the panel of sorted rotations or norms of one run.

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


# -------------------------------------------------------------------------------------------- waves

Floats = NDArray[np.float64]
KINDS = ("waves", "phases")
TITLES = {"waves": "waves of the neurons", "phases": "phases of the neurons"}
MISSING = "only quadratic networks on addition modulo p have frequencies"
NOTHING = "all neurons are 0"
KEY_COLOURS = 5  # samples of the frequencies' colours in a key
FAINT = 0.25  # colour fraction of a neuron that is not selected
SMALLEST, LARGEST = 3.0, 26.0  # areas of neuron markers, in square points


@final
@dataclass(frozen=True, slots=True, eq=False)
class NodeWaves:
    """Neurons of a frame as waves, K the number of frequencies.

    `frequency` (m,) is from 1 on, `order` (m,) by frequency and then by th_w. `strength` (K + 1, m)
    are the amplitudes at k = 0, ..., K over the largest |theta|. `points` (m, 2) = (th_w, th_u +
    th_v)/pi are in [-1, 1], and `size` (m,) is |theta_j| over the largest.
    """

    frequency: NDArray[np.int64]
    order: NDArray[np.int64]
    strength: Floats
    points: Floats
    size: Floats

    @property
    def empty(self) -> bool:
        """True if all neurons are 0."""
        return not bool((self.size > 0.0).any())


def node_waves(run: Run, index: int) -> NodeWaves:
    """Return the neurons of a frame as waves."""
    powers = node_powers(run, index)
    largest = float(powers.sum(axis=1).max())
    strength = np.sqrt(powers / largest) if largest > 0.0 else np.zeros(powers.shape)
    chosen = frequencies(run, index).astype(np.int64)
    u, v, w = phases(run, index) / np.pi
    points = np.stack([w, (u + v + 1.0) % 2.0 - 1.0], axis=1)
    size = np.sqrt((strength**2).sum(axis=1))
    return NodeWaves(chosen, np.lexsort((w, chosen)), strength.T, points, size)


def frequency_colours(count: int, palette: Palette) -> NDArray[np.uint8]:
    """Return RGBA rows (count, 4) of the frequencies 1, ..., count."""
    return time_colours(np.linspace(1.0, 0.0, max(count, 2)), palette)[:count]


def wave_inks(count: int, palette: Palette) -> NDArray[np.uint8]:
    """Return RGB rows (count + 1, 3) of the frequencies 0, ..., count; grey for 0."""
    grey = rgb(palette.muted).astype(np.uint8)
    return np.vstack([grey, frequency_colours(count, palette)[:, :3]])


def wave_colours(waves: NodeWaves, palette: Palette, weight: Floats | None = None) -> Floats:
    """Return colours of the neurons in their order: that of the frequency, deeper for more.

    Parameters
    ----------
    waves : NodeWaves
        Neurons of a frame.
    palette : Palette
        Colours.
    weight : array (m,), optional
        Factors of the depths, by neuron.

    Returns
    -------
    array (K + 1, m, 3)
        RGB, 0 to 255; grey for k = 0.
    """
    ground, inks = rgb(palette.background), wave_inks(waves.strength.shape[0] - 1, palette)
    depth = waves.strength if weight is None else waves.strength * weight
    return np.asarray(ground + depth[:, waves.order, None] * (inks[:, None, :] - ground))


@final
@dataclass(frozen=True, slots=True, eq=False)
class WavePanel:
    """Panel of the waves or the phases of a run's neurons."""

    run: Run
    kind: str
    palette: Palette
    last: int
    pins: tuple[int, ...] = ()

    def panel(self, row: int, letter: str, box: Box) -> Panel:
        """Build the panel at the last frame, in a row, with a letter, in a box of millimetres."""
        x, y = self.axes()
        title = TITLES[self.kind]
        ink = self.ink(self.last)
        return Panel(self.kind, row, letter, title, box, x, y, ink, key=self._key())

    def axes(self) -> tuple[Axis, Axis]:
        """Return axes of neurons and frequencies, or of phases over pi."""
        if self.kind == "phases":
            ends = (-1.05, 1.05)
            x = Axis(*ends, (), "$\\vartheta_w\\,/\\,\\pi$")
            y = Axis(*ends, (), "$(\\vartheta_u+\\vartheta_v)\\,/\\,\\pi$")
            return with_range(x, *ends), with_range(y, *ends)
        top = (self._count if is_modular_addition(self.run) else 1) + 0.5
        m = float(self.run.network.m)
        x = with_range(Axis(0.0, m, (), "neurons, by frequency"), 0.0, m)
        return x, with_range(Axis(-0.5, top, (), "frequency $k$", "whole"), -0.5, top)

    @property
    def _count(self) -> int:
        return (int(self.run.dataset.classes) - 1) // 2

    def _key(self) -> tuple[KeyEntry, ...]:
        if not is_modular_addition(self.run):
            return ()
        ramp = frequency_colours(self._count, self.palette)
        places = np.linspace(0, len(ramp) - 1, min(KEY_COLOURS, len(ramp))).round().astype(int)
        colours = tuple("#{:02x}{:02x}{:02x}".format(*ramp[k, :3].tolist()) for k in places)
        text = f"frequency 1 to {self._count}" if self._count > 1 else "frequency 1"
        return (KeyEntry(text, colours, markers=(Marker.DISC,) * len(colours)),)

    def ink(self, index: int) -> PanelContent:
        """Return what the panel shows at a frame."""
        if not is_modular_addition(self.run):
            return PanelContent(
                note=MISSING.replace(" networks", "\nnetworks").replace(" have", "\nhave")
            )
        waves = node_waves(self.run, index)
        note = NOTHING if waves.empty else ""
        return self._phases(waves, note) if self.kind == "phases" else self._waves(waves, note)

    def _waves(self, waves: NodeWaves, note: str) -> PanelContent:
        colours = np.rint(wave_colours(waves, self.palette)).astype(np.uint8)
        rows, m = colours.shape[:2]
        if m == 1:  # two points at least are evenly spaced
            colours, m = np.repeat(colours, 2, axis=1), 2
        half = 0.5 * float(self.run.network.m) / m
        raster = Raster(half, m * 2.0 * half - half, 0.0, rows - 1.0, colours, smooth=False)
        return PanelContent(rasters=(raster,), note=note)

    def _phases(self, waves: NodeWaves, note: str) -> PanelContent:
        palette = self.palette
        ends = np.array([[-1.05, 1.05]])
        grey = rgba(palette.muted)[None, :]
        line = Curves("th_w = th_u + th_v", ends, ends, grey, np.array([0.8]), "dashed")
        if note:
            return PanelContent((line,), note=note)
        ramp = frequency_colours(self._count, palette)[waves.frequency - 1]
        order = np.argsort(waves.size, kind="stable")  # largest on top
        areas = SMALLEST + (LARGEST - SMALLEST) * waves.size**2
        x, y = waves.points[order].T
        nodes = Dots("nodes", x, y, ramp[order], areas[order], edge=palette.background)
        pins = [j for j in self.pins if j < len(waves.size)]
        if not pins:
            return PanelContent((line,), (nodes,))
        x, y = waves.points[pins].T
        rings, names = rings_of(x, y, pins, palette)
        return PanelContent((line,), (nodes, rings), words=names)
