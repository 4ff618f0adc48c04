"""States of a statement frame by frame, and the spans of frames that share one.

The verdict is made from the same states (core.theorems.comparisons.compare_all_frames), so that a
timeline of them cannot contradict it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
States = NDArray[np.int8]
ROUNDING = 1e-9  # relative tolerance


@final
class State(IntEnum):
    """State of a condition at one frame.

    `OPEN`: undecided, such as by an unknown number. `SILENT`: the statement says nothing of such a
    time.
    """

    FAILS = 0
    HOLDS = 1
    OPEN = 2
    SILENT = 3


@final
@dataclass(frozen=True, slots=True)
class Span:
    """Frames `first` to `last`, both included, of one state."""

    state: State
    first: int
    last: int


def relative_room(sense: str, bound: Array, measured: Array) -> Array:
    """Return the room that measured values leave to a bound.

    Parameters
    ----------
    sense : str
        "<=" or ">=": measured `sense` bound.
    bound, measured : array (T,)
        Values at each frame, possibly infinite or NaN.

    Returns
    -------
    array (T,)
        Signed distance to the bound over the larger absolute value of both: in [-2, 2], negative
        if the bound is missed. 0 if both are 0, NaN if one is NaN. With an infinite value 1 if the
        bound is met, else -1; 0 for equal ones, but 1 where the bound demands nothing.

    Examples
    --------
    >>> relative_room("<=", np.array([4.0, 1.0]), np.array([2.0, 2.0])).tolist()
    [0.5, -0.5]
    >>> relative_room("<=", np.array([5.0, 5.0]), np.array([-np.inf, np.inf])).tolist()
    [1.0, -1.0]
    """
    sign = 1.0 if sense == "<=" else -1.0
    with np.errstate(invalid="ignore"):
        room = sign * (bound - measured)
        size = np.maximum(np.abs(bound), np.abs(measured))
        share = np.where(size > 0.0, room / np.where(size > 0.0, size, 1.0), 0.0)
    # inf - inf has no sign: equal infinite numbers leave no room, unless all is allowed.
    equal = np.where(bound == sign * np.inf, 1.0, 0.0)
    share = np.where(np.isinf(size), np.where(np.isnan(room), equal, np.sign(room)), share)
    return np.where(np.isnan(bound) | np.isnan(measured), np.nan, share)


def frame_states(sense: str, bound: Array, measured: Array, mask: NDArray[np.bool_]) -> States:
    """Return the state of each frame of a bound, which holds up to a relative room of `ROUNDING`.

    Parameters
    ----------
    sense : str
        "<=" or ">=": measured `sense` bound.
    bound, measured : array (T,)
        Values at each frame. Unknown ones (NaN) make a frame OPEN.
    mask : array (T,) of bool
        Frames of which the statement speaks; the others are SILENT.

    Returns
    -------
    array (T,) of int8
        Values of `State`.

    Examples
    --------
    >>> mask = np.array([False, True, True, True])
    >>> frame_states(">=", np.ones(4), np.array([0.0, 0.0, 1.0, np.nan]), mask).tolist()
    [3, 0, 1, 2]
    """
    share = relative_room(sense, bound, measured)
    states = np.where(share >= -ROUNDING, State.HOLDS, State.FAILS)
    states = np.where(np.isnan(share), State.OPEN, states)
    return np.where(mask, states, State.SILENT).astype(np.int8)


def has_held(states: States) -> bool | None:
    """Return False if some frame FAILS, else True if some frame HOLDS; None if neither does.

    >>> has_held(np.array([3, 1, 2])), has_held(np.array([1, 0])), has_held(np.array([3, 2]))
    (True, False, None)
    """
    if (states == State.FAILS).any():
        return False
    return True if (states == State.HOLDS).any() else None


def decide_on_finite_frames(
    states: States, finite: NDArray[np.bool_]
) -> tuple[bool | None, States]:
    """Return `has_held` and a copy of the states, decided by frames with two finite numbers alone.

    A frame that fails by an infinite number becomes OPEN. The result is then None unless a finite
    frame fails, and also None if no finite frame holds. For None, frames that hold by an infinite
    number become OPEN too.

    >>> decide_on_finite_frames(np.array([1, 1]), np.array([False, True]))[0]
    True
    >>> decide_on_finite_frames(np.array([1, 0]), np.array([True, False]))
    (None, array([1, 2]))
    """
    beyond = (states == State.FAILS) & ~finite
    result = np.where(beyond, State.OPEN, states).astype(states.dtype)
    holds = has_held(result)
    if holds and (beyond.any() or not finite[result == State.HOLDS].any()):
        result[~finite & (result == State.HOLDS)] = State.OPEN
        holds = None
    return holds, result


def combine_states(conditions: Iterable[Any], frames: int) -> States:
    """Return the state of several conditions together, (frames,).

    Each condition is one state or (frames,). At a frame FAILS prevails, then SILENT, OPEN, HOLDS.
    Without conditions all frames HOLD.

    >>> combine_states([State.HOLDS, np.array([0, 1, 1]), np.array([2, 1, 2])], 3).tolist()
    [0, 1, 2]
    """
    together = np.full(frames, State.HOLDS, dtype=np.int8)
    for one in conditions:
        states = np.broadcast_to(np.asarray(one, dtype=np.int8), (frames,))
        fails = (together == State.FAILS) | (states == State.FAILS)
        # Without a failure the larger state counts: SILENT before OPEN before HOLDS.
        together = np.where(fails, State.FAILS, np.maximum(together, states)).astype(np.int8)
    return together


def state_of(met: bool | None) -> State:
    """Return the state of a condition: HOLDS for True, FAILS for False, OPEN for None.

    >>> state_of(True).name, state_of(None).name
    ('HOLDS', 'OPEN')
    """
    return State.OPEN if met is None else State.HOLDS if met else State.FAILS


def met_of(state: int) -> bool | None:
    """Return True for HOLDS, False for FAILS, and None for OPEN and SILENT."""
    return None if state in (State.OPEN, State.SILENT) else state == State.HOLDS


def equal_value_ranges(values: NDArray[Any]) -> list[tuple[int, int]]:
    """Return first and last index, both included, of each maximal stretch of equal values.

    >>> equal_value_ranges(np.array([7, 7, 1]))
    [(0, 1), (2, 2)]
    """
    if not values.size:
        return []
    starts = np.flatnonzero(np.diff(values, prepend=values[0] - 1))
    ends = np.append(starts[1:], values.size) - 1
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


def state_spans(states: States) -> tuple[Span, ...]:
    """Return the maximal stretches of frames with one state, in order; none for no frames.

    >>> [(one.state.name, one.first, one.last) for one in state_spans(np.array([2, 0, 0, 1]))]
    [('OPEN', 0, 0), ('FAILS', 1, 2), ('HOLDS', 3, 3)]
    """
    return tuple(
        Span(State(int(states[first])), first, last) for first, last in equal_value_ranges(states)
    )
