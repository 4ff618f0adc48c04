"""Parts of a scene: plain arrays and texts, in data coordinates and in millimetres.

Texts may hold mathtext between dollar signs; `plain` protects text of other origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

from core.figures.palette import Palette

Array = NDArray[np.float64]
Colours = NDArray[np.uint8]
Dash = Literal["solid", "dashed", "dotted"]
MM_PER_INCH = 25.4
NAN = float("nan")
LOG = "log10_"  # of the names of observables that are logarithms
NO_BREAK = "\u00a0"
NO_CONTROLS = dict.fromkeys([*range(32), *range(127, 160)])


def plain(text: str) -> str:
    r"""Return text without markup: one line without control characters, dollar signs escaped.

    >>> plain("5 $\na\0")
    '5 \\$ a'
    """
    return " ".join(text.split()).translate(NO_CONTROLS).replace("$", "\\$")


@final
class Marker(Enum):
    """Shapes of points."""

    DISC = "a neuron, or the end of a curve"
    PLUS = "an example with y = +1"
    CROSS = "an example with y = -1"
    DOWN = "a curve that continues below the frame"
    RING = "a pinned neuron, or a moment"


# eq=False here and below: == of arrays gives no single truth value.
@final
@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """k curves of one kind: x and y (k, T), colours (k, 4), widths in points (k,); NaN breaks."""

    name: str
    x: Array
    y: Array
    colours: Colours
    widths: Array
    dash: Dash = "solid"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Dots:
    """k points: x and y (k,), colours (k, 4), areas in square points (k,); `edge` or no outline."""

    name: str
    x: Array
    y: Array
    colours: Colours
    areas: Array
    marker: Marker = Marker.DISC
    edge: str | None = None
    clipped: bool = True


@final
@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """Area between two curves: x, low and high (T,), one RGBA colour (4,)."""

    x: Array
    low: Array
    high: Array
    colour: Colours


@final
@dataclass(frozen=True, slots=True, eq=False)
class Raster:
    """Colours (rows, columns, 3) of evenly spaced points.

    Columns go from `left` to `right`, rows from `bottom` to `top`. With `smooth` colours are
    blended between the points.
    """

    left: float
    right: float
    bottom: float
    top: float
    colours: Colours
    smooth: bool = True


@final
@dataclass(frozen=True, slots=True)
class Label:
    """Short text that starts, ends or is centred at a point, slightly above or below it."""

    x: float
    y: float
    text: str
    colour: str
    align: Literal["left", "center", "right"] = "left"
    below: bool = False


@final
@dataclass(frozen=True, slots=True)
class Level:
    """A horizontal line across a panel, a faint band from `low` to `high`, and a label.

    The label is at the edge `align`, with its foot at the height `label_at` of the axis. The line
    of a value beyond the frame is not seen. `meaning`: the value itself, on an axis of strips.
    """

    value: float
    colour: str
    label: str = ""
    dash: Dash = "solid"
    low: float = NAN
    high: float = NAN
    label_at: float = NAN
    align: Literal["left", "right"] = "right"
    meaning: float = NAN


@final
@dataclass(frozen=True, slots=True)
class Strip:
    """Vertical axis of one observable, as the part from `start` to `end` of a stack of strips.

    The axis goes from `low` at `start` to `high` at `top`; above is the title. `shows` names its
    ticks, as of an `Axis`. With `takes_log` the axis shows log10 of the values.
    """

    name: str
    start: float
    top: float
    end: float
    low: float
    high: float
    shows: str = "plain"
    takes_log: bool = False

    @property
    def quantity(self) -> str:
        """Name of the observable whose values the ticks show; of a logarithm, its argument."""
        is_power = self.shows == "log" and not self.takes_log
        return self.name.removeprefix(LOG) if is_power else self.name

    @property
    def unit(self) -> float:
        """Length of a unit of the axis, in units of the stack."""
        return (self.top - self.start) / (self.high - self.low)

    def heights(self, values: Array) -> Array:
        """Return the places of values in the stack.

        Parameters
        ----------
        values : array
            Values of any shape.

        Returns
        -------
        array
            Of the same shape; NaN where the axis cannot show them.
        """
        finite = np.where(np.isfinite(values), values, NAN)
        if self.takes_log:
            finite = np.log10(np.where(finite > 0.0, finite, NAN))
        return np.asarray(self.unit * finite + (self.start - self.unit * self.low))


@final
@dataclass(frozen=True, slots=True)
class Axis:
    """Limits, ticks with their texts, and a label with the unit.

    `shows` says what places stand for: a name of core.figures.ticks.MAKERS, unless the axis is that
    of `strips`.
    """

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    label: str
    shows: str = "plain"
    strips: tuple[Strip, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class KeyEntry:
    """One entry of a key: a sample of a curve or of markers, and its text."""

    text: str
    colours: tuple[str, ...] = ()
    dash: Dash = "solid"
    markers: tuple[Marker, ...] = ()


@final
@dataclass(frozen=True, slots=True, eq=False)
class TimeKey:
    """Moments in order, with their colours (k, 4) and the name of the quantity."""

    name: str
    texts: tuple[str, ...]
    colours: Colours


Key = tuple[KeyEntry, ...] | TimeKey


@final
@dataclass(frozen=True, slots=True, eq=False)
class PanelContent:
    """Contents of a panel that change in a film. `note` says why it is empty.

    Later curves and dots are drawn above earlier ones, all dots above all curves, all curves above
    all bands, these above rasters, and words above everything.
    """

    curves: tuple[Curves, ...] = ()
    dots: tuple[Dots, ...] = ()
    note: str = ""
    bands: tuple[Band, ...] = ()
    words: tuple[Label, ...] = ()
    rasters: tuple[Raster, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in millimetres from the top left corner of the figure."""

    left: float
    top: float
    width: float
    height: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One pair of axes: kind (a name of PANELS), the run's row, letter, title, key and content.

    `key_columns` is the number of entries in a line of the key; 0 for all. `key_lines` is the
    height of the key between title and frame, in lines.
    """

    kind: str
    row: int
    letter: str
    title: str
    box: Box
    x: Axis
    y: Axis
    ink: PanelContent
    levels: tuple[Level, ...] = ()
    centre_lines: bool = False
    key: Key = ()
    key_columns: int = 0
    key_lines: int = 1


@final
@dataclass(frozen=True, slots=True)
class Text:
    """A line of text with its baseline start at (left, top) millimetres from the top left."""

    left: float
    top: float
    text: str
    points: float
    bold: bool = False
    muted: bool = False


@final
@dataclass(frozen=True, slots=True, eq=False)
class FigureScene:
    """A whole figure at its physical size: panels, and the texts around them.

    `family` is that of the letters (core.figures.names.FAMILIES).
    """

    width_mm: float
    height_mm: float
    points: float
    title: str
    palette: Palette
    panels: tuple[Panel, ...]
    texts: tuple[Text, ...]
    family: str = "sans"
