"""Gradient flow in log time on a homogeneous two-layer network, compiled.

Field of the state machine `core.compiled.phases`. The homogeneous parameters are W = e^rho theta
with |theta| = 1, f is L-homogeneous in them, and

    dW/ds = sum_i q_i grad p_i,   ds = (Q/n) e^((L - 2) rho) dt,

which never underflows: the factor of L keeps the same equation for theta and rho at every L. One
step of the production scheme is a damped first-order Runge-Kutta-Chebyshev step (Verwer's family,
w0 = 1 + 1/S^2) at a fixed temperature E = min(e^(L rho), cap); S = 1 is the Euler step.

Parameters of degree 0 (V of the normalised and the batch-norm net) move e^(2 rho) times faster than
theta. This speed kappa_j is capped, so that the speed |u_j| kappa_j of neuron j stays below
`v_speed` (30): V is then slow early on, and follows its equilibrium later.
"""

from __future__ import annotations

from math import exp, sqrt
from typing import Any, NamedTuple

from numpy.typing import NDArray

from core.compiled import phases
from core.compiled.conservation import rebalance, renormalise
from core.compiled.jit import compile_kernel
from core.compiled.log_time import blend_states, is_moving, start_step
from core.compiled.log_time_state import Frames, State
from core.compiled.network import Net, evaluate_outputs, jvp, node_rows, vjp
from core.compiled.phases import Field

Array = NDArray[Any]


class Work(NamedTuple):
    """Network, its data and the arrays of a run: P parameters, N = n max(k - 1, 1) scores."""

    net: Net
    columns: Array  # (d, n), the inputs
    inputs: Array  # (n, d)
    y: Array  # (n,)
    F: Array  # (k, n), the outputs or their weights
    theta: Array  # (P,)
    previous: Array  # (P,), theta before the last step
    middle: Array  # (P,), theta at the midpoint of a checked step
    older: Array  # (P,), the last stage but one
    newer: Array  # (P,), the last stage
    G0: Array  # (P,), the field at theta
    G: Array  # (P,), the field at a stage
    Z0: Array  # (m, n), preactivations, or phi' of them, at theta
    Z: Array  # (m, n), at a stage
    C: Array  # (m, n), see core.compiled.kernel.backpropagate
    p0: Array  # (N,), scores at theta
    p: Array  # (N,), at a stage
    q0: Array  # (N,), dual weights at theta
    q: Array  # (N,), at a stage
    wave: Array  # (N,), current estimate of the eigenvector of K
    balance: Array  # (m,), conserved quantity of each neuron, or (0,): see `rebalance`


@compile_kernel
def scores(F: Array, y: Array, p: Array) -> None:
    """Write the scores of outputs, one example after another.

    p_i = y_i f_i; for k > 1 the k - 1 gaps F_yi - F_ci of each example.

    Parameters
    ----------
    F, y : array (k, n), array (n,)
        Outputs, and labels +-1 or class numbers.
    p : array (N,)
        Scores, written in place.
    """
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


@compile_kernel
def output_weights(q: Array, y: Array, G: Array) -> None:
    """Write the weights of outputs from those of the scores: the transpose of `scores`.

    Parameters
    ----------
    q, y : array (N,), array (n,)
        Weights of the scores, and labels +-1 or class numbers.
    G : array (k, n)
        Weights of the outputs, written in place.
    """
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


@compile_kernel
def margins(work: Work, flat: Array, Z: Array, p: Array) -> None:
    """Write the scores, and the preactivations or phi' of them, at a point.

    Parameters
    ----------
    work, flat : Work, array (P,)
        Network and data (F is overwritten), and point.
    Z, p : array (m, n), array (N,)
        Preactivations and scores, written in place.
    """
    evaluate_outputs(work.net, flat, work.columns, Z, work.F)
    scores(work.F, work.y, p)


@compile_kernel
def speeds(net: Net, s: State, flat: Array, G: Array) -> None:
    """Multiply the gradient in V by kappa_j = min(e^(2 rho), v_speed/|u_j|), u_j = a_j b_j.

    Parameters
    ----------
    net, s, flat : Net, State, array (P,)
        Network, state with rho and v_speed, and point.
    G : array (P,)
        Gradient, updated in place; unchanged where f is homogeneous in all parameters.
    """
    if net.scaled == flat.size:
        return
    # The cap bounds the stiffness, which grows like e^(4 rho). Early frames at large rho become
    # approximate; late ones stay exact, since V follows its equilibrium (docs/theory.md, 4.4).
    fastest = exp(2.0 * s.rho)
    a, b, _ = node_rows(net, flat)
    V = node_rows(net, G)[2]
    for j in range(a.size):
        size = abs(a[j] * b[j])
        kappa = fastest if size * fastest <= s.v_speed else s.v_speed / size
        for i in range(V.shape[1]):
            V[j, i] *= kappa


@compile_kernel
def field(work: Work, s: State, flat: Array, q: Array, Z: Array, G: Array) -> None:
    """Write sum_i q_i grad p_i, the part in V times kappa, after `margins` at the same point.

    Parameters
    ----------
    work, s : Work, State
        Network, data and state; F and C are overwritten.
    flat, q : array (P,), array (N,)
        Point, and weights of the scores.
    Z, G : array (m, n), array (P,)
        Result of `margins`, and field, written in place.
    """
    output_weights(q, work.y, work.F)
    vjp(work.net, flat, work.columns, work.inputs, work.F, Z, work.C, G)
    speeds(work.net, s, flat, G)


