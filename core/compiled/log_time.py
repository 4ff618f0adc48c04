"""The log-time scheme apart from the network: its state, its steps, its clock, its frames.

The numbers of one run live in two arrays, `s` (floats) and `c` (integers), at the places named
here; `core.compiled.flow` and `core.dynamics.general_flow` evaluate the field between these steps.
"""

from __future__ import annotations

from math import exp, inf, log, sqrt
from typing import Any

from numpy.typing import NDArray

from core.compiled.dual import dual_weights, log_n_over_q, smallest, smoothed_margin
from core.compiled.jit import compiled

Array = NDArray[Any]

GOING, BUFFER_FULL, DONE, STATIONARY, STALLED, STICKS, ENDED = 0, 1, 2, 3, 4, 5, 6

# Places in the float state.
RHO, LN_T, H, SAFETY, LAMBDA, TEMPERATURE, LOG_N_Q, SMOOTHED = 0, 1, 2, 3, 4, 5, 6, 7
PREVIOUS_RHO, PREVIOUS_LN_T, T_1, T_2, W_0, W_1 = 8, 9, 10, 11, 12, 13
FEWEST_ATOMS, LARGEST_FALL, LEAST_STAGES, WHOLE_H, LAST_H, SLOPE = 14, 15, 16, 17, 18, 19
HARD, ERROR, TURN_ERROR, KEPT_RHO, KEPT_H, PEAK_RHO = 20, 21, 22, 23, 24, 25
SPEED, PART, QUIET, FLOATS = 26, 27, 28, 29
# Places in the integer state.
PHASE, STAGE, STAGES, POWER, STEP, MARK, BUFFERED, STARTUP, REJECTED = 0, 1, 2, 3, 4, 5, 6, 7, 8
MOST_STAGES, OTHERS, IN_A_ROW, CUT, LANDING, HALF, EVALUATIONS = 9, 10, 11, 12, 13, 14, 15
CHECKED, STUCK, SLIDES_FROM, COUNTS = 16, 17, 18, 19
# Places in the settings.
TAU_EARLY, H_EARLY, TAU_LATE, H_LATE, LATE_LN_T, CAP, EULER, EULER_C, EULER_H, V_SPEED = range(10)
BASE_STAGES, SETTINGS = 10, 11
# Phases of a step, and of the two half steps that check one.
BEGIN, POWER_ITERATION, PLAN, RUN_STAGE, FINISH, EMIT, HALVE = 0, 1, 2, 3, 4, 5, 6
# Why a step is shorter than the scheme would have it: to end just before a frame's time, to go the
# rest of the way to it, or to split what is left evenly.
NOT_CUT, APPROACH, REMAINDER, SPLIT = 0, 1, 2, 3
# Whether a network moves whose data are not fitted, as c[STUCK] says.
MOVES, HARDLY, SLOWLY = 0, 1, 2
CHECK_EVERY = 8  # steps, at least, from one step that is checked to the next
ROW = 8  # numbers beside each frame: see emit

MAX_STAGES = 3000
MOST_LEAST_STAGES = 400.0
MAX_SAFETY = 16.0
STATIONARY_SPEED = 1e-13
SHORT = 6.9  # ln of t by dt
LONG = 6.9  # ln t from which on a network that hardly moves is called stuck
VANISHED = 15.0  # |W| below e^-15 of its largest: |W|^2 is what rounding left of it
SMALLEST_STEP = 1e-16
STRICT = 1e-11
LATEST = 2.4e8  # ln t beyond which the margin gains less in a step than chatter takes from it
MOST_REFUSALS = 3
ATOM = 1e-3
LN_10 = 2.302585092994046


@compiled
def log_time_rate(startup: int, degree: int, others: int, rho: float, p: Array) -> float:
    """ln dt/ds = ln(n/Q) + (2 - L) rho."""
    rate = log_n_over_q(startup, others, p, exp(degree * rho))
    return rate + (2 - degree) * rho


