"""Margins as shares of what theory promises: of gamma_gl / 2, or of what stands for it.

One place for the library, for comparisons, for the views and for figures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # what lists and draws shares needs none of what computes margins
    from core.reference.margin import Reference, ReferenceMargin

Array = NDArray[np.float64]
FIRST = "gamma_gl"  # no network of the kind has a larger margin than half of it
REACHED = 0.9


def most(factor: float | None, value: float) -> float:
    """What a margin is a share of: factor * value of a reference margin; NaN unless positive.

    >>> most(0.5, 0.08), most(None, 0.08), most(0.5, -1.0)
    (0.04, nan, nan)
    """
    product = math.nan if factor is None else factor * value
    return product if product > 0.0 else math.nan


def share(margin: float, factor: float | None, value: float) -> float:
    """A margin as a share of factor * value; NaN where that is not known or not positive."""
    return margin / most(factor, value)


@final
@dataclass(frozen=True, slots=True)
class Promise:
    """The reference margin that margins are shares of; None while it is waited for, with the names
    of `waits`, or where there is none."""

    margin: ReferenceMargin | None = None
    waits: tuple[str, ...] = ()

    @property
    def most(self) -> float:
        """factor * value; NaN where it is not known."""
        margin = self.margin
        return math.nan if margin is None else most(margin.factor, margin.bracket.value)

    @property
    def label(self) -> str:
        """What it is called in plots; "" where it is not known."""
        return "" if self.margin is None else self.margin.reference.label

    @property
    def scale(self) -> float:
        """What margins are multiplied by to be shares; 1 where they stay as they are."""
        return 1.0 if math.isnan(self.most) else 1.0 / self.most


def in_order(references: Sequence[Reference]) -> list[Reference]:
    """Reference margins, gamma_gl before all others."""
    return sorted(references, key=lambda one: one.name != FIRST)


def promise(references: Sequence[Reference], margins: Mapping[str, ReferenceMargin]) -> Promise:
    """gamma_gl where it is comparable with the run's margins, else the first of the run's reference
    margins that is. One that is not computed yet is waited for, and none taken in its place."""
    for one in in_order(references):
        known = margins.get(one.name)
        if known is None:
            if one.factor is not None:
                return Promise(None, (one.name,))
        elif known.drawable and not math.isnan(most(known.factor, known.bracket.value)):
            return Promise(known)
    return Promise()


@final
@dataclass(frozen=True, slots=True)
class Reach:
    """When a trace first reaches a level: `part` of the way from the frame before `frame`, at
    log10 t."""

    frame: int
    part: float
    log10_time: float


def first_reach(values: Array, log10_time: Array, level: float = REACHED) -> Reach | None:
    """When a trace (T,) first reaches a level; None where it never does.

    Between two frames the trace is taken as linear in log t, as it is drawn: at the first frame,
    after t = 0 and after a value that is not known it is the frame itself.

    >>> first_reach(np.array([0.0, 0.8, 1.0]), np.array([-np.inf, 2.0, 4.0]))
    Reach(frame=2, part=0.5, log10_time=3.0)
    >>> first_reach(np.array([0.0, 0.8]), np.array([0.0, 1.0])) is None
    True
    """
    above = np.flatnonzero(values >= level)
    if not above.size:
        return None
    frame = int(above[0])
    end = float(log10_time[frame])
    if frame == 0 or not math.isfinite(log10_time[frame - 1] + values[frame - 1] + values[frame]):
        return Reach(frame, 1.0, end)
    before, begin = float(values[frame - 1]), float(log10_time[frame - 1])
    part = (level - before) / (float(values[frame]) - before)
    return Reach(frame, float(round(part, 12)), float(round(begin + part * (end - begin), 12)))


def reach_of(margins: Array, log10_time: Array, promise: Promise) -> Reach | None:
    """When margins (T,) first come to 90 % of what is promised; None where they never do, or that
    is not known."""
    if math.isnan(promise.most):
        return None
    return first_reach(promise.scale * margins, log10_time[: margins.size])


def scaled(margins: Sequence[ReferenceMargin], scale: float) -> tuple[ReferenceMargin, ...]:
    """Reference margins with their brackets multiplied, to be drawn among shares."""
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
