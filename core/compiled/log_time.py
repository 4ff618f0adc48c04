"""Log-time scheme apart from the network: its steps, clock and frames.

`core.compiled.phases` calls these between evaluations of the field. Its state in a run is in
`core.compiled.log_time_state`.
"""

from __future__ import annotations

from math import exp, inf, log, sqrt
from typing import Any

from numpy.typing import NDArray

from core.compiled.dual import dual_weights, log_n_over_q, smallest, smoothed_margin
from core.compiled.jit import compile_kernel
from core.compiled.log_time_state import State
from core.losses import EXPONENTIAL

Array = NDArray[Any]

GOING, BUFFER_FULL, DONE, STATIONARY, STALLED, STICKS, ENDED = 0, 1, 2, 3, 4, 5, 6

# Phases of a step; HALVE starts the two half steps of a check.
START_STEP, POWER_ITERATION, PLAN, RUN_STAGE, FINISH, EMIT, HALVE = 0, 1, 2, 3, 4, 5, 6
# Why a step is shorter than planned: to end just before a frame's time, to cover the rest of the
# way, or to split the remainder evenly.
NOT_CUT, APPROACH, REMAINDER, SPLIT = 0, 1, 2, 3
# Values of s.stuck: how a network moves whose data are not fitted.
MOVES, HARDLY, SLOWLY = 0, 1, 2
CHECK_EVERY = 8  # minimal number of steps between two checked steps
ROW = 8  # diagnostics per frame: see core.compiled.phases

# Constants of the scheme; docs/decisions/0003 has the measurements behind them.
MAX_STAGES = 3000
MOST_LEAST_STAGES = 400.0
MAX_SAFETY = 16.0
STATIONARY_SPEED = 1e-13  # |d theta/ds| of a zero field, from rounding alone
SHORT = 6.9  # ln(t/dt) above which a step counts as short
LONG = 6.9  # ln t from which a network that hardly moves counts as stuck
VANISHED = 15.0  # below e^-15 of the largest |W|, |W|^2 consists of rounding errors
SMALLEST_STEP = 1e-16
STRICT = 1e-11  # tolerated fall of the smoothed margin in a step; the flow never lowers it
LATEST = 2.4e8  # ln t beyond which chatter in a step outweighs the gain of the margin
MOST_REFUSALS = 3  # refusals in a row after which a small fall is accepted
# Mass of q on few examples shows that the integrator lost resolution (docs/theory.md, 9).
ATOM = 1e-3
LN_10 = 2.302585092994046


@compile_kernel
def log_time_rate(s: State, p: Array) -> float:
    """Return ln dt/ds = ln(n/Q) + (2 - L) rho."""
    # The factor of L makes dW/ds = sum_i q_i grad p_i at every degree: one scheme for all networks.
    rate = log_n_over_q(s.form, s.others, p, exp(s.degree * s.rho))
    return rate + (2 - s.degree) * s.rho


@compile_kernel
def update_dual_weights(s: State, p: Array, q: Array) -> None:
    """Set the temperature E = min(e^(L rho), cap), the form of the loss, and the dual weights.

    Parameters
    ----------
    s, p, q : State, array (N,), array (N,)
        State (updated in place), scores, and dual weights (written in place).
    """
    # The cap applies to q only; the clock uses the true temperature (`log_time_rate`). Past p = 20
    # the other losses equal e^-p to one part in 1e9 (docs/theory.md, 3.2).
    true_temperature = exp(s.degree * s.rho)
    s.form = s.loss if smallest(p) * true_temperature <= 20.0 else EXPONENTIAL
    s.temperature = min(true_temperature, s.cap)
    dual_weights(s.form, s.others, p, s.temperature, q)


@compile_kernel
def start_step(s: State, p: Array, q: Array) -> None:
    """Set temperature, dual weights and the smoothed margin at a step's start.

    Parameters
    ----------
    s, p, q : State, array (N,), array (N,)
        State (updated in place), scores, and dual weights (written in place).
    """
    update_dual_weights(s, p, q)
    e = s.temperature
    s.smoothed = smoothed_margin(s.form, s.others, p, e) / e
    s.log_n_q = log_time_rate(s, p)
    atoms = 0
    for i in range(q.size):
        atoms += q[i] > ATOM
    s.fewest_atoms = min(s.fewest_atoms, atoms)
    # The power iteration continues from its last vector: a few iterations follow theta. While a
    # network hardly moves, every 16th step suffices, which spared 4 in 10 evaluations
    # (docs/decisions/0003).
    if s.step == 0 or s.power < 0:
        s.power = 50
    elif s.step % (16 if s.stuck == HARDLY else 2) == 0:
        s.power = 8
    else:
        s.power = 0
    s.phase = POWER_ITERATION if s.power > 0 else PLAN


