"""The scalar network's exact n-dimensional equation, in log time, compiled.

From a balanced start |a_j| = |b_j| signs and balance are kept, so that with u_j = |a_j b_j| and
z_ij = y_i sgn(a_j) relu(sgn(b_j) <v_j, x_i>) the margins are p = Z u, and

    u = u(0) exp(2 Z' lambda),    d lambda/ds = q,    ds = (Q/n) dt,

with lambda in R^n. Source: telgarsky22, section 3.2; homogeneity, Lemma 3.2. The scheme is that of
core.compiled.log_time with lambda in place of theta; the parameters of a frame are
theta = (sgn(a) sqrt(u), sgn(b) sqrt(u)) e^-rho of norm 1, rho = ln(2 sum u)/2.
"""

from __future__ import annotations

from math import exp, log, nan, sqrt
from typing import Any

from numpy.typing import NDArray

from core.compiled.chebyshev import first_stage, plan, stage
from core.compiled.dual import dual_weights
from core.compiled.jit import compiled
from core.compiled.log_time import (
    BEGIN,
    BUFFER_FULL,
    BUFFERED,
    DONE,
    EMIT,
    FEWEST_ATOMS,
    FINISH,
    GOING,
    LAMBDA,
    LARGEST_FALL,
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
    H,
    accept,
    begin,
    fit,
    weight_of_mark,
)

Array = NDArray[Any]
AT_REST = -1
SLOW = 0.01  # of tau: below this a step may be longer than what resolves a growing network
REST = 1e-11  # speed in s below which nothing moves any more
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
        w[i] = w[i] / norm if norm > 0.0 else w.size**-0.5
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
def finish(
    net: Net, at: Array, settings: Array, s: Array, c: Array, newer: Array, previous: Array,
    u: Array, u0: Array, p: Array,
) -> int:  # fmt: skip
    """Test the last stage: the phase to go on with, or AT_REST.

    Where some example cannot be classified u has a finite limit, and t grows only like s: once all
    but nothing moves, h may grow without the bound that resolves the way to infinity.
    """
    norm = weights(net, s[RHO], newer, u)
    moved = 0.0
    for j in range(u.size):
        u[j] /= norm * norm
        moved += 2.0 * (sqrt(u[j]) - sqrt(u0[j])) ** 2
    margins(net, u, p)
    if not fit(s, c, settings, p, norm):
        return PLAN
    h, stuck = s[H], s[SMOOTHED] <= 0.0
    c[MOST_STAGES] = max(c[MOST_STAGES], c[STAGES])
    for i in range(at.size):
        previous[i], at[i] = at[i], newer[i]
    moved = sqrt(moved)
    accept(2, s, c, settings, p, norm, moved)
    if not stuck or moved > SLOW * settings[TAU_EARLY]:
        return EMIT
    s[H] = 1.3 * h
    return AT_REST if max(moved, abs(log(norm))) < REST * h else EMIT


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
        row[6] = row[7] = nan  # its steps are not checked
        c[MOST_STAGES] = 0
        s[FEWEST_ATOMS], s[LARGEST_FALL] = at.size, 0.0
        c[BUFFERED] += 1
        c[MARK] += 1


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
    p0, q0, p, q, older, newer, previous, w = points
    for _ in range(budget):
        if c[PHASE] == EMIT:
            emit(net, s, c, at, previous, marks, buffer, rows, u, p)
            if c[MARK] == marks.size:
                return DONE
            if c[BUFFERED] == buffer.shape[0]:
                return BUFFER_FULL
            c[PHASE] = BEGIN
        if c[PHASE] == BEGIN:
            weights(net, s[RHO], at, u0)
            margins(net, u0, p0)
            begin(loss, 2, 1, s, c, settings, p0, q0)
            c[PHASE] = POWER_ITERATION if c[POWER] > 0 else PLAN
        elif c[PHASE] == POWER_ITERATION:
            s[LAMBDA] = power_iteration(net, u0, q0, w, u)
            c[POWER] -= 1
            c[PHASE] = POWER_ITERATION if c[POWER] > 0 else PLAN
        elif c[PHASE] == PLAN:
            if s[LAMBDA] == 0.0:  # no node that is active on any example has weight
                return STATIONARY
            plan(s, c, settings, marks[:0])
            if s[H] < SMALLEST_STEP:
                return STALLED
            first_stage(s, c, at, older, newer, q0)
        elif c[PHASE] == RUN_STAGE:
            next_stage(net, s, c, at, older, newer, u, p, q)
        else:
            c[PHASE] = finish(net, at, settings, s, c, newer, previous, u, u0, p)
            if c[PHASE] == AT_REST:
                return STATIONARY
    return GOING
