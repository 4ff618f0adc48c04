"""Pricing: the largest |sum_i q_i y_i relu(<v, x_i>)| over unit vectors v, climbed to or proved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.compiled.zonotope import ascend, explore
from core.reference.arrangement import MOST_DIMENSIONS, largest
from core.reference.watch import Watch

Array = NDArray[np.float64]
BATCH_WORK = 2_000_000  # multiplications of the starts climbed from between two looks at the watch
TREE_WORK = 2_000_000  # the same for nodes of the tree
ROUNDING = 1e-11  # relative, of |w|^2 updated from node to node
DRIFT = 1e-6  # of sum |c_i x_i|: its square is what |w|^2 may have lost where it is small


@final
@dataclass(frozen=True, slots=True, eq=False)
class Zonotopes:
    """Rows c_i x_i with c_i != 0: the `split` with c_i > 0 first, each part from short to long."""

    rows: Array  # (n', r)
    split: int


def zonotopes(x: Array, c: Array) -> Zonotopes:
    """The rows c_i x_i of x (n, r) and c (n,); lengths ascend so that the tree's top decides most.

    >>> zonotopes(np.array([[3.0], [1.0], [2.0]]), np.array([1.0, 1.0, -1.0])).rows.T
    array([[ 1.,  3., -2.]])
    """
    rows = c[:, None] * x
    length = np.linalg.norm(rows, axis=1)
    order = np.lexsort((length, c < 0.0))
    order = order[length[order] > 0.0]
    return Zonotopes(np.ascontiguousarray(rows[order]), int((c[order] > 0.0).sum()))


def climb(x: Array, c: Array, starts: Array, watch: Watch) -> tuple[Array, Array]:
    """Local maxima of sum_i c_i relu(<v, x_i>) from starts (k, r): unit V (k, r), values (k,)."""
    # Weights that are rounding would only make the climb longer.
    small = np.abs(c) <= 1e-13 * np.abs(c).max()
    body = zonotopes(x, np.where(small, 0.0, c))
    n, r = body.rows.shape
    lengths = np.linalg.norm(starts, axis=1)
    directions = np.ascontiguousarray(starts[lengths > 0.0] / lengths[lengths > 0.0, None])
    values = np.zeros(len(directions))
    if body.split == 0:
        return directions, np.minimum(directions @ body.rows.T, 0.0).sum(axis=1)
    squares = np.square(body.rows).sum(axis=1)
    u, w = np.empty(n), np.empty(r)
    # A climb takes some hundred products at most.
    batch = max(1, BATCH_WORK // (100 * n * r))
    for first in range(0, len(directions), batch):
        watch.look()
        part = slice(first, first + batch)
        ascend(body.rows, squares, body.split, directions[part], values[part], u, w)
    return directions, values


@final
@dataclass(frozen=True, slots=True, eq=False)
class Proof:
    """max over v of sum_i c_i relu(<v, x_i>) <= bound, when `finished`.

    `direction` is that of the cell that raised the bound above what was asked for, or None.
    """

    bound: float
    direction: Array | None
    finished: bool
    nodes: int


def spreads(gram: Array, split: int) -> Array:
    """Upper bounds of e'K_ff e/4 over signs e, f = 0..split: the smaller of two easy ones.

    >>> spreads(np.eye(3), 2)
    array([0.  , 0.25, 0.5 ])
    """
    sums = np.zeros(split + 1)
    for f in range(1, split + 1):
        part = gram[:f, :f]
        # 1e-12 more: a bound must not be below the eigenvalue by the rounding of its computation.
        top = float(np.linalg.eigvalsh(part)[-1]) * (1.0 + 1e-12)
        sums[f] = min(float(np.abs(part).sum()), f * top) / 4.0
    return sums


def prove(x: Array, c: Array, limit: float, watch: Watch, until: float) -> Proof:
    """Show that max over v of sum_i c_i relu(<v, x_i>) is at most `limit`, or find what is not.

    Every subset of the points with c_i > 0 is covered by a tree search (core.compiled.zonotope);
    it ends unfinished when the watch shows `until` seconds. In up to three dimensions, where the
    tree prunes badly, all faces of the arrangement are looked at instead.
    """
    body = zonotopes(x, c)
    n, split = len(body.rows), body.split
    if split == 0:
        return Proof(0.0, None, True, 0)
    if x.shape[1] <= MOST_DIMENSIONS:
        signs = np.where(np.arange(n) < split, 1.0, -1.0)
        value, v, tried = largest(signs[:, None] * body.rows, signs, watch)
        bound = max(limit, value * (1.0 + ROUNDING))
        return Proof(bound, v if value > limit else None, True, tried)
    gram = np.ascontiguousarray(body.rows @ body.rows.T)
    u, g, best = np.full(n, 0.5), np.zeros(n), np.full(n, -1.0)
    squared = np.array([limit * limit])
    place = np.zeros(2 * split + 3, dtype=np.int64)
    place[0] = split
    spread, nodes = spreads(gram, split), 0
    budget = max(100, TREE_WORK // (n * n))
    while place[0] >= 0 and watch.seconds < until:
        watch.look()
        nodes += explore(gram, split, spread, u, g, place, best, squared, budget)
    size = float(np.linalg.norm(body.rows, axis=1).sum())
    bound = float(np.sqrt(squared[0] * (1.0 + ROUNDING) + (DRIFT * size) ** 2))
    if best[0] < 0.0:
        return Proof(bound, None, place[0] < 0, nodes)
    direction = best @ body.rows
    return Proof(bound, direction / np.linalg.norm(direction), place[0] < 0, nodes)