@compile_kernel
def power_iteration(work: Work, s: State) -> float:
    """Do one step w <- K w/|K w|, K = sqrt(q) <grad p_i, kappa grad p_j> sqrt(q); return |K w|."""
    w, q, theta = work.wave, work.q0, work.theta
    for i in range(w.size):
        w[i] *= sqrt(q[i])
    field(work, s, theta, w, work.Z0, work.G)
    jvp(work.net, theta, work.columns, work.G, work.Z0, work.C, work.F)
    scores(work.F, work.y, w)
    norm = 0.0
    for i in range(w.size):
        w[i] *= sqrt(q[i])
    for i in range(w.size):
        norm += w[i] * w[i]
    norm = sqrt(norm)
    if norm > 0.0:
        for i in range(w.size):
            w[i] /= norm
    else:
        for i in range(w.size):
            w[i] = 1.0 / sqrt(w.size)
    return norm


@compile_kernel
def step_distance(net: Net, theta: Array, newer: Array) -> float:
    """Return |theta' - theta|; the turn of each v_j counts by its neuron's share of sum_k |u_k|.

    Parameters
    ----------
    net : Net
        Network.
    theta, newer : array (P,)
        Parameters before and after the step, both normalised.

    Returns
    -------
    float
        Length of the change in the parameters in which f is homogeneous. If f has degree 0 in V,
        its square also contains sum_j (|u_j|/sum_k |u_k|) |v_j' - v_j|^2/|v_j|^2.
    """
    squared = 0.0
    for k in range(net.scaled):
        step = newer[k] - theta[k]
        squared += step * step
    if net.scaled == theta.size:
        return sqrt(squared)
    a, b, before = node_rows(net, theta)
    after = node_rows(net, newer)[2]
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
    return sqrt(squared + (turned / total if total > 0.0 else 0.0))


@compile_kernel
def start(work: Work, s: State) -> bool:
    """Evaluate the field at theta; return False if it is zero."""
    margins(work, work.theta, work.Z0, work.p0)
    start_step(s, work.p0, work.q0)
    field(work, s, work.theta, work.q0, work.Z0, work.G0)
    return is_moving(s, work.G0)


@compile_kernel
def evaluate(work: Work, s: State, point: Array) -> None:
    """Set p and Z at a point: see `core.compiled.phases.Field`.

    Parameters
    ----------
    work : Work
        Its scores p, and Z, preactivations or phi' of them, are written in place; F is overwritten.
    s : State
        State of the scheme, unused.
    point : array (P,)
        Parameters.
    """
    margins(work, point, work.Z, work.p)


@compile_kernel
def gradient(work: Work, s: State, point: Array) -> None:
    """Set G = sum_i q_i grad p_i, after `evaluate` at the same point.

    Parameters
    ----------
    work : Work
        Its G is written in place, from its q and Z; F and C are overwritten.
    s : State
        State with rho and v_speed, for the part in V.
    point : array (P,)
        Parameters.
    """
    field(work, s, point, work.q, work.Z, work.G)


@compile_kernel
def normalise(work: Work, s: State, base: Array) -> float:
    """Restore in the last stage what the flow conserves, and divide by the norm.

    Parameters
    ----------
    work : Work
        Its last stage, `newer`, is updated in place.
    s : State
        State with rho before the step, and with the kind of the step.
    base : array (P,)
        Parameters at the start of the step or half step, normalised.

    Returns
    -------
    float
        |W_h| after the step over |W_h| before it. -1 if a sign that the flow conserves has changed:
        whole steps are refused then, but not the half steps of a check, nor Euler steps.
    """
    same_signs = rebalance(work.net, work.balance, s.rho, base, work.newer)
    if not same_signs and s.euler == 0 and s.half == 0:
        return -1.0
    return renormalise(work.net, base, work.newer)


@compile_kernel
def measure(work: Work, s: State, norm: float) -> float:
    """Set p at the normalised last stage; return its distance to theta.

    Parameters
    ----------
    work : Work
        Its p and Z are written in place, F is overwritten.
    s, norm : State, float
        State of the scheme, and norm of the last stage before `normalise`; both unused.

    Returns
    -------
    float
        `step_distance` from theta to `newer`.
    """
    margins(work, work.newer, work.Z, work.p)
    return step_distance(work.net, work.theta, work.newer)


@compile_kernel
def interpolate(work: Work, s: State, w: float, out: Array) -> float:
    """Write the direction of a frame within the last step; return its rho.

    Parameters
    ----------
    work : Work
        Parameters before and after the step.
    s : State
        State of the scheme.
    w : float
        Weight of the end of the step, from 0 to 1.
    out : array (P,)
        Direction, written in place: homogeneous parameters of norm 1.

    Returns
    -------
    float
        ln |W|, linear in w between the two ends.
    """
    return blend_states(s, work.net.scaled, work.previous, work.theta, w, out)


FIELD = Field(start, power_iteration, evaluate, normalise, measure, interpolate, gradient)


@compile_kernel
def advance(work: Work, s: State, frames: Frames, budget: int) -> int:
    """Take steps of the flow: `core.compiled.phases.advance` with this module's field.

    Parameters
    ----------
    work : Work
        Network, data and arrays of the run, updated in place.
    s : State
        State of the scheme, updated in place.
    frames : Frames
        Times of frames; buffer (rows, P) and rows are written in place.
    budget : int
        Number of phases to do, about one evaluation of the field each.

    Returns
    -------
    int
        GOING, BUFFER_FULL, DONE, STATIONARY, STALLED or STICKS (core.compiled.log_time).
    """
    return phases.advance(FIELD, work, s, frames, budget)
