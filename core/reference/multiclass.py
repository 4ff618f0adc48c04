"""gamma_op: hard margin of linear maps of several classes over the operator norm.

A map x -> M x, M (k, d), has the margin min over i and c != y_i of <M, A_ic>,
A_ic = (e_(y_i) - e_c) x_i'. By minimax

    gamma_op = max over |M|_op <= 1 of min_ic <M, A_ic> = min over q of |sum_ic q_ic A_ic|_nuc

over weights q of the simplex. The nuclear norm is that of a semidefinite program. Reweighted least
squares solves it: with S = sum q A and P = (S S' + (mu |S|_nuc)^2 I)^(1/2), the next q has the
least tr(S' P^-1 S), the point of a hull nearest to 0, and mu falls. |P^-1 S|_op <= 1, so that it is
a map, whose margin is a lower end; |S|_nuc of any q is an upper one.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from core.data.dataset import Array
from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.hull import EPS, MOST_POINTS, rounding_bound, separate_from_origin
from core.reference.margin import (
    Bracket,
    Reference,
    absent_bracket,
    data_key,
    find_contradiction,
    unresolved_bracket,
    zero_bracket,
)

Indices = NDArray[np.int64]
# mu falls from FIRST to LAST. Of 20 Gaussian points of 4 classes in R^8 the gap is 2e-5 to 2e-4
# after 600 rounds, and 4e-3 to 9e-3 where mu is multiplied by .7, which q does not follow.
FIRST, LAST = 0.5, 5e-9
# WORK: rounds times entries of the pairs of a round, of which digits have about USUAL.
MOST_ROUNDS, FEWEST_ROUNDS, WORK, USUAL = 600, 100, 6e7, 300
NEAR, SPARE = (
    2,
    20,
)  # pairs of small margins in a round: NEAR for each of positive weight, and SPARE
NO_MAP = (
    "These data are not separable by a linear map: weights q >= 0 of sum 1 (Farkas) have "
    "|sum_ic q_ic A_ic| = {size:.1e} at {count} pairs of an example and another class."
)
TARGET = 1e-6  # relative gap at which the search ends


@final
class Pairs:
    """All pairs of an example and another class, and sums over their matrices A_ic.

    `gaps` (N, k) are e_(y_i) - e_c, and `rows` (N,) the examples of the pairs.
    """

    def __init__(self, x: Array, y: Array, k: int) -> None:
        own = y.astype(np.int64)
        self.rows, rivals = np.nonzero(np.arange(k) != own[:, None])
        self.gaps = np.eye(k)[own[self.rows]] - np.eye(k)[rivals]
        self.x, self.k = x, k

    def weighted_sum(self, q: Array) -> Array:
        """Return the weighted sum of the pairs' matrices.

        Parameters
        ----------
        q : array (N,)
            Weights of the pairs, of any sum.

        Returns
        -------
        array (k, d)
            S = sum_ic q_ic A_ic.
        """
        return np.asarray((self.gaps * q[:, None]).T @ self.x[self.rows])

    def margins(self, M: Array) -> Array:
        """Return the margins of all pairs.

        Parameters
        ----------
        M : array (k, d)
            Linear map, of any size.

        Returns
        -------
        array (N,)
            <M, A_ic> = <M x_i, e_(y_i) - e_c>, not normalised.
        """
        return np.asarray(np.einsum("ak,ak->a", self.gaps, (self.x @ M.T)[self.rows]))

    def scaled_rows(self, left: Array, right: Array, chosen: Indices | None = None) -> Array:
        """Return left A_ic right of pairs, each as one row.

        Parameters
        ----------
        left : array (a, k)
            Factor on the side of the classes.
        right : array (d, b)
            Factor on the side of the inputs.
        chosen : array of int (N',), optional
            Indices of the pairs; all by default.

        Returns
        -------
        array (N', a b)
        """
        pairs = slice(None) if chosen is None else chosen
        first, second = self.gaps[pairs] @ left.T, (self.x @ right)[self.rows[pairs]]
        return np.asarray((first[:, :, None] * second[:, None, :]).reshape(len(first), -1))

    def lower_end(self, M: Array) -> float:
        """Return the margin of M/|M|_op less its rounding; 0 for M = 0."""
        length = float(np.linalg.norm(M, 2)) * (1.0 + rounding_bound(sum(M.shape), 1.0))
        if not length > 0.0:
            return 0.0
        sizes = (np.abs(self.x) @ np.abs(M).T)[self.rows] * np.abs(self.gaps)
        error = rounding_bound(M.shape[1] + 2, 1.0) * sizes.sum(axis=1)
        return float((self.margins(M) - error).min()) / length

    def upper_end(self, q: Array) -> float:
        """Return |S|_nuc plus its rounding, for weights q >= 0, scaled to the sum 1."""
        q = q / q.sum()
        S = self.weighted_sum(q)
        sizes = self.weighted_sum_of_sizes(q)
        error = rounding_bound(q.size + 2, 1.0) * float(np.linalg.norm(sizes))
        rank = min(S.shape)
        nuclear = float(np.linalg.svd(S, compute_uv=False).sum())
        return nuclear * (1.0 + rounding_bound(rank * max(S.shape), 1.0)) + float(rank**0.5) * error

    def weighted_sum_of_sizes(self, q: Array) -> Array:
        """Return the weighted sum of the absolute entries of the pairs' matrices.

        Parameters
        ----------
        q : array (N,)
            Weights of the pairs.

        Returns
        -------
        array (k, d)
            sum_ic q_ic |A_ic|.
        """
        return np.asarray((np.abs(self.gaps) * q[:, None]).T @ np.abs(self.x)[self.rows])


def likely_pairs(q: Array, margins: Array) -> Indices:
    """Return the pairs that may have weight in the next round, in order.

    Those with weight now, and those of the 20 + 2 s smallest margins, s the number with weight.
    Weights on them alone are weights of all pairs, and lower ends are computed from all, so that
    both ends hold whatever is left out.

    Parameters
    ----------
    q : array (P,)
        Weights of the pairs.
    margins : array (P,)
        Margins of the pairs.

    Returns
    -------
    array of int
        Indices of pairs, increasing.

    Examples
    --------
    >>> likely_pairs(np.array([0.0, 1.0] + 40 * [0.0]), np.arange(42.0)).size
    22
    """
    support = np.flatnonzero(q > 0.0)
    n_near = min(NEAR * support.size + SPARE, q.size)
    return np.union1d(support, np.argsort(margins, kind="stable")[:n_near])


def shares_of_rounds(pairs: Pairs) -> list[float]:
    """Return mu of each round, falling; fewer rounds for larger data."""
    entries = min(len(pairs.rows), USUAL) * pairs.k * pairs.x.shape[1]
    n_rounds = int(np.clip(WORK / entries, FEWEST_ROUNDS, MOST_ROUNDS))
    return [float(share) for share in np.geomspace(FIRST, LAST, n_rounds)]


def smoothed_polar(S: Array, share: float) -> tuple[Array, Array, Array]:
    """Return P^-1 S and P^(-1/2), for P = (S S' + (mu |S|_nuc)^2 I)^(1/2).

    If S has more rows than columns, S' S takes the place of S S', and P acts from the right.

    Parameters
    ----------
    S : array (k, d)
        Matrix.
    share : float
        mu, in multiples of |S|_nuc.

    Returns
    -------
    tuple of arrays
        P^-1 S or S P^-1 (k, d), the same matrix; left (k, k) and right (d, d), of which one is
        P^(-1/2) and the other the identity.
    """
    k, d = S.shape
    U, s, Vt = np.linalg.svd(S, full_matrices=False)
    floor = share * float(s.sum())
    polar = (U * (s / np.sqrt(s * s + floor * floor))) @ Vt
    basis, size = (U, k) if k <= d else (Vt.T, d)
    # On the smaller side the basis is complete.
    root = (basis * (s * s + floor * floor) ** -0.25) @ basis.T
    assert root.shape == (size, size)
    return (polar, root, np.eye(d)) if k <= d else (polar, np.eye(k), root)


def operator_margin(x: Array, y: Array, k: int, watch: CancelToken) -> Bracket:
    """Return the bracket of gamma_op, the largest margin of M x over |M|_op <= 1.

    Both ends are proved up to rounding. After the time limit of `watch` the bracket is wider.

    Parameters
    ----------
    x : array (n, d)
        Inputs.
    y : array (n,)
        Class numbers from 0 to k - 1.
    k : int
        Number of classes.
    watch : CancelToken
        Cancellation and time limit.

    Returns
    -------
    Bracket
        Certified; `zero_bracket` if no linear map separates the classes.

    Raises
    ------
    CancelledError
        `watch` was cancelled.

    Examples
    --------
    >>> angles = 2.0 * np.pi * np.arange(3) / 3.0
    >>> x = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    >>> round(operator_margin(x, np.arange(3.0), 3, CancelToken()).value, 9)
    1.224744871
    """
    scale = float(np.linalg.norm(x, axis=1).max())
    if scale == 0.0:
        return zero_bracket("All points are x = 0, where every linear map is 0.")
    points = Pairs(x / scale, y, k)
    # Only the span of the examples matters to q and M; both ends are computed in all coordinates.
    _, sizes, basis = np.linalg.svd(points.x, full_matrices=False)
    basis = basis[sizes > max(x.shape) * EPS * sizes[0]]
    inner = Pairs(points.x @ basis.T, y, k)
    best = separate_from_origin(inner.scaled_rows(np.eye(k), np.eye(len(basis))))
    if best.farkas:
        count, size = int((best.q > 0.0).sum()), best.upper * scale
        return zero_bracket(NO_MAP.format(size=size, count=count))
    q, lower, upper, n_rounds = best.q, 0.0, np.inf, 0
    chosen = np.arange(len(inner.rows))
    for share in shares_of_rounds(inner):
        n_rounds += 1
        upper = min(upper, points.upper_end(q))
        polar, left, right = smoothed_polar(inner.weighted_sum(q), share)
        best = separate_from_origin(inner.scaled_rows(left, right, chosen))
        normal = left @ best.w.reshape(left.shape[0], right.shape[1]) @ right
        lower = max(lower, points.lower_end(polar @ basis), points.lower_end(normal @ basis))
        if upper - lower <= TARGET * upper or watch.timed_out:
            break
        watch.check()
        q = np.zeros(len(inner.rows))
        q[chosen] = best.q
        chosen = likely_pairs(q, inner.margins(normal))
    if not lower > 0.0:
        reason = "separability by a linear map is lost in rounding"
        return unresolved_bracket(upper * scale, scale, True, reason)
    method = f"reweighted least squares, {n_rounds} rounds; gap {(upper - lower) / upper:.1e}"
    return Bracket(lower * scale, upper * scale, lower * scale, True, method)


@final
class OperatorMargin(Reference):
    """gamma_op of the training data of several classes, a property of the data alone."""

    name = "gamma_op"
    title = "linear margin of several classes in the operator norm"
    formula = (
        "gamma_op = max over |M|_op <= 1 of min_i min_(c != y_i) (M x_i)_(y_i) - (M x_i)_c, no "
        "intercept: bounds the margin of linear maps over |M|_op, which spectral descent raises"
    )
    source = "our derivation (docs/theory.md, 5.7)"
    label = "gamma_op"
    where = "data of three or more classes"
    norm = "spectral"

    def applies(self, problem: Problem) -> bool:
        return problem.dataset.classes > 2 and not problem.dataset.real

    def is_listed(self, problem: Problem) -> bool:
        return getattr(problem.experiment.dynamics, "norm", None) == self.norm

    def key(self, problem: Problem) -> str:
        return data_key(problem)

    def compute(self, problem: Problem, watch: CancelToken) -> Bracket:
        data = problem.dataset
        n_pairs = data.n * (data.classes - 1)
        if n_pairs > MOST_POINTS:
            return absent_bracket(
                f"This margin's method needs at most {MOST_POINTS} pairs of an example and another "
                f"class, but these data have {n_pairs}; use fewer examples or classes."
            )
        pair = find_contradiction(data.x, data.y)
        if pair is not None:
            return absent_bracket(
                f"Examples {pair[0]} and {pair[1]} are equal and belong to different classes, so "
                "no predictor has a positive margin."
            )
        watch.check()
        try:
            return operator_margin(data.x, data.y, data.classes, watch)
        except ArithmeticError as error:
            return absent_bracket(str(error))
