"""The scalar network's exact n-dimensional equation, in log time, compiled.

From a balanced start |a_j| = |b_j| signs and balance are kept, so that with u_j = |a_j b_j| and
z_ij = y_i sgn(a_j) relu(sgn(b_j) <v_j, x_i>) the margins are p = Z u, and

    u = u(0) exp(2 Z' lambda),    d lambda/ds = q,    ds = (Q/n) dt,

with lambda in R^n. Source: telgarsky22, section 3.2; homogeneity, Lemma 3.2. The scheme is that of
core.compiled.log_time with lambda in place of theta; the parameters of a frame are
theta = (sgn(a) sqrt(u), sgn(b) sqrt(u)) e^-rho of norm 1, rho = ln(2 sum u)/2.
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Any

from numpy.typing import NDArray

from core.compiled.chebyshev import after_step, compared, first_stage, plan, plan_half, stage
from core.compiled.dual import dual_weights, smallest
from core.compiled.jit import compiled
from core.compiled.log_time import (
    BEGIN,
    BUFFERED,
    EMIT,
    ERROR,
    FEWEST_ATOMS,
    FINISH,
    GOING,
    HALF,
    HALVE,
    KEPT_RHO,
    LAMBDA,
    LARGEST_FALL,
    LAST_H,
    LN_10,
    LN_T,
    MARK,
    MOST_STAGES,
    PHASE,
    PLAN,
    POWER,
    POWER_ITERATION,
    RHO,
    RUN_STAGE,
    SLOPE,
    SMALLEST_STEP,
    SMOOTHED,
    STAGE,
    STAGES,
    STALLED,
    STARTUP,
    STATIONARY,
    STEP,
    TAU_EARLY,
    TEMPERATURE,
    TURN_ERROR,
    H,
    accept,
    after_frames,
    begin,
    fit,
    heat,
    weight_of_mark,
)

Array = NDArray[Any]
AT_REST, CHECK = -1, -2  # what comes after a step, beside the phases
SLOW = 0.01  # of tau: below this a step may be longer than what resolves a growing network
REST = 1e-13  # speed in s below which nothing moves any more
NOTHING = -350.0  # of rho: u = |W|^2/2 is then below the least number that a float64 holds well
FAR = 1e3  # of lambda, which grows like s where some example is not classified
BENT = 1e-5  # error of ln u that a step may make while some example is not classified
TURNED = 0.02  # change of ln dt/ds that such a step may see: the clock's error is of its square
Net = tuple[Array, Array, Array]  # Z (n, m), ln u(0) (m,), signs of a and b (2, m)


@compiled
def weights(net: Net, scale: float, at: Array, u: Array) -> float:
    """u_j = u_j(0) exp(2 (Z' at)_j - 2 scale); returns sqrt(2 sum u), the norm of (a, b)."""
    Z, start, _ = net
    for j in range(u.size):
        u[j] = start[j] - 2.0 * scale
    for i in range(at.size):
        twice, z = 2.0 * at[i], Z[i]
        for j in range(u.size):
            u[j] += twice * z[j]
    total = 0.0
    for j in range(u.size):
        u[j] = exp(u[j])
        total += u[j]
    return sqrt(2.0 * total)


@compiled
def margins(net: Net, u: Array, p: Array) -> None:
    """p = Z u."""
    Z = net[0]
    for i in range(p.size):
        z, total = Z[i], 0.0
        for j in range(u.size):
            total += z[j] * u[j]
        p[i] = total


@compiled
def power_iteration(net: Net, u: Array, q: Array, w: Array, work: Array) -> float:
    """One step w <- K w/|K w|, K = sqrt(q) 2 Z diag(u) Z' sqrt(q); returns |K w|."""
    Z = net[0]
    work[:] = 0.0
    for i in range(w.size):
        size, z = w[i] * sqrt(q[i]), Z[i]
        for j in range(u.size):
            work[j] += size * z[j]
    for j in range(u.size):
        work[j] *= 2.0 * u[j]
    margins(net, work, w)
    norm = 0.0
    for i in range(w.size):
        w[i] *= sqrt(q[i])
        norm += w[i] * w[i]
    norm = sqrt(norm)
    for i in range(w.size):
        w[i] = w[i] / norm if norm > 0.0 else 1.0 / sqrt(w.size)
    return norm


@compiled
def next_stage(
    net: Net, s: Array, c: Array, at: Array, older: Array, newer: Array, u: Array, p: Array,
    q: Array,
) -> None:  # fmt: skip
    """Evaluate q at the last stage and make the next one."""
    weights(net, s[RHO], newer, u)
    margins(net, u, p)
    dual_weights(c[STARTUP], 1, p, s[TEMPERATURE], q)
    stage(s, at, older, newer, q)
    c[STAGE] += 1
    if c[STAGE] == c[STAGES]:
        c[PHASE] = FINISH


@compiled
def drift(net: Net, s: Array, c: Array, p: Array, q: Array, q0: Array, work: Array) -> float:
    """How far a step bends ln u: h max_j |2 (Z' (q - q0))_j|, with q at its end.

    A step of first order takes q0 for all of it, so that this bounds its error twice.
    """
    Z = net[0]
    dual_weights(c[STARTUP], 1, p, s[TEMPERATURE], q)
    work[:] = 0.0
    for i in range(q.size):
        change, z = 2.0 * (q[i] - q0[i]), Z[i]
        for j in range(work.size):
            work[j] += change * z[j]
    most = 0.0
    for j in range(work.size):
        most = max(most, abs(work[j]))
    return float(s[LAST_H] * most)


@compiled
def finish(
    net: Net, at: Array, settings: Array, s: Array, c: Array, newer: Array, previous: Array,
    work: tuple[Array, ...], points: tuple[Array, ...],
) -> int:  # fmt: skip
    """Test the last stage, and take it: CHECK or AT_REST; or PLAN, where it is refused."""
    u0, u = work
    _, q0, p, q = points[:4]
    norm = weights(net, s[RHO], newer, u)
    moved = 0.0
    for j in range(u.size):
        u[j] /= norm * norm
        step = sqrt(u[j]) - sqrt(u0[j])
        moved += 2.0 * step * step
    margins(net, u, p)
    if not fit(s, c, settings, p, norm):
        return PLAN
    stuck = s[SMOOTHED] <= 0.0
    c[MOST_STAGES] = max(c[MOST_STAGES], c[STAGES])
    for i in range(at.size):
        previous[i], at[i] = at[i], newer[i]
    moved = sqrt(moved)
    accept(2, s, c, settings, p, norm, moved)
    if not stuck:
        return CHECK
    dual_temperature = s[TEMPERATURE]
    s[TEMPERATURE] = dual_temperature * norm * norm
    bent = drift(net, s, c, p, q, q0, u0)
    s[TEMPERATURE] = dual_temperature
    turned = abs(s[SLOPE]) * s[LAST_H]
    lengthen(s, settings, moved, bent, turned)
    return AT_REST if max(moved, abs(log(norm))) < REST * s[LAST_H] else CHECK


@compiled
def begin_half(
    net: Net, loss: int, base: Array, settings: Array, s: Array, c: Array, u: Array, p: Array,
    q: Array, older: Array, newer: Array,
) -> None:  # fmt: skip
    """The first stage of half the last step, from `base`."""
    weights(net, s[RHO], base, u)
    margins(net, u, p)
    heat(loss, 2, 1, s, c, settings, p, q)
    plan_half(s, c, settings)
    first_stage(s, c, base, older, newer, q)


@compiled
def finish_half(
    net: Net, at: Array, s: Array, c: Array, newer: Array, middle: Array, u: Array, whole: Array,
    p: Array,
) -> None:  # fmt: skip
    """The end of a half step: the second begins where the first ended, and is compared."""
    norm = weights(net, s[RHO], newer, u)
    if c[HALF] == 1:
        for i in range(middle.size):
            middle[i] = newer[i]
        s[RHO] += log(norm)
        c[HALF] = 2
        c[PHASE] = HALVE
        return
    weights(net, s[KEPT_RHO], at, whole)
    turned = 0.0
    for j in range(u.size):
        u[j] /= norm * norm
        turn = sqrt(u[j]) - sqrt(whole[j])
        turned += 2.0 * turn * turn
    margins(net, u, p)
    compared(s, c, smallest(p), sqrt(turned))


@compiled
def lengthen(s: Array, settings: Array, moved: float, bent: float, turned: float) -> None:
    """The next h while some example is not classified.

    Where that stays so u has a finite limit, or none but 0, and t grows only like s: once all but
    nothing turns, h may grow without the bound that resolves the way to infinity, as long as the
    error of ln u and that of the clock are small.
    """
    factor = 1.3
    if bent > 0.0:
        factor = min(factor, 0.9 * sqrt(BENT / bent))
    if turned > 0.0:
        factor = min(factor, 0.9 * TURNED / turned)
    slow = SLOW * settings[TAU_EARLY]
    free = 1.3 if moved <= slow else slow / moved
    h = s[LAST_H]
    s[H] = max(0.5 * h, min(max(s[H], free * h), factor * h))


@compiled
def emit(
    net: Net, s: Array, c: Array, at: Array, previous: Array, marks: Array, buffer: Array,
    rows: Array, u: Array, between: Array,
) -> None:  # fmt: skip
    """Write the frames of all marks that the last step passed: lambda is interpolated."""
    m = u.size
    signs = net[2]
    while c[MARK] < marks.size and marks[c[MARK]] * LN_10 <= s[LN_T]:
        if c[BUFFERED] == buffer.shape[0]:
            return
        w = min(1.0, max(0.0, weight_of_mark(s, marks[c[MARK]])))
        for i in range(at.size):
            between[i] = (1.0 - w) * previous[i] + w * at[i]
        norm = weights(net, s[RHO], between, u)
        out, row = buffer[c[BUFFERED]], rows[c[BUFFERED]]
        for j in range(m):
            root = sqrt(u[j]) / norm
            out[j], out[m + j] = signs[0, j] * root, signs[1, j] * root
        row[0], row[1], row[2] = c[STEP], s[RHO] + log(norm), s[H]
        row[3], row[4], row[5] = c[MOST_STAGES], s[FEWEST_ATOMS], s[LARGEST_FALL]
        row[6], row[7] = s[ERROR], s[TURN_ERROR]
        c[MOST_STAGES] = 0
        s[FEWEST_ATOMS], s[LARGEST_FALL] = at.size, 0.0
        c[BUFFERED] += 1
        c[MARK] += 1


@compiled
def emitted(
    net: Net, s: Array, c: Array, at: Array, previous: Array, marks: Array, buffer: Array,
    rows: Array, u: Array, between: Array,
) -> int:  # fmt: skip
    """Write the frames that the last step passed; GOING where the next step may begin."""
    emit(net, s, c, at, previous, marks, buffer, rows, u, between)
    code: int = after_frames(c, marks, buffer)
    return code


@compiled
def end_step(
    net: Net, at: Array, settings: Array, s: Array, c: Array, marks: Array,
    work: tuple[Array, ...], points: tuple[Array, ...],
) -> bool:  # fmt: skip
    """The end of a step, or of half of one that is checked; False where nothing moves."""
    if c[HALF] > 0:
        finish_half(net, at, s, c, points[5], points[7], work[1], work[0], points[2])
        return True
    after = finish(net, at, settings, s, c, points[5], points[6], work, points)
    if after == CHECK:
        after_step(s, c, marks)
    else:
        c[PHASE] = after
    return after != AT_REST


@compiled
def recentre(net: Net, at: Array) -> None:
    """Take lambda into ln u(0), where it is so large that differences of its parts lose digits."""
    Z, start, _ = net
    most = 0.0
    for i in range(at.size):
        most = max(most, at[i])
    if most <= FAR:
        return
    for i in range(at.size):
        twice, z = 2.0 * at[i], Z[i]
        for j in range(start.size):
            start[j] += twice * z[j]
        at[i] = 0.0


@compiled
def begun(
    net: Net, loss: int, at: Array, settings: Array, s: Array, c: Array, u: Array, p: Array,
    q: Array,
) -> bool:  # fmt: skip
    """Evaluate q at lambda; False where nothing is left of u."""
    recentre(net, at)
    weights(net, s[RHO], at, u)
    margins(net, u, p)
    begin(loss, 2, 1, s, c, settings, p, q)
    c[PHASE] = POWER_ITERATION if c[POWER] > 0 else PLAN
    return bool(s[RHO] >= NOTHING)


@compiled
def start_step(
    s: Array, c: Array, settings: Array, marks: Array, at: Array, older: Array, newer: Array,
    q: Array,
) -> int:  # fmt: skip
    """Plan a step and make its first stage; GOING where there is one."""
    if s[LAMBDA] == 0.0:  # no node that is active on any example has weight
        return STATIONARY
    plan(s, c, settings, marks)
    if s[H] < SMALLEST_STEP:
        return STALLED
    first_stage(s, c, at, older, newer, q)
    return GOING


@compiled
def advance(
    net: Net, loss: int, at: Array, settings: Array, s: Array, c: Array, marks: Array,
    buffer: Array, rows: Array, budget: int, work: tuple[Array, ...], points: tuple[Array, ...],
) -> int:  # fmt: skip
    """At most about `budget` field evaluations; returns GOING, BUFFER_FULL, DONE and so on.

    `at` is lambda (n,), s[RHO] belongs to it. `work` are two vectors (m,): u e^(-2 rho) at lambda
    and of a stage; `points` seven (n,): p, q at lambda and of a stage, Y_(j-2), Y_(j-1), and lambda
    before the step; the last of all is the power vector.
    """
    u0, u = work
    p0, q0, p, q, older, newer, previous, middle, w = points
    for _ in range(budget):
        base = previous if c[HALF] == 1 else middle if c[HALF] == 2 else at
        if c[PHASE] == EMIT:
            code = emitted(net, s, c, at, previous, marks, buffer, rows, u, p)
            if code != GOING:
                return code
        if c[PHASE] == BEGIN:
            if not begun(net, loss, at, settings, s, c, u0, p0, q0):
                return STATIONARY
        elif c[PHASE] == POWER_ITERATION:
            s[LAMBDA] = power_iteration(net, u0, q0, w, u)
            c[POWER] -= 1
            c[PHASE] = POWER_ITERATION if c[POWER] > 0 else PLAN
        elif c[PHASE] == PLAN:
            code = start_step(s, c, settings, marks, at, older, newer, q0)
            if code != GOING:
                return code
        elif c[PHASE] == RUN_STAGE:
            next_stage(net, s, c, base, older, newer, u, p, q)
        elif c[PHASE] == HALVE:
            begin_half(net, loss, base, settings, s, c, u, p, q, older, newer)
        elif not end_step(net, at, settings, s, c, marks, work, points):
            return STATIONARY
    return GOING
