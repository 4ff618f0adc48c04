"""A transport theta of telgarsky22's Assumption 1.3 that moves the outer layer alone.

theta(w) = (sgn(sum_i q_i y_i relu(<v, x_i>)), 0) where |w| < 2, with q such that min_i E theta g_i,
g_i(w) = y_i relu(<v, x_i>) 1[|w| < 2], is large: by minimax it is min over q in the simplex of
E |sum_i q_i g_i|, found on a sample of nodes by reweighted least squares. gamma is then bounded
below on fresh nodes by the empirical Bernstein inequality (Maurer and Pontil 2009, Theorem 4), so
that theta and gamma are a pair of Assumption 1.3 with probability 1 - 1e-6.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from core.observables.observable import once
from core.reference.hull import coordinates, nearest
from core.runs import Run
from core.theorems.common import NAN, Array

MOST_EXAMPLES = 300
FITTED, FRESH, BLOCK = 4000, 2**17, 2**13  # nodes that q and gamma are from, and taken at a time
ROUNDS = 12
FAILURE = 1e-6
CUTOFF = 2.0
SEED = 19


@final
@dataclass(frozen=True, slots=True, eq=False)
class Transport:
    """gamma, a lower bound of min_i E theta g_i, and (theta(w_j)/sqrt(m), 0) of the run's nodes."""

    gamma: float
    direction: Array


@once
def outer_transport(run: Run) -> Transport:
    """The transport for a run's examples; gamma is NaN where no q was found."""
    x, y, m = run.dataset.x, run.dataset.y, run.network.m
    parts = run.network.unpack(run.origin)
    try:
        q = weights(np.concatenate(list(nodes(x, FITTED, SEED))) * y)
    except ArithmeticError:
        return Transport(NAN, np.zeros(run.network.size))
    # A node of Assumption 1.3 has a ~ N(0, 1), which is sqrt(m) a_j(0).
    squares = m * parts["a"] ** 2 + np.square(parts["V"]).sum(axis=1)
    signs = np.sign(np.maximum(run.inputs @ parts["V"].T, 0.0).T @ (q * y))
    theta = np.where(squares < CUTOFF**2, signs, 0.0) / math.sqrt(m)
    direction = run.network.pack({"a": theta, "V": np.zeros(parts["V"].shape)})
    return Transport(below(x, y, q), direction)


def nodes(x: Array, count: int, seed: int) -> Iterator[Array]:
    """relu(<v, x_i>) 1[|(a, v)| < 2] for a ~ N(0, 1), v ~ N(0, I/d): blocks (B, n) of `count`.

    Only the part of v in the span of the examples is drawn, and the length of the rest.
    """
    n, d = x.shape
    along = coordinates(x @ x.T) if n < d else x
    outside = d - along.shape[1]
    generator = np.random.default_rng(seed)
    for begin in range(0, count, BLOCK):
        size = min(BLOCK, count - begin)
        v = generator.standard_normal((size, along.shape[1]))
        squares = np.square(v).sum(axis=1)
        squares += generator.chisquare(outside, size) if outside else 0.0
        # |w|^2 = a^2 + |v|^2, of which v alone has variance 1/d.
        squares = squares / d + np.square(generator.standard_normal(size))
        kept = squares < CUTOFF**2
        yield np.maximum(v @ along.T / math.sqrt(d), 0.0) * kept[:, None]


def weights(G: Array) -> Array:
    """q of the simplex with mean_j |sum_i q_i G_ji| nearly least, for nodes G (N, n)."""
    n = G.shape[1]
    q, best, least = np.full(n, 1.0 / n), np.full(n, 1.0 / n), -math.inf
    for _ in range(ROUNDS):
        sums = G @ q
        reached = float((np.sign(sums) @ G).min()) / len(G)
        if reached > least:
            best, least = q, reached
        # Reweighting divides by the sums: the floor keeps the form finite at a node where one is 0.
        size = np.maximum(np.abs(sums), 1e-3 * np.abs(sums).mean())
        if not size.all():
            break
        q = nearest(coordinates((G / size[:, None]).T @ G / len(G))).q
    return best


def below(x: Array, y: Array, q: Array) -> float:
    """A lower bound of min_i E theta g_i from FRESH nodes, of probability 1 - FAILURE."""
    n, total, squares = x.shape[0], 0.0, 0.0
    for block in nodes(x, FRESH, SEED + 1):
        values = np.sign(block @ (q * y))[:, None] * block * y
        total, squares = total + values.sum(axis=0), squares + np.square(values).sum(axis=0)
    mean = np.asarray(total / FRESH)
    variance = np.maximum(squares / FRESH - mean**2, 0.0) * FRESH / (FRESH - 1.0)
    width = 2.0 * CUTOFF * float(np.linalg.norm(x, axis=1).max())  # |theta g_i| <= 2 |x_i|
    # By n: the bound is to hold for all examples at once.
    logarithm = math.log(2.0 * n / FAILURE)
    room = np.sqrt(2.0 * variance * logarithm / FRESH)
    return float((mean - room).min()) - 7.0 * width * logarithm / (3.0 * (FRESH - 1.0))
