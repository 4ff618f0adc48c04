"""State machine of the steps in log time, for every field: within kernels, or from Python.

`advance` does a bounded number of field evaluations and returns, also in the middle of a step:
pause and cancel are honoured between the stages, and results do not depend on where it returns.
Engines give their functions as a `Field` (docs/decisions/0049).
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

from numpy.typing import NDArray

from core.compiled import log_time as scheme
from core.compiled.chebyshev import (
    after_step,
    first_stage,
    plan_half,
    plan_step,
    stage,
    store_difference,
)
from core.compiled.dual import dual_weights, smallest
from core.compiled.jit import generic
from core.compiled.log_time import GOING
from core.compiled.log_time_state import Frames, State

Array = NDArray[Any]


@generic
def no_gradient(work: Any, s: State, point: Array) -> None:
    """Do nothing: G is q itself.

    Parameters
    ----------
    work, s : Any, State
        Arrays of the run and state of the scheme, left unchanged.
    point : array (P,)
        Point, unused.
    """


@generic
def always_going(work: Any, s: State, norm: float, distance: float) -> int:
    """Return GOING.

    Parameters
    ----------
    work, s : Any, State
        Arrays of the run and state of the scheme, left unchanged.
    norm, distance : float
        Norm and distance of the step, unused.

    Returns
    -------
    int
        GOING.
    """
    return GOING


class Field(NamedTuple):
    """Functions of an engine, each of its work and the state.

    The work has the arrays `theta` (the unknowns), `previous` (before the last step), `middle` (of
    a step that is checked), `older` and `newer` (the last two stages), `G0` and `G` (d theta/ds at
    theta and at a stage), `p` and `q` (scores and dual weights at a stage).

    Points, bases and unknowns are arrays (P,), scores and dual weights arrays (N,), and a frame's
    parameters a row of the buffer. Norms are those after a step over those before it.
    """

    # Call `log_time.start_step` and set G0; return False if nothing moves.
    start: Callable[[Any, State], bool]
    # Return the largest eigenvalue of K.
    power_iteration: Callable[[Any, State], float]
    # Set p at a point.
    evaluate: Callable[[Any, State, Array], None]
    # Normalise `newer`, a step from a base; return its norm, negative to refuse the step.
    normalise: Callable[[Any, State, Array], float]
    # Set p at the normalised `newer`, of a norm before; return its distance to theta.
    measure: Callable[[Any, State, float], float]
    # Write the parameters at a weight between `previous` and theta; return their rho.
    interpolate: Callable[[Any, State, float, Array], float]
    # Set G by q, after `evaluate` at the same point.
    gradient: Callable[[Any, State, Array], None] = no_gradient
    # Follow up a step of a norm and a distance that was taken; return GOING or STATIONARY.
    after: Callable[[Any, State, float, float], int] = always_going


@generic
def advance(f: Field, work: Any, s: State, frames: Frames, budget: int) -> int:
    """Do at most `budget` phases, about one field evaluation each.

    Parameters
    ----------
    f : Field
        Functions of the engine.
    work : Any
        Network, data and arrays of the run, updated in place.
    s : State
        State of the scheme, updated in place.
    frames : Frames
        Times of frames; buffer and rows are written in place.
    budget : int
        Number of phases.

    Returns
    -------
    int
        GOING, BUFFER_FULL, DONE, STATIONARY, STALLED or STICKS.
    """
    for _ in range(budget):  # about one phase per iteration
        s.evaluations += 1
        code: int = emit(f, work, s, frames) if s.phase == scheme.EMIT else GOING
        if code == GOING:
            code = run_phase(f, work, s, frames.marks)
        if code != GOING:
            return code
    return GOING


@generic
def run_phase(f: Field, work: Any, s: State, marks: Array) -> int:
    """Do what the phase requires; return GOING, or why no step is made.

    Parameters
    ----------
    f, work, s : Field, Any, State
        As in `advance`.
    marks : array (T,)
        log10 t of the frames.

    Returns
    -------
    int
        GOING, STATIONARY, STALLED or STICKS.
    """
    phase, half = s.phase, s.half
    base = work.previous if half == 1 else work.middle if half == 2 else work.theta
    if phase == scheme.RUN_STAGE:  # the most frequent phase
        f.evaluate(work, s, work.newer)
        dual_weights(s.form, s.others, work.p, s.temperature, work.q)
        f.gradient(work, s, work.newer)
        stage(s, base, work.older, work.newer, work.G)
    elif phase == scheme.POWER_ITERATION:
        s.eigenvalue = f.power_iteration(work, s)
        s.power -= 1
        if s.power == 0:
            s.phase = scheme.PLAN
    elif phase == scheme.HALVE:
        f.evaluate(work, s, base)
        scheme.update_dual_weights(s, work.p, work.q)
        f.gradient(work, s, base)
        plan_half(s)
        first_stage(s, base, work.older, work.newer, work.G)
    else:
        return start_or_finish(f, work, s, base, marks)
    return GOING


@generic
def start_or_finish(f: Field, work: Any, s: State, base: Array, marks: Array) -> int:
    """Start, plan or finish a step; return GOING, or why no step is made.

    Parameters
    ----------
    f, work, s : Field, Any, State
        As in `advance`.
    base : array (P,)
        Unknowns at the start of the step or half step.
    marks : array (T,)
        log10 t of the frames.

    Returns
    -------
    int
        GOING; STICKS if the network is stuck from step `slides_from` on; STATIONARY if nothing
        moves; STALLED if h is below SMALLEST_STEP.
    """
    if s.phase == scheme.START_STEP:
        if s.stuck != scheme.MOVES and s.step >= s.slides_from:
            return scheme.STICKS
        return GOING if f.start(work, s) else scheme.STATIONARY
    if s.phase != scheme.PLAN:
        return finish_step(f, work, s, base, marks)
    if s.eigenvalue == 0.0:  # no neuron with nonzero weight is active on any example
        return scheme.STATIONARY
    plan_step(s, marks)
    if s.h < scheme.SMALLEST_STEP:
        return scheme.STALLED
    first_stage(s, base, work.older, work.newer, work.G0)
    return GOING


@generic
def finish_step(f: Field, work: Any, s: State, base: Array, marks: Array) -> int:
    """Accept or refuse a step by its last stage, or compare it with its two halves.

    Parameters
    ----------
    f, work, s : Field, Any, State
        As in `advance`.
    base : array (P,)
        Unknowns at the start of the step or half step.
    marks : array (T,)
        log10 t of the frames.

    Returns
    -------
    int
        GOING or STATIONARY.
    """
    norm = f.normalise(work, s, base)
    if s.half == 1:
        scheme.second_half(s, norm, work.middle, work.newer)
        return GOING
    if norm < 0.0:
        s.rejected += 1
        s.h /= 2.0
        s.phase = scheme.PLAN
        return GOING
    distance = f.measure(work, s, norm)
    if s.half == 2:
        store_difference(s, smallest(work.p), distance)
        return GOING
    if not scheme.choose_step(s, work.p, norm):
        return GOING
    scheme.replace_theta(work.previous, base, work.newer)
    scheme.accept_step(s, work.p, norm, distance)
    code: int = f.after(work, s, norm, distance)
    if code == GOING:
        after_step(s, marks)
    return code


@generic
def emit(f: Field, work: Any, s: State, frames: Frames) -> int:
    """Write the frames of all marks that the last step passed, as far as the buffer holds them.

    A row of `rows` holds step, rho, h, stages, fewest atoms of q, largest fall of the smoothed
    margin since the previous frame, and the errors of the last checked step.

    Parameters
    ----------
    f, work, s : Field, Any, State
        As in `advance`.
    frames : Frames
        Times of frames; buffer and rows are written in place.

    Returns
    -------
    int
        DONE, BUFFER_FULL or GOING.
    """
    marks, buffer, rows = frames
    while s.mark < marks.size and marks[s.mark] * scheme.LN_10 <= s.ln_t:
        if s.buffered == buffer.shape[0]:
            return scheme.BUFFER_FULL
        w = min(1.0, max(0.0, scheme.weight_of_mark(s, marks[s.mark])))
        row = rows[s.buffered]
        row[0], row[1] = s.step, f.interpolate(work, s, w, buffer[s.buffered])
        row[2], row[3], row[4], row[5] = s.h, s.most_stages, s.fewest_atoms, s.largest_fall
        row[6], row[7] = s.error, s.turn_error
        s.fewest_atoms, s.largest_fall, s.most_stages = inf, 0.0, 0
        s.buffered += 1
        s.mark += 1
    if s.mark == marks.size:
        return scheme.DONE
    if s.buffered == buffer.shape[0]:
        return scheme.BUFFER_FULL
    s.phase = scheme.START_STEP
    return GOING