@compile_kernel
def log_mean(a: float, b: float) -> float:
    """Return ln of the logarithmic mean of e^a and e^b."""
    gap = abs(b - a)
    if gap < 1e-6:
        # Error gap^2/24, below 1e-13; the quotient below would cancel.
        return 0.5 * (a + b)
    return max(a, b) + log((1.0 - exp(-gap)) / gap)


@compile_kernel
def is_stuck(s: State, distance: float, tau: float, longest: float) -> bool:
    """Return True if theta hardly moves although some example is not classified.

    Q is constant there, s grows like t instead of ln t, and the run takes steps in proportion to t.

    Parameters
    ----------
    s : State
        State at the end of a step of length h, with ln t after it.
    distance : float
        |theta' - theta| of the step.
    tau, longest : float
        Distance at which steps aim, and largest allowed h.

    Returns
    -------
    bool
        True if ln t > LONG, the smoothed margin is not positive, and theta moves at a quarter of
        the speed tau/longest at most.
    """
    slow: bool = distance * longest <= 0.25 * tau * s.h and s.ln_t > LONG
    return slow and bool(s.smoothed <= 0.0)


@compile_kernel
def is_slow(s: State, gained: float) -> bool:
    """Return True if some example is not classified, and a step is shorter than about t/1000.

    `gained` is ln dt of the step. Such a network may be stuck, and move by nothing but chatter.
    """
    late: bool = s.ln_t > LONG and gained < s.ln_t - SHORT
    return late and bool(s.smoothed <= 0.0)


@compile_kernel
def accept_step(s: State, p: Array, norm: float, distance: float) -> None:
    """Advance rho and ln t, and choose the next h, safety factor and least number of stages.

    Parameters
    ----------
    s, p : State, array (N,)
        State of the scheme, updated in place, and scores at the normalised end of the step.
    norm, distance : float
        Norm of the last stage, and |theta' - theta| of the step.
    """
    s.previous_rho, s.previous_ln_t = s.rho, s.ln_t
    s.rho += log(norm)
    s.hard, s.last_h = smallest(p), s.h
    rate = log_time_rate(s, p)
    s.slope = (rate - s.log_n_q) / s.h
    gained = log(s.h) + log_mean(s.log_n_q, rate)
    if s.ln_t == -inf:
        s.ln_t = gained
    else:
        high, low = max(s.ln_t, gained), min(s.ln_t, gained)
        # ln(t + dt): late t and dt both exceed float64.
        s.ln_t = high + log(1.0 + exp(low - high))
    s.step += 1
    s.most_stages = max(s.most_stages, s.stages)
    s.in_a_row = 0
    s.landing = 1 if s.cut == APPROACH else 0
    late = s.ln_t > s.late_ln_t
    tau = s.tau_late if late else s.tau_early
    longest = s.h_late if late else s.h_early
    # Refusals raise both numbers; they decay slowly.
    s.safety = max(2.0, 0.98 * s.safety)
    s.least_stages = max(s.base_stages, 0.97 * s.least_stages)
    s.peak_rho = max(s.peak_rho, s.rho)
    s.stuck = MOVES
    if is_stuck(s, distance, tau, longest):
        s.stuck = HARDLY
    elif is_slow(s, gained):
        s.stuck = SLOWLY
    if s.cut == NOT_CUT:
        factor = s.growth if distance * s.growth <= tau else max(0.5, tau / distance)
        s.h = min(longest, s.h * factor)
        return
    # After a shortened step, derive the next length from the speed of theta, as if nothing was cut.
    fit_for_tau = s.h * max(0.5, tau / distance) if distance > 0.0 else longest
    s.h = min(longest, min(s.growth * s.whole_h, fit_for_tau))


@compile_kernel
def choose_step(s: State, p: Array, norm: float) -> bool:
    """Return True if a step may be taken: the smoothed margin must not fall. Else refine it.

    After MOST_REFUSALS refusals in a row, or at MOST_LEAST_STAGES stages, a small fall is accepted,
    since the run would stop otherwise. Beyond ln t = LATEST any fall up to 1e-8 is accepted.

    A refined step has half the length, or, where parts of degree 0 slide along kinks, more stages:
    both what is gained and what chatter across a kink loses are proportional to h there, while
    chatter is proportional to 1/S^2.

    Parameters
    ----------
    s : State
        State of the scheme, updated in place. A refused step is planned again.
    p : array (N,)
        Scores at the normalised end of the step.
    norm : float
        |W| after the step over |W| before it; a step is refused unless this is positive.

    Returns
    -------
    bool
        False if the step is refused, also for NaN. Euler steps, and those from a smoothed margin
        that is not positive, are accepted whatever the margin does.
    """
    e = s.temperature
    fall = s.smoothed - smoothed_margin(s.form, s.others, p, e) / e
    # `fine` is false for NaN, which is refused too.
    is_at_limit = s.in_a_row >= MOST_REFUSALS or s.least_stages >= MOST_LEAST_STAGES
    # With less tolerance narrow normalised networks (m = 10, d = 6; m = 16, d = 8) stop for good.
    room = 1e-9 + 0.01 / e if is_at_limit else STRICT
    if s.ln_t > LATEST:
        room = 1e-8
    fine = s.smoothed <= 0.0 or fall <= room
    if s.euler == 0 and not (fine and norm > 0.0):
        s.rejected += 1
        s.in_a_row += 1
        refine_step(s)
        s.phase = PLAN
        return False
    if s.smoothed > 0.0:
        s.largest_fall = max(s.largest_fall, fall)
    return True


