"""Largest sum_i c_i relu(<v, x_i>) over unit v, by zonotopes, compiled.

Rows of B are c_i x_i, those with c_i > 0 (the first `split`) before those with c_i < 0. With
w(u) = sum_i u_i B_i the value is

    max over u_1..u_split in {0, 1} of min over u_split+1.. in [0, 1] of |w(u)|,

since relu(z) = max over s in [0, 1] of s z, and the norm is convex. `ascend` climbs to local
maxima; `explore` finds the largest, or proves that none is above a limit.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from numpy.typing import NDArray

from core.compiled.jit import compile_kernel

Array = NDArray[Any]
TURNS = 60  # iterations of v <- w(u)/|w(u)|, u <- the best at v
SWEEPS = 30  # sweeps of coordinate descent on the box, per iteration
LAST_SWEEPS = 1000  # sweeps at a cell of `explore`, where a bound is computed
MOVED = 1e-10
GAINED = 1e-10


@compile_kernel
def dot(a: Array, b: Array) -> float:
    """Return <a, b>."""
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


@compile_kernel
def relax(B: Array, squares: Array, split: int, u: Array, w: Array) -> None:
    """Minimise |w|^2 over the box of the rows from `split` on, by coordinate descent.

    Parameters
    ----------
    B : array (n, r)
        Rows c_i x_i.
    squares : array (n,)
        |B_i|^2.
    split : int
        First row of the box.
    u : array (n,)
        Coordinates, updated in place.
    w : array (r,)
        sum_i u_i B_i, updated in place.
    """
    n, r = B.shape
    for _ in range(SWEEPS):
        largest = 0.0
        for j in range(split, n):
            if squares[j] == 0.0:
                continue
            step = min(1.0, max(0.0, u[j] - dot(B[j], w) / squares[j])) - u[j]
            if step != 0.0:
                u[j] += step
                for k in range(r):
                    w[k] += step * B[j, k]
                largest = max(largest, step * step * squares[j])
        if largest <= MOVED * dot(w, w):
            break


@compile_kernel
def choose(B: Array, first: int, last: int, split: int, v: Array, u: Array) -> int:
    """Set each u_i to its best value at v; return how many changed.

    Parameters
    ----------
    B : array (n, r)
        Rows c_i x_i.
    first, last : int
        Range of the rows.
    split : int
        Number of rows with c_i > 0.
    v : array (r,)
        Direction.
    u : array (n,)
        Coordinates, updated in place.

    Returns
    -------
    int
        Number of changed coordinates, 0 to last - first.
    """
    changed = 0
    for i in range(first, last):
        projection = dot(B[i], v)
        best = 1.0 if (projection > 0.0 if i < split else projection < 0.0) else 0.0
        if best != u[i]:
            u[i] = best
            changed += 1
    return changed


@compile_kernel
def ascend(
    B: Array, squares: Array, split: int, V: Array, values: Array, u: Array, w: Array
) -> None:
    """Climb from every row of V to a local maximum of sum_i c_i relu(<v, x_i>) over unit v.

    Parameters
    ----------
    B : array (n, r)
        Rows c_i x_i.
    squares : array (n,)
        |B_i|^2.
    split : int
        Number of rows with c_i > 0.
    V : array (k, r)
        Unit vectors, updated in place.
    values : array (k,)
        The sum at each row of V afterwards, written in place.
    u, w : array (n,), array (r,)
        Work: coordinates u_i and w(u), overwritten.
    """
    n, r = B.shape
    for start in range(V.shape[0]):
        v = V[start]
        for turn in range(TURNS):
            if turn == 0:
                u[:] = -1.0
                choose(B, split, n, split, v, u)
            if choose(B, 0, split, split, v, u) == 0:
                break
            w[:] = 0.0
            for i in range(n):
                if u[i] != 0.0:
                    for k in range(r):
                        w[k] += u[i] * B[i, k]
            relax(B, squares, split, u, w)
            length = sqrt(dot(w, w))
            if length < 1e-14:
                break
            for k in range(r):
                v[k] = w[k] / length
        values[start] = 0.0
        for i in range(n):
            projection = dot(B[i], v)
            values[start] += max(projection, 0.0) if i < split else min(projection, 0.0)


@compile_kernel
def refresh(K: Array, u: Array, g: Array) -> float:
    """Write g = K u; return |w|^2 = u'K u.

    Parameters
    ----------
    K : array (n, n)
        BB'.
    u : array (n,)
        Coordinates.
    g : array (n,)
        Written in place.

    Returns
    -------
    float
        |w|^2.
    """
    total = 0.0
    for i in range(u.size):
        g[i] = dot(K[i], u)
    for i in range(u.size):
        total += u[i] * g[i]
    return total


@compile_kernel
def shift(row: Array, k: int, step: float, u: Array, g: Array) -> float:
    """Update u_k by a step, and g = K u; return the change of |w|^2.

    Parameters
    ----------
    row : array (n,)
        Row k of K.
    k : int
        Coordinate.
    step : float
        Change of u_k.
    u, g : array (n,)
        Updated in place.

    Returns
    -------
    float
        Change of |w|^2, negative where the step descends.
    """
    change = step * (2.0 * g[k] + step * row[k])
    u[k] += step
    for i in range(g.size):
        g[i] += step * row[i]
    return change  # type: ignore[no-any-return]


@compile_kernel
def bound_below_node(size: float, spread: float, free: int, g: Array) -> float:
    """Return an upper bound of |w|^2 over the cells below a node: see `explore`.

    Parameters
    ----------
    size : float
        |w|^2 at the node.
    spread : float
        spread[free].
    free : int
        Number of free coordinates, at 1/2.
    g : array (n,)
        K u.

    Returns
    -------
    float
        |w|^2 + spread[free] + sum over i < free of |g_i|; |w|^2 itself at a cell, as spread[0] = 0.
    """
    total = size + spread
    for i in range(free):
        total += abs(g[i])
    return total


@compile_kernel
def descend_until_bounded(
    K: Array, split: int, free: int, spread: float, limit: float, size: float, u: Array, g: Array
) -> float:
    """Descend on the box until `bound_below_node` is below the limit; at a cell, to the end.

    One sweep at a node (branching is cheaper than a second), LAST_SWEEPS at a cell.

    Parameters
    ----------
    K : array (n, n)
        BB'.
    split, free : int
        Number of rows with c_i > 0, and of free ones among them.
    spread, limit : float
        spread[free], and the limit of |w|^2.
    size : float
        |w|^2 at the node.
    u, g : array (n,)
        Coordinates and K u, updated in place.

    Returns
    -------
    float
        |w|^2 afterwards.
    """
    for _ in range(1 if free > 0 else LAST_SWEEPS):
        gained = 0.0
        for j in range(split, u.size):
            row = K[j]
            slope = g[j]
            for i in range(free):
                slope += 0.5 * row[i] if g[i] > 0.0 else -0.5 * row[i]
            step = min(1.0, max(0.0, u[j] - slope / row[j])) - u[j]
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
def move_to_next(K: Array, split: int, u: Array, g: Array, place: Array) -> float:
    """Move from a node to its next child, or back if place says that both are done.

    Parameters
    ----------
    K : array (n, n)
        BB'.
    split : int
        Number of rows with c_i > 0.
    u, g : array (n,)
        Coordinates and K u, updated in place.
    place : array of int (2 split + 3,)
        As of `explore`, updated in place; place[0] is -1 after the last node.

    Returns
    -------
    float
        Change of |w|^2.
    """
    free = place[0]
    if place[1 + free] == 2:
        place[1 + free] = 0
        if free == split:
            place[0] = -1
            return 0.0
        change = shift(K[free], free, 0.5 - u[free], u, g)
        place[0] = free + 1
        return change
    bit = free - 1
    if place[1 + free] == 0:
        place[2 + split + free] = 1 if g[bit] > 0.0 else 0
    else:
        place[2 + split + free] = 1 - place[2 + split + free]
    place[1 + free] += 1
    change = shift(K[bit], bit, place[2 + split + free] - u[bit], u, g)
    place[0] = free - 1
    place[free] = 0
    return change


@compile_kernel
def explore(
    K: Array,
    split: int,
    spread: Array,
    u: Array,
    g: Array,
    place: Array,
    best: Array,
    limit: Array,
    budget: int,
) -> int:
    """Search the tree of u_1..u_split in {0, 1} for cells above limit[0]; return nodes visited.

    At a node the first f = place[0] of them are free, at 1/2. With g = K u and u_i = (1 + e_i)/2
    for those, |w|^2 = |w(1/2)|^2 + sum e_i g_i + e'K_ff e/4, at most

        |w(1/2)|^2 + sum_i |g_i| + spread[f],   spread[f] >= max of e'K_ff e / 4 over e in {-1,1}^f,

    for any box values. A node at most at limit[0] = U^2 is left; else its two children are
    visited. A cell (f = 0) above the limit raises limit[0] and is copied to `best`.

    Parameters
    ----------
    K, split, spread : array (n, n), int, array (split + 1,)
        BB', number of rows with c_i > 0, and bounds above.
    u, g, best : array (n,)
        Coordinates, K u, and the best cell's coordinates, all updated in place.
    place : array of int (2 split + 3,)
        Updated in place. place[0] is f; of the node with f free coordinates, place[1 + f] children
        were visited, the last with u_f = place[2 + split + f].
    limit, budget : array (1,), int
        U^2, updated in place, and nodes after which to return.

    Returns
    -------
    int
        Nodes visited. The search is finished when place[0] = -1; else call again.
    """
    size = refresh(K, u, g)
    nodes = 0
    while nodes < budget:
        free = place[0]
        if place[1 + free] == 0:
            nodes += 1
            bound = bound_below_node(size, spread[free], free, g)
            if bound > limit[0]:
                size = descend_until_bounded(K, split, free, spread[free], limit[0], size, u, g)
                bound = bound_below_node(size, spread[free], free, g)
            if bound > limit[0] and free == 0:
                limit[0] = bound
                for i in range(u.size):
                    best[i] = u[i]
            if bound <= limit[0]:
                place[1 + free] = 2
        size += move_to_next(K, split, u, g, place)
        if place[0] < 0:
            break
    return nodes