@compiled
def heat(
    loss: int, degree: int, others: int, s: Array, c: Array, settings: Array, p: Array, q: Array
) -> None:
    """The temperature E = min(e^(L rho), cap), the form of the loss, and the dual weights."""
    true_temperature = exp(degree * s[RHO])
    c[STARTUP] = 0
    if smallest(p) * true_temperature <= 20.0:
        c[STARTUP] = 1 if loss == 1 else 2 if loss == 3 else 0
    c[OTHERS] = others
    s[TEMPERATURE] = min(true_temperature, settings[CAP])
    dual_weights(c[STARTUP], others, p, s[TEMPERATURE], q)


@compiled
def begin(
    loss: int, degree: int, others: int, s: Array, c: Array, settings: Array, p: Array, q: Array
) -> None:
    """Temperature, dual weights and the smoothed margin at the start of a step."""
    heat(loss, degree, others, s, c, settings, p, q)
    e = s[TEMPERATURE]
    s[SMOOTHED] = smoothed_margin(c[STARTUP], others, p, e) / e
    s[LOG_N_Q] = log_time_rate(c[STARTUP], degree, others, s[RHO], p)
    atoms = 0
    for i in range(q.size):
        atoms += q[i] > ATOM
    s[FEWEST_ATOMS] = min(s[FEWEST_ATOMS], atoms)
    if c[STEP] == 0 or c[POWER] < 0:
        c[POWER] = 50
    elif c[STEP] % (16 if c[STUCK] == HARDLY else 2) == 0:
        c[POWER] = 8
    else:
        c[POWER] = 0


@compiled
def log_mean(a: float, b: float) -> float:
    """ln of the logarithmic mean of e^a and e^b."""
    gap = abs(b - a)
    if gap < 1e-6:
        return 0.5 * (a + b)
    return max(a, b) + log((1.0 - exp(-gap)) / gap)


@compiled
def is_stuck(s: Array, moved: float, tau: float, longest: float) -> bool:
    """Whether theta hardly moves although some example is not classified.

    Q stays what it is there, s grows like t instead of ln t, and the run takes steps in proportion
    to t.
    """
    slow: bool = moved * longest <= 0.25 * tau * s[H] and s[LN_T] > LONG
    return slow and bool(s[SMOOTHED] <= 0.0)


@compiled
def is_slow(s: Array, gained: float) -> bool:
    """Whether some example is not classified, and a step is a thousandth of t at most: it may be
    stuck all the same, and move by nothing but chatter.
    """
    late: bool = s[LN_T] > LONG and gained < s[LN_T] - SHORT
    return late and bool(s[SMOOTHED] <= 0.0)


@compiled
def accept(
    degree: int, s: Array, c: Array, settings: Array, p: Array, norm: float, moved: float
) -> None:
    """Move rho and ln t on, and choose the next h, safety factor and least number of stages."""
    s[PREVIOUS_RHO], s[PREVIOUS_LN_T] = s[RHO], s[LN_T]
    s[RHO] += log(norm)
    s[HARD], s[LAST_H] = smallest(p), s[H]
    rate = log_time_rate(c[STARTUP], degree, c[OTHERS], s[RHO], p)
    s[SLOPE] = (rate - s[LOG_N_Q]) / s[H]
    gained = log(s[H]) + log_mean(s[LOG_N_Q], rate)
    if s[LN_T] == -inf:
        s[LN_T] = gained
    else:
        high, low = max(s[LN_T], gained), min(s[LN_T], gained)
        s[LN_T] = high + log(1.0 + exp(low - high))
    c[STEP] += 1
    c[IN_A_ROW] = 0
    c[LANDING] = 1 if c[CUT] == APPROACH else 0
    late = s[LN_T] > settings[LATE_LN_T]
    tau = settings[TAU_LATE] if late else settings[TAU_EARLY]
    longest = settings[H_LATE] if late else settings[H_EARLY]
    s[SAFETY] = max(2.0, 0.98 * s[SAFETY])
    s[LEAST_STAGES] = max(settings[BASE_STAGES], 0.97 * s[LEAST_STAGES])
    s[PEAK_RHO] = max(s[PEAK_RHO], s[RHO])
    c[STUCK] = MOVES
    if is_stuck(s, moved, tau, longest):
        c[STUCK] = HARDLY
    elif is_slow(s, gained):
        c[STUCK] = SLOWLY
    if c[CUT] == NOT_CUT:
        factor = 1.3 if moved * 1.3 <= tau else max(0.5, tau / moved)
        s[H] = min(longest, s[H] * factor)
        return
    # A step that was cut tells how fast theta moves; the next one is as long as if nothing was cut.
    fit_for_tau = s[H] * max(0.5, tau / moved) if moved > 0.0 else longest
    s[H] = min(longest, min(1.3 * s[WHOLE_H], fit_for_tau))


