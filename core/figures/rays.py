"""Extremal vectors among the neurons' directions: a ray each, and the borders of the cells.

Between borders, the lines <w, x_k> = 0, a neuron is active on the same examples. With more than two
inputs rays are projected, and shorter for what lies across the plane; borders are where the plane
meets the hyperplanes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

from core.figures.numbers import math_number
from core.figures.palette import Palette, rgba
from core.figures.primitives import Array, Curves, Dots, KeyEntry, Label
from core.numbers import number_text
from core.observables.extremal import vectors_of
from core.observables.projection import Projection
from core.reference.extremal import SADDLE, bound_pattern_count, has_extremal
from core.runs import Run

MOST_POINTS, MOST_PATTERNS = 200, 8_000  # limits of a computation of a fifth of a second
MOST_BORDERS, MOST_LABELS = 60, 8
TIP = 1.07  # end of a ray, beyond the circle of the neurons
REACH = 1.22  # extent of the picture, with the rays' labels
# Distance of labels from each other and from 0; vertical offset of those near their tip.
APART, MIDDLE = 0.3, 0.35
RAYS = (
    " Rays: extremal vectors with $G$, in the colour of its sign, dashed for saddles; thin lines: "
    "where neurons become active on an example."
)
Align = Literal["left", "center", "right"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Rays:
    """k extremal directions on a plane, and borders (b, 2), a direction of each line.

    `tips` are (k, 2), `values` of G (k,). `kinds` say what each is of G, and `active` on how many
    of the n examples it is active.
    """

    tips: Array
    values: Array
    kinds: tuple[str, ...]
    active: NDArray[np.int64]
    n: int
    borders: Array

    def saddles(self) -> NDArray[np.bool_]:
        """Return which directions are saddles.

        Returns
        -------
        array (k,) of bool
        """
        return np.array([kind == SADDLE for kind in self.kinds], dtype=np.bool_)

    def words(self, place: int) -> str:
        """Describe one direction, in lines."""
        value = f"{self.values[place]:.4g}".replace("-", "\u2212")
        return (
            f"extremal: {self.kinds[place]} of G\nG = {value}\n"
            f"active on {self.active[place]} of {self.n}"
        )


def why_no_rays(run: Run) -> str:
    """Return why data that have extremal vectors are drawn without; "" for others."""
    if run.dataset.d < 2 or not has_extremal(run.problem):
        return ""
    if run.dataset.n > MOST_POINTS:
        return f"no rays: n > {MOST_POINTS}"
    if bound_pattern_count(run.inputs, run.dataset.y) > MOST_PATTERNS:
        return f"no rays: over {MOST_PATTERNS} sign vectors"
    return ""


def rays_of(projection: Projection) -> Rays | None:
    """Return the extremal vectors of a run's data on a plane; None if none are drawn."""
    run = projection.run
    if run.dataset.d < 2 or not has_extremal(run.problem) or why_no_rays(run):
        return None
    vectors = vectors_of(run)
    if not vectors:
        return None
    # Without the bias, as in the neurons' directions.
    directions = [one.u for one in vectors] if run.reduction is None else _in_full(projection)
    u = np.array(directions)[:, : run.dataset.d]
    lengths = np.linalg.norm(u, axis=1)[:, None]
    u = np.divide(u, lengths, out=np.zeros_like(u), where=lengths > 0.0)
    return Rays(
        TIP * projection.inputs(u),
        np.array([one.value for one in vectors]),
        tuple(one.kind for one in vectors),
        np.array([int((one.signs > 0).sum()) for one in vectors], dtype=np.int64),
        run.dataset.n,
        _borders(projection),
    )


def _in_full(projection: Projection) -> list[Array]:
    form = projection.run.reduction
    assert form is not None
    return [one.u[:-1] @ form.basis for one in vectors_of(projection.run)]


