"""Proved bounds of prices over the cube |v|_inf <= 1, by the tree of core.compiled.cube_tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.compiled.cube_tree import explore_cube
from core.reference.cancel_token import CancelToken
from core.reference.cube_search import CLOSE, CubeGeneration, CubeSearch
from core.reference.pricing import bound_sign_forms, make_zonotopes
from core.reference.programs import Program, solve_program

Array = NDArray[np.float64]
WORK = 2_000_000  # multiplications between two checks of the watch
SUPPORT = 1e-6  # of the largest q_i
# Relative, above the climbed price: bounds to be proved in turn. Closer ones take longer.
SLACKS = (0.1, 0.02, 0.002)
RAISES = 10  # proofs of one slack, each after the search knew what the last one had found
# Relative errors: of |w|^2 updated from node to node, and of a small |w|^2 to sum |c_i x_i|.
ROUNDING, DRIFT = 1e-10, 1e-5


@final
@dataclass(frozen=True, slots=True, eq=False)
class CubeProof:
    """Proof that max over |v|_inf <= 1 of sum_i c_i relu(<v, x_i>) <= bound, if `finished`.

    `V` (k, d) are points of the cube with values above the limit that was to be proved.
    """

    bound: float
    V: Array
    finished: bool


def bound_cell(B: Array, signs: Array, watch: CancelToken) -> tuple[float, Array]:
    """Return a bound of the value over the points of the cube in a cone, and the best point.

    Parameters
    ----------
    B : array (n, d)
        Rows c_i x_i, those with c_i > 0 first.
    signs : array (split,)
        1 where <v, x_i> >= 0 and 0 where <v, x_i> <= 0, of the rows with c_i > 0.
    watch : CancelToken
        Cancellation token.

    Returns
    -------
    bound : float
        |w(u)|_1 for the multipliers u of a linear program: a bound whatever they are.
    v : array (d,)
        Point of the cube.
    """
    split, (n, d) = len(signs), B.shape
    k, turned = n - split, np.where(signs > 0.5, -1.0, 1.0)[:, None] * B[:split]
    # max <w, v> - sum s with s >= 0, s >= -B_j v for c_j < 0.
    rows = np.block([[turned, np.zeros((split, k))], [-B[split:], -np.eye(k)]])
    box = np.r_[-np.ones(d), np.zeros(k)], np.r_[np.ones(d), np.full(k, np.inf)]
    cost = np.r_[signs @ B[:split], -np.ones(k)]
    solution = solve_program(Program(cost, rows, np.zeros(n), *box), watch)
    beyond = solution.multipliers
    u = np.r_[
        signs + np.where(signs > 0.5, 1.0, -1.0) * beyond[:split],
        np.minimum(beyond[split:], 1.0),
    ]
    return float(np.abs(u @ B).sum()), np.clip(solution.v[:d], -1.0, 1.0)


def prove_cube_bound(x: Array, c: Array, D: Array, limit: float, watch: CancelToken) -> CubeProof:
    """Prove that max over |v|_inf <= 1 of sum_i c_i relu(<v, x_i>) is at most `limit`, or raise it.

    Parameters
    ----------
    x : array (n, d)
        Points, none of them 0.
    c : array (n,)
        Signed weights.
    D : array (d,)
        Weights > 0 of the coordinates, of sum 1. Good ones make the search short.
    limit : float
        Bound to prove, > 0.
    watch : CancelToken
        Cancellation, and the time limit.

    Returns
    -------
    CubeProof

    Examples
    --------
    >>> x, c = np.array([[3.0, -1.0]]), np.array([0.5])
    >>> proof = prove_cube_bound(x, c, np.full(2, 0.5), 1.0, CancelToken())
    >>> round(proof.bound, 6), proof.V.tolist(), proof.finished
    (2.0, [[1.0, -1.0]], True)
    """
    body = make_zonotopes(x / np.sqrt(D), c)
    split, (n, d) = body.split, body.rows.shape
    if split == 0:
        return CubeProof(limit, np.zeros((0, d)), True)
    B = np.ascontiguousarray(body.rows * np.sqrt(D))
    gram = np.ascontiguousarray(body.rows @ body.rows.T)
    sums = np.vstack([np.zeros(d), np.abs(B[:split]).cumsum(axis=0)])
    u, g, cell = np.full(n, 0.5), np.zeros(n), np.zeros(split)
    place = np.zeros(2 * split + 3, dtype=np.int64)
    place[0] = split
    spread, work = bound_sign_forms(gram, split), np.zeros((4, max(n, d)))
    budget, highest, points = max(100, WORK // (n * (n + d))), limit, []
    while place[0] >= 0 and not watch.timed_out:
        watch.check()
        nodes = explore_cube(
            gram, B, D, sums, split, spread, u, g, place, highest**2, cell, work, budget
        )
        if nodes < 0:
            bound, v = bound_cell(B, cell, watch)
            highest = max(highest, bound)
            if float(np.maximum(x @ v, 0.0) @ c) > limit:
                points.append(v)
    size = float(np.linalg.norm(body.rows, axis=1).sum())
    bound = float(np.sqrt(highest**2 * (1.0 + ROUNDING) + (DRIFT * size) ** 2))
    return CubeProof(bound, np.array(points).reshape(-1, d), bool(place[0] < 0))


def close_bracket(
    x: Array, y: Array, D: Array, generation: CubeGeneration, enough: float, watch: CancelToken
) -> tuple[CubeSearch, float]:
    """Return the best network and weights, and a proved upper bound below `enough` if one is found.

    Points of the cube that the climb missed become columns of a further search.

    Parameters
    ----------
    x : array (n, d)
        Points, none of them 0.
    y : array (n,)
        Labels +-1.
    D : array (d,)
        Weights > 0 of the coordinates, of sum 1.
    generation : CubeGeneration
        Column generation on these points, which has run once.
    enough : float
        Bound that is known.
    watch : CancelToken
        Cancellation, and the time limit.

    Returns
    -------
    tuple of CubeSearch, float
    """
    search, least = generation.result, enough
    for slack in SLACKS:
        for _ in range(RAISES):
            limit = search.price * (1.0 + slack)
            if least - search.lower <= CLOSE * least or least <= limit:
                break
            q = np.where(search.q > SUPPORT * search.q.max(), search.q, 0.0)
            c = q / q.sum() * y
            proofs = [prove_cube_bound(x, sign * c, D, limit, watch) for sign in (1.0, -1.0)]
            if not all(proof.finished for proof in proofs):
                return search, least
            least = min(least, max(proof.bound for proof in proofs))
            if not any(len(proof.V) for proof in proofs):
                break
            for sign, proof in zip((1.0, -1.0), proofs, strict=True):
                generation.add(proof.V, np.full(len(proof.V), sign))
            search = generation.run(watch)
    return search, least
