"""Weights q of the examples that make E |sum_i q_i g_i| small, by reweighted least squares.

With a and r = |v| integrated out (core.reference.tangent), E |sum_i q_i g_i| is at most
(q' K q + E |D| (k1 + c k2))/2 for

    K_ik = y_i y_k E_u 1[<u, x_i> > 0] 1[<u, x_k> > 0] (k1 <x_i, x_k> + k2/c <u, x_i> <u, x_k>)/|D|,

with equality at the q that K was made for; the next q minimises q' K q. Drawn directions have other
arc-cosine kernels than all directions: K is corrected by the difference, times the mean factors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from core.data.dataset import Array
from core.reference.cancel_token import CancelToken
from core.reference.directions import Directions
from core.reference.hull import gram_coordinates, separate_from_origin
from core.reference.neuron_means import neuron_means

ENOUGH = 1e-5  # relative to the lower end: smaller gains do not count
# |D| is smoothed to sqrt(|D|^2 + floor^2), with floors relative to its root mean square.
FIRST_FLOOR, LAST_FLOOR = 0.03, 1e-3
# If D is 0 on some cell, q converges slowly, and only if the floor shrinks slowly.
SHRINK = 0.85
# Limits of rounds, and of rounds without a gain, in the first stage and in the longer second one.
ROUNDS, PATIENCE = (100, 12), (8, 3)
LEAST_COSINE = 1e-6
LEAST_SQUARE = 1e-24  # relative to |x|^2: below, weights leave rounding errors only
CHUNK = 2**18


@final
@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """Weights q (n,) in the simplex, the floor of |D| that they were found with, and K1 and K2."""

    q: Array
    floor: float
    kernels: tuple[Array, Array]
    rounds: int = 0


def arc_cosine_kernels(x: Array, y: Array, d: int) -> tuple[Array, Array]:
    """Return the means over directions u of the sphere of R^d of the two parts of a feature.

    Parameters
    ----------
    x : array (n, r)
        Examples, none of them 0, in coordinates that keep their inner products.
    y : array (n,)
        Labels, -1 or +1.
    d : int
        Dimension of u.

    Returns
    -------
    tuple of two arrays (n, n)
        y_i y_k <x_i, x_k> E 1[<u, x_i> > 0] 1[<u, x_k> > 0], and
        y_i y_k E relu(<u, x_i>) relu(<u, x_k>).

    References
    ----------
    Cho and Saul 2009, Section 2.1: the kernels of degree 0 and 1.
    """
    size = np.linalg.norm(x, axis=1)
    products, sizes, signs = x @ x.T, np.outer(size, size), np.outer(y, y)
    cosine = np.clip(products / sizes, -1.0, 1.0)
    np.fill_diagonal(cosine, 1.0)
    angle = np.arccos(cosine)
    share = (np.pi - angle) / (2.0 * np.pi)
    lengths = np.sin(angle) / (2.0 * np.pi) + share * cosine
    return signs * products * share, signs * sizes * lengths / d


def find_example_weights(
    x: Array, y: Array, d: int, stages: Sequence[Directions], watch: CancelToken
) -> Weights:
    """Minimise E |sum_i q_i g_i| over weights q of the examples, by reweighted least squares.

    A second stage starts from the weights of the first one.

    Parameters
    ----------
    x : array (n, r)
        Examples in coordinates that keep their inner products.
    y : array (n,)
        Labels, -1 or +1.
    d : int
        Dimension of the directions.
    stages : sequence of Directions
        Directions over which the expectation is taken, one for each stage, two at most.
    watch : CancelToken
        Cancellation token; once it has timed out, the search returns its best weights.

    Returns
    -------
    Weights
        Those with the largest min_i (K q)_i of the last stage.
    """
    weights = Weights(np.full(y.size, 1.0 / y.size), 0.0, arc_cosine_kernels(x, y, d))
    share, rounds, factors = FIRST_FLOOR, 0, None
    for directions, max_rounds, patience in zip(stages, ROUNDS, PATIENCE, strict=False):
        search = _Search(x, y, d, directions, weights.kernels, factors)
        best, best_share, q, waited = -np.inf, share, weights.q, 0
        for _ in range(max_rounds):
            K, floor = search.quadratic_form(q, share, watch)
            rounds += 1
            lower = float((K @ q).min())
            waited = 0 if lower > best + ENOUGH * abs(best) else waited + 1
            if lower > best:
                best, best_share, weights = lower, share, replace(weights, q=q, floor=floor)
            if watch.timed_out or (waited >= patience and share == LAST_FLOOR):
                break
            share = max(share * SHRINK, LAST_FLOOR)
            # The minimum of a quadratic form over the simplex is the nearest point of a hull.
            q = separate_from_origin(gram_coordinates(K)).q
        share, factors = best_share, search.factors
    return replace(weights, rounds=rounds)


@final
class _Search:
    """Quadratic forms of weights over some directions.

    `factors` are the means of k1/|D| and (k2/c)/|D| at the first weights, which are positive: at
    sparse ones they would be of nothing but the cells where D is almost 0.
    """

    def __init__(
        self,
        x: Array,
        y: Array,
        d: int,
        directions: Directions,
        kernels: tuple[Array, Array],
        factors: Array | None,
    ) -> None:
        self._y, self._x, self._gram = y, x, x @ x.T
        self._means, self._directions, self._kernels = neuron_means(d), directions, kernels
        self.factors = factors
        self._lacking: Array | None = None  # exact kernels minus those of the directions, (2, n, n)

    def quadratic_form(self, q: Array, share: float, watch: CancelToken) -> tuple[Array, float]:
        """Return K (n, n) of the module's text at weights q (n,), and the floor of |D|.

        The floor is `share` of the root mean square of |D|.
        """
        n = q.size
        mean_square = max(float(q @ self._kernels[0] @ q), LEAST_SQUARE * self._gram.max())
        floor = share * math.sqrt(mean_square)
        is_first = self._lacking is None
        sums, plain, means = np.zeros((2, n, n)), np.zeros((2, n, n)), np.zeros(2)
        for z, mass in self._directions.chunks(max(1, CHUNK // n)):
            watch.check()
            active_labels = np.where(z > 0.0, self._y, 0.0)
            active = active_labels * z
            scales = self._scales(active_labels, active, q, floor, mass)
            for k, (part, scale) in enumerate(zip((active_labels, active), scales, strict=True)):
                sums[k] += part.T @ (scale[:, None] * part)
                means[k] += scale.sum()
                if is_first:
                    plain[k] += part.T @ (mass[:, None] * part)
        sums[0] *= self._gram
        if self._lacking is None:
            plain[0] *= self._gram
            self._lacking = np.array(self._kernels) - plain
            self.factors = means if self.factors is None else self.factors
        assert self.factors is not None
        return np.asarray(sums.sum(axis=0) + np.tensordot(self.factors, self._lacking, 1)), floor

    def _scales(
        self, active_labels: Array, active: Array, q: Array, floor: float, mass: Array
    ) -> tuple[Array, Array]:
        """Return mass k1/|D| and mass (k2/c)/|D| of each direction."""
        D = (active_labels * q) @ self._x
        squares = np.einsum("jk,jk->j", D, D)
        size = np.sqrt(squares)
        cosine = np.divide(active @ q, size, out=np.zeros_like(size), where=size > 0.0)
        k1, k2 = self._means(cosine)
        ratio = np.abs(k2) / np.maximum(np.abs(cosine), LEAST_COSINE)
        scale = mass / np.sqrt(squares + floor * floor)
        return np.asarray(k1 * scale), np.asarray(ratio * scale)