@compiled
def fit(s: Array, c: Array, settings: Array, p: Array, norm: float) -> bool:
    """Whether a step may be taken: the smoothed margin must not fall. If not, the next is finer.

    After some refusals in a row, or with the most stages that are tried for it, a small fall is let
    through, rather than the run comes to a stop; and any of 1e-8 beyond log10 t = 1e8.

    A finer step has half the length, or, where parts of degree 0 slide along kinks, more stages:
    both what is gained and what chatter across a kink loses are proportional to h there, while
    chatter is proportional to 1/S^2.
    """
    e = s[TEMPERATURE]
    fall = s[SMOOTHED] - smoothed_margin(c[STARTUP], c[OTHERS], p, e) / e
    # Written so that a NaN is refused too.
    most = c[IN_A_ROW] >= MOST_REFUSALS or s[LEAST_STAGES] >= MOST_LEAST_STAGES
    room = 1e-9 + 0.01 / e if most else STRICT
    if s[LN_T] > LATEST:
        room = 1e-8
    fine = s[SMOOTHED] <= 0.0 or fall <= room
    if settings[EULER] == 0.0 and not (fine and norm > 0.0):
        c[REJECTED] += 1
        c[IN_A_ROW] += 1
        refine(s, c, settings)
        return False
    if s[SMOOTHED] > 0.0:
        s[LARGEST_FALL] = max(s[LARGEST_FALL], fall)
    return True


@compiled
def refine(s: Array, c: Array, settings: Array) -> None:
    """After a refused step: half the length, or more stages where refusals come again."""
    stages = max(s[LEAST_STAGES], float(c[STAGES]))
    again = c[IN_A_ROW] > 1 or s[LEAST_STAGES] > 1.0
    if again and stages < MOST_LEAST_STAGES:
        s[LEAST_STAGES] = min(1.7 * stages, MOST_LEAST_STAGES)
        return
    s[H] /= 2.0
    s[SAFETY] = min(1.5 * s[SAFETY], MAX_SAFETY)


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
    scaled: int,
    s: Array,
    c: Array,
    theta: Array,
    previous: Array,
    marks: Array,
    buffer: Array,
    rows: Array,
) -> None:
    """Write the frames of all marks that the last step passed, as far as the buffer holds them.

    A row of `rows` holds step, rho, h, stages, fewest atoms of q, largest fall of the smoothed
    margin since the frame before, and the errors of the last step that was checked.
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
        row[6], row[7] = s[ERROR], s[TURN_ERROR]
        s[FEWEST_ATOMS], s[LARGEST_FALL], c[MOST_STAGES] = inf, 0.0, 0
        c[BUFFERED] += 1
        c[MARK] += 1


@compiled
def after_frames(c: Array, marks: Array, buffer: Array) -> int:
    """What comes after `emit`: DONE, BUFFER_FULL, or GOING and the next step."""
    if c[MARK] == marks.size:
        return DONE
    if c[BUFFERED] == buffer.shape[0]:
        return BUFFER_FULL
    c[PHASE] = BEGIN
    return GOING


@compiled
def moves(s: Array, G: Array) -> bool:
    """Whether theta moves at all: |G| against what rounding leaves of a sum that is zero.

    |sum_i q_i grad p_i|^2 <= lambda sum_i q_i over the examples with a gradient, so that
    sqrt(lambda) says how large it would be if nothing cancelled. A flow into W = 0 stays there.
    """
    total = 0.0
    for k in range(G.size):
        total += G[k] * G[k]
    s[SPEED] = sqrt(total)
    least = STATIONARY_SPEED * (min(1.0, sqrt(s[LAMBDA])) if s[LAMBDA] > 0.0 else 1.0)
    there: bool = s[RHO] >= s[PEAK_RHO] - VANISHED
    return there and bool(s[SPEED] >= least)
