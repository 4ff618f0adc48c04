"""Comparisons of measured values with bounds: of numbers, at all frames, and at the last one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from core.theorems import states
from core.theorems.arithmetic import NAN
from core.theorems.statement import Array, Comparison, Context
from core.theorems.states import State

ROUNDING = states.ROUNDING
INFINITE = "the bound or the measured value is infinite"


def compare_once(
    sense: str,
    bound: float,
    measured: float,
    view: str = "",
    reason: str = "",
    frame: int | None = None,
) -> Comparison:
    """Compare a number with a bound; undecided unless both are finite.

    Parameters
    ----------
    sense : str
        "<=" or ">=": measured `sense` bound, up to 1e-9 of the larger absolute value.
    bound, measured : float
        Compared numbers.
    view : str
        Observable or "margins", beside which a plot shows the comparison; "" for none.
    reason : str
        Why a number that is NaN is not known, in place of a general sentence. Not used otherwise.
    frame : int or None
        Frame of the numbers, negative ones counted from the end; None if they belong to no frame.

    Returns
    -------
    Comparison
        Without traces and states of frames.
    """
    if not (math.isfinite(bound) and math.isfinite(measured)):
        unknown = math.isnan(bound) or math.isnan(measured)
        text = (reason or "the bound or the measured value is not known") if unknown else INFINITE
        return Comparison(sense, bound, measured, None, view, why=text, frame=frame)
    room = ROUNDING * max(abs(bound), abs(measured))
    holds = measured <= bound + room if sense == "<=" else measured >= bound - room
    return Comparison(sense, bound, measured, bool(holds), view, frame=frame)


def margin_at_least(
    context: Context, name: str, bound: float, view: str = "margins", reason: str = ""
) -> Comparison:
    """Test that the upper end of a reference margin is at least `bound`.

    Parameters
    ----------
    context : Context
        Reference margins of the run.
    name : str
        Name of the margin, such as gamma_ntk.
    bound : float
        The margin should be at least this.
    view, reason : str
        As in `compare_once`.

    Returns
    -------
    Comparison
        A violation is undecided unless the upper end is proved. Undecided too if no upper end is
        known.
    """
    return where_proved(context, name, compare_once(">=", bound, context.upper(name), view, reason))


def where_proved(context: Context, name: str, comparison: Comparison) -> Comparison:
    """Make a violation by a margin's upper end undecided unless that end is proved.

    "Proved" is `Context.is_proved`.

    Parameters
    ----------
    context : Context
        Reference margins of the run.
    name : str
        Name of the margin in the comparison.
    comparison : Comparison
        Comparison of the margin's upper end.

    Returns
    -------
    Comparison
        `comparison` itself unless an unproved end violates it. States of frames do not change.
    """
    if comparison.holds is False and not context.is_proved(name):
        return replace(comparison, holds=None, why=f"the upper end of {name} is not proved")
    return comparison


def leave_open(sense: str, bound: float, measured: float, cause: str, view: str = "") -> Comparison:
    """Return an undecided comparison, with its numbers and the reason.

    Parameters
    ----------
    sense : str
        "<=" or ">=": measured `sense` bound.
    bound, measured : float
        Numbers to show; NaN where unknown.
    cause : str
        Why nothing can be decided, as a sentence without a full stop.
    view : str
        Observable or "margins", beside which a plot shows the comparison; "" for none.

    Returns
    -------
    Comparison
    """
    return Comparison(sense, bound, measured, None, view, why=cause)


def compare_all_frames(
    sense: str, bound: Any, measured: Any, view: str = "", frames: Any = None, reason: str = ""
) -> Comparison:
    """Compare a trace with a trace or a number at the frames of a mask; the worst frame decides.

    The worst frame has the least `states.relative_room` among frames of the mask with two finite
    numbers. A frame that fails by an infinite number is open, and the comparison then undecided
    unless a finite frame fails.

    Parameters
    ----------
    sense : str
        "<=" or ">=": measured `sense` bound, up to rounding.
    bound : float or array (T,)
        Bound of each frame.
    measured : array (T,)
        Measured value at each frame; NaN where unknown.
    view : str
        Observable or "margins", beside which a plot shows both traces; "" for none.
    frames : array (T,) of bool, optional
        Frames of which the theorem speaks; all by default.
    reason : str
        Why no frame decides, in place of a general sentence; not used for infinite numbers.

    Returns
    -------
    Comparison
        It holds if no frame of the mask fails and some frame with two finite numbers holds. Its
        numbers and `frame` are those of the worst frame; NaN and None if undecided. Its
        `bound_trace` is NaN outside the mask.
    """
    measured = np.asarray(measured, dtype=np.float64)
    bound = np.broadcast_to(np.asarray(bound, dtype=np.float64), measured.shape).copy()
    mask = np.ones(measured.shape, bool) if frames is None else np.asarray(frames, bool)
    bound[~mask] = np.nan
    states_ = states.frame_states(sense, bound, measured, mask)
    finite = np.isfinite(bound) & np.isfinite(measured)
    holds, states_ = states.decide_on_finite_frames(states_, finite)
    if holds is None:
        infinite = (mask & (np.isinf(bound) | np.isinf(measured))).any()
        reason = INFINITE if infinite else reason or "the theorem applies to no recorded frame"
        return Comparison(sense, NAN, NAN, None, view, bound, measured, reason, states_)
    share = states.relative_room(sense, bound, measured)
    worst = int(np.where(finite & ~np.isnan(share), share, np.inf).argmin())
    at_worst = float(bound[worst]), float(measured[worst])
    return Comparison(sense, *at_worst, holds, view, bound, measured, "", states_, worst)


def compare_final(sense: str, bound: float, measured: Array, view: str = "") -> Comparison:
    """Compare a trace with a number; only the last frame decides, as for a limit.

    Parameters
    ----------
    sense : str
        "<=" or ">=": measured `sense` bound, up to rounding.
    bound : float
        The same at all frames.
    measured : array (T,)
        Measured value at each frame.
    view : str
        Observable or "margins", beside which a plot shows both; "" for none.

    Returns
    -------
    Comparison
        Of `limit`, with a state at every frame. Undecided unless the last value and the bound are
        finite.
    """
    result = compare_once(sense, bound, last_value(measured), view, frame=-1)
    bounds = np.full(measured.shape, bound)
    states_ = states.frame_states(sense, bounds, measured, np.ones(measured.shape, bool))
    if result.holds is None:
        states_[-1:] = State.OPEN
    return replace(result, bound_trace=bounds, measured_trace=measured, states=states_, limit=True)


def last_value(values: Sequence[float] | Array) -> float:
    """Return the last value; NaN if there are no values."""
    return float(values[-1]) if len(values) else NAN
