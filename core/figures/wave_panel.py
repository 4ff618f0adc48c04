"""Panels of the neurons as waves, and of their phases.

Waves are those of quadratic networks on addition modulo p (core.observables.fourier): the power of
neurons at each frequency, and how their phases go together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.figures.neurons import rings_of
from core.figures.palette import Palette, rgb, rgba, time_colours
from core.figures.primitives import (
    Axis,
    Box,
    Curves,
    Dots,
    KeyEntry,
    Marker,
    Panel,
    PanelContent,
    Raster,
)
from core.figures.ticks import with_range
from core.observables.fourier import frequencies, is_modular_addition, node_powers, phases
from core.runs import Run

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

    `frequency` (m,) is from 1 on, and `order` (m,) sorts neurons by frequency and then by th_w.
    `strength` (K + 1, m) are the amplitudes at k = 0, ..., K, and `size` (m,) is |theta_j|, both
    over the largest |theta_j|. `points` (m, 2) are (th_w, th_u + th_v)/pi at the neuron's
    frequency, in [-1, 1].
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
    """Return the colours of frequencies.

    Parameters
    ----------
    count : int
        Largest frequency K.
    palette : Palette
        Its colours of time are used, the latest for frequency 1.

    Returns
    -------
    array (K, 4) of uint8
        RGBA rows of the frequencies 1, ..., K.
    """
    return time_colours(np.linspace(1.0, 0.0, max(count, 2)), palette)[:count]


def wave_inks(count: int, palette: Palette) -> NDArray[np.uint8]:
    """Return the colours of frequencies, with that of k = 0.

    Parameters
    ----------
    count, palette : int, Palette
        As of `frequency_colours`.

    Returns
    -------
    array (K + 1, 3) of uint8
        RGB rows of the frequencies 0, ..., K; grey for 0.
    """
    grey = rgb(palette.muted).astype(np.uint8)
    return np.vstack([grey, frequency_colours(count, palette)[:, :3]])


def wave_colours(waves: NodeWaves, palette: Palette, weight: Floats | None = None) -> Floats:
    """Return the colour of each neuron at each frequency, deeper for larger amplitudes.

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
        RGB, 0 to 255, from the background at amplitude 0 to the frequency's colour at 1. Columns
        are in `waves.order`.
    """
    ground, inks = rgb(palette.background), wave_inks(waves.strength.shape[0] - 1, palette)
    depth = waves.strength if weight is None else waves.strength * weight
    return np.asarray(ground + depth[:, waves.order, None] * (inks[:, None, :] - ground))


@final
@dataclass(frozen=True, slots=True, eq=False)
class WavePanel:
    """Panel of the waves or the phases (`kind`) of a run's neurons, at its frame `last`.

    `pins` are the neurons with a ring among the phases.
    """

    run: Run
    kind: str
    palette: Palette
    last: int
    pins: tuple[int, ...] = ()

    def panel(self, row: int, letter: str, box: Box) -> Panel:
        """Build the panel at the frame `last`.

        Parameters
        ----------
        row : int
            Row of the run.
        letter : str
            Letter, "" for none.
        box : Box
            Box in millimetres.

        Returns
        -------
        Panel
            With a note if all neurons are 0, or have no frequencies.
        """
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
