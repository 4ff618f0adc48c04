"""Margins over norms of all inner weights, bounded by gamma_gl of transformed points.

For a positive definite Lam of trace 1 and neurons with sum_j |a_j| sqrt(v_j' Lam v_j) <= 1 no
network has a larger margin than gamma_gl of the points Lam^-1/2 x_i. The bound is least at a saddle
point

    min over q and Lam of max over u of |h_q(u)| / sqrt(u' Lam u),
    h_q(u) = sum_i q_i y_i relu(<u, x_i>),

whose square is convex in (q, Lam). It is found by smoothing the maximum over a pool of directions,
which grows by the directions of highest price.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.reference.cancel_token import CancelToken
from core.reference.generation import select_distinct_directions
from core.reference.pricing import climb_price

Array = NDArray[np.float64]
# Powers of the smoothed maximum: first, growth per round, last.
LEAST_POWER, GROWTH, MOST_POWER = 20.0, 1.2, 2000.0
FIRST, MIXED = 10, 0.005  # other q of the first pool; fraction of equal weights in each start
SMOOTHING = 0.5  # weight of the best q and Lam so far in the priced ones
FLOOR = 1e-3  # fraction of I/d in Lam
STARTS, ADDED, POINTS_RETAINED = 120, 40, 1500
LAST, LAST_POWER = 3, 100.0  # fits of the network: higher powers do not improve them
STEPS = 80  # L-BFGS steps per round
MOST_ROUNDS = 80
AGAIN = 2 * ADDED  # last directions found, from which the climb restarts
NODES, SMALLEST = 200, 1e-5  # of the network: largest number of neurons, least weight of a neuron
WORTH = 1e-4  # relative: smaller decreases of the price are no progress
IDLE = 12  # rounds without progress before the search stops


@final
@dataclass(frozen=True, slots=True, eq=False)
class Saddle:
    """Weights q (n,) and Lam (d, d) of trace 1, with their price as found by climbing.

    `directions` (k, d) are unit rows of high price. The network of outer weights `a` (m,) and inner
    weights `V` (m, d) has the directions that share the maximum as neurons.
    """

    q: Array
    Lam: Array
    price: float
    directions: Array
    a: Array
    V: Array


def square_roots(Lam: Array) -> tuple[Array, Array]:
    """Return both square roots of a positive definite matrix.

    Parameters
    ----------
    Lam : array (d, d)
        Symmetric matrix. Eigenvalues below 1e-12 count as 1e-12.

    Returns
    -------
    tuple of two arrays (d, d)
        Lam^1/2 and Lam^-1/2, symmetric.
    """
    values, vectors = np.linalg.eigh(Lam)
    size = np.sqrt(np.maximum(values, 1e-12))
    return np.asarray((vectors * size) @ vectors.T), np.asarray((vectors / size) @ vectors.T)


@final
class _Pool:
    """Smoothed price of a pool of directions, as a function of logits of q and a factor of Lam."""

    def __init__(self, x: Array, y: Array, U: Array, diagonal: bool) -> None:
        self.x, self.y, self.U, self._diagonal = x, y, U, diagonal
        self._table = np.maximum(U @ x.T, 0.0) * y

    def lam(self, factor: Array) -> Array:
        """Return Lam of a factor: (d,) for diagonal ones, else (d, d) in a row."""
        d = self.x.shape[1]
        if self._diagonal:
            Lam = np.diag(factor**2)
        else:
            B = factor.reshape(d, d)
            Lam = B @ B.T
        return np.asarray((1.0 - FLOOR) * Lam / np.trace(Lam) + FLOOR / d * np.eye(d))

    def variables(self, q: Array, Lam: Array) -> Array:
        """Return logits and factor of weights and Lam, mixed with equal ones, to start from."""
        n, d = self.x.shape
        logits = np.log((1.0 - MIXED) * q + MIXED / n)
        mixed = (1.0 - MIXED) * Lam + MIXED / d * np.eye(d)
        factor = np.sqrt(np.diag(mixed)) if self._diagonal else np.linalg.cholesky(mixed).ravel()
        return np.asarray(np.r_[logits, factor])

    def weights(self, logits: Array) -> Array:
        """Return q (n,) in the simplex: the softmax of the logits."""
        q = np.exp(logits - logits.max())
        return np.asarray(q / q.sum())

    def value(self, variables: Array, power: float) -> tuple[float, Array]:
        """Return log of the smoothed price, and its gradient."""
        n, d = self.x.shape
        factor, q = variables[n:], self.weights(variables[:n])
        Lam = self.lam(factor)
        h = self._table @ q
        size = np.einsum("jk,jk->j", self.U @ Lam, self.U)
        logs = 2.0 * np.log(np.maximum(np.abs(h), 1e-300)) - np.log(size)
        top = float(logs.max())
        share = np.exp(0.5 * power * (logs - top))
        total = float(share.sum())
        share /= total
        slope = (share / np.where(h == 0.0, 1.0, h)) @ self._table
        by_logits = q * (slope - q @ slope)
        by_lam = -0.5 * (self.U.T * (share / size)) @ self.U
        square = float((factor**2).sum())
        if self._diagonal:
            pull = np.diag(by_lam)
            derivative = float(pull @ factor**2) / square
            by_factor = 2.0 * (1.0 - FLOOR) * (pull - derivative) * factor / square
        else:
            B = factor.reshape(d, d)
            derivative = float((by_lam * (B @ B.T)).sum()) / square
            by_factor = (2.0 * (1.0 - FLOOR) * (by_lam @ B - derivative * B) / square).ravel()
        return 0.5 * top + np.log(total) / power, np.r_[by_logits, by_factor]

    def fit(self, variables: Array, power: float, watch: CancelToken) -> Array:
        """Take at most `STEPS` steps to the least smoothed price; return the variables there."""
        from scipy.optimize import minimize  # slow to load

        def check(_: Any) -> None:
            watch.check()

        answer = minimize(
            self.value,
            variables,
            args=(power,),
            jac=True,
            method="L-BFGS-B",
            callback=check,
            options={"maxiter": STEPS, "maxcor": 10},
        )
        return np.asarray(answer.x)

    def network(self, variables: Array, power: float) -> tuple[Array, Array]:
        """Return the weights a (m,), V (m, d) of the directions that share the smoothed maximum."""
        n = len(self.x)
        h = self._table @ self.weights(variables[:n])
        size = np.einsum("jk,jk->j", self.U @ self.lam(variables[n:]), self.U)
        logs = 2.0 * np.log(np.maximum(np.abs(h), 1e-300)) - np.log(size)
        share = np.exp(0.5 * power * (logs - logs.max()))
        share /= share.sum()
        order = np.argsort(-share, kind="stable")[:NODES]
        order = order[share[order] > SMALLEST]
        root = np.sqrt(share[order])
        return np.sign(h[order]) * root, self.U[order] * (root / np.sqrt(size[order]))[:, None]


def find_saddle(x: Array, y: Array, watch: CancelToken, *, diagonal: bool, seed: int = 0) -> Saddle:
    """Return q and Lam of a low price, without a proof.

    Parameters
    ----------
    x : array (n, d)
        Points.
    y : array (n,)
        Labels +-1.
    watch : CancelToken
        Cancellation token; once it has timed out, the search returns its best result.
    diagonal : bool
        Search diagonal Lam only.
    seed : int
        Seed of the random starts.

    Returns
    -------
    Saddle
    """
    n, d = x.shape
    generator = np.random.default_rng(seed)
    q, Lam = np.full(n, 1.0 / n), np.eye(d) / d
    pool = _Pool(x, y, np.zeros((0, d)), diagonal)
    best: Saddle | None = None
    idle = 0
    for turn in range(MOST_ROUNDS):
        U, price = _extend_pool(pool, q, Lam, generator, watch)
        for weights in generator.dirichlet(np.ones(n), 0 if turn else FIRST):
            pool = _Pool(x, y, U, diagonal)
            U, _ = _extend_pool(pool, weights, Lam, generator, watch)
        idle = 0 if best is None or price < best.price * (1.0 - WORTH) else idle + 1
        if best is None or price < best.price:
            best = Saddle(q, Lam, price, U, np.zeros(0), np.zeros((0, d)))
        if idle >= IDLE or watch.timed_out or not price > 0.0:
            break
        pool = _Pool(x, y, U, diagonal)
        power = min(LEAST_POWER * GROWTH**turn, MOST_POWER)
        variables = pool.fit(pool.variables(best.q, best.Lam), power, watch)
        q = SMOOTHING * best.q + (1.0 - SMOOTHING) * pool.weights(variables[:n])
        Lam = SMOOTHING * best.Lam + (1.0 - SMOOTHING) * pool.lam(variables[n:])
    assert best is not None
    variables = pool.variables(best.q, best.Lam)
    for _ in range(LAST if len(pool.U) else 0):
        variables = pool.fit(variables, LAST_POWER, watch)
    a, V = pool.network(variables, LAST_POWER)
    return replace(best, a=a, V=V)


def _extend_pool(
    pool: _Pool, q: Array, Lam: Array, generator: np.random.Generator, watch: CancelToken
) -> tuple[Array, float]:
    """Return the pool's directions with those of high price, and the highest price."""
    x, c, U = pool.x, q * pool.y, pool.U
    n, d = x.shape
    root, inverse = square_roots(Lam)
    points, price = x @ inverse, 0.0
    if len(U) > POINTS_RETAINED:
        near = np.abs(np.maximum(U @ x.T, 0.0) @ c) / np.linalg.norm(U @ root, axis=1)
        U = U[np.argsort(-near, kind="stable")[:POINTS_RETAINED]]
    directions = [U]
    for sign in (1.0, -1.0):
        free = generator.standard_normal((STARTS // 2, d))
        spanned = generator.standard_normal((STARTS - STARTS // 2, n)) * q @ points
        V, values = climb_price(
            points, sign * c, np.vstack([free, spanned, U[-AGAIN:] @ root]), watch
        )
        price = max(price, float(values.max(initial=0.0)))
        new = V[select_distinct_directions(V, values, -np.inf, ADDED)] @ inverse
        directions.append(new / np.linalg.norm(new, axis=1)[:, None])
    return np.vstack(directions), price
