"""Gradient flow in log time on a 2-homogeneous two-layer network, compiled.

The state machine that `core.dynamics.flow` drives. W = e^rho theta with |theta| = 1, and
dW/ds = sum_i q_i grad p_i, ds = (Q/n) dt, which never underflows. One step of the production scheme
is a damped first-order Runge-Kutta-Chebyshev step (Verwer's family, w0 = 1 + 1/S^2) at a fixed
temperature E = min(e^(2 rho), cap); S = 1 is the Euler step.

`advance` does a bounded number of field evaluations and returns, also in the middle of a step, so
that pause and cancel are honoured between the stages; results do not depend on where it returns.
"""

from __future__ import annotations

from math import acosh, cosh, exp, inf, log, sinh, sqrt
from typing import Any

from numpy.typing import NDArray

from core.compiled.dual import dual_weights, log_n_over_q, smallest, smoothed_margin
from core.compiled.jit import compiled
from core.compiled.kernel import backward, inner_gradient, outputs, preactivations

Array = NDArray[Any]

GOING, BUFFER_FULL, DONE, STATIONARY, STALLED = 0, 1, 2, 3, 4

# Places in the float state.
RHO, LN_T, H, SAFETY, LAMBDA, TEMPERATURE, LOG_N_Q, SMOOTHED = 0, 1, 2, 3, 4, 5, 6, 7
PREVIOUS_RHO, PREVIOUS_LN_T, T_1, T_2, W_0, W_1 = 8, 9, 10, 11, 12, 13
FEWEST_ATOMS, LARGEST_FALL, FLOATS = 14, 15, 16
# Places in the integer state.
PHASE, STAGE, STAGES, POWER, STEP, MARK, BUFFERED, STARTUP, REJECTED = 0, 1, 2, 3, 4, 5, 6, 7, 8
MOST_STAGES, COUNTS = 9, 10
# Places in the settings.
TAU_EARLY, H_EARLY, TAU_LATE, H_LATE, LATE_LN_T, CAP, EULER, EULER_C, EULER_H = range(9)
# Phases of a step.
BEGIN, POWER_ITERATION, PLAN, RUN_STAGE, FINISH, EMIT = 0, 1, 2, 3, 4, 5

MAX_STAGES = 300
MAX_SAFETY = 16.0
STATIONARY_SPEED = 1e-13
SMALLEST_STEP = 1e-16
ATOM = 1e-3
LN_10 = 2.302585092994046


@compiled
def margins(flat: Array, XT: Array, y: Array, Z: Array, p: Array) -> None:
    """p_i = y_i f(x_i), with the preactivations left in Z."""
    m, d = Z.shape[0], XT.shape[0]
    preactivations(flat[m:].reshape(m, d), XT, Z)
    outputs(flat[:m], Z, p)
    for i in range(p.size):
        p[i] *= y[i]


@compiled
def combine(flat: Array, XT: Array, weights: Array, Z: Array, C: Array, result: Array) -> None:
    """result = sum_i weights_i grad f(x_i) at `flat`, whose preactivations are in Z."""
    m, d = Z.shape[0], XT.shape[0]
    backward(flat[:m], Z, weights, C, result[:m])
    inner_gradient(C, XT, result[m:].reshape(m, d))


@compiled
def field(flat: Array, XT: Array, y: Array, q: Array, Z: Array, C: Array, G: Array) -> None:
    """G = sum_i q_i grad p_i."""
    weights = q * y
    combine(flat, XT, weights, Z, C, G)


@compiled
def power_iteration(
    theta: Array, XT: Array, y: Array, q: Array, Z: Array, C: Array, u: Array, w: Array
) -> float:
    """One step w <- K w / |K w| for K = sqrt(q) <grad p_i, grad p_j> sqrt(q); returns |K w|."""
    m, n = Z.shape
    d = XT.shape[0]
    weights = y * q**0.5 * w
    combine(theta, XT, weights, Z, C, u)
    alpha, d_alpha = theta[:m], u[:m]
    preactivations(u[m:].reshape(m, d), XT, C)
    for i in range(n):
        w[i] = 0.0
    for j in range(m):
        a, b = alpha[j], d_alpha[j]
        for i in range(n):
            w[i] += b * Z[j, i] + a * C[j, i] if Z[j, i] > 0.0 else 0.0
    norm = 0.0
    for i in range(n):
        w[i] *= y[i] * q[i] ** 0.5
        norm += w[i] * w[i]
    norm = sqrt(norm)
    if norm > 0.0:
        for i in range(n):
            w[i] /= norm
    else:
        for i in range(n):
            w[i] = n**-0.5
    return norm