@compile_kernel
def replace_theta(previous: Array, theta: Array, newer: Array) -> None:
    """Set theta to the last stage, and `previous` to theta.

    Parameters
    ----------
    previous, theta : array (P,)
        Parameters before the last step and now, updated in place.
    newer : array (P,)
        Normalised last stage of the accepted step.
    """
    for k in range(theta.size):
        previous[k] = theta[k]
        theta[k] = newer[k]


@compile_kernel
def second_half(s: State, norm: float, middle: Array, newer: Array) -> None:
    """Start the second half of a step where the first ended.

    Parameters
    ----------
    s, norm, middle, newer : State, float, array (P,), array (P,)
        State (updated in place), norm of the first half's end newer, and its copy (overwritten).
    """
    for k in range(middle.size):
        middle[k] = newer[k]
    s.rho += log(norm)
    s.half = 2
    s.phase = HALVE


@compile_kernel
def refine_step(s: State) -> None:
    """Halve the length after a refused step, or add stages if refusals repeat."""
    # Halving h does not help against chatter: the gain of a step and the loss by chatter are both
    # proportional to h. 1.7 times the stages divide chatter by three.
    stages = max(s.least_stages, float(s.stages))
    is_repeated = s.in_a_row > 1 or s.least_stages > 1.0
    if is_repeated and stages < MOST_LEAST_STAGES:
        s.least_stages = min(1.7 * stages, MOST_LEAST_STAGES)
        return
    s.h /= 2.0
    s.safety = min(1.5 * s.safety, MAX_SAFETY)


@compile_kernel
def weight_of_mark(s: State, mark: float) -> float:
    """Return the position of log10 t = mark between the last two steps, in schedule coordinates.

    Linear in log t below t = 10 and in ln log10 t above; in t itself during the first step.
    """
    if s.previous_ln_t == -inf:
        return exp(mark * LN_10 - s.ln_t)
    # The same function as core.problem.schedule.coordinate.
    x0, x1 = s.previous_ln_t / LN_10, s.ln_t / LN_10
    u0 = x0 if x0 <= 1.0 else 1.0 + log(x0)
    u1 = x1 if x1 <= 1.0 else 1.0 + log(x1)
    u = mark if mark <= 1.0 else 1.0 + log(mark)
    return (u - u0) / (u1 - u0)


@compile_kernel
def blend_states(
    s: State, scaled: int, previous: Array, theta: Array, w: float, out: Array
) -> float:
    """Write (1 - w) previous + w theta, normalised; return its rho.

    Parameters
    ----------
    s : State
        State with rho before and after the last step.
    scaled : int
        Number of parameters, the first ones, that are divided by their norm.
    previous, theta : array (P,)
        Parameters before and after the last step.
    w : float
        Weight of theta, from 0 to 1.
    out : array (P,)
        Blended parameters, written in place.

    Returns
    -------
    float
        (1 - w) times rho before the step, plus w times rho after it.
    """
    norm = 0.0
    for k in range(theta.size):
        out[k] = (1.0 - w) * previous[k] + w * theta[k]
    for k in range(scaled):
        norm += out[k] * out[k]
    norm = sqrt(norm)
    for k in range(scaled):
        out[k] /= norm
    return (1.0 - w) * s.previous_rho + w * s.rho


@compile_kernel
def is_moving(s: State, G: Array) -> bool:
    """Set the speed |G|; return True if it is above the rounding of a sum that is zero.

    |sum_i q_i grad p_i|^2 <= lambda sum_i q_i over the examples with a gradient, so that
    sqrt(lambda) says how large it would be if nothing cancelled. Return False also where rho is
    VANISHED below its peak: a flow into W = 0 stays there.
    """
    total = 0.0
    for k in range(G.size):
        total += G[k] * G[k]
    s.speed = sqrt(total)
    least = STATIONARY_SPEED * (min(1.0, sqrt(s.eigenvalue)) if s.eigenvalue > 0.0 else 1.0)
    is_at_peak: bool = s.rho >= s.peak_rho - VANISHED
    return is_at_peak and bool(s.speed >= least)
