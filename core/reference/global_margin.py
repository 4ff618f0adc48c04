"""gamma_gl: largest margin of two-layer ReLU networks of any width, with a certificate.

Column generation gives a network, whose margin is a lower bound that anyone can check, and weights
q of the points. A tree search then proves the price of q, an upper bound for every network.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.corners import Parity, corner_constant, find_corner_parity
from core.reference.generation import Atoms, Generation, GenerationResult, select_columns
from core.reference.hull import explain_no_margin, pair_bound, rounding_bound
from core.reference.margin import (
    NO_NETWORK,
    Bracket,
    SampleMargin,
    exact_bracket,
    unresolved_bracket,
    zero_bracket,
)
from core.reference.pricing import MOST_DIMENSIONS, Proof, prove_price_bound

Array = NDArray[np.float64]

MOST_AT_ONCE = 128  # points in the first linear program; the others are added when violated
MOST_JOINING = 16
ROUGH, FINE = 1e-3, 2e-5  # gaps of the first program and of those on the support
SLACK = 3e-4  # relative: points with a margin further above the least may be removed
CLOSE = 5e-5  # relative gap between the network on all points and the price of q
FEWEST_SECONDS = 1.0
ZERO = 1e-7  # relative to the largest |x_i|: smaller prices are rounding errors
EDGE = 1e-3  # relative to the same: closer rays of opposite labels set the unit
SMALLEST = 1e-12  # unit below which rounding dominates
LEAST_PROVED = 1e-6  # smallest price that the tree can prove, since it adds squares
SECONDS_ON_EDGE = 10.0  # limit in that unit: a bound is known, and the program may not converge
SUPPORT = 1e-7  # relative to the largest q_i
# Relative, above the climbed price: bounds to be proved in turn. The tree search takes longer the
# closer a bound is to the true price (decision 0008).
# Relative, above the climbed price: bounds to be proved in turn. The tree search takes longer the
# closer a bound is to the true price (decision 0008).
SLACKS = (1e-6, 1e-3, 1e-2, 3e-2, 0.1)
PASSES, RAISES = 30, 30


@final
@dataclass(frozen=True, slots=True, eq=False)
class GlobalResult:
    """Bracket of gamma_gl and its witnesses; empty arrays without a margin.

    The network f(x) = sum_j weights_j alpha_j relu(<beta_j, x>), alpha (k,) signs, beta (k, d) unit
    rows, weights (k,) >= 0 with sum 1, has margin bracket.lower; the price of q (n,), in the
    simplex, is at most bracket.upper (proved if certified).
    """

    bracket: Bracket
    alpha: Array
    beta: Array
    weights: Array
    q: Array

    def margins(self, x: Array, y: Array) -> Array:
        """Return the margins of the witness network.

        Parameters
        ----------
        x : array (n, d)
            Points.
        y : array (n,)
            Labels +-1.

        Returns
        -------
        array (n,)
            y_i f(x_i).
        """
        outputs = np.maximum(x @ self.beta.T, 0.0) @ (self.weights * self.alpha)
        return np.asarray(y * outputs)


def result_without_network(bracket: Bracket, d: int) -> GlobalResult:
    """Return the result for a bracket without a network of positive margin."""
    empty = np.zeros(0)
    return GlobalResult(bracket, empty, np.zeros((0, d)), empty, empty)


def row_space(x: Array) -> tuple[Array, Array]:
    """Return coordinates of rows in an orthonormal basis of their span.

    Parameters
    ----------
    x : array (n, d)
        Rows.

    Returns
    -------
    tuple of arrays
        Coordinates (n, r) and basis (r, d), with r >= 1 singular values above 1e-12 times the
        largest.

    Examples
    --------
    >>> coordinates, basis = row_space(np.array([[3.0, 4.0], [6.0, 8.0]]))
    >>> bool(np.allclose(coordinates @ basis, [[3.0, 4.0], [6.0, 8.0]])), len(basis)
    (True, 1)
    """
    U, sizes, basis = np.linalg.svd(x, full_matrices=False)
    # Smaller singular values are rounding errors of the rows.
    rank = max(1, int((sizes > 1e-12 * sizes[0]).sum()))
    return np.ascontiguousarray(U[:, :rank] * sizes[:rank]), basis[:rank]


def result_of_parity(parity: Parity) -> GlobalResult:
    """Return gamma_gl of an even parity on all corners in closed form, with its 2^k neurons.

    They are the sign vectors on the k bits (docs/theory.md, 5.4).
    """
    k, d = parity.k, parity.d
    alpha, beta = parity.best_neurons()
    text = "1/sqrt(8 d)" if k == 2 else f"of {k} bits"
    # One root: two roots would round 1/4 of XOR to less than 1/4.
    bracket = exact_bracket(
        float(corner_constant(k) / np.sqrt(k * d)), f"closed form {text} on all corners"
    )
    count, n = alpha.size, 2**d
    return GlobalResult(
        bracket, alpha, beta / np.sqrt(k), np.full(count, 1.0 / count), np.full(n, 1.0 / n)
    )


@final
class Search:
    """Bounds and witnesses found so far on points in row space, |x_i| <= 1.

    `unit` is 1, or about the margin where that is known to be small.
    """

    def __init__(
        self, x: Array, y: Array, watch: CancelToken, seed: int, unit: float = 1.0
    ) -> None:
        self.x, self.y, self._unit = x, y, unit
        self._watch = watch if unit == 1.0 else watch.with_timeout(SECONDS_ON_EDGE)
        self._generator, self._zero = np.random.default_rng(seed), ZERO * unit
        n = len(x)
        self.lower, self.upper, self.above = -np.inf, np.inf, np.inf
        self.atoms = Atoms(np.zeros(0), np.zeros((0, x.shape[1])))
        self.weights, self.q = np.zeros(0), np.full(n, 1.0 / n)
        self._pool = self.atoms

    def add_directions(self, columns: Array | None) -> None:
        """Add directions (k, r) to the initial pool, with both signs."""
        if columns is None or not len(columns):
            return
        unit = columns / np.linalg.norm(columns, axis=1)[:, None]
        for sign in (1.0, -1.0):
            self._pool = self._pool.join(Atoms(np.full(len(unit), sign), unit))

    def _run_on(self, points: NDArray[np.intp], tolerance: float) -> GenerationResult:
        """Run column generation on some points, and keep the better bounds."""
        x, y, q = self.x[points], self.y[points], self.q[points]
        q = q if q.sum() > 0.0 else np.ones(len(points))
        generation = Generation(x, y, (self._pool, q), self._generator, self._unit)
        last = generation.run(tolerance, self._zero, self._watch)
        best = generation.finish(last)
        if best.above < self.above:
            self.above = best.above
            self.q = np.zeros(len(self.x))
            self.q[points] = best.q
        self._update_best(last)
        prices = best.atoms.columns(x, y) @ best.q
        self._pool = best.atoms.select(select_columns(prices, last.weights))
        return last

    def _update_best(self, state: GenerationResult) -> None:
        """Store the network of a state if its margin on all points is larger."""
        is_used = state.weights > 0.0
        atoms, weights = state.atoms.select(is_used), state.weights[is_used]
        lower = float((weights @ atoms.columns(self.x, self.y)).min())
        if lower > self.lower:
            self.lower, self.atoms, self.weights = lower, atoms, weights

    def generate(self) -> None:
        """Run column generation until the bounds are close.

        Points join where the network fails and leave where the LP's q is 0.
        """
        n = len(self.x)
        points = np.arange(n)
        if n > MOST_AT_ONCE:
            points = np.sort(self._generator.choice(n, MOST_AT_ONCE, replace=False))
        tolerance = ROUGH
        for turn in range(PASSES):
            state = self._run_on(points, tolerance)
            is_complete = self.above - self.lower <= CLOSE * self.above
            if is_complete or self.above <= self._zero or self._watch.timed_out:
                return
            margins = state.weights @ state.atoms.columns(self.x, self.y)
            order = np.argsort(margins, kind="stable")[:MOST_JOINING]
            # 1e-7: within the program's own tolerance every point would be violated.
            joining = order[margins[order] < state.value * (1.0 - 1e-7)]
            finer = FINE if len(joining) <= MOST_JOINING // 4 else tolerance
            # Removal in every turn could repeat the same points for ever.
            leaving = turn == 0 or finer < tolerance
            spare = 0.0 if turn == 0 else SLACK
            tight = (state.q > 1e-9) | (margins[points] < state.value * (1.0 + spare))
            points = np.union1d(points[tight] if leaving else points, joining)
            tolerance = finer

    def certify(self) -> str:
        """Prove a bound of the price of q; return the basis of the proof in words."""
        for slack in SLACKS:
            for _ in range(RAISES):
                limit = self.above * (1.0 + slack)
                proofs = self._proofs(limit)
                if not all(proof.finished for proof in proofs):
                    break
                raised = [proof for proof in proofs if proof.direction is not None]
                bound = max(limit, *(proof.bound for proof in proofs))
                self.upper = min(self.upper, bound)
                close = self.upper - self.lower <= 2.0 * CLOSE * self.upper
                if not raised or close or self._watch.timed_out:
                    return self._words(proofs)
                self._add_missed_directions(proofs)
            if np.isfinite(self.upper):
                return self._words(proofs)
        return ""

    def _weights(self) -> Array:
        """Return q without its rounding; any q in the simplex gives a bound."""
        q = np.where(self.q > SUPPORT * self._unit * self.q.max(), self.q, 0.0)
        return np.asarray(q / q.sum())

    def _proofs(self, limit: float) -> list[Proof]:
        """Bound the price of q for both signs of a neuron, to `limit` if possible."""
        # Each of the five slacks gets a sixth of the remaining time.
        time_left = max(FEWEST_SECONDS, self._watch.limit - self._watch.seconds)
        until = self._watch.seconds + time_left / 6.0
        c = self._weights() * self.y
        return [
            prove_price_bound(self.x, sign * c, limit, self._watch, until) for sign in (1.0, -1.0)
        ]

    def _add_missed_directions(self, proofs: list[Proof]) -> None:
        """Add the directions that climbing missed, and improve q against them."""
        for sign, proof in zip((1.0, -1.0), proofs, strict=True):
            if proof.direction is not None:
                self._pool = self._pool.join(Atoms(np.array([sign]), proof.direction[None]))
        points = np.flatnonzero(self._weights())
        self.above = np.inf  # its price was too low
        with suppress(ArithmeticError):
            self._run_on(points, FINE)

    def _words(self, proofs: list[Proof]) -> str:
        """Return the extent of finished proofs in words."""
        q = self._weights()
        positive, negative = int((q[self.y > 0] > 0).sum()), int((q[self.y < 0] > 0).sum())
        nodes = sum(proof.nodes for proof in proofs)
        return f"proved over the subsets of {positive} + {negative} points in {nodes} nodes"


def _bracket(search: Search, x: Array, near: float) -> Bracket:
    """Return the proved bracket for x (n, d), widened by the rounding of the row space and scaling.

    `near` is the bound of the two nearest rays, which always holds.
    """
    scale = float(np.linalg.norm(x, axis=1).max())
    error = rounding_bound(sum(x.shape), scale)
    least = SMALLEST if search.x.shape[1] <= MOST_DIMENSIONS else LEAST_PROVED
    search.above = max(search.above, least)
    proved = search.certify() if np.isfinite(search.above) else ""
    upper, method = near, "column generation, bounded by the two nearest rays of opposite labels"
    if proved and scale * search.upper + error < near:
        upper, method = scale * search.upper + error, f"column generation, {proved}"
    lower = scale * search.lower - error
    certified = bool(proved) or near < EDGE * scale
    if not certified:
        upper = min(scale * search.above, near)
        method = "column generation: lower bound; upper heuristic, the best of many starts"
    if not lower > 0.0:
        return unresolved_bracket(upper, scale, certified, NO_NETWORK)
    upper = max(upper, lower)
    if not certified:
        return Bracket(lower, upper, lower, False, method)
    bracket = Bracket(lower, upper, 0.5 * (lower + upper), True, method)
    return replace(bracket, method=f"{method}; gap {bracket.gap:.1e}")


def global_margin(
    x: Array, y: Array, watch: CancelToken, *, columns: Array | None = None, seed: int = 0
) -> GlobalResult:
    """Return gamma_gl: the largest margin of ReLU networks with l1 norm 1 over unit directions.

    max of min_i y_i sum_j w_j alpha_j relu(<beta_j, x_i>) over |beta_j| = 1, sum |w_j| <= 1; its
    dual is min over q in the simplex of max over |v| <= 1 of |sum_i q_i y_i relu(<v, x_i>)|.
    Source: telgarsky22, section 1.2 (Assumption 1.1). Raises CancelledError.

    Parameters
    ----------
    x, y : array (n, d), array (n,)
        Inputs, and labels in {-1, 1}.
    watch : CancelToken
        Cancellation, and the time limit of the search.
    columns : array (k, d), optional
        Directions to try, such as a trained network's V.
    seed : int
        Seed of the random starts, default_rng(seed).

    Returns
    -------
    GlobalResult
        Bracket and witnesses.

    Examples
    --------
    >>> x, y = np.array([[1.0], [-2.0]]), np.array([1.0, -1.0])
    >>> round(global_margin(x, y, CancelToken()).bracket.value, 3)  # weights 2/3, 1/3
    0.667
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    d = x.shape[1]
    sentence = explain_no_margin(x, y)
    if sentence:
        return result_without_network(zero_bracket(f"gamma_gl is 0: {sentence}"), d)
    # Known in closed form, with exact witnesses.
    parity = find_corner_parity(x, y)
    if parity is not None:
        return result_of_parity(parity)
    scale = float(np.linalg.norm(x, axis=1).max())
    near = pair_bound(x, y)
    inner, basis = row_space(x / scale)
    watch.check()
    if near < SMALLEST * scale:
        reason = "two examples of opposite labels have the same direction up to rounding"
        return result_without_network(unresolved_bracket(near, scale, True, reason), d)
    search = Search(inner, y, watch, seed, near / scale if near < EDGE * scale else 1.0)
    search.add_directions(
        None if columns is None else np.asarray(columns, dtype=np.float64) @ basis.T
    )
    with suppress(ArithmeticError):  # the best bound so far remains valid
        search.generate()
    bracket = _bracket(search, x, near)
    if not bracket.exists:
        return result_without_network(bracket, d)
    beta = search.atoms.beta @ basis
    return GlobalResult(bracket, search.atoms.alpha, beta, search.weights, search.q)


@final
class GlobalMargin(SampleMargin):
    """gamma_gl of the training data, a property of the data alone."""

    name = "gamma_gl"
    title = "Global margin"
    formula = (
        "gamma_gl = max over |v_j| = 1, sum_j |a_j| <= 1 of min_i y_i sum_j a_j relu(<v_j, x_i>); "
        "margins normalised by |W|^2 are at most gamma_gl / 2"
    )
    source = "telgarsky22, section 1.2 (Assumption 1.1)"
    label = "gamma_gl / 2"
    where = "data of two classes, standard, scalar and normalised networks"
    factor = 0.5
    plain_relu = True

    def of_sample(self, problem: Problem, watch: CancelToken) -> Bracket:
        return global_margin(problem.dataset.x, problem.dataset.y, watch).bracket