@compiled
def begin(loss: int, s: Array, c: Array, settings: Array, p: Array, q: Array) -> None:
    """Temperature, dual weights and the smoothed margin at the start of a step."""
    true_temperature = exp(2.0 * s[RHO])
    e = min(true_temperature, settings[CAP])
    c[STARTUP] = 1 if loss == 1 and smallest(p) * true_temperature <= 20.0 else 0
    s[TEMPERATURE] = e
    s[SMOOTHED] = smoothed_margin(c[STARTUP], p, e) / e
    s[LOG_N_Q] = log_n_over_q(c[STARTUP], p, true_temperature)
    dual_weights(c[STARTUP], p, e, q)
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
def accept(s: Array, c: Array, settings: Array, p: Array, norm: float, moved: float) -> None:
    """Move rho and ln t on, and choose the next h and safety factor."""
    s[PREVIOUS_RHO], s[PREVIOUS_LN_T] = s[RHO], s[LN_T]
    s[RHO] += log(norm)
    gained = log(s[H]) + log_mean(s[LOG_N_Q], log_n_over_q(c[STARTUP], p, exp(2.0 * s[RHO])))
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
def finish(
    theta: Array, XT: Array, y: Array, settings: Array,
    s: Array, c: Array, newer: Array, previous: Array, Z: Array, p: Array,
) -> bool:  # fmt: skip
    """Normalise the last stage, test it, and take it or refuse it; True when taken."""
    norm = 0.0
    for k in range(newer.size):
        norm += newer[k] * newer[k]
    norm = sqrt(norm)
    moved = 0.0
    for k in range(newer.size):
        newer[k] /= norm
        moved += (newer[k] - theta[k]) ** 2
    margins(newer, XT, y, Z, p)
    e = s[TEMPERATURE]
    fall = s[SMOOTHED] - smoothed_margin(c[STARTUP], p, e) / e
    # Written so that a NaN is refused too.
    fine = s[SMOOTHED] <= 0.0 or fall <= 1e-9 + 0.01 / e
    if settings[EULER] == 0.0 and not (fine and norm > 0.0):
        s[H] /= 2.0
        s[SAFETY] = min(1.5 * s[SAFETY], MAX_SAFETY)
        c[REJECTED] += 1
        return False
    if s[SMOOTHED] > 0.0:
        s[LARGEST_FALL] = max(s[LARGEST_FALL], fall)
    c[MOST_STAGES] = max(c[MOST_STAGES], c[STAGES])
    for k in range(theta.size):
        previous[k] = theta[k]
        theta[k] = newer[k]
    accept(s, c, settings, p, norm, sqrt(moved))
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
    s: Array, c: Array, theta: Array, previous: Array, marks: Array, buffer: Array, rows: Array
) -> None:
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
            norm += out[k] * out[k]
        norm = sqrt(norm)
        for k in range(theta.size):
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


@compiled
def next_stage(
    theta: Array, XT: Array, y: Array, s: Array, c: Array,
    older: Array, newer: Array, G: Array, Z: Array, C: Array, p: Array, q: Array,
) -> None:  # fmt: skip
    """Evaluate the field at the last stage and make the next one."""
    margins(newer, XT, y, Z, p)
    dual_weights(c[STARTUP], p, s[TEMPERATURE], q)
    field(newer, XT, y, q, Z, C, G)
    stage(s, theta, older, newer, G)
    c[STAGE] += 1
    if c[STAGE] == c[STAGES]:
        c[PHASE] = FINISH


@compiled
def advance(
    loss: int, theta: Array, XT: Array, y: Array, settings: Array, s: Array, c: Array,
    marks: Array, buffer: Array, rows: Array, budget: int,
    work: tuple[Array, ...], matrices: tuple[Array, ...], points: tuple[Array, ...],
) -> int:  # fmt: skip
    """At most about `budget` field evaluations; returns GOING, BUFFER_FULL, DONE and so on.

    `work` are five vectors of the size of theta (G(theta), G, Y_(j-2), Y_(j-1), theta before),
    `matrices` three (m, n), `points` five vectors (n,): p(theta), p, q(theta), q, the power vector.
    """
    G0, G, older, newer, previous = work
    Z0, Z, C = matrices
    p0, p, q0, q, w = points
    for _ in range(budget):
        if c[PHASE] == EMIT:
            emit(s, c, theta, previous, marks, buffer, rows)
            if c[MARK] == marks.size:
                return DONE
            if c[BUFFERED] == buffer.shape[0]:
                return BUFFER_FULL
            c[PHASE] = BEGIN
        if c[PHASE] == BEGIN:
            margins(theta, XT, y, Z0, p0)
            begin(loss, s, c, settings, p0, q0)
            field(theta, XT, y, q0, Z0, C, G0)
            if speed(G0) < STATIONARY_SPEED:
                return STATIONARY
            c[PHASE] = POWER_ITERATION if c[POWER] > 0 else PLAN
        elif c[PHASE] == POWER_ITERATION:
            s[LAMBDA] = power_iteration(theta, XT, y, q0, Z0, C, G, w)
            c[POWER] -= 1
            if c[POWER] == 0:
                c[PHASE] = PLAN
        elif c[PHASE] == PLAN:
            plan(s, c, settings)
            if s[H] < SMALLEST_STEP:
                return STALLED
            first_stage(s, c, theta, older, newer, G0)
        elif c[PHASE] == RUN_STAGE:
            next_stage(theta, XT, y, s, c, older, newer, G, Z, C, p, q)
        else:
            taken = finish(theta, XT, y, settings, s, c, newer, previous, Z, p)
            c[PHASE] = EMIT if taken else PLAN
    return GOING