def _borders(projection: Projection) -> Array:
    """Return directions (b, 2) of the lines <w, x_k> = 0 of the plane; none of too many."""
    x = projection.run.dataset.x
    # With a bias a cell's border is not a line in the plane of v.
    if projection.run.inputs.shape[1] != x.shape[1] and projection.run.reduction is None:
        return np.empty((0, 2))
    places = projection.inputs(x)
    lengths = np.linalg.norm(places, axis=1)
    met = lengths > 1e-9 * np.maximum(np.linalg.norm(x, axis=1), 1e-300)
    across = places[met][:, ::-1] * (-1.0, 1.0) / lengths[met][:, None]
    upper = np.where((across[:, 1] < 0.0) | ((across[:, 1] == 0.0) & (across[:, 0] < 0.0)), -1, 1)
    once = np.unique(np.round(upper[:, None] * across, 9), axis=0)
    return once if len(once) <= MOST_BORDERS else np.empty((0, 2))


def ray_colours(rays: Rays, palette: Palette) -> list[str]:
    """Return the colour of the neurons that turn to each direction: of the sign of G."""
    return [palette.positive if value > 0.0 else palette.negative for value in rays.values]


def ray_curves(rays: Rays, palette: Palette) -> tuple[Curves, ...]:
    """Return thin borders, rays of maxima and minima, and dashed rays of saddles."""
    ends = rays.borders.T
    count = len(rays.borders)
    grey = np.tile(rgba(palette.muted, 0.55), (count, 1))
    thin = np.full(count, 0.4)
    borders = [Curves("borders", _pairs(-ends[0], ends[0]), _pairs(-ends[1], ends[1]), grey, thin)]
    x, y = (_pairs(np.zeros(len(rays.tips)), rays.tips[:, axis]) for axis in (0, 1))
    ink = np.array([rgba(colour) for colour in ray_colours(rays, palette)])
    widths, dashed = np.full(len(rays.tips), 0.9), rays.saddles()
    curves: list[Curves] = borders if count else []
    if not dashed.all():
        curves.append(
            Curves("extrema", x[~dashed], y[~dashed], ink[~dashed], widths[~dashed], "solid")
        )
    if dashed.any():
        curves.append(
            Curves("saddles", x[dashed], y[dashed], ink[dashed], widths[dashed], "dashed")
        )
    return tuple(curves)


def _pairs(start: Array, end: Array) -> Array:
    return np.stack([start, end], axis=1)


def ray_dots(rays: Rays, palette: Palette) -> tuple[Dots, ...]:
    """Return a small disc at each tip."""
    x, y = rays.tips.T
    ink = np.array([rgba(colour) for colour in ray_colours(rays, palette)])
    return (Dots("extremal", x, y, ink, np.full(len(x), 12.0), edge=palette.background),)


def ray_words(rays: Rays, palette: Palette) -> tuple[Label, ...]:
    """Return G beside each tip, longest first, if tips are few and separate."""
    if len(rays.tips) > MOST_LABELS:
        return ()
    words: list[Label] = []
    for place in np.argsort(-np.abs(rays.values), kind="stable").tolist():
        (x, y), value = rays.tips[place].tolist(), float(f"{rays.values[place]:.3g}")
        is_near = any(np.hypot(one.x - x, one.y - y) < APART for one in words)
        if is_near or np.hypot(x, y) < APART:
            continue
        side: Align = "left" if x > MIDDLE else "right" if x < -MIDDLE else "center"
        text = {"left": "  {}", "right": "{}  ", "center": "{}"}[side]
        label = text.format(math_number(number_text(value)))
        words.append(Label(x, y, label, palette.foreground, side, y < 0.0))
    return tuple(words)


def ray_entries(rays: Rays, palette: Palette) -> tuple[KeyEntry, ...]:
    """Return the entries of a key: of the signs of G that occur, and of saddles."""
    colours, dashed = ray_colours(rays, palette), rays.saddles()
    distinct = list(dict.fromkeys(reversed(colours)))
    entries = [
        KeyEntry(f"$G$ {'>' if colour == palette.positive else '<'} 0", (colour,))
        for colour in distinct
    ]
    if dashed.any():
        entries.append(KeyEntry("saddle", (colours[int(np.argmax(dashed))],), "dashed"))
    return tuple(entries)


def include_rays(rays: Rays | None, extent: float) -> float:
    """Return the half-width of a picture of directions, `extent` or more if it has rays."""
    return extent if rays is None else max(extent, REACH)
