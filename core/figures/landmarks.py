"""Values that curves are compared with, such as 2/eta beside the sharpness: which lines a panel of
curves has, in figures and on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from core.figures.margin_curves import arrow, line_height
from core.figures.primitives import Array, Axis, Level
from core.observables.observable import Landmark
from core.observables.registry import observable_of
from core.runs import Run

REACH = 2.5  # how far above a curve its landmark may make the axis reach


@final
@dataclass(frozen=True, slots=True)
class Placed:
    """A landmark of the curve `position`; `near` enough to its values to be on the axis."""

    position: int
    landmark: Landmark
    near: bool


def landmarks_of(run: Run, names: Sequence[str], curves: Sequence[Array]) -> tuple[Placed, ...]:
    """The landmarks of curves (T,) by their names; none of a curve that has no value yet."""
    found = []
    for k, (name, values) in enumerate(zip(names, curves, strict=True)):
        of = observable_of(name).landmark
        one = None if of is None else of(run)
        known = values[np.isfinite(values)]
        if one is not None and known.size:
            found.append(Placed(k, one, one.value <= REACH * float(known.max())))
    return tuple(found)


def landmark_levels(
    placed: Sequence[tuple[Landmark, float, str]], y: Axis, height: float, points: float
) -> tuple[Level, ...]:
    """Dashed lines at heights on an axis, in their colours, with their names above them.

    `height` is that of the panel in millimetres. A line beyond the frame has its name at the edge,
    with an arrow.
    """
    room, levels = line_height(y, height, points), []
    ceiling = y.high - room
    for landmark, place, colour in sorted(placed, key=lambda one: -one[1]):
        if not np.isfinite(place):
            continue
        label_at = max(min(place + 0.12 * room, ceiling), y.low)
        ceiling = label_at - room
        words = arrow(place, y) + landmark.tex
        levels.append(Level(place, colour, words, "dashed", label_at=label_at))
    return tuple(levels)
