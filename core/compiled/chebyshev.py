"""Damped Chebyshev step: its length, number of stages, recurrence and check, compiled.

Steps end at the frames' times: p is convex across kinks at which a_j y_i > 0, so that a frame
interpolated between two steps is below them. A step that ends at a frame is repeated as two
halves, which gives the error that is stored with the frame.
"""

from __future__ import annotations

from math import acosh, cosh, exp, expm1, inf, log, log1p, sinh, sqrt
from typing import Any

from numpy.typing import NDArray

from core.compiled.jit import compile_kernel
from core.compiled.log_time import (
    APPROACH,
    CHECK_EVERY,
    EMIT,
    FINISH,
    HALVE,
    LN_10,
    MAX_STAGES,
    NOT_CUT,
    REMAINDER,
    RUN_STAGE,
    SMALLEST_STEP,
    SPLIT,
)
from core.compiled.log_time_state import State
from core.losses import LOGISTIC

Array = NDArray[Any]

LEAST_PART = 1e-9  # smallest fraction of a step to which it is shortened
NEARLY = 0.98  # fraction of the way to a frame's time that one step covers, before a short one
OVER = 1.0 + 1e-6  # passes a frame's time despite rounding


@compile_kernel
def stability_limit(s: State, stages: int) -> float:
    """Return beta(S) = (1 + w0)/w1, the largest stable h E lambda; set w0 and w1."""
    # w0 > 1 adds damping: the amplification stays below 1 on the interval of stability.
    w0 = 1.0 + 1.0 / (stages * stages)
    # T_S(w) = cosh(S acosh w) for w > 1: trying an S needs no recurrence of S terms.
    angle = acosh(w0)
    w1 = cosh(stages * angle) * sqrt(w0 * w0 - 1.0) / (stages * sinh(stages * angle))
    s.w_0, s.w_1 = w0, w1
    return (1.0 + w0) / w1


@compile_kernel
def choose_stages(s: State, stiffness: float) -> None:
    """Set the smallest allowed S with beta(S) >= h times `stiffness`; cut h if none exists.

    `stiffness` is E lambda, temperature times largest eigenvalue, times the safety factor.
    """
    needed = s.h * stiffness
    # Chatter is proportional to h/S^2: a shortened step needs fewer stages.
    part = sqrt(min(1.0, s.h / s.whole_h)) if s.cut != NOT_CUT else 1.0
    # beta(S) is about 1.26 S^2 for this w0: start the search slightly below.
    stages = max(1, int(sqrt(needed / 1.26)) - 2, int(part * s.least_stages))
    stable = stability_limit(s, stages)
    while stable < needed and stages < MAX_STAGES:
        stages += 1
        stable = stability_limit(s, stages)
    if stable < needed:
        s.h = stable / stiffness
    s.stages = stages
    s.t_2, s.t_1 = 1.0, s.w_0


@compile_kernel
def plan_step(s: State, marks: Array) -> None:
    """Set h, the number of stages S and the cut of the next step in `s`.

    `marks` are log10 t of the frames. With s.euler = 1 the step is one Euler step, which does not
    end at a frame's time.
    """
    stiffness = s.temperature * s.eigenvalue
    s.cut = NOT_CUT
    if s.euler == 1:
        s.h = s.euler_h
        if stiffness > 0.0:
            s.h = min(s.h, s.euler_c / stiffness)
        s.stages = 1
        s.w_0 = s.w_1 = 1.0
        return
    stiffness *= s.safety
    if s.form == LOGISTIC and s.h * stiffness > 1.5:
        s.h = 1.5 / stiffness
    shorten_to_next_frame(s, marks)
    choose_stages(s, stiffness)


@compile_kernel
def shorten_to_next_frame(s: State, marks: Array) -> None:
    """Cut s.h if the next frame's time is nearer than 1.6 h, so that a step ends there.

    Below 1 h one step covers most of the way (s.cut = APPROACH), and the next one the rest
    (REMAINDER); else two equal steps do (SPLIT). s.whole_h is set to the h before the cut.
    """
    if s.ln_t == -inf or s.mark >= marks.size:
        return
    needed = length_until(s, marks[s.mark] * LN_10)
    s.whole_h = s.h
    if needed < s.h:
        # Cover most of the way in one step and the rest in a short one: the increase of t in a step
        # is only predicted, from the last rate of ln t (docs/decisions/0003). OVER passes a frame
        # that is ahead by rounding alone.
        s.h = max(needed * (OVER if s.landing == 1 else NEARLY), LEAST_PART * s.whole_h)
        s.cut = REMAINDER if s.landing == 1 else APPROACH
    # Two equal steps instead of a full one and a short one.
    elif needed < 1.6 * s.h:
        s.h = needed / 2.0
        s.cut = SPLIT


