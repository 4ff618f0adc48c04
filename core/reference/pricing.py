"""Pricing: largest |sum_i q_i y_i relu(<v, x_i>)| over unit vectors v."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.compiled.zonotope import ascend, explore
from core.reference.cancel_token import CancelToken

# -------------------------------------------------------------- exact, in up to three dimensions

Array = NDArray[np.float64]
# Dimensions in which the tree search prunes badly (docs/decisions/0008); in more, the faces are too
# many.
MOST_DIMENSIONS = 3
PARALLEL = 1e-9  # sine below which two points count as parallel


def price_of(x: Array, c: Array, v: Array) -> Array:
    """Return sum_i c_i relu(<v, x_i>) at some directions.

    Parameters
    ----------
    x : array (n, r)
        Points.
    c : array (n,)
        Signed weights.
    v : array (k, r)
        Directions.

    Returns
    -------
    array (k,)
        Values.
    """
    return np.asarray(np.maximum(v @ x.T, 0.0) @ c)


def unit_rows(rows: Array) -> Array:
    """Return the rows that are not 0, divided by their lengths.

    Parameters
    ----------
    rows : array (k, r)
        Vectors.

    Returns
    -------
    array (k' <= k, r)
        Unit rows; those shorter than 1e-300 are left out.
    """
    lengths = np.linalg.norm(rows, axis=1)
    # Shorter rows have lost the digits of their direction.
    nonzero = lengths > 1e-300
    return np.asarray(rows[nonzero] / lengths[nonzero, None])


def arcs_of_circle(x: Array) -> tuple[Array, Array]:
    """Return the arcs into which the lines <v, x_i> = 0 cut the circle.

    Parameters
    ----------
    x : array (n, 2)
        Points, none of them 0.

    Returns
    -------
    tuple of arrays (2 n, 2)
        Unit vectors at the ends and at the middles of the arcs.

    Examples
    --------
    >>> np.abs(arcs_of_circle(np.array([[1.0, 0.0]]))[1].round(3)).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    angles = np.arctan2(x[:, 1], x[:, 0]) + 0.5 * np.pi
    cuts = np.sort(np.mod(np.concatenate([angles, angles + np.pi]), 2.0 * np.pi))
    middles = 0.5 * (cuts + np.append(cuts[1:], cuts[0] + 2.0 * np.pi))
    ends = np.column_stack([np.cos(cuts), np.sin(cuts)])
    return ends, np.column_stack([np.cos(middles), np.sin(middles)])


def candidate_directions(x: Array, c: Array) -> Iterator[Array]:
    """Yield directions among which sum_i c_i relu(<v, x_i>) is largest over unit v.

    Within a face of the arrangement of the planes <v, x_i> = 0 the sum is <v, w> with the w of that
    face. So a maximum inside a face is at w projected to the face's span, or the face is a vertex.
    A vertex is an end of an arc on the circle of some point; every arc is between two vertices
    there, and every cell beside an arc.

    Parameters
    ----------
    x : array (n, r)
        Points, r <= 3.
    c : array (n,)
        Signed weights.

    Yields
    ------
    array (k, r)
        Unit directions.
    """
    r = x.shape[1]
    if r == 1:
        yield np.array([[1.0], [-1.0]])
        return
    if r == 2:
        ends, middles = arcs_of_circle(x)
        yield np.vstack([ends, unit_rows(((middles @ x.T > 0.0) * c) @ x)])
        return
    for normal in unit_rows(x):
        yield from candidates_on_circle(x, c, normal)


def candidates_on_circle(x: Array, c: Array, normal: Array) -> Iterator[Array]:
    """Yield the candidates of the vertices, arcs and cells along the circle <v, normal> = 0.

    Parameters
    ----------
    x : array (n, 3)
        Points.
    c : array (n,)
        Signed weights.
    normal : array (3,)
        Unit normal of the circle's plane.

    Yields
    ------
    array (k, 3)
        Unit directions.
    """
    # All but the first right singular vector: an orthonormal basis orthogonal to `normal`.
    plane = np.linalg.svd(normal[None])[2][1:]
    flat = x @ plane.T
    lengths = np.linalg.norm(x, axis=1)
    crossing = np.linalg.norm(flat, axis=1) > PARALLEL * lengths
    if not crossing.any():
        return
    ends, middles = arcs_of_circle(flat[crossing])
    active = ((middles @ plane @ x.T > 0.0) & crossing) * c
    yield ends @ plane
    yield unit_rows(active @ flat) @ plane
    for side in (1.0, -1.0):
        # Points along `normal` are 0 on its circle, and active on one side of it.
        touching = (~crossing & (side * (x @ normal) > 0.0)) * c
        yield unit_rows((active + touching) @ x)


def maximise_price(x: Array, c: Array, watch: CancelToken) -> tuple[float, Array, int]:
    """Return the maximum over unit v of sum_i c_i relu(<v, x_i>), exactly, for r <= 3.

    Parameters
    ----------
    x : array (n, r)
        Points.
    c : array (n,)
        Signed weights.
    watch : CancelToken
        Cancellation token.

    Returns
    -------
    value : float
        Maximum.
    v : array (r,)
        Unit direction that attains it.
    tried : int
        Number of candidates.

    Examples
    --------
    >>> value, v, _ = maximise_price(np.array([[3.0, 4.0]]), np.array([2.0]), CancelToken())
    >>> value, v.tolist()
    (10.0, [0.6, 0.8])
    """
    best, where, tried = -np.inf, np.zeros(x.shape[1]), 0
    for directions in candidate_directions(x, c):
        watch.check()
        if len(directions):
            values = price_of(x, c, directions)
            tried += len(values)
            if values.max() > best:
                best, where = float(values.max()), directions[np.argmax(values)]
    return best, where, tried


# --------------------------------------------------------------- climbed to, or proved by a tree

BATCH_WORK = 2_000_000  # multiplications of climbs between two checks of the watch
TREE_WORK = 2_000_000  # the same for nodes of the tree
ROUNDING = 1e-11  # relative, of |w|^2 updated from node to node
DRIFT = 1e-6  # relative to sum |c_i x_i|: its square bounds the loss of a small |w|^2


@final
@dataclass(frozen=True, slots=True, eq=False)
class Zonotopes:
    """Rows c_i x_i with c_i != 0: the `split` with c_i > 0 first, each part from short to long."""

    rows: Array  # (n', r)
    split: int


def make_zonotopes(x: Array, c: Array) -> Zonotopes:
    """Return the rows c_i x_i of x (n, r), c (n,), with ascending lengths in each part.

    So the top of the search tree decides most.

    >>> make_zonotopes(np.array([[3.0], [1.0], [2.0]]), np.array([1.0, 1.0, -1.0])).rows.T
    array([[ 1.,  3., -2.]])
    """
    rows = c[:, None] * x
    length = np.linalg.norm(rows, axis=1)
    order = np.lexsort((length, c < 0.0))
    order = order[length[order] > 0.0]
    return Zonotopes(np.ascontiguousarray(rows[order]), int((c[order] > 0.0).sum()))


def climb_price(x: Array, c: Array, starts: Array, watch: CancelToken) -> tuple[Array, Array]:
    """Return local maxima of sum_i c_i relu(<v, x_i>) over unit v.

    Parameters
    ----------
    x : array (n, r)
        Points.
    c : array (n,)
        Signed weights; those below 1e-13 of the largest are taken as 0.
    starts : array (k, r)
        Directions to start from; rows of 0 are left out.
    watch : CancelToken
        Cancellation token.

    Returns
    -------
    V : array (k, r)
        Unit directions.
    values : array (k,)
        Their values.
    """
    # Weights at the level of rounding would only prolong the climb.
    small = np.abs(c) <= 1e-13 * np.abs(c).max()
    body = make_zonotopes(x, np.where(small, 0.0, c))
    n, r = body.rows.shape
    lengths = np.linalg.norm(starts, axis=1)
    directions = np.ascontiguousarray(starts[lengths > 0.0] / lengths[lengths > 0.0, None])
    values = np.zeros(len(directions))
    if body.split == 0:
        return directions, np.minimum(directions @ body.rows.T, 0.0).sum(axis=1)
    squares = np.square(body.rows).sum(axis=1)
    u, w = np.empty(n), np.empty(r)
    # A climb takes at most about a hundred products.
    batch = max(1, BATCH_WORK // (100 * n * r))
    for first in range(0, len(directions), batch):
        watch.check()
        part = slice(first, first + batch)
        ascend(body.rows, squares, body.split, directions[part], values[part], u, w)
    return directions, values


@final
@dataclass(frozen=True, slots=True, eq=False)
class Proof:
    """Proof that max over v of sum_i c_i relu(<v, x_i>) <= bound, if `finished`.

    `direction` is that of the cell that raised the bound above the requested limit, or None.
    """

    bound: float
    direction: Array | None
    finished: bool
    nodes: int


def bound_sign_forms(gram: Array, split: int) -> Array:
    """Return upper bounds of e'K_ff e/4 over signs e, f = 0..split: the smaller of two easy ones.

    Parameters
    ----------
    gram : array (n, n)
        Gram matrix K of the zonotope's rows.
    split : int
        Number of rows with c_i > 0.

    Returns
    -------
    array (split + 1,)
        Bound for the first f rows.

    Examples
    --------
    >>> bound_sign_forms(np.eye(3), 2)
    array([0.  , 0.25, 0.5 ])
    """
    sums = np.zeros(split + 1)
    for f in range(1, split + 1):
        part = gram[:f, :f]
        # 1e-12 covers the rounding of the eigenvalue, which the bound must not be below.
        top = float(np.linalg.eigvalsh(part)[-1]) * (1.0 + 1e-12)
        sums[f] = min(float(np.abs(part).sum()), f * top) / 4.0
    return sums


def prove_price_bound(x: Array, c: Array, limit: float, watch: CancelToken, until: float) -> Proof:
    """Prove that max over v of sum_i c_i relu(<v, x_i>) is at most `limit`, or raise the bound.

    A tree search covers every subset of the points with c_i > 0 (core.compiled.zonotope). In up to
    three dimensions, where the tree prunes badly, all faces of the arrangement are examined
    instead.

    Parameters
    ----------
    x : array (n, r)
        Points.
    c : array (n,)
        Signed weights.
    limit : float
        Bound to prove.
    watch : CancelToken
        Cancellation token.
    until : float
        Seconds on the watch at which the search ends unfinished.

    Returns
    -------
    Proof
        Bound, and the direction that raised it above `limit`.
    """
    body = make_zonotopes(x, c)
    n, split = len(body.rows), body.split
    if split == 0:
        return Proof(0.0, None, True, 0)
    if x.shape[1] <= MOST_DIMENSIONS:
        signs = np.where(np.arange(n) < split, 1.0, -1.0)
        value, v, tried = maximise_price(signs[:, None] * body.rows, signs, watch)
        bound = max(limit, value * (1.0 + ROUNDING))
        return Proof(bound, v if value > limit else None, True, tried)
    gram = np.ascontiguousarray(body.rows @ body.rows.T)
    u, g, best = np.full(n, 0.5), np.zeros(n), np.full(n, -1.0)
    squared = np.array([limit * limit])
    place = np.zeros(2 * split + 3, dtype=np.int64)
    place[0] = split
    spread, nodes = bound_sign_forms(gram, split), 0
    budget = max(100, TREE_WORK // (n * n))
    while place[0] >= 0 and watch.seconds < until:
        watch.check()
        nodes += explore(gram, split, spread, u, g, place, best, squared, budget)
    size = float(np.linalg.norm(body.rows, axis=1).sum())
    bound = float(np.sqrt(squared[0] * (1.0 + ROUNDING) + (DRIFT * size) ** 2))
    if best[0] < 0.0:
        return Proof(bound, None, place[0] < 0, nodes)
    direction = best @ body.rows
    return Proof(bound, direction / np.linalg.norm(direction), place[0] < 0, nodes)
