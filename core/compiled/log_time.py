"""The log-time scheme apart from the network: its state, its steps, its clock, its frames.

The numbers of one run live in two arrays, `s` (floats) and `c` (integers), at the places named
here; `core.compiled.flow` and `core.dynamics.general_flow` evaluate the field between these steps.
"""

from __future__ import annotations

from math import acosh, cosh, exp, inf, log, sinh, sqrt
from typing import Any

from numpy.typing import NDArray

from core.compiled.dual import dual_weights, log_n_over_q, smallest, smoothed_margin
from core.compiled.jit import compiled

Array = NDArray[Any]

GOING, BUFFER_FULL, DONE, STATIONARY, STALLED = 0, 1, 2, 3, 4

# Places in the float state.
RHO, LN_T, H, SAFETY, LAMBDA, TEMPERATURE, LOG_N_Q, SMOOTHED = 0, 1, 2, 3, 4, 5, 6, 7
PREVIOUS_RHO, PREVIOUS_LN_T, T_1, T_2, W_0, W_1 = 8, 9, 10, 11, 12, 13
FEWEST_ATOMS, LARGEST_FALL, FLOATS = 14, 15, 16
# Places in the integer state.
PHASE, STAGE, STAGES, POWER, STEP, MARK, BUFFERED, STARTUP, REJECTED = 0, 1, 2, 3, 4, 5, 6, 7, 8
MOST_STAGES, OTHERS, COUNTS = 9, 10, 11
# Places in the settings.
TAU_EARLY, H_EARLY, TAU_LATE, H_LATE, LATE_LN_T, CAP, EULER, EULER_C, EULER_H, V_SPEED = range(10)
# Phases of a step.
BEGIN, POWER_ITERATION, PLAN, RUN_STAGE, FINISH, EMIT = 0, 1, 2, 3, 4, 5

MAX_STAGES = 300
MAX_SAFETY = 16.0
STATIONARY_SPEED = 1e-13
SMALLEST_STEP = 1e-16
ATOM = 1e-3
LN_10 = 2.302585092994046


@compiled
def log_time_rate(startup: int, degree: int, others: int, rho: float, p: Array) -> float:
    """ln dt/ds = ln(n/Q) + (2 - L) rho."""
    rate = log_n_over_q(startup, others, p, exp(degree * rho))
    return rate + (2 - degree) * rho


@compiled
def begin(
    loss: int, degree: int, others: int, s: Array, c: Array, settings: Array, p: Array, q: Array
) -> None:
    """Temperature, dual weights and the smoothed margin at the start of a step."""
    true_temperature = exp(degree * s[RHO])
    e = min(true_temperature, settings[CAP])
    c[STARTUP] = 0
    if smallest(p) * true_temperature <= 20.0:
        c[STARTUP] = 1 if loss == 1 else 2 if loss == 3 else 0
    c[OTHERS] = others
    s[TEMPERATURE] = e
    s[SMOOTHED] = smoothed_margin(c[STARTUP], others, p, e) / e
    s[LOG_N_Q] = log_time_rate(c[STARTUP], degree, others, s[RHO], p)
    dual_weights(c[STARTUP], others, p, e, q)
    atoms = 0
    for i in range(q.size):
        atoms += q[i] > ATOM
    s[FEWEST_ATOMS] = min(s[FEWEST_ATOMS], atoms)
    if c[STEP] == 0:
        c[POWER] = 50
    elif c[STEP] % 2 == 0:
        c[POWER] = 8
    else:
        c[POWER] = 0


@compiled
def plan(s: Array, c: Array, settings: Array) -> None:
    """Choose h and the number of stages S, the smallest with beta(S) >= h E lambda sf."""
    stiffness = s[TEMPERATURE] * s[LAMBDA]
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
    needed = s[H] * stiffness
    stages = max(1, int(sqrt(needed / 1.26)) - 2)
    while True:
        w0 = 1.0 + 1.0 / stages**2
        angle = acosh(w0)
        w1 = cosh(stages * angle) * sqrt(w0 * w0 - 1.0) / (stages * sinh(stages * angle))
        reach = (1.0 + w0) / w1
        if reach >= needed or stages == MAX_STAGES:
            break
        stages += 1
    if reach < needed:
        s[H] = reach / stiffness
    c[STAGES] = stages
    s[W_0], s[W_1] = w0, w1
    s[T_2], s[T_1] = 1.0, w0


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


@compiled
def log_mean(a: float, b: float) -> float:
    """ln of the logarithmic mean of e^a and e^b."""
    gap = abs(b - a)
    if gap < 1e-6:
        return 0.5 * (a + b)
    return max(a, b) + log((1.0 - exp(-gap)) / gap)


