"""Palette of screen and paper, as numbers: needs neither matplotlib nor Qt.

Vermilion and blue stay apart in every common form of colour blindness (Okabe and Ito). A stronger
neuron stands out more from the background: darker on paper, lighter on a dark screen. Time runs
through viridis (perceptually uniform), cut so that its early end does not fade into the background.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

Colours = NDArray[np.uint8]
Floats = NDArray[np.float64]

VERMILION = "#d55e00"
BLUE = "#0072b2"
DIM = 0.82  # blend towards the background while other neurons are selected
CROWD = 24  # marks of a class beyond which they are small
# Both leave a contrast of 3 : 1, WCAG's for graphics, to the background, and to the map of f.
MARK_OPACITY, DEEPER = 0.9, 0.4  # the latter: share of the foreground in the colours on a map
# viridis at 0, 1/16, ..., 1; linear interpolation is within 2 of 255 of the full table.
VIRIDIS = np.frombuffer(
    bytes.fromhex(
        "440154 48186a 472d7b 424086 3b528b 33638d 2c728e 26828e 21918c "
        "1fa088 28ae80 3fbc73 5ec962 84d44b addc30 d8e219 fde725"
    ),
    dtype=np.uint8,
).reshape(-1, 3)


@final
@dataclass(frozen=True, slots=True)
class Palette:
    """Colours as "#rrggbb".

    `weak` and `strong` are the shares of the way from the class colour to the background and to
    `extreme`, at the palest and the strongest neuron. `time` is the part of viridis from the
    earliest to the latest moment, and `order` that of lines from the least to the largest setting;
    their contrast to the background is at least 3 : 1. `references` are the colours of curves that
    belong to no class, and `lines` those of reference margins (core.figures.reference_colours).
    """

    name: str
    background: str
    foreground: str
    muted: str
    grid: str
    extreme: str
    weak: float
    strong: float
    time: tuple[float, float]
    order: tuple[float, float]
    references: tuple[str, ...]
    lines: tuple[str, ...]
    negative: str = VERMILION
    positive: str = BLUE

    @property
    def theory(self) -> str:
        """Colour of predictions, which no curve has."""
        return self.lines[4]


LIGHT = Palette(
    name="light",
    background="#ffffff",
    foreground="#1a1c1f",
    muted="#646a73",
    grid="#e4e6e9",
    extreme="#000000",
    weak=0.55,
    strong=0.52,
    time=(0.57, 0.0),
    order=(0.57, 0.0),
    references=("#00805d", "#a3468a", "#9a6400", "#3a7ca5"),
    lines=("#9a6400", "#3a7ca5", "#646a73", "#6f52a8", "#a8382f", "#5d7300"),
)
DARK = Palette(
    name="dark",
    background="#15171a",
    foreground="#e8eaed",
    muted="#9aa1aa",
    grid="#2d3137",
    extreme="#ffffff",
    weak=0.45,
    strong=0.65,
    time=(0.36, 1.0),
    order=(0.36, 1.0),
    references=("#3fc79a", "#dd92c4", "#e0a93b", "#7cb9dd"),
    lines=("#e0a93b", "#7cb9dd", "#9aa1aa", "#b5a4ec", "#f0887c", "#b4cc4a"),
    # On this background the colours of white paper have contrasts of 3.4 and 4.6 to 1; these have
    # at least 6.
    negative="#f0843c",
    positive="#3d9fe0",
)
PALETTES = {palette.name: palette for palette in (LIGHT, DARK)}


def rgb(colour: str) -> Floats:
    """Return red, green and blue of a colour.

    Parameters
    ----------
    colour : str
        "#rrggbb".

    Returns
    -------
    array (3,)
        0 to 255.

    Examples
    --------
    >>> rgb("#d55e00").tolist()
    [213.0, 94.0, 0.0]
    """
    return np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)], dtype=np.float64)


def rgba(colour: str, alpha: float = 1.0) -> Colours:
    """Return a colour with its opacity as one RGBA row.

    Parameters
    ----------
    colour : str
        "#rrggbb".
    alpha : float
        Opacity, 0 to 1.

    Returns
    -------
    array (4,) of uint8

    Examples
    --------
    >>> rgba("#d55e00", 0.2).tolist()
    [213, 94, 0, 51]
    """
    return _bytes(rgb(colour), alpha)


def css(colours: Colours) -> list[str]:
    """Return RGBA rows (k, 4) as texts that browsers know, without their opacity.

    >>> css(rgba("#d55e00")[None])
    ['#d55e00']
    """
    return [f"#{colour.tobytes().hex()}" for colour in colours[:, :3]]


def _bytes(colours: Floats, alpha: float = 1.0) -> Colours:
    rounded = np.rint(np.clip(colours, 0.0, 255.0)).astype(np.uint8)
    opacity = np.full((*rounded.shape[:-1], 1), round(255 * alpha), dtype=np.uint8)
    return np.concatenate([rounded, opacity], axis=-1)


def _ramp(positions: Floats, knots: Floats, colours: Floats) -> Floats:
    channels = [np.interp(positions, knots, colours[:, k]) for k in range(3)]
    return np.stack(channels, axis=-1)


def node_colours(signs: ArrayLike, relative_norms: ArrayLike, palette: Palette) -> Colours:
    """Return the colours of neurons: positive ones blue, negative vermilion, zero grey.

    The square root of the norm sets the shade, because most neurons of a trained network are small:
    their median is about .1.

    Parameters
    ----------
    signs : array (m,)
        Numbers with the sign of a_j.
    relative_norms : array (m,)
        |a_j v_j| / max_k |a_k v_k| in [0, 1]; NaN counts as 0.
    palette : Palette
        Colours.

    Returns
    -------
    array (m, 4) of uint8
        RGBA rows.

    Examples
    --------
    >>> node_colours([-1, 1], [0.25, 0.25], LIGHT)[:, :3].tolist()
    [[213, 94, 0], [0, 114, 178]]
    """
    sign = np.asarray(signs, dtype=np.float64)
    norm = np.nan_to_num(np.asarray(relative_norms, dtype=np.float64), nan=0.0)
    strength = np.sqrt(np.clip(norm, 0.0, 1.0))
    background, extreme = rgb(palette.background), rgb(palette.extreme)
    result = np.empty((*strength.shape, 3))
    for one, name in ((-1.0, "negative"), (1.0, "positive"), (0.0, "muted")):
        chosen = np.sign(sign) == one
        if not chosen.any():
            continue
        base = rgb(getattr(palette, name))
        weakest = base + palette.weak * (background - base)
        strongest = base + palette.strong * (extreme - base)
        stops = np.array([weakest, base, strongest])
        result[chosen] = _ramp(strength[chosen], np.array([0.0, 0.5, 1.0]), stops)
    return _bytes(result)


def class_colours(classes: int, palette: Palette) -> tuple[str, ...]:
    """Return a colour for each class, -1 vermilion and +1 blue; beyond six they repeat.

    >>> class_colours(2, LIGHT) == (VERMILION, BLUE)
    True
    """
    colours: tuple[str, ...] = (palette.negative, palette.positive)
    if classes > 2:
        colours += palette.references
    return tuple(colours[number % len(colours)] for number in range(classes))


def kind_colours(
    kinds: ArrayLike, relative_norms: ArrayLike, classes: int, palette: Palette
) -> Colours:
    """Return the colours of neurons by the class that they speak for.

    Parameters
    ----------
    kinds : array (m,)
        Class, 0 to classes - 1; `classes` for none.
    relative_norms : array (m,) or float
        As of `node_colours`.
    classes : int
        Number of classes.
    palette : Palette
        Colours.

    Returns
    -------
    array (m, 4) of uint8
        RGBA rows.
    """
    kind = np.asarray(kinds, dtype=np.int64)
    norms = np.broadcast_to(np.asarray(relative_norms, dtype=np.float64), kind.shape)
    result = np.empty((kind.size, 4), dtype=np.uint8)
    colours = (*class_colours(classes, palette), palette.muted)
    for number in np.unique(kind):
        mine, colour = kind == number, colours[number]
        result[mine] = node_colours(
            np.ones(np.count_nonzero(mine)), norms[mine], replace(palette, positive=colour)
        )
    return result


def mark_colour(colour: str, palette: Palette, on_map: bool = False) -> Colours:
    """Return the RGBA row (4,) of the marks of a class, however many they are.

    Parameters
    ----------
    colour : str
        Colour of the class, "#rrggbb".
    palette : Palette
        Colours of the figure.
    on_map : bool
        True on the map of f, which has the colours of the classes itself: the marks are deeper.

    Returns
    -------
    array (4,) of uint8
        Red, green, blue and opacity.
    """
    if not on_map:
        return rgba(colour, MARK_OPACITY)
    return _bytes(rgb(colour) + DEEPER * (rgb(palette.foreground) - rgb(colour)))


def mark_areas(counts: ArrayLike) -> Floats:
    """Return the areas of a class's marks, which grow with the root of their examples' number.

    Parameters
    ----------
    counts : array (k,)
        Number of examples at each mark.

    Returns
    -------
    array (k,)
        Square points, 6 to 60; smaller marks for a class with more than CROWD.
    """
    counts_ = np.asarray(counts, dtype=np.float64)
    return np.clip((6.0 if counts_.size > CROWD else 14.0) * np.sqrt(counts_), 6.0, 60.0)


def with_opacity(colours: Colours, opacity: float) -> Colours:
    """Return colours with a share of their opacity.

    Parameters
    ----------
    colours : array (k, 4) of uint8
        RGBA rows, which are not changed.
    opacity : float
        Factor of their opacity, 0 to 1.

    Returns
    -------
    array (k, 4) of uint8
        RGBA rows.
    """
    result = colours.copy()
    result[..., 3] = np.round(opacity * result[..., 3])
    return result


def dim_colours(colours: ArrayLike, palette: Palette) -> Colours:
    """Return the colours of neurons that are not selected: most of the way to the background.

    Parameters
    ----------
    colours : array (k, 4)
        RGBA rows of the neurons, 0 to 255.
    palette : Palette
        Its background is used.

    Returns
    -------
    array (k, 4) of uint8
        RGBA rows of the same opacity.
    """
    rows = np.array(colours, dtype=np.float64)
    rows[:, :3] += DIM * (rgb(palette.background) - rows[:, :3])
    return np.rint(rows).astype(np.uint8)


def run_colours(palette: Palette) -> tuple[str, ...]:
    """Return as many colours as runs are compared, the first that of text."""
    return (
        palette.foreground,
        # Without the fourth, which is too near to that of the positive class.
        *palette.references[:3],
        palette.positive,
        palette.negative,
        *palette.lines[3:],
        palette.muted,
    )


def run_colour(shade: float, palette: Palette) -> str:
    """Return the colour of a run: one of `run_colours` by number, or of an order by share.

    >>> run_colour(0, LIGHT), run_colour(0.0, LIGHT), run_colour(1.0, LIGHT)
    ('#1a1c1f', '#20a287', '#440154')
    """
    if isinstance(shade, int):
        every = run_colours(palette)
        return every[shade % len(every)]
    return css(_viridis(np.array([shade]), palette.order))[0]


def time_colours(fractions: ArrayLike, palette: Palette) -> Colours:
    """Return the colours of moments; the latest stands out most from the background.

    Parameters
    ----------
    fractions : array (k,)
        Moments, 0 the earliest and 1 the latest.
    palette : Palette
        Its part of viridis is used.

    Returns
    -------
    array (k, 4) of uint8
        RGBA rows.
    """
    return _viridis(fractions, palette.time)


def _viridis(fractions: ArrayLike, part: tuple[float, float]) -> Colours:
    """Return RGBA rows (k, 4) of shares (k,) of a part of viridis."""
    first, last = part
    clipped = np.clip(np.asarray(fractions, dtype=np.float64), 0.0, 1.0)
    knots = np.linspace(0.0, 1.0, len(VIRIDIS))
    return _bytes(_ramp(first + (last - first) * clipped, knots, VIRIDIS.astype(np.float64)))
