"""Horizontal lines across a panel with their labels: reference margins and landmarks of curves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from core.figures.layout import MM_PER_POINT
from core.figures.palette import Palette
from core.figures.primitives import Array, Axis, Level
from core.figures.reference_colours import reference_colour
from core.observables.observable import Landmark
from core.observables.registry import observable_of
from core.reference.margin import ReferenceMargin
from core.runs import Run

REACH = 2.5  # how far above all curves a reference line may extend the axis


def line_height(y: Axis, height: float, points: float) -> float:
    """Return the height of a line of text in units of an axis.

    Parameters
    ----------
    y : Axis
        Vertical axis.
    height : float
        Height of the panel in millimetres.
    points : float
        Size of letters.

    Returns
    -------
    float
        That of 1.45 times the size of letters.

    Examples
    --------
    >>> round(line_height(Axis(0.0, 2.0, (), ""), 25.4, 36.0), 12)  # an inch, 72 points high
    1.45
    """
    return 1.45 * points * MM_PER_POINT * (y.high - y.low) / height


def math_label(label: str) -> str:
    r"""Return a reference margin's label as mathtext.

    >>> math_label("gamma_gl / 2")
    '$\\gamma_{\\mathrm{gl}}$ / 2'
    """
    text = re.sub(
        r"(?<![A-Za-z])gamma_(\w+)", lambda match: f"$\\gamma_{{\\mathrm{{{match[1]}}}}}$", label
    )
    return re.sub(r"(?<![A-Za-z\\])gamma(?![A-Za-z_])", r"$\\gamma$", text)


def raised_powers(text: str) -> str:
    """Write powers of ten in a text as mathtext.

    >>> raised_powers("holds except with probability 10^-6")
    'holds except with probability $10^{-6}$'
    """
    return re.sub(r"10\^(-?\d+)", r"$10^{\1}$", text)


def arrow(value: float, y: Axis) -> str:
    """Return the arrow before the name of a line beyond the frame; "" for others."""
    if y.low <= value <= y.high:
        return ""
    return "$\\uparrow$ " if value > y.high else "$\\downarrow$ "


def label_heights(values: Sequence[float], y: Axis, line: float) -> list[float]:
    """Return the feet of the labels of lines, none on its own line.

    A label is above its line, or below where the frame or the label before leaves no room. Labels
    of lines beyond the frame are at its edge.

    Parameters
    ----------
    values : sequence of float
        Heights of the lines on the axis, from the top down.
    y : Axis
        Vertical axis.
    line : float
        Height of a line of text in units of the axis (`line_height`).

    Returns
    -------
    list of float
        Heights on the axis; labels without room above its lower end overlap there.

    Examples
    --------
    >>> label_heights([0.95, 0.5], Axis(0.0, 1.0, (), ""), 0.1)
    [0.845, 0.512]
    """
    feet, ceiling = [], y.high - line
    for value in values:
        foot = value + 0.12 * line
        if foot > ceiling and value <= y.high:
            foot = value - 1.05 * line
        feet.append(max(min(foot, ceiling), y.low))
        ceiling = feet[-1] - line
    return feet


def reference_levels(
    references: Sequence[ReferenceMargin], y: Axis, height: float, points: float, palette: Palette
) -> tuple[Level, ...]:
    """Return lines with their brackets, and labels off the lines and off one another.

    Parameters
    ----------
    references : sequence of ReferenceMargin
        Reference margins; those without a factor or a value are left out.
    y : Axis
        Vertical axis, of margins or of shares.
    height, points : float
        Height of the panel in millimetres, and size of letters.
    palette : Palette
        Colours.

    Returns
    -------
    tuple of Level
        From the top down. A line beyond the frame has its label at the edge, with an arrow.
    """
    scaled = [(one.factor or 0.0, one) for one in references if one.is_drawable]
    scaled.sort(key=lambda pair: -pair[0] * pair[1].bracket.value)
    levels: list[Level] = []
    values = [factor * one.bracket.value for factor, one in scaled]
    heights = label_heights(values, y, line_height(y, height, points))
    for (factor, one), value, label_at in zip(scaled, values, heights, strict=True):
        bracket = one.bracket
        words = arrow(value, y) + math_label(one.reference.label)
        if not bracket.certified:
            words += f" ({raised_powers(one.certainty)})"
        low, high = sorted((factor * bracket.lower, factor * bracket.upper))
        colour = reference_colour(one.reference.name, palette)
        levels.append(Level(value, colour, words, "dashed", low, high, label_at))
    return tuple(levels)


# ------------------------------------------ landmarks of curves, such as 2/eta beside the sharpness


@final
@dataclass(frozen=True, slots=True)
class PlacedLandmark:
    """Landmark of the curve at an index `position`.

    `near`: at most REACH times the curve's largest value, so that the curve's axis includes it.
    """

    position: int
    landmark: Landmark
    near: bool


def landmarks_of(
    run: Run, names: Sequence[str], curves: Sequence[Array]
) -> tuple[PlacedLandmark, ...]:
    """Return the landmarks of a run's curves, such as 2/eta beside the sharpness.

    Parameters
    ----------
    run : Run
        Open run.
    names : sequence of str
        Observables of the curves.
    curves : sequence of array (T,)
        Values of each observable, NaN where unknown.

    Returns
    -------
    tuple of PlacedLandmark
        In the order of the curves; none of a curve without a value.
    """
    landmarks = []
    for k, (name, values) in enumerate(zip(names, curves, strict=True)):
        landmark = observable_of(name).landmark
        one = None if landmark is None else landmark(run)
        finite = values[np.isfinite(values)]
        if one is not None and finite.size:
            landmarks.append(PlacedLandmark(k, one, one.value <= REACH * float(finite.max())))
    return tuple(landmarks)


def landmark_levels(
    placed: Sequence[tuple[Landmark, float, str]], y: Axis, height: float, points: float
) -> tuple[Level, ...]:
    """Return dashed lines at the heights of landmarks, with their names.

    Parameters
    ----------
    placed : sequence of (Landmark, float, str)
        Landmark, height on the axis, and colour (#rrggbb). NaN is no height: the landmark is left
        out.
    y : Axis
        Vertical axis.
    height, points : float
        Height of the panel in millimetres, and size of letters.

    Returns
    -------
    tuple of Level
        From the top down; `meaning` is the landmark's own value. A line beyond the frame has its
        name at the edge, with an arrow.
    """
    by_height = sorted((one for one in placed if np.isfinite(one[1])), key=lambda one: -one[1])
    room = line_height(y, height, points)
    heights = label_heights([place for _, place, _ in by_height], y, room)
    return tuple(
        Level(
            place,
            colour,
            arrow(place, y) + landmark.tex,
            "dashed",
            label_at=label_at,
            meaning=landmark.value,
        )
        for (landmark, place, colour), label_at in zip(by_height, heights, strict=True)
    )
