"""Panel of the predictor f: over a line of 1-D inputs, or on a plane through the inputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.figures.level_lines import level_lines
from core.figures.options import Region
from core.figures.palette import Palette, class_colours, mark_areas, mark_colour, rgb, rgba
from core.figures.primitives import (
    Axis,
    Box,
    Colours,
    Curves,
    Dots,
    KeyEntry,
    Marker,
    Panel,
    PanelContent,
    Raster,
)
from core.figures.ticks import with_range
from core.network.recorded_network import why_no_output
from core.observables.piecewise import level_segments, lines_of, plane_function
from core.observables.predictor_values import flat_values, grid_values
from core.runs import Run

Floats = NDArray[np.float64]
TARGET_AREA = 18.0  # square points
ROOM = 0.25  # margin around the data, relative to their extent
LINE_POINTS = 257
FEWEST, MOST = 16, 128  # grid points per axis
WORK = 3e7  # grid points times cost per point: a few hundredths of a second
LEVELS = (0.25, 0.5, 0.75)  # relative to the largest |f|: levels of the thin lines
# Fractions of the class colour where f is near 0, and at its maximum.
WEAKEST, STRONGEST = 0.10, 0.55


def range_around(values: Floats) -> tuple[float, float]:
    """Return the ends of an axis around some values.

    >>> range_around(np.array([-1.0, 1.0])), range_around(np.array([2.0]))
    ((-1.5, 1.5), (1.0, 3.0))
    """
    low, high = float(values.min()), float(values.max())
    pad = ROOM * (high - low) or 1.0
    return low - pad, high + pad


def round_up(value: float) -> float:
    """Return the next of 1, 2, 5 times a power of ten, so that a range stays for many frames.

    >>> round_up(0.3), round_up(2.0), round_up(7.1)
    (0.5, 2.0, 10.0)
    """
    power = 10.0 ** math.floor(math.log10(value))
    digit = next(k for k in (1, 2, 5, 10) if value <= k * power * (1.0 + 1e-12))
    return float(f"{digit * power:.3g}")


def grid_count(d: int, m: int) -> int:
    """Return the points of a grid on each axis, for d coordinates and m neurons.

    >>> grid_count(2, 16), grid_count(2, 100_000)
    (128, 17)
    """
    cost = d + m + d * m / 64.0  # memory, and products, which are faster
    return int(np.clip(math.sqrt(WORK / cost), FEWEST, MOST))


def sign_colours(share: Floats, palette: Palette) -> Floats:
    """Return the colours of f: that of the class, deeper for larger |f|.

    Parameters
    ----------
    share : array of any shape
        f over the largest |f|, in [-1, 1].
    palette : Palette
        Colours.

    Returns
    -------
    array of shape (..., 3)
        RGB, 0 to 255; the background where f is 0.
    """
    ground = rgb(palette.background)
    ink = np.where(share[..., None] > 0.0, rgb(palette.positive), rgb(palette.negative))
    depth = np.where(share == 0.0, 0.0, WEAKEST + (STRONGEST - WEAKEST) * np.abs(share))
    return np.asarray(ground + depth[..., None] * (ink - ground))


def label_colours(numbers: Floats, classes: int, palette: Palette) -> Floats:
    """Return the colours of the classes that a predictor of several predicts.

    Parameters
    ----------
    numbers : array (rows, columns)
        Numbers of classes, from 0.
    classes : int
        How many classes there are.
    palette : Palette
        Colours.

    Returns
    -------
    array (rows, columns, 3)
        RGB, 0 to 255.
    """
    colours = np.array([rgb(colour) for colour in class_colours(classes, palette)])
    ground = rgb(palette.background)
    number = np.clip(numbers.astype(np.int64), 0, classes - 1)
    return np.asarray(ground + 0.4 * (colours[number] - ground))


@final
@dataclass(frozen=True, slots=True, eq=False)
class PredictorPanel:
    """Panel of the predictor of a run on two coordinates, over a region or all of the data."""

    run: Run
    coordinates: tuple[int, int]
    palette: Palette
    last: int
    region: Region | None = None

    @property
    def missing(self) -> str:
        """Reason why the panel is empty; "" where it is not."""
        if words := why_no_output(self.run.experiment.network):
            return words.replace(", ", ",\n")
        d = int(self.run.dataset.d)
        absent = [c + 1 for c in self.coordinates if c >= d > 1]
        return f"the inputs have no\ncoordinate {absent[0]}" if absent else ""

    def panel(self, row: int, letter: str, box: Box) -> Panel:
        """Build the panel at the last frame.

        Parameters
        ----------
        row, letter, box : int, str, Box
            Row of the run, letter, and box in millimetres.

        Returns
        -------
        Panel
        """
        x, y = self.axes(box)
        ink = self.ink(self.last, x, y)
        title = "predictor $f$"
        return Panel("predictor", row, letter, title, box, x, y, ink, key=self._key())

    def axes(self, box: Box) -> tuple[Axis, Axis]:
        """Return axes around the data; on a plane a unit is as long on both axes."""
        run, region = self.run, self.region
        x = run.dataset.x
        if run.dataset.d == 1:
            left, right = range_around(x[:, 0]) if region is None else (region.left, region.right)
            low, high = self._heights(left, right)
            if region is not None:
                low, high = region.bottom, region.top
            name = "class" if run.network.k > 1 else "$f(x)$"
            return _axis(left, right, "$x$"), _axis(low, high, name)
        if self.missing:
            return _axis(-1.0, 1.0, ""), _axis(-1.0, 1.0, "")
        ends = [range_around(x[:, c]) for c in self.coordinates]
        if region is not None:
            ends = [(region.left, region.right), (region.bottom, region.top)]
        unit = max((ends[0][1] - ends[0][0]) / box.width, (ends[1][1] - ends[1][0]) / box.height)
        axes = [
            _axis(*widen(pair, unit * side), f"coordinate {c + 1}")
            for pair, side, c in zip(ends, (box.width, box.height), self.coordinates, strict=True)
        ]
        return axes[0], axes[1]

    def _heights(self, left: float, right: float) -> tuple[float, float]:
        """Return the range of f on a line: a round number that holds it."""
        run = self.run
        if run.network.k > 1:
            return -0.5, int(run.dataset.classes) - 0.5
        f = self._values_on_line(self.last, left, right)
        largest = 1.0 if run.loss.fits else 0.0
        if run.dataset.real:
            largest = max(largest, float(np.abs(run.dataset.y).max()))
        largest = max(largest, float(np.abs(f).max(initial=0.0)))
        reach = 1.15 * round_up(largest or 1.0)
        return -reach, reach

    def _values_on_line(self, index: int, left: float, right: float) -> Floats:
        axis = (left, right, LINE_POINTS)
        values, scale = grid_values(self.run, index, (0, 0), axis, (0.0, 0.0, 0))
        # 300, since float64 ends at 2 10^308. Classes are integers without scale.
        exponent = min(scale, 300.0) if self.run.network.k == 1 else 0.0
        return np.asarray(values * 10.0**exponent)

    def _stems(self, index: int) -> tuple[Curves, ...]:
        """Return lines from real targets to f; nothing of other data."""
        data = self.run.dataset
        if not data.real:
            return ()
        scale = self.run.network.degree * float(self.run.rho[index]) / math.log(10.0)
        f = flat_values(self.run, index, data.x) * 10.0 ** min(scale, 300.0)
        ys, xs = np.stack([data.y, f], axis=1), np.repeat(data.x, 2, axis=1)
        colours = np.tile(rgba(self.palette.muted), (data.n, 1))
        return (Curves("misfit", xs, ys, colours, np.full(data.n, 0.5)),)

    def _key(self) -> tuple[KeyEntry, ...]:
        run, palette = self.run, self.palette
        colours = class_colours(int(run.dataset.classes), palette)
        signs = (Marker.CROSS, Marker.PLUS) if len(colours) == 2 else (Marker.PLUS,) * 6
        entries = [KeyEntry("data", colours[:6], markers=signs[: len(colours)])]
        if run.dataset.real and run.dataset.d > 1:
            discs = (Marker.DISC, Marker.DISC)
            entries = [KeyEntry("data in the colour of $y$", colours, markers=discs)]
        if run.network.k == 1 and run.dataset.d > 1:
            entries.append(KeyEntry("$f$ = 0", (palette.foreground,)))
        return tuple(entries)

    def ink(self, index: int, x: Axis, y: Axis) -> PanelContent:
        """Return what the panel shows at a frame.

        Parameters
        ----------
        index : int
            Frame.
        x, y : Axis
            Axes of `axes`.

        Returns
        -------
        PanelContent
        """
        if self.missing:
            return PanelContent(note=self.missing)
        if self.run.dataset.d == 1:
            places = np.linspace(x.low, x.high, LINE_POINTS)
            f = self._values_on_line(index, x.low, x.high)
            colour = rgba(self.palette.foreground)[None, :]
            line = Curves("f", places[None, :], f[None, :], colour, np.array([1.3]))
            return PanelContent((*self._stems(index), line), self._examples())
        count = grid_count(int(self.run.dataset.d), int(self.run.network.m))
        first, second = (x.low, x.high, count), (y.low, y.high, count)
        values, scale = grid_values(self.run, index, self.coordinates, first, second)
        if self.run.network.k > 1:
            colours = label_colours(values, int(self.run.dataset.classes), self.palette)
            return PanelContent(
                dots=self._examples(), rasters=(_raster(colours, x, y, smooth=False),)
            )
        largest = float(np.abs(values).max(initial=0.0))
        share = values / largest if largest > 0.0 else np.zeros(values.shape)
        physical = 10.0 ** min(scale, 300.0)
        reach = physical * largest
        if self.run.dataset.real:  # one colour scale for f and the targets
            reach = max(reach, float(np.abs(self.run.dataset.y).max(initial=0.0)))
        depth = physical * largest / reach if reach > 0.0 else 1.0
        raster = _raster(sign_colours(depth * share, self.palette), x, y)
        levels = [sign * level for level in LEVELS for sign in (1, -1)]
        thin = [self._level(level, level_lines(share, level, x, y)) for level in levels]
        note = "" if largest > 0.0 else "the network is 0"
        function = plane_function(self.run, index, self.coordinates)
        if function is None:
            zero = level_lines(share, 0.0, x, y)
        else:
            zero = lines_of(level_segments(function, (x.low, x.high), (y.low, y.high)))[None]
        lines = (*thin, self._level(0.0, zero))
        return PanelContent(
            lines, self._targets(reach) or self._examples(), note, rasters=(raster,)
        )

    def _level(self, level: float, segments: Floats) -> Curves:
        """Return lines (s, T, 2) along which f is a share of its largest value."""
        strong = level == 0.0
        colour = rgba(self.palette.foreground if strong else self.palette.muted)
        count = segments.shape[0]
        widths = np.full(count, 1.2 if strong else 0.4)
        colours = np.tile(colour, (count, 1))
        return Curves(f"f = {level:g}", segments[..., 0], segments[..., 1], colours, widths)

    def _targets(self, reach: float) -> tuple[Dots, ...]:
        """Return real targets as colours of the data, the deepest one for `reach`; else nothing."""
        data = self.run.dataset
        if not data.real or data.d == 1:
            return ()
        x, y = data.x[:, list(self.coordinates)].T
        share = data.y / reach if reach > 0.0 else np.zeros(data.n)
        colours = np.full((data.n, 4), 255, dtype=np.uint8)
        colours[:, :3] = np.rint(sign_colours(share, self.palette))
        areas = np.full(data.n, TARGET_AREA)
        return (Dots("data", x, y, colours, areas, Marker.DISC, self.palette.foreground),)

    def _examples(self) -> tuple[Dots, ...]:
        """Return a marker for every distinct place and label, larger where more examples lie."""
        run, result = self.run, []
        data = run.dataset
        if data.d == 1:
            fitted = run.loss.fits
            points = np.stack([data.x[:, 0], data.y if fitted else np.zeros(data.n)], axis=1)
        else:
            points = np.round(data.x[:, list(self.coordinates)], 9)
        labels = data.labels
        for number, colour in enumerate(class_colours(int(data.classes), self.palette)):
            places, counts = np.unique(points[labels == number], axis=0, return_counts=True)
            if not places.size:
                continue
            areas = mark_areas(counts)
            ink = mark_colour(colour, self.palette, on_map=data.d > 1)
            colours = np.tile(ink, (counts.size, 1))
            marker = Marker.CROSS if data.classes == 2 and number == 0 else Marker.PLUS
            edge = self.palette.background
            dots = Dots("data", places[:, 0], places[:, 1], colours, areas, marker, edge)
            result.append(dots)
        return tuple(result)


def widen(ends: Sequence[float], length: float) -> tuple[float, float]:
    """Return an interval of a length with the same middle."""
    middle = 0.5 * (ends[0] + ends[1])
    return middle - 0.5 * length, middle + 0.5 * length


def _axis(low: float, high: float, label: str) -> Axis:
    return with_range(Axis(low, high, (), label), low, high)


def _raster(colours: Floats, x: Axis, y: Axis, smooth: bool = True) -> Raster:
    rounded: Colours = np.rint(colours).astype(np.uint8)
    return Raster(x.low, x.high, y.low, y.high, rounded, smooth)