@compile_kernel
def length_until(s: State, ln_t: float) -> float:
    """Return the h at which ln t is reached if ln dt/ds keeps its slope of the last step."""
    gap = ln_t - s.ln_t
    if gap <= 0.0:
        return SMALLEST_STEP
    missing = ln_t + log(-expm1(-gap)) - s.log_n_q  # ln of the missing time over dt/ds
    if s.slope <= 0.0:
        return exp(min(missing, 700.0))
    x = log(s.slope) + missing
    return (x if x > 35.0 else log1p(exp(x))) / s.slope


@compile_kernel
def first_stage(s: State, theta: Array, older: Array, newer: Array, G: Array) -> None:
    """Set Y_0 = theta and Y_1 = theta + (w1/w0) h G(theta).

    Parameters
    ----------
    s : State
        State of the scheme, updated in place.
    theta : array (P,)
        Parameters.
    older, newer : array (P,)
        Y_0 and Y_1, written in place.
    G : array (P,)
        Field at theta.
    """
    rate = s.w_1 / s.w_0 * s.h
    for k in range(theta.size):
        older[k] = theta[k]
        newer[k] = theta[k] + rate * G[k]
    s.stage = 1
    s.phase = FINISH if s.stages == 1 else RUN_STAGE


@compile_kernel
def stage(s: State, theta: Array, older: Array, newer: Array, G: Array) -> None:
    """Compute Y_j from Y_(j-1) (`newer`), Y_(j-2) (`older`) and G(Y_(j-1)).

    Parameters
    ----------
    s : State
        State of the scheme, updated in place.
    theta : array (P,)
        Parameters at the start of the step.
    older, newer : array (P,)
        Last two stages, updated in place to Y_(j-1) and Y_j.
    G : array (P,)
        Field at Y_(j-1).
    """
    t = 2.0 * s.w_0 * s.t_1 - s.t_2
    mu, nu = 2.0 * s.w_0 * s.t_1 / t, -s.t_2 / t
    rate, remainder = 2.0 * s.w_1 * s.t_1 / t * s.h, 1.0 - mu - nu
    for k in range(theta.size):
        y = mu * newer[k] + nu * older[k] + remainder * theta[k] + rate * G[k]
        older[k] = newer[k]
        newer[k] = y
    s.t_2, s.t_1 = s.t_1, t
    s.stage += 1
    if s.stage == s.stages:
        s.phase = FINISH


# ------------------------------------------------------------------------------------ the check


@compile_kernel
def after_step(s: State, marks: Array) -> None:
    """Choose the phase after a step: HALVE, to check a step that goes to a frame, or EMIT.

    The short step that covers the rest of the way to a frame is not checked.
    """
    passed = s.mark < marks.size and marks[s.mark] * LN_10 <= s.ln_t
    # A check repeats a step that ends at a frame as two halves, at most every CHECK_EVERY steps.
    due = s.step >= s.checked
    if due and (s.cut == APPROACH or (passed and s.cut != REMAINDER)):
        s.checked = s.step + CHECK_EVERY
        s.half = 1
        s.phase = HALVE
        s.kept_rho, s.kept_h = s.rho, s.h
        s.rho = s.previous_rho
        return
    s.phase = EMIT


@compile_kernel
def plan_half(s: State) -> None:
    """Plan half the last step, at the temperature of its start."""
    s.h = 0.5 * s.last_h
    if s.euler == 1:
        s.stages = 1
        s.w_0 = s.w_1 = 1.0
        return
    choose_stages(s, s.temperature * s.eigenvalue * s.safety)


@compile_kernel
def store_difference(s: State, hard: float, turned: float) -> None:
    """Store the distance of the two halves from the whole step, whose result is kept.

    Parameters
    ----------
    s : State
        State of the scheme, updated in place.
    hard : float
        min p after the halves.
    turned : float
        Distance of theta after the halves from that after the whole step.
    """
    s.error, s.turn_error = abs(hard - s.hard), turned
    s.rho, s.h = s.kept_rho, s.kept_h
    s.half = 0
    s.phase = EMIT
