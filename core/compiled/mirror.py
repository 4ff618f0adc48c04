"""Exact n-dimensional equation of the scalar network, in log time, compiled.

A balanced start |a_j| = |b_j| conserves signs and balance, so that with u_j = |a_j b_j| and
z_ij = y_i sgn(a_j) relu(sgn(b_j) <v_j, x_i>) the margins are p = Z u, and

    u = u(0) exp(2 Z' lambda),    d lambda/ds = q,    ds = (Q/n) dt,

with lambda in R^n. Source: telgarsky22, section 3.2; homogeneity, Lemma 3.2. The scheme is that of
core.compiled.log_time with lambda instead of theta; the parameters of a frame are
theta = (sgn(a) sqrt(u), sgn(b) sqrt(u)) e^-rho of norm 1, rho = ln(2 sum u)/2.
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Any, NamedTuple

from numpy.typing import NDArray

from core.compiled import phases
from core.compiled.dual import dual_weights
from core.compiled.jit import compile_kernel
from core.compiled.log_time import GOING, STATIONARY, start_step
from core.compiled.log_time_state import Frames, State
from core.compiled.phases import Field

Array = NDArray[Any]
SLOW = 0.01  # fraction of tau: slower steps may be longer than the resolution of a growing network
REST = 1e-13  # speed in s below which the parameters count as constant
NOTHING = -350.0  # of rho: u = |W|^2/2 is then below the normal range of float64
FAR = 1e3  # of lambda, which grows like s while some example is misclassified
BENT = 1e-5  # tolerated error of ln u in a step while some example is misclassified
# Tolerated change of ln dt/ds in such a step: the clock's error is proportional to its square.
TURNED = 0.02


class Work(NamedTuple):
    """Problem and arrays of a run, for n examples and m neurons."""

    Z: Array  # (n, m)
    start: Array  # (m,), ln u at lambda = 0
    signs: Array  # (2, m), of a and b
    theta: Array  # (n,), lambda, to which rho belongs
    previous: Array  # (n,), lambda before the last step
    middle: Array  # (n,), lambda at the midpoint of a checked step
    older: Array  # (n,), the last stage but one
    newer: Array  # (n,), the last stage
    u0: Array  # (m,), u e^(-2 rho) at lambda
    u: Array  # (m,), at a stage
    p0: Array  # (n,), scores at lambda
    p: Array  # (n,), at a stage
    q0: Array  # (n,), dual weights at lambda
    q: Array  # (n,), at a stage
    wave: Array  # (n,), current estimate of the eigenvector of K
    G0: Array  # q0 itself, since d lambda/ds = q
    G: Array  # q itself


@compile_kernel
def weights(work: Work, scale: float, point: Array, u: Array) -> float:
    """Write u_j = u_j(0) exp(2 (Z' lambda)_j - 2 scale); return sqrt(2 sum u), |(a, b)| there.

    Parameters
    ----------
    work : Work
        Z and ln u(0).
    scale : float
        rho that u is divided by.
    point : array (n,)
        lambda.
    u : array (m,)
        Written in place.

    Returns
    -------
    float
        |(a, b)| e^-scale; 1 where scale is the rho of the point.
    """
    Z, start = work.Z, work.start
    for j in range(u.size):
        u[j] = start[j] - 2.0 * scale
    for i in range(point.size):
        twice, z = 2.0 * point[i], Z[i]
        for j in range(u.size):
            u[j] += twice * z[j]
    total = 0.0
    for j in range(u.size):
        u[j] = exp(u[j])
    for j in range(u.size):
        total += u[j]
    return sqrt(2.0 * total)


@compile_kernel
def margins(Z: Array, u: Array, p: Array) -> None:
    """Write p = Z u.

    Parameters
    ----------
    Z : array (n, m)
        z_ij = y_i sgn(a_j) relu(sgn(b_j) <v_j, x_i>).
    u : array (m,)
        Products |a_j b_j|.
    p : array (n,)
        Margins, written in place.
    """
    for i in range(p.size):
        z, total = Z[i], 0.0
        for j in range(u.size):
            total += z[j] * u[j]
        p[i] = total


@compile_kernel
def power_iteration(work: Work, s: State) -> float:
    """Do one step w <- K w/|K w|, K = sqrt(q) 2 Z diag(u) Z' sqrt(q); return |K w|.

    w is work.wave, updated in place; q and u are those of lambda, and work.u is overwritten.
    """
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
    for i in range(w.size):
        norm += w[i] * w[i]
    norm = sqrt(norm)
    for i in range(w.size):
        w[i] = w[i] / norm if norm > 0.0 else 1.0 / sqrt(w.size)
    return norm


@compile_kernel
def evaluate(work: Work, s: State, point: Array) -> None:
    """Set p, and u, at a point: see `core.compiled.phases.Field`.

    Parameters
    ----------
    work : Work
        Problem and arrays; u and p are written in place.
    s : State
        State of the scheme; u and p are in units of e^(2 rho).
    point : array (n,)
        lambda.
    """
    weights(work, s.rho, point, work.u)
    margins(work.Z, work.u, work.p)


@compile_kernel
def drift(work: Work, s: State) -> float:
    """Return how far a step bends ln u: h max_j |2 (Z' (q - q0))_j|, with q at its end.

    A step of first order uses q0 for all of it, so that this bounds its error twice. u0 is
    overwritten.
    """
    Z, q, q0, bent = work.Z, work.q, work.q0, work.u0
    dual_weights(s.form, s.others, work.p, s.temperature, q)
    bent[:] = 0.0
    for i in range(q.size):
        change, z = 2.0 * (q[i] - q0[i]), Z[i]
        for j in range(bent.size):
            bent[j] += change * z[j]
    largest = 0.0
    for j in range(bent.size):
        largest = max(largest, abs(bent[j]))
    return float(s.last_h * largest)


@compile_kernel
def normalise(work: Work, s: State, base: Array) -> float:
    """Set u at the last stage; return the factor by which |(a, b)| grew in the step.

    Parameters
    ----------
    work : Work
        Problem and arrays; u is written in place, over e^(2 rho). `measure` normalises it.
    s : State
        State of the scheme, with rho at the start of the step.
    base : array (n,)
        Start of the step; unused, as lambda needs no rebalancing.

    Returns
    -------
    float
        Norm after the step over the norm e^rho before the step; never negative.
    """
    return weights(work, s.rho, work.newer, work.u)


@compile_kernel
def measure(work: Work, s: State, norm: float) -> float:
    """Normalise u by `norm`, set p; return the distance of its (a, b) to that of u0.

    Parameters
    ----------
    work : Work
        Arrays; u and p are written in place, and after a second half step also u0, at lambda.
    s : State
        State of the scheme.
    norm : float
        Result of `normalise`.

    Returns
    -------
    float
        Distance of the normalised (a, b) to the start of the step; after a second half step to the
        end of the whole step.
    """
    u, full = work.u, work.u0
    if s.half == 2:
        weights(work, s.kept_rho, work.theta, full)
    squared = 0.0
    for j in range(u.size):
        u[j] /= norm * norm
    for j in range(u.size):
        turn = sqrt(u[j]) - sqrt(full[j])
        squared += 2.0 * turn * turn
    margins(work.Z, u, work.p)
    return sqrt(squared)


@compile_kernel
def choose_next_step(work: Work, s: State, norm: float, distance: float) -> int:
    """Choose the next h while some example is not classified.

    Parameters
    ----------
    work : Work
        Arrays; q and u0 are overwritten.
    s : State
        State of the scheme, updated in place.
    norm : float
        Result of `normalise`.
    distance : float
        Distance of the step.

    Returns
    -------
    int
        STATIONARY if nothing moves, else GOING.
    """
    # While some example is misclassified, u converges to a finite limit or 0, and t grows only like
    # s: steps may be as long as ln u stays nearly straight (docs/decisions/0003).
    if s.smoothed > 0.0:
        return GOING
    dual_temperature = s.temperature
    s.temperature = dual_temperature * norm * norm
    bent = drift(work, s)
    s.temperature = dual_temperature
    turned = abs(s.slope) * s.last_h
    lengthen(s, distance, bent, turned)
    return STATIONARY if max(distance, abs(log(norm))) < REST * s.last_h else GOING


@compile_kernel
def lengthen(s: State, distance: float, bent: float, turned: float) -> None:
    """Set the next h while some example is not classified.

    If that stays so u has a finite limit, or none but 0, and t grows only like s: once all but
    nothing turns, h may grow without the bound that resolves the way to infinity, as long as the
    error of ln u and that of the clock are small.

    Parameters
    ----------
    s : State
        State of the scheme, updated in place.
    distance : float
        Distance of the step.
    bent : float
        Result of `drift`.
    turned : float
        Change of ln dt/ds over the step.
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


@compile_kernel
def interpolate(work: Work, s: State, w: float, out: Array) -> float:
    """Write the direction of a frame at an interpolated lambda; return its rho.

    Parameters
    ----------
    work : Work
        lambda before and after the step; u and p are overwritten, p by the interpolated lambda.
    s : State
        State of the scheme.
    w : float
        Weight of the end of the step, from 0 to 1.
    out : array (2 m,)
        Direction (a, b), written in place.

    Returns
    -------
    float
        ln |(a, b)| at the interpolated lambda.
    """
    u, between, m = work.u, work.p, work.u.size
    for i in range(between.size):
        between[i] = (1.0 - w) * work.previous[i] + w * work.theta[i]
    norm = weights(work, s.rho, between, u)
    for j in range(m):
        root = sqrt(u[j]) / norm
        out[j], out[m + j] = work.signs[0, j] * root, work.signs[1, j] * root
    return float(s.rho + log(norm))


@compile_kernel
def recentre(Z: Array, start: Array, point: Array) -> None:
    """Move a large lambda into ln u(0), as differences of its parts lose digits.

    Parameters
    ----------
    Z : array (n, m)
        p = Z u.
    start : array (m,)
        ln u(0), updated in place.
    point : array (n,)
        lambda, set to 0 if its largest entry is above FAR.
    """
    largest = 0.0
    for i in range(point.size):
        largest = max(largest, point[i])
    if largest <= FAR:
        return
    for i in range(point.size):
        twice, z = 2.0 * point[i], Z[i]
        for j in range(start.size):
            start[j] += twice * z[j]
        point[i] = 0.0


@compile_kernel
def start(work: Work, s: State) -> bool:
    """Set u0, p0, q0 and the temperature at lambda, after `recentre`; start a step.

    Return False if u is below the range of float64.
    """
    recentre(work.Z, work.start, work.theta)
    weights(work, s.rho, work.theta, work.u0)
    margins(work.Z, work.u0, work.p0)
    start_step(s, work.p0, work.q0)
    return bool(s.rho >= NOTHING)


FIELD = Field(
    start, power_iteration, evaluate, normalise, measure, interpolate, after=choose_next_step
)


@compile_kernel
def advance(work: Work, s: State, frames: Frames, budget: int) -> int:
    """Take steps of the flow.

    Parameters
    ----------
    work : Work
        Problem and arrays, updated in place.
    s : State
        State of the scheme, updated in place.
    frames : Frames
        Times of frames; buffer (rows, 2 m) and rows are written in place.
    budget : int
        Field evaluations.

    Returns
    -------
    int
        Code of `core.compiled.phases.advance`.
    """
    return phases.advance(FIELD, work, s, frames, budget)
