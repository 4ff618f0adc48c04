"""Gradient flow in log time on a homogeneous two-layer network, compiled.

The state machine that `core.dynamics.flow` drives. The homogeneous parameters are W = e^rho theta
with |theta| = 1, f is L-homogeneous in them, and

    dW/ds = sum_i q_i grad p_i,   ds = (Q/n) e^((L - 2) rho) dt,

which never underflows: the factor of L keeps the same equation for theta and rho at every L. One
step of the production scheme is a damped first-order Runge-Kutta-Chebyshev step (Verwer's family,
w0 = 1 + 1/S^2) at a fixed temperature E = min(e^(L rho), cap); S = 1 is the Euler step.

Parameters of degree 0 (V of the normalised and the batch-norm net) move e^(2 rho) times faster than
theta. This speed kappa_j is capped, so that the speed |u_j| kappa_j of node j stays below
`V_SPEED` (30): V is then slow early on, and follows its equilibrium later.

`advance` does a bounded number of field evaluations and returns, also in the middle of a step, so
that pause and cancel are honoured between the stages; results do not depend on where it returns.
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Any

from numpy.typing import NDArray

from core.compiled.chebyshev import (
    after_step,
    compared,
    first_stage,
    plan,
    plan_half,
    stage,
)
from core.compiled.dual import dual_weights, smallest
from core.compiled.jit import compiled
from core.compiled.log_time import (
    BEGIN,
    EMIT,
    EVALUATIONS,
    FINISH,
    GOING,
    HALF,
    HALVE,
    LAMBDA,
    MOST_STAGES,
    MOVES,
    OTHERS,
    PHASE,
    PLAN,
    POWER,
    POWER_ITERATION,
    RHO,
    RUN_STAGE,
    SLIDES_FROM,
    SMALLEST_STEP,
    STAGE,
    STAGES,
    STALLED,
    STARTUP,
    STATIONARY,
    STEP,
    STICKS,
    STUCK,
    TEMPERATURE,
    V_SPEED,
    H,
    accept,
    after_frames,
    begin,
    emit,
    fit,
    heat,
    moves,
)
from core.compiled.network import (
    BATCH_NORM,
    CODE,
    DEGREE,
    EPS,
    NORMALISED,
    NORMALISES,
    SCALED,
    Net,
    adjoint,
    forward,
    node_rows,
    tangent,
)

Array = NDArray[Any]
# XT (d, n), X (n, d), y (n,), F (k, n) work: the outputs or their weights
Data = tuple[Array, Array, Array, Array]


@compiled
def scores(F: Array, y: Array, p: Array) -> None:
    """p_i = y_i f_i; for k > 1 the k - 1 gaps F_yi - F_ci of each example, one after another."""
    k, n = F.shape
    if k == 1:
        for i in range(n):
            p[i] = y[i] * F[0, i]
        return
    place = 0
    for i in range(n):
        own = int(y[i])
        for c in range(k):
            if c != own:
                p[place] = F[own, i] - F[c, i]
                place += 1


@compiled
def output_weights(q: Array, y: Array, G: Array) -> None:
    """The transpose of `scores`: weights G (k, n) of the outputs from those of the scores."""
    k, n = G.shape
    if k == 1:
        for i in range(n):
            G[0, i] = q[i] * y[i]
        return
    place = 0
    for i in range(n):
        own = int(y[i])
        G[own, i] = 0.0
        for c in range(k):
            if c != own:
                G[c, i] = -q[place]
                G[own, i] += q[place]
                place += 1


@compiled
def margins(net: Net, flat: Array, data: Data, Z: Array, p: Array) -> None:
    """The scores at `flat`, with the preactivations left in Z."""
    XT, _, y, F = data
    forward(net, flat, XT, Z, F)
    scores(F, y, p)


@compiled
def speeds(net: Net, s: Array, settings: Array, flat: Array, G: Array) -> None:
    """Multiply the gradient in V by kappa_j = min(e^(2 rho), V_SPEED/|u_j|), u_j = a_j b_j."""
    spec = net[0]
    if spec[SCALED] == flat.size:
        return
    fastest = exp(2.0 * s[RHO])
    a, b, _ = node_rows(spec, flat)
    V = node_rows(spec, G)[2]
    for j in range(a.size):
        size = abs(a[j] * b[j])
        kappa = fastest if size * fastest <= settings[V_SPEED] else settings[V_SPEED] / size
        for i in range(V.shape[1]):
            V[j, i] *= kappa


@compiled
def field(
    net: Net, s: Array, settings: Array, flat: Array, data: Data, q: Array, Z: Array, C: Array,
    G: Array,
) -> None:  # fmt: skip
    """G = sum_i q_i grad p_i, the part in V times kappa, after `margins` at the same point."""
    XT, X, y, F = data
    output_weights(q, y, F)
    adjoint(net, flat, XT, X, F, Z, C, G)
    speeds(net, s, settings, flat, G)


@compiled
def power_iteration(
    net: Net, s: Array, settings: Array, theta: Array, data: Data, q: Array, Z: Array, C: Array,
    u: Array, w: Array,
) -> float:  # fmt: skip
    """One step w <- K w/|K w|, K = sqrt(q) <grad p_i, kappa grad p_j> sqrt(q); returns |K w|."""
    XT, _, y, F = data
    for i in range(w.size):
        w[i] *= sqrt(q[i])
    field(net, s, settings, theta, data, w, Z, C, u)
    tangent(net, theta, XT, u, Z, C, F)
    scores(F, y, w)
    norm = 0.0
    for i in range(w.size):
        w[i] *= sqrt(q[i])
        norm += w[i] * w[i]
    norm = sqrt(norm)
    if norm > 0.0:
        for i in range(w.size):
            w[i] /= norm
    else:
        for i in range(w.size):
            w[i] = 1.0 / sqrt(w.size)
    return norm


@compiled
def renormalised(net: Net, theta: Array, newer: Array) -> float:
    """|W_h| of the last stage, which is divided by it; |v_j| goes back where the flow keeps it."""
    spec, scaled = net[0], net[0][SCALED]
    norm = 0.0
    for k in range(scaled):
        norm += newer[k] * newer[k]
    norm = sqrt(norm)
    for k in range(scaled):
        newer[k] /= norm
    keeps = spec[CODE] == NORMALISED or (
        spec[CODE] == BATCH_NORM and spec[NORMALISES] == 1 and net[1][EPS] == 0.0
    )
    if keeps:
        before, after = node_rows(spec, theta)[2], node_rows(spec, newer)[2]
        for j in range(before.shape[0]):
            old = new = 0.0
            for i in range(before.shape[1]):
                old += before[j, i] * before[j, i]
                new += after[j, i] * after[j, i]
            factor = sqrt(old / new)
            for i in range(before.shape[1]):
                after[j, i] *= factor
    return norm


@compiled
def distance_moved(net: Net, theta: Array, newer: Array) -> float:
    """|theta' - theta|; the turn of each v_j counts by its node's share of sum_k |u_k|."""
    spec, scaled = net[0], net[0][SCALED]
    moved = 0.0
    for k in range(scaled):
        step = newer[k] - theta[k]
        moved += step * step
    if scaled == theta.size:
        return sqrt(moved)
    a, b, before = node_rows(spec, theta)
    after = node_rows(spec, newer)[2]
    total = turned = 0.0
    for j in range(a.size):
        size, gap, length = abs(a[j] * b[j]), 0.0, 0.0
        for i in range(before.shape[1]):
            turn = after[j, i] - before[j, i]
            gap += turn * turn
            length += before[j, i] * before[j, i]
        total += size
        if length > 0.0:
            turned += size * gap / length
    return sqrt(moved + (turned / total if total > 0.0 else 0.0))


@compiled
def finish(
    net: Net, theta: Array, data: Data, settings: Array,
    s: Array, c: Array, newer: Array, previous: Array, Z: Array, p: Array,
) -> bool:  # fmt: skip
    """Normalise the last stage, test it, and take it or refuse it; True when taken."""
    norm = renormalised(net, theta, newer)
    moved = distance_moved(net, theta, newer)
    margins(net, newer, data, Z, p)
    if not fit(s, c, settings, p, norm):
        return False
    c[MOST_STAGES] = max(c[MOST_STAGES], c[STAGES])
    for k in range(theta.size):
        previous[k] = theta[k]
        theta[k] = newer[k]
    accept(net[0][DEGREE], s, c, settings, p, norm, moved)
    return True


@compiled
def begin_half(
    net: Net, loss: int, base: Array, data: Data, settings: Array, s: Array, c: Array,
    older: Array, newer: Array, G: Array, Z: Array, C: Array, p: Array, q: Array,
) -> None:  # fmt: skip
    """The first stage of half the last step, from `base`."""
    margins(net, base, data, Z, p)
    heat(loss, net[0][DEGREE], c[OTHERS], s, c, settings, p, q)
    field(net, s, settings, base, data, q, Z, C, G)
    plan_half(s, c, settings)
    first_stage(s, c, base, older, newer, G)


@compiled
def finish_half(
    net: Net, theta: Array, base: Array, middle: Array, data: Data, s: Array, c: Array,
    newer: Array, Z: Array, p: Array,
) -> None:  # fmt: skip
    """The end of a half step: the second begins where the first ended, and is compared."""
    norm = renormalised(net, base, newer)
    if c[HALF] == 1:
        for k in range(middle.size):
            middle[k] = newer[k]
        s[RHO] += log(norm)
        c[HALF] = 2
        c[PHASE] = HALVE
        return
    margins(net, newer, data, Z, p)
    compared(s, c, smallest(p), distance_moved(net, theta, newer))


@compiled
def next_stage(
    net: Net, base: Array, data: Data, settings: Array, s: Array, c: Array,
    older: Array, newer: Array, G: Array, Z: Array, C: Array, p: Array, q: Array,
) -> None:  # fmt: skip
    """Evaluate the field at the last stage of a step from `base` and make the next one."""
    margins(net, newer, data, Z, p)
    dual_weights(c[STARTUP], c[OTHERS], p, s[TEMPERATURE], q)
    field(net, s, settings, newer, data, q, Z, C, G)
    stage(s, base, older, newer, G)
    c[STAGE] += 1
    if c[STAGE] == c[STAGES]:
        c[PHASE] = FINISH


@compiled
def emitted(
    net: Net, s: Array, c: Array, theta: Array, previous: Array, marks: Array, buffer: Array,
    rows: Array,
) -> int:  # fmt: skip
    """Write the frames that the last step passed; GOING where the next step may begin."""
    emit(net[0][SCALED], s, c, theta, previous, marks, buffer, rows)
    code: int = after_frames(c, marks, buffer)
    return code


@compiled
def begun(
    net: Net, loss: int, theta: Array, data: Data, settings: Array, s: Array, c: Array, G: Array,
    Z: Array, C: Array, p: Array, q: Array,
) -> int:  # fmt: skip
    """Evaluate the field at theta; GOING, or why no step of this kind begins here."""
    if c[STUCK] != MOVES and c[STEP] >= c[SLIDES_FROM]:
        return STICKS
    margins(net, theta, data, Z, p)
    begin(loss, net[0][DEGREE], max(data[3].shape[0] - 1, 1), s, c, settings, p, q)
    field(net, s, settings, theta, data, q, Z, C, G)
    c[PHASE] = POWER_ITERATION if c[POWER] > 0 else PLAN
    return GOING if moves(s, G) else STATIONARY


@compiled
def end_step(
    net: Net, theta: Array, base: Array, data: Data, settings: Array, s: Array, c: Array,
    marks: Array, newer: Array, previous: Array, middle: Array, Z: Array, p: Array,
) -> None:  # fmt: skip
    """The end of a step, or of half of one that is checked."""
    if c[HALF] > 0:
        finish_half(net, theta, base, middle, data, s, c, newer, Z, p)
    elif finish(net, theta, data, settings, s, c, newer, previous, Z, p):
        after_step(s, c, marks)
    else:
        c[PHASE] = PLAN


@compiled
def advance(
    net: Net, loss: int, theta: Array, data: Data, settings: Array, s: Array, c: Array,
    marks: Array, buffer: Array, rows: Array, budget: int,
    work: tuple[Array, ...], matrices: tuple[Array, ...], points: tuple[Array, ...],
) -> int:  # fmt: skip
    """At most about `budget` field evaluations; returns GOING, BUFFER_FULL, DONE and so on.

    `work` are six vectors of the size of theta (G(theta), G, Y_(j-2), Y_(j-1), theta before, theta
    in the middle of a step that is checked), `matrices` three (m, n), `points` five vectors of
    scores: p(theta), p, q(theta), q, and the power vector.
    """
    G0, G, older, newer, previous, middle = work
    Z0, Z, C = matrices
    p0, p, q0, q, w = points
    for _ in range(budget):
        c[EVALUATIONS] += 1
        base = previous if c[HALF] == 1 else middle if c[HALF] == 2 else theta
        if c[PHASE] == EMIT:
            code = emitted(net, s, c, theta, previous, marks, buffer, rows)
            if code != GOING:
                return code
        if c[PHASE] == BEGIN:
            code = begun(net, loss, theta, data, settings, s, c, G0, Z0, C, p0, q0)
            if code != GOING:
                return code
        elif c[PHASE] == POWER_ITERATION:
            s[LAMBDA] = power_iteration(net, s, settings, theta, data, q0, Z0, C, G, w)
            c[POWER] -= 1
            if c[POWER] == 0:
                c[PHASE] = PLAN
        elif c[PHASE] == PLAN:
            plan(s, c, settings, marks)
            if s[H] < SMALLEST_STEP:
                return STALLED
            first_stage(s, c, theta, older, newer, G0)
        elif c[PHASE] == RUN_STAGE:
            next_stage(net, base, data, settings, s, c, older, newer, G, Z, C, p, q)
        elif c[PHASE] == HALVE:
            begin_half(net, loss, base, data, settings, s, c, older, newer, G, Z, C, p, q)
        else:
            end_step(net, theta, base, data, settings, s, c, marks, newer, previous, middle, Z, p)
    return GOING
