"""The damped Chebyshev step: how long, how many stages, its recurrence, and its check, compiled.

Steps end at the frames' times: p is convex across kinks at which a_j y_i > 0, so that a frame
interpolated between two steps lies below them. A step that ends at a frame is done again as two
halves, which tells the error that is stored with the frame.
"""

from __future__ import annotations

from math import acosh, cosh, exp, expm1, inf, log, log1p, sinh, sqrt
from typing import Any

from numpy.typing import NDArray

from core.compiled.jit import compiled
from core.compiled.log_time import (
    APPROACH,
    CHECK_EVERY,
    CHECKED,
    CUT,
    EMIT,
    ERROR,
    EULER,
    EULER_C,
    EULER_H,
    FINISH,
    HALF,
    HALVE,
    HARD,
    KEPT_H,
    KEPT_RHO,
    LAMBDA,
    LANDING,
    LAST_H,
    LEAST_STAGES,
    LN_10,
    LN_T,
    LOG_N_Q,
    MARK,
    MAX_STAGES,
    NOT_CUT,
    PHASE,
    PREVIOUS_RHO,
    REMAINDER,
    RHO,
    RUN_STAGE,
    SAFETY,
    SLOPE,
    SMALLEST_STEP,
    SPLIT,
    STAGE,
    STAGES,
    STARTUP,
    STEP,
    T_1,
    T_2,
    TEMPERATURE,
    TURN_ERROR,
    W_0,
    W_1,
    WHOLE_H,
    H,
)

Array = NDArray[Any]

LEAST_PART = 1e-9  # of a step: the least that one is cut down to
NEARLY = 0.98  # of the way to a frame's time is gone in one step, the rest in a short one
OVER = 1.0 + 1e-6  # so that rounding does not leave the frame's time ahead


@compiled
def reach(s: Array, stages: int) -> float:
    """beta(S) = (1 + w0)/w1, the largest stable h E lambda; sets w0 and w1."""
    w0 = 1.0 + 1.0 / (stages * stages)
    angle = acosh(w0)
    w1 = cosh(stages * angle) * sqrt(w0 * w0 - 1.0) / (stages * sinh(stages * angle))
    s[W_0], s[W_1] = w0, w1
    return (1.0 + w0) / w1


@compiled
def choose_stages(s: Array, c: Array, stiffness: float) -> None:
    """The smallest S with beta(S) >= h E lambda sf that is allowed; h is cut where none is."""
    needed = s[H] * stiffness
    # Chatter is proportional to h/S^2: part of a step needs fewer stages.
    part = sqrt(min(1.0, s[H] / s[WHOLE_H])) if c[CUT] != NOT_CUT else 1.0
    stages = max(1, int(sqrt(needed / 1.26)) - 2, int(part * s[LEAST_STAGES]))
    found = reach(s, stages)
    while found < needed and stages < MAX_STAGES:
        stages += 1
        found = reach(s, stages)
    if found < needed:
        s[H] = found / stiffness
    c[STAGES] = stages
    s[T_2], s[T_1] = 1.0, s[W_0]


@compiled
def plan(s: Array, c: Array, settings: Array, marks: Array) -> None:
    """Choose h and the number of stages S."""
    stiffness = s[TEMPERATURE] * s[LAMBDA]
    c[CUT] = NOT_CUT
    if settings[EULER] == 1.0:
        s[H] = settings[EULER_H]
        if stiffness > 0.0:
            s[H] = min(s[H], settings[EULER_C] / stiffness)
        c[STAGES] = 1
        s[W_0] = s[W_1] = 1.0
        return
    stiffness *= s[SAFETY]
    if c[STARTUP] == 1 and s[H] * stiffness > 1.5:
        s[H] = 1.5 / stiffness
    land(s, c, marks)
    choose_stages(s, c, stiffness)


