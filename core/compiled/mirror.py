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
from typing import Any, NamedTuple

from numpy.typing import NDArray

from core.compiled.chebyshev import after_step, compared, first_stage, plan, plan_half, stage
from core.compiled.dual import dual_weights, smallest
from core.compiled.jit import compiled
from core.compiled.log_time import (
    BEGIN,
    EMIT,
    FINISH,
    GOING,
    HALVE,
    LN_10,
    PLAN,
    POWER_ITERATION,
    RUN_STAGE,
    SMALLEST_STEP,
    STALLED,
    STATIONARY,
    Frames,
    State,
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


class Work(NamedTuple):
    """The problem and the arrays of a run, for n examples and m nodes."""

    Z: Array  # (n, m)
    start: Array  # (m,), ln u at lambda = 0
    signs: Array  # (2, m), of a and b
    at: Array  # (n,), lambda, to which rho belongs
    previous: Array  # (n,), lambda before the last step
    middle: Array  # (n,), lambda in the middle of a step that is checked
    older: Array  # (n,), the last stage but one
    newer: Array  # (n,), the last stage
    u0: Array  # (m,), u e^(-2 rho) at lambda
    u: Array  # (m,), at a stage
    p0: Array  # (n,), scores at lambda
    p: Array  # (n,), at a stage
    q0: Array  # (n,), dual weights at lambda
    q: Array  # (n,), at a stage
    wave: Array  # (n,), the eigenvector of K, as far as it is known


@compiled
def weights(work: Work, scale: float, at: Array, u: Array) -> float:
    """u_j = u_j(0) exp(2 (Z' at)_j - 2 scale); returns sqrt(2 sum u), the norm of (a, b)."""
    Z, start = work.Z, work.start
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
def margins(Z: Array, u: Array, p: Array) -> None:
    """p = Z u."""
    for i in range(p.size):
        z, total = Z[i], 0.0
        for j in range(u.size):
            total += z[j] * u[j]
        p[i] = total


@compiled
def power_iteration(work: Work) -> float:
    """One step w <- K w/|K w|, K = sqrt(q) 2 Z diag(u) Z' sqrt(q); returns |K w|."""
    Z, u, q, w, image = work.Z, work.u0, work.q0, work.wave, work.u
    image[:] = 0.0
    for i in range(w.size):
        size, z = w[i] * sqrt(q[i]), Z[i]
        for j in range(u.size):
            image[j] += size * z[j]
    for j in range(u.size):
        image[j] *= 2.0 * u[j]
    margins(Z, image, w)
    norm = 0.0
    for i in range(w.size):
        w[i] *= sqrt(q[i])
        norm += w[i] * w[i]
    norm = sqrt(norm)
    for i in range(w.size):
        w[i] = w[i] / norm if norm > 0.0 else 1.0 / sqrt(w.size)
    return norm


@compiled
def next_stage(work: Work, s: State, base: Array) -> None:
    """Evaluate q at the last stage of a step from `base` and make the next one."""
    weights(work, s.rho, work.newer, work.u)
    margins(work.Z, work.u, work.p)
    dual_weights(s.form, s.others, work.p, s.temperature, work.q)
    stage(s, base, work.older, work.newer, work.q)
    s.stage += 1
    if s.stage == s.stages:
        s.phase = FINISH


@compiled
def drift(work: Work, s: State) -> float:
    """How far a step bends ln u: h max_j |2 (Z' (q - q0))_j|, with q at its end; u0 is used up.

    A step of first order takes q0 for all of it, so that this bounds its error twice.
    """
    Z, q, q0, bent = work.Z, work.q, work.q0, work.u0
    dual_weights(s.form, s.others, work.p, s.temperature, q)
    bent[:] = 0.0
    for i in range(q.size):
        change, z = 2.0 * (q[i] - q0[i]), Z[i]
        for j in range(bent.size):
            bent[j] += change * z[j]
    most = 0.0
    for j in range(bent.size):
        most = max(most, abs(bent[j]))
    return float(s.last_h * most)


@compiled
def finish(work: Work, s: State) -> int:
    """Test the last stage, and take it: CHECK or AT_REST; or PLAN, where it is refused."""
    at, u, newer = work.at, work.u, work.newer
    norm = weights(work, s.rho, newer, u)
    distance = 0.0
    for j in range(u.size):
        u[j] /= norm * norm
        step = sqrt(u[j]) - sqrt(work.u0[j])
        distance += 2.0 * step * step
    margins(work.Z, u, work.p)
    if not fit(s, work.p, norm):
        return PLAN
    # While some example is wrong u tends to a finite limit, or 0, and t grows only like s: steps
    # may then be as long as ln u stays straight (docs/decisions/0003).
    stuck = s.smoothed <= 0.0
    s.most_stages = max(s.most_stages, s.stages)
    for i in range(at.size):
        work.previous[i], at[i] = at[i], newer[i]
    distance = sqrt(distance)
    accept(s, work.p, norm, distance)
    if not stuck:
        return CHECK
    dual_temperature = s.temperature
    s.temperature = dual_temperature * norm * norm
    bent = drift(work, s)
    s.temperature = dual_temperature
    turned = abs(s.slope) * s.last_h
    lengthen(s, distance, bent, turned)
    return AT_REST if max(distance, abs(log(norm))) < REST * s.last_h else CHECK


@compiled
def begin_half(work: Work, s: State, base: Array) -> None:
    """The first stage of half the last step, from `base`."""
    weights(work, s.rho, base, work.u)
    margins(work.Z, work.u, work.p)
    heat(s, work.p, work.q)
    plan_half(s)
    first_stage(s, base, work.older, work.newer, work.q)


@compiled
def finish_half(work: Work, s: State) -> None:
    """The end of a half step: the second begins where the first ended, and is compared."""
    u, whole = work.u, work.u0
    norm = weights(work, s.rho, work.newer, u)
    if s.half == 1:
        for i in range(work.middle.size):
            work.middle[i] = work.newer[i]
        s.rho += log(norm)
        s.half = 2
        s.phase = HALVE
        return
    weights(work, s.kept_rho, work.at, whole)
    turned = 0.0
    for j in range(u.size):
        u[j] /= norm * norm
        turn = sqrt(u[j]) - sqrt(whole[j])
        turned += 2.0 * turn * turn
    margins(work.Z, u, work.p)
    compared(s, smallest(work.p), sqrt(turned))


@compiled
def lengthen(s: State, distance: float, bent: float, turned: float) -> None:
    """The next h while some example is not classified.

    Where that stays so u has a finite limit, or none but 0, and t grows only like s: once all but
    nothing turns, h may grow without the bound that resolves the way to infinity, as long as the
    error of ln u and that of the clock are small.
    """
    factor = s.growth
    if bent > 0.0:
        factor = min(factor, 0.9 * sqrt(BENT / bent))
    if turned > 0.0:
        factor = min(factor, 0.9 * TURNED / turned)
    slow = SLOW * s.tau_early
    free = s.growth if distance <= slow else slow / distance
    h = s.last_h
    s.h = max(0.5 * h, min(max(s.h, free * h), factor * h))


@compiled
def emit(work: Work, s: State, frames: Frames) -> None:
    """Write the frames of all marks that the last step passed: lambda is interpolated, in p."""
    marks, buffer, rows = frames
    at, u, between, m = work.at, work.u, work.p, work.u.size
    while s.mark < marks.size and marks[s.mark] * LN_10 <= s.ln_t:
        if s.buffered == buffer.shape[0]:
            return
        w = min(1.0, max(0.0, weight_of_mark(s, marks[s.mark])))
        for i in range(at.size):
            between[i] = (1.0 - w) * work.previous[i] + w * at[i]
        norm = weights(work, s.rho, between, u)
        out, row = buffer[s.buffered], rows[s.buffered]
        for j in range(m):
            root = sqrt(u[j]) / norm
            out[j], out[m + j] = work.signs[0, j] * root, work.signs[1, j] * root
        row[0], row[1], row[2] = s.step, s.rho + log(norm), s.h
        row[3], row[4], row[5] = s.most_stages, s.fewest_atoms, s.largest_fall
        row[6], row[7] = s.error, s.turn_error
        s.most_stages = 0
        s.fewest_atoms, s.largest_fall = at.size, 0.0
        s.buffered += 1
        s.mark += 1


@compiled
def end_step(work: Work, s: State, marks: Array) -> bool:
    """The end of a step, or of half of one that is checked; False where nothing moves."""
    if s.half > 0:
        finish_half(work, s)
        return True
    after = finish(work, s)
    if after == CHECK:
        after_step(s, marks)
    else:
        s.phase = after
    return after != AT_REST


@compiled
def recentre(Z: Array, start: Array, at: Array) -> None:
    """Take lambda into ln u(0), where it is so large that differences of its parts lose digits."""
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
def begun(work: Work, s: State) -> bool:
    """Evaluate q at lambda; False where nothing is left of u."""
    recentre(work.Z, work.start, work.at)
    weights(work, s.rho, work.at, work.u0)
    margins(work.Z, work.u0, work.p0)
    begin(s, work.p0, work.q0)
    s.phase = POWER_ITERATION if s.power > 0 else PLAN
    return bool(s.rho >= NOTHING)


@compiled
def start_step(work: Work, s: State, marks: Array) -> int:
    """Plan a step and make its first stage; GOING where there is one."""
    if s.eigenvalue == 0.0:  # no node that is active on any example has weight
        return STATIONARY
    plan(s, marks)
    if s.h < SMALLEST_STEP:
        return STALLED
    first_stage(s, work.at, work.older, work.newer, work.q0)
    return GOING


@compiled
def advance(work: Work, s: State, frames: Frames, budget: int) -> int:
    """At most about `budget` field evaluations; returns GOING, BUFFER_FULL, DONE and so on."""
    for _ in range(budget):
        base = work.previous if s.half == 1 else work.middle if s.half == 2 else work.at
        if s.phase == EMIT:
            emit(work, s, frames)
            code = after_frames(s, frames)
            if code != GOING:
                return code
        if s.phase == BEGIN:
            if not begun(work, s):
                return STATIONARY
        elif s.phase == POWER_ITERATION:
            s.eigenvalue = power_iteration(work)
            s.power -= 1
            s.phase = POWER_ITERATION if s.power > 0 else PLAN
        elif s.phase == PLAN:
            code = start_step(work, s, frames.marks)
            if code != GOING:
                return code
        elif s.phase == RUN_STAGE:
            next_stage(work, s, base)
        elif s.phase == HALVE:
            begin_half(work, s, base)
        elif not end_step(work, s, frames.marks):
            return STATIONARY
    return GOING