@compiled
def accept(
    degree: int, s: Array, c: Array, settings: Array, p: Array, norm: float, moved: float
) -> None:
    """Move rho and ln t on, and choose the next h and safety factor."""
    s[PREVIOUS_RHO], s[PREVIOUS_LN_T] = s[RHO], s[LN_T]
    s[RHO] += log(norm)
    rate = log_time_rate(c[STARTUP], degree, c[OTHERS], s[RHO], p)
    gained = log(s[H]) + log_mean(s[LOG_N_Q], rate)
    if s[LN_T] == -inf:
        s[LN_T] = gained
    else:
        high, low = max(s[LN_T], gained), min(s[LN_T], gained)
        s[LN_T] = high + log(1.0 + exp(low - high))
    c[STEP] += 1
    late = s[LN_T] > settings[LATE_LN_T]
    tau = settings[TAU_LATE] if late else settings[TAU_EARLY]
    longest = settings[H_LATE] if late else settings[H_EARLY]
    s[SAFETY] = max(2.0, 0.98 * s[SAFETY])
    factor = 1.3 if moved * 1.3 <= tau else max(0.5, tau / moved)
    s[H] = min(longest, s[H] * factor)


@compiled
def fit(s: Array, c: Array, settings: Array, p: Array, norm: float) -> bool:
    """Whether a step may be taken: the smoothed margin must not fall. If not, h is halved."""
    e = s[TEMPERATURE]
    fall = s[SMOOTHED] - smoothed_margin(c[STARTUP], c[OTHERS], p, e) / e
    # Written so that a NaN is refused too.
    fine = s[SMOOTHED] <= 0.0 or fall <= 1e-9 + 0.01 / e
    if settings[EULER] == 0.0 and not (fine and norm > 0.0):
        s[H] /= 2.0
        s[SAFETY] = min(1.5 * s[SAFETY], MAX_SAFETY)
        c[REJECTED] += 1
        return False
    if s[SMOOTHED] > 0.0:
        s[LARGEST_FALL] = max(s[LARGEST_FALL], fall)
    return True


@compiled
def weight_of_mark(s: Array, mark: float) -> float:
    """Where between the last two steps log10 t = mark lies, in the schedule's coordinate.

    Linear in log t below t = 10 and in ln log10 t above; in t itself during the first step.
    """
    if s[PREVIOUS_LN_T] == -inf:
        return exp(mark * LN_10 - s[LN_T])
    x0, x1 = s[PREVIOUS_LN_T] / LN_10, s[LN_T] / LN_10
    u0 = x0 if x0 <= 1.0 else 1.0 + log(x0)
    u1 = x1 if x1 <= 1.0 else 1.0 + log(x1)
    u = mark if mark <= 1.0 else 1.0 + log(mark)
    return (u - u0) / (u1 - u0)


@compiled
def emit(
    scaled: int, s: Array, c: Array, theta: Array, previous: Array, marks: Array, buffer: Array,
    rows: Array,
) -> None:  # fmt: skip
    """Write the frames of all marks that the last step passed, as far as the buffer holds them.

    A row of `rows` holds step, rho, h, stages, fewest atoms of q and largest fall of the smoothed
    margin since the frame before.
    """
    while c[MARK] < marks.size and marks[c[MARK]] * LN_10 <= s[LN_T]:
        if c[BUFFERED] == buffer.shape[0]:
            return
        w = min(1.0, max(0.0, weight_of_mark(s, marks[c[MARK]])))
        out, row = buffer[c[BUFFERED]], rows[c[BUFFERED]]
        norm = 0.0
        for k in range(theta.size):
            out[k] = (1.0 - w) * previous[k] + w * theta[k]
        for k in range(scaled):
            norm += out[k] * out[k]
        norm = sqrt(norm)
        for k in range(scaled):
            out[k] /= norm
        row[0] = c[STEP]
        row[1] = (1.0 - w) * s[PREVIOUS_RHO] + w * s[RHO]
        row[2], row[3], row[4], row[5] = s[H], c[MOST_STAGES], s[FEWEST_ATOMS], s[LARGEST_FALL]
        s[FEWEST_ATOMS], s[LARGEST_FALL], c[MOST_STAGES] = inf, 0.0, 0
        c[BUFFERED] += 1
        c[MARK] += 1


@compiled
def speed(G: Array) -> float:
    """|G|."""
    total = 0.0
    for k in range(G.size):
        total += G[k] * G[k]
    return sqrt(total)


@compiled
def first_stage(s: Array, c: Array, theta: Array, older: Array, newer: Array, G: Array) -> None:
    """Y_0 = theta and Y_1 = theta + (w1/w0) h G(theta)."""
    rate = s[W_1] / s[W_0] * s[H]
    for k in range(theta.size):
        older[k] = theta[k]
        newer[k] = theta[k] + rate * G[k]
    c[STAGE] = 1
    c[PHASE] = FINISH if c[STAGES] == 1 else RUN_STAGE