@compiled
def land(s: Array, c: Array, marks: Array) -> None:
    """Cut h where the next frame's time is near."""
    if s[LN_T] == -inf or c[MARK] >= marks.size:
        return
    needed = length_until(s, marks[c[MARK]] * LN_10)
    s[WHOLE_H] = s[H]
    if needed < s[H]:
        # A frame that is ahead by rounding alone is passed by a little.
        s[H] = max(needed * (OVER if c[LANDING] == 1 else NEARLY), LEAST_PART * s[WHOLE_H])
        c[CUT] = REMAINDER if c[LANDING] == 1 else APPROACH
    elif needed < 1.6 * s[H]:
        s[H] = needed / 2.0
        c[CUT] = SPLIT


@compiled
def length_until(s: Array, ln_t: float) -> float:
    """The h at which ln t is reached, where ln dt/ds goes on as in the last step."""
    gap = ln_t - s[LN_T]
    if gap <= 0.0:
        return SMALLEST_STEP
    missing = ln_t + log(-expm1(-gap)) - s[LOG_N_Q]  # ln of what t lacks, over dt/ds
    if s[SLOPE] <= 0.0:
        return exp(min(missing, 700.0))
    x = log(s[SLOPE]) + missing
    return (x if x > 35.0 else log1p(exp(x))) / s[SLOPE]  # type: ignore[no-any-return]


@compiled
def first_stage(s: Array, c: Array, theta: Array, older: Array, newer: Array, G: Array) -> None:
    """Y_0 = theta and Y_1 = theta + (w1/w0) h G(theta)."""
    rate = s[W_1] / s[W_0] * s[H]
    for k in range(theta.size):
        older[k] = theta[k]
        newer[k] = theta[k] + rate * G[k]
    c[STAGE] = 1
    c[PHASE] = FINISH if c[STAGES] == 1 else RUN_STAGE


@compiled
def stage(s: Array, theta: Array, older: Array, newer: Array, G: Array) -> None:
    """Y_j from Y_(j-1) (`newer`), Y_(j-2) (`older`) and G(Y_(j-1)), into `newer`."""
    t = 2.0 * s[W_0] * s[T_1] - s[T_2]
    mu, nu = 2.0 * s[W_0] * s[T_1] / t, -s[T_2] / t
    rate, rest = 2.0 * s[W_1] * s[T_1] / t * s[H], 1.0 - mu - nu
    for k in range(theta.size):
        y = mu * newer[k] + nu * older[k] + rest * theta[k] + rate * G[k]
        older[k] = newer[k]
        newer[k] = y
    s[T_2], s[T_1] = s[T_1], t


# ------------------------------------------------------------------------------------ the check


@compiled
def after_step(s: Array, c: Array, marks: Array) -> None:
    """Whether the step just taken is checked: one that goes to a frame, but not a short rest."""
    passed = c[MARK] < marks.size and marks[c[MARK]] * LN_10 <= s[LN_T]
    due = c[STEP] >= c[CHECKED]
    if due and (c[CUT] == APPROACH or (passed and c[CUT] != REMAINDER)):
        c[CHECKED] = c[STEP] + CHECK_EVERY
        c[HALF] = 1
        c[PHASE] = HALVE
        s[KEPT_RHO], s[KEPT_H] = s[RHO], s[H]
        s[RHO] = s[PREVIOUS_RHO]
        return
    c[PHASE] = EMIT


@compiled
def plan_half(s: Array, c: Array, settings: Array) -> None:
    """Half the last step, at the temperature of where it starts."""
    s[H] = 0.5 * s[LAST_H]
    if settings[EULER] == 1.0:
        c[STAGES] = 1
        s[W_0] = s[W_1] = 1.0
        return
    choose_stages(s, c, s[TEMPERATURE] * s[LAMBDA] * s[SAFETY])


@compiled
def compared(s: Array, c: Array, hard: float, turned: float) -> None:
    """Store how far the two halves end from the whole step, and go on after the whole step."""
    s[ERROR], s[TURN_ERROR] = abs(hard - s[HARD]), turned
    s[RHO], s[H] = s[KEPT_RHO], s[KEPT_H]
    c[HALF] = 0
    c[PHASE] = EMIT
