"""Largest sum_i c_i relu(<v, x_i>) over the cube |v|_inf <= 1, by a tree of cones, compiled.

With the rows B_i = c_i x_i and the tree of core.compiled.zonotope the value is

    max over u_1..u_split in {0, 1} of min over u_split+1.. in [0, 1] of |w(u)|_1.

For weights D > 0 of sum 1 |w|_1^2 <= sum_k w_k^2/D_k = |w|_D^2, with equality for D_k proportional
to |w_k|. So a node is bounded as there by B D^-1 B', and near the cells again by a D of its own. In
a node of decided u_i only v with <v, x_i> >= 0 (u_i = 1) or <= 0 (u_i = 0) count. There a larger
u_i, or one below 0, only raises the sum: such u_i are further variables of the minimum.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from core.compiled.jit import compile_kernel
from core.compiled.zonotope import (
    GAINED,
    LAST_SWEEPS,
    bound_below_node,
    move_to_next,
    refresh,
    shift,
)

Array = NDArray[Any]
REACH = 4.0  # of a decided u_i beyond 0 or 1; without a limit rounding could grow
NEAR = 12  # free coordinates at most of a node with a D of its own
ROUNDS, CELL_ROUNDS = 1, 400  # descents with other weights at a node, and at a cell
BLEND, COOLING, LEAST_BLEND = 0.3, 0.97, 1e-5  # part of the first D in a node's own D


@compile_kernel
def clip_coordinate(j: int, split: int, now: float, target: float) -> float:
    """Return `target` within the interval of u_j: [0, 1], or beyond a decided value.

    Parameters
    ----------
    j, split : int
        Row, and number of rows with c_i > 0, which are decided.
    now : float
        u_j, on the side of the decision.
    target : float
        Value of a step without the interval.

    Returns
    -------
    float
        New u_j: in [0, 1] for j >= split, else in [1, 1 + REACH] or [-REACH, 0] by the decision.
    """
    if j >= split:
        return min(1.0, max(0.0, target))
    if now > 0.5:
        return min(1.0 + REACH, max(1.0, target))
    return min(0.0, max(-REACH, target))


@compile_kernel
def descend_in_cone(
    K: Array, split: int, free: int, spread: float, limit: float, size: float, u: Array, g: Array
) -> float:
    """Descend on box and multipliers until `bound_below_node` is below the limit.

    Parameters
    ----------
    K : array (n, n)
        B D^-1 B'.
    split, free : int
        Number of rows with c_i > 0, and of free ones among them.
    spread, limit : float
        spread[free], and the limit of |w|_D^2.
    size : float
        |w|_D^2 at the node.
    u, g : array (n,)
        Coordinates and K u, updated in place.

    Returns
    -------
    float
        |w|_D^2 afterwards.
    """
    for _ in range(1 if free > 0 else LAST_SWEEPS):
        gained = 0.0
        for j in range(free, u.size):
            row = K[j]
            slope = g[j]
            for i in range(free):
                slope += 0.5 * row[i] if g[i] > 0.0 else -0.5 * row[i]
            step = clip_coordinate(j, split, u[j], u[j] - slope / row[j]) - u[j]
            if step != 0.0:
                change = shift(row, j, step, u, g)
                size += change
                gained -= change
                if bound_below_node(size, spread, free, g) <= limit:
                    return size
        if gained <= GAINED * limit:
            break
    return size


@compile_kernel
def bound_by_weights(
    B: Array, free: int, D: Array, blend: float, sums: Array, w: Array, M: Array, pull: Array
) -> float:
    """Return a bound of |w|_1^2 over the cells below a node, by weights near |w_k|.

    Parameters
    ----------
    B : array (n, d)
        Rows c_i x_i.
    free : int
        Number of free coordinates.
    D : array (d,)
        Weights of sum 1, of which the node's own contain a part.
    blend : float
        That part.
    sums : array (split + 1, d)
        sum over i < f of |B_ik|.
    w : array (d,)
        u'B.
    M : array (d,)
        One over the weights, written in place.
    pull : array (d,)
        Gradient of the bound in w, over 2, written in place.

    Returns
    -------
    float
        Bound.
    """
    length, total, bound = 0.0, 0.0, 0.0
    for k in range(w.size):
        length += abs(w[k])
    for k in range(w.size):
        M[k] = (1.0 - blend) * abs(w[k]) + blend * length * D[k]
    for k in range(w.size):
        total += M[k]
    for k in range(w.size):
        M[k] = total / M[k]
        pull[k] = M[k] * w[k]
    for k in range(w.size):
        bound += M[k] * (w[k] * w[k] + 0.25 * sums[free, k] * sums[free, k])
    for i in range(free):
        slope = 0.0
        for k in range(w.size):
            slope += B[i, k] * M[k] * w[k]
        bound += abs(slope)
        half = 0.5 if slope > 0.0 else -0.5
        for k in range(w.size):
            pull[k] += half * M[k] * B[i, k]
    return bound if free > 0 else min(bound, length * length)


@compile_kernel
def descend_by_weights(
    B: Array, split: int, free: int, u: Array, w: Array, M: Array, pull: Array
) -> None:
    """Descend once over box and multipliers on the bound of `bound_by_weights`.

    Parameters
    ----------
    B : array (n, d)
        Rows c_i x_i.
    split, free : int
        Number of rows with c_i > 0, and of free ones among them.
    u, w, M, pull : array (n,), arrays (d,)
        Coordinates, u'B, one over the weights and the gradient; all but M are updated in place.
    """
    for j in range(free, B.shape[0]):
        slope, square = 0.0, 0.0
        for k in range(w.size):
            slope += B[j, k] * pull[k]
            square += B[j, k] * M[k] * B[j, k]
        step = clip_coordinate(j, split, u[j], u[j] - slope / square) - u[j]
        if step != 0.0:
            u[j] += step
            for k in range(w.size):
                w[k] += step * B[j, k]
                pull[k] += step * M[k] * B[j, k]


@compile_kernel
def bound_by_own_weights(
    B: Array, split: int, free: int, D: Array, sums: Array, u: Array, limit: float, work: Array
) -> float:
    """Return the least bound of |w|_1^2 over the cells below a node, by several weights.

    Parameters
    ----------
    B, free, D, sums : arrays and int
        As of `bound_by_weights`.
    split : int
        Number of rows with c_i > 0.
    u : array (n,)
        Coordinates.
    limit : float
        Bound at or below which the search stops.
    work : array (4, max(n, d))
        Work.

    Returns
    -------
    float
        Bound.
    """
    n, d = B.shape
    trial, w, M, pull = work[0, :n], work[1, :d], work[2, :d], work[3, :d]
    w[:] = 0.0
    for j in range(n):
        trial[j] = u[j]
        for k in range(d):
            w[k] += u[j] * B[j, k]
    blend = BLEND
    best = bound_by_weights(B, free, D, blend, sums, w, M, pull)
    for _ in range(ROUNDS if free > 0 else CELL_ROUNDS):
        if best <= limit:
            break
        descend_by_weights(B, split, free, trial, w, M, pull)
        best = min(best, bound_by_weights(B, free, D, blend, sums, w, M, pull))
        blend = max(COOLING * blend, LEAST_BLEND)
    return best


@compile_kernel
def bound_node(
    K: Array, split: int, free: int, spread: float, limit: float, size: float, u: Array, g: Array
) -> tuple[float, float]:
    """Return |w|_D^2 and the bound of a node, after a descent if it is needed.

    Parameters
    ----------
    K, split, free, spread, limit, size, u, g : arrays, ints and floats
        As of `descend_in_cone`.

    Returns
    -------
    tuple of float
        |w|_D^2, and the bound of |w|_1^2 over the cells below the node.
    """
    bound = bound_below_node(size, spread, free, g)
    if bound > limit:
        size = descend_in_cone(K, split, free, spread, limit, size, u, g)
        bound = bound_below_node(size, spread, free, g)
    return size, bound


@compile_kernel
def explore_cube(
    K: Array,
    B: Array,
    D: Array,
    sums: Array,
    split: int,
    spread: Array,
    u: Array,
    g: Array,
    place: Array,
    limit: float,
    cell: Array,
    work: Array,
    budget: int,
) -> int:
    """Search the tree for a cell that may have |w|_1^2 above a limit; return nodes visited.

    Parameters
    ----------
    K, u, g : arrays
        As of `descend_in_cone`, updated in place.
    B, D, sums, split, work : arrays and int
        As of `bound_by_own_weights`.
    spread : array (split + 1,)
        As of core.compiled.zonotope.explore.
    place : array of int (2 split + 3,)
        Place in the tree, as of core.compiled.zonotope.explore.
    limit : float
        Limit of |w|_1^2.
    cell : array (split,)
        Written in place: the u_i of a cell whose bound is above the limit, which is then done.
    budget : int
        Nodes after which to return.

    Returns
    -------
    int
        Nodes, with a minus sign after such a cell. The search is finished when place[0] = -1.
    """
    size, nodes, is_open = refresh(K, u, g), 0, False
    while nodes < budget:
        free = place[0]
        if place[1 + free] == 0:
            nodes += 1
            size, bound = bound_node(K, split, free, spread[free], limit, size, u, g)
            if bound > limit and free <= NEAR:
                bound = bound_by_own_weights(B, split, free, D, sums, u, limit, work)
            is_open = bound > limit and free == 0
            if is_open:
                for i in range(split):
                    cell[i] = 1.0 if u[i] > 0.5 else 0.0
            if bound <= limit or is_open:
                place[1 + free] = 2
        size += move_to_next(K, split, u, g, place)
        if is_open:
            return -nodes
        if place[0] < 0:
            break
    return nodes
