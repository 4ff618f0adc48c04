"""Margins as shares of a promised margin: of gamma_gl / 2, or of its substitute.

The library, comparisons, views and figures all use this module.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # listing and drawing shares need no code that computes margins
    from core.reference.margin import Reference, ReferenceMargin

Array = NDArray[np.float64]
FIRST = "gamma_gl"  # no network of the kind has a margin above half of it
REACHED = 0.9


def largest_margin(factor: float | None, value: float) -> float:
    """Return the divisor of a share: factor * value of a reference margin; NaN unless positive.

    >>> largest_margin(0.5, 0.08), largest_margin(None, 0.08), largest_margin(0.5, -1.0)
    (0.04, nan, nan)
    """
    product = math.nan if factor is None else factor * value
    return product if product > 0.0 else math.nan


def margin_share(margin: float, factor: float | None, value: float) -> float:
    """Return a margin as a share of a reference margin.

    Parameters
    ----------
    margin : float
        Normalised margin.
    factor : float or None
        Factor of the reference margin in plots of margins.
    value : float
        Reference margin.

    Returns
    -------
    float
        margin / (factor * value); NaN if the divisor is unknown or not positive.
    """
    return margin / largest_margin(factor, value)


@final
@dataclass(frozen=True, slots=True)
class Promise:
    """Reference margin that margins are shares of.

    `margin` is None while it is pending, with its name in `waits`, or if no reference applies.
    """

    margin: ReferenceMargin | None = None
    waits: tuple[str, ...] = ()

    @property
    def largest_margin(self) -> float:
        """factor * value; NaN if unknown."""
        margin = self.margin
        return math.nan if margin is None else largest_margin(margin.factor, margin.bracket.value)

    @property
    def label(self) -> str:
        """Name of the reference margin in plots; "" if unknown."""
        return "" if self.margin is None else self.margin.reference.label

    @property
    def scale(self) -> float:
        """Factor that turns margins into shares; 1 if the promise is unknown."""
        return 1.0 if math.isnan(self.largest_margin) else 1.0 / self.largest_margin


def order_by_preference(references: Sequence[Reference]) -> list[Reference]:
    """Return reference margins with gamma_gl before all others."""
    return sorted(references, key=lambda one: one.name != FIRST)


def make_promise(
    references: Sequence[Reference], margins: Mapping[str, ReferenceMargin]
) -> Promise:
    """Return the promise of a run: gamma_gl, or the first reference margin that is comparable.

    While the margin of a preferred reference is not computed yet, the promise is pending, and no
    other margin replaces it.
    """
    for one in order_by_preference(references):
        margin = margins.get(one.name)
        if margin is None:
            if one.factor is not None:
                return Promise(None, (one.name,))
        elif margin.is_drawable and not math.isnan(
            largest_margin(margin.factor, margin.bracket.value)
        ):
            return Promise(margin)
    return Promise()


@final
@dataclass(frozen=True, slots=True)
class Reach:
    """First time at which a trace reaches a level.

    `part` is the share of the way from the frame before `frame`, at log10 t.
    """

    frame: int
    part: float
    log10_time: float


def first_reach(values: Array, log10_time: Array, level: float = REACHED) -> Reach | None:
    """Return the first time at which a trace reaches a level.

    Between two frames the trace is linear in log t, as in plots. At the first frame, after t = 0
    and after a value that is not known, the frame itself is returned.

    Parameters
    ----------
    values : array (T,)
        Trace; NaN where not known.
    log10_time : array (T,)
        log10 t, -inf at t = 0.
    level : float
        Level.

    Returns
    -------
    Reach or None
        None if the trace never reaches the level.

    Examples
    --------
    >>> first_reach(np.array([0.0, 0.8, 1.0]), np.array([-np.inf, 2.0, 4.0]))
    Reach(frame=2, part=0.5, log10_time=3.0)
    >>> first_reach(np.array([0.0, 0.8]), np.array([0.0, 1.0])) is None
    True
    """
    indices = np.flatnonzero(values >= level)
    if not indices.size:
        return None
    frame = int(indices[0])
    end = float(log10_time[frame])
    if frame == 0 or not math.isfinite(log10_time[frame - 1] + values[frame - 1] + values[frame]):
        return Reach(frame, 1.0, end)
    before, start = float(values[frame - 1]), float(log10_time[frame - 1])
    part = (level - before) / (float(values[frame]) - before)
    return Reach(frame, float(round(part, 12)), float(round(start + part * (end - start), 12)))


def find_promise_reach(margins: Array, log10_time: Array, promise: Promise) -> Reach | None:
    """Return when margins first reach 90 % of a promise, between two frames (`first_reach`).

    Parameters
    ----------
    margins : array (T,)
        Normalised margins.
    log10_time : array (T' >= T,)
        log10 t of the frames.
    promise : Promise
        Reference margin.

    Returns
    -------
    Reach or None
        None if the margins never reach it, or the promise is unknown.
    """
    if math.isnan(promise.largest_margin):
        return None
    return first_reach(promise.scale * margins, log10_time[: margins.size])


def scale_margins(margins: Sequence[ReferenceMargin], scale: float) -> tuple[ReferenceMargin, ...]:
    """Return reference margins with scaled brackets, which plots draw among shares."""
    return tuple(
        replace(
            one,
            bracket=replace(
                one.bracket,
                lower=scale * one.bracket.lower,
                upper=scale * one.bracket.upper,
                value=scale * one.bracket.value,
            ),
        )
        for one in margins
    )
