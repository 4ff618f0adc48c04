"""The regularised l1 problem that a wide network with an l2 penalty solves (wei19, section F.4).

    min over alpha in R^K of (1/n) sum_i ln(1 + exp(-y_i f(x_i))) + 2 lambda |alpha|_1,
    f(x) = sum_k alpha_k relu(<u_k, x~>), u_k unit vectors of the plane,

x~ = (x, 1) for networks with biases on the line, x~ = x for networks without in the plane. A node
(a, u) of a network costs lambda (a^2 + |u|^2) >= 2 lambda |a| |u|, with equality when it is
balanced, so the least objective of a wide network is this one as the u_k fill the circle, and
|Theta|^2 = 2 |alpha|_1. As lambda falls to 0, min_i y_i f(x_i)/|alpha|_1 tends to gamma_l1 (wei19,
Theorem 4.1 and Proposition B.10).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from core.data.dataset import Array
from core.problem.problem import Problem
from core.reference.intervals import best_measure, lifted
from core.reference.margin import Bracket, absent
from core.reference.sample import SampleMargin, binary, data_key
from core.reference.watch import Watch

DIRECTIONS = 1000  # evenly spaced (w, b), as many as in section F.4
MOST_EXAMPLES = 500
ROUNDS, ENOUGH = 100, 1e-7


@final
@dataclass(frozen=True, slots=True, eq=False)
class PathPoint:
    """A solution: alpha (K,) on directions (K, 2), its objective, and the proved gap to the least.

    `margin` is min_i y_i f(x_i)/|alpha|_1, NaN for alpha = 0.
    """

    directions: Array
    alpha: Array
    objective: float
    gap: float
    margin: float

    def normalised(self, points: Array) -> Array:
        """f/(2 |alpha|_1) = f/|Theta|^2 at points x~ (N, 2)."""
        squared = 2.0 * np.abs(self.alpha).sum()
        return np.asarray(np.maximum(points @ self.directions.T, 0.0) @ self.alpha / squared)


def circle(count: int = DIRECTIONS) -> Array:
    """Evenly spaced unit vectors of the plane, (count, 2)."""
    angle = 2.0 * np.pi * np.arange(count) / count
    return np.column_stack([np.cos(angle), np.sin(angle)])


def path_point(points: Array, y: Array, penalty: float, directions: Array) -> PathPoint:
    """The solution at lambda = `penalty` > 0 for x~ (n, 2) and y (n,).

    One example at x~ = (1, 0), one direction: ln(1 + e^-alpha) + 2 lambda alpha is least at
    e^-alpha = 2 lambda/(1 - 2 lambda).

    >>> one = np.array([[1.0, 0.0]])
    >>> best = path_point(one, np.array([1.0]), 0.05, one)
    >>> round(float(best.alpha[0]), 6), round(float(np.log(9.0)), 6), best.gap < 1e-7
    (2.197225, 2.197225, True)
    """
    from scipy.optimize import minimize  # slow to load

    F = y[:, None] * np.maximum(points @ directions.T, 0.0)
    mu, alpha = 2.0 * penalty, np.zeros(directions.shape[0])
    used = np.zeros(alpha.size, dtype=bool)
    objective, gap = float(np.log(2.0)), np.inf
    for _ in range(ROUNDS):
        q = _pull(F @ alpha)
        slopes = F.T @ q
        gap = objective - _dual(q, float(np.abs(slopes).max()), mu)
        # The duality gap proves how far the objective is from its least value on these directions.
        if gap <= ENOUGH * objective:
            break
        heights = np.abs(slopes)  # peaks along the circle join
        peaks = (heights >= np.roll(heights, 1)) & (heights >= np.roll(heights, -1))
        # Only the peaks: neighbours of a peak are nearly the same column, and the problem
        # ill-conditioned.
        used |= peaks & (heights > mu)
        Z = np.concatenate([F[:, used], -F[:, used]], axis=1)

        def value(beta: Array, Z: Array = Z) -> tuple[float, Array]:
            p = Z @ beta
            return _loss(p) + mu * float(beta.sum()), mu - Z.T @ _pull(p)

        # alpha in two parts >= 0, so that |alpha|_1 is smooth.
        start = np.concatenate([np.maximum(alpha[used], 0.0), np.maximum(-alpha[used], 0.0)])
        # As far as L-BFGS comes: what counts is the duality gap, of the whole circle of directions.
        options = {"ftol": 1e-16, "gtol": 1e-13, "maxiter": 20_000, "maxfun": 40_000}
        bounds = [(0.0, None)] * start.size
        solution = minimize(
            value, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
        )
        half = start.size // 2
        alpha = np.zeros_like(alpha)
        alpha[used] = solution.x[:half] - solution.x[half:]
        objective = _loss(F @ alpha) + mu * float(np.abs(alpha).sum())
    total = float(np.abs(alpha).sum())
    margin = float((F @ alpha).min()) / total if total > 0.0 else float("nan")
    return PathPoint(directions, alpha, objective, gap, margin)


def max_margin(points: Array, y: Array, directions: Array) -> PathPoint:
    """The hard-margin l1-SVM: alpha of |alpha|_1 = 1 with the largest min_i y_i f(x_i).

    Its objective is minus the margin, its gap that of the linear program. Raises ArithmeticError
    where the linear program does not end.

    >>> one = np.array([[1.0, 0.0]])
    >>> max_margin(one, np.array([1.0]), one).margin
    1.0
    """
    F = y[:, None] * np.maximum(points @ directions.T, 0.0)
    count, solution = len(directions), best_measure(F)
    alpha = solution.x[:count] - solution.x[count:-1]
    gap = float(abs(solution.fun - solution.eqlin.marginals[0]))
    margin = float((F @ alpha).min() / np.abs(alpha).sum())
    return PathPoint(directions, alpha, float(solution.fun), gap, margin)


def _loss(p: Array) -> float:
    return float(np.logaddexp(0.0, -p).mean())


def _pull(p: Array) -> Array:
    """-1/n of the loss's slope at each margin: 1/(n (1 + e^p))."""
    return np.asarray(np.exp(-np.logaddexp(0.0, p)) / p.size)


def _dual(q: Array, largest: float, mu: float) -> float:
    """The dual at q scaled into its feasible set: (1/n) sum of the entropy of n q_i."""
    # Off 0, where u ln u is 0 and not NaN.
    u = np.clip(q.size * q * min(1.0, mu / largest if largest > 0.0 else 1.0), 1e-300, 1.0)
    rest = np.where(u < 1.0, (1.0 - u) * np.log1p(-np.minimum(u, 1.0 - 1e-16)), 0.0)
    return float(-(u * np.log(u) + rest).mean())


def plane(problem: Problem) -> Array | None:
    """x~ (n, 2) of a problem whose nodes are directions of the plane; None for others."""
    kind, data = problem.experiment.network.kind, problem.dataset
    if kind == "bias" and data.d == 1:
        return lifted(data.x)
    plain = kind == "standard" and problem.network.plain_relu
    return data.x if plain and data.d == 2 else None


def solve(problem: Problem) -> PathPoint | None:
    """The solution for a problem with the logistic loss and l2 > 0; None for others."""
    loss, points = problem.experiment.loss, plane(problem)
    if points is None or loss.kind != "logistic" or not loss.l2 > 0.0:
        return None
    return path_point(points, problem.dataset.y, loss.l2, circle())


@final
class PathMargin(SampleMargin):
    """The margin of the regularised l1 problem at the run's own lambda."""

    name = "l1_path"
    title = "l1 margin at this lambda"
    formula = (
        "min_i y_i f(x_i)/|alpha|_1 of the minimiser of mean ln(1 + exp(-y f)) + 2 lambda "
        "|alpha|_1 over f = sum_k alpha_k relu(w_k x + b_k) on 1000 unit (w_k, b_k); half of it is "
        "the |W|^2 margin of the best wide network with penalty lambda |W|^2"
    )
    source = "wei19, section F.4 and Theorem 4.1"
    label = "l1 path / 2"
    where = 'network.kind = "bias" on data of one dimension, logistic loss with l2 > 0'
    factor = 0.5
    most_examples = MOST_EXAMPLES
    too_many = "It is computed for up to {most} examples, not n = {n}."

    def applies(self, problem: Problem) -> bool:
        kinds = (problem.experiment.network.kind, problem.experiment.loss.kind)
        penalised = kinds == ("bias", "logistic") and problem.experiment.loss.l2 > 0.0
        return binary(problem) and problem.dataset.d == 1 and penalised

    def key(self, problem: Problem) -> str:
        return data_key(problem, float(problem.experiment.loss.l2))

    def of_sample(self, problem: Problem, watch: Watch) -> Bracket:
        point = solve(problem)
        if point is None or not np.isfinite(point.margin):
            return absent("The penalty is so large that the best network is zero.")
        method = f"l1 problem on {DIRECTIONS} directions, objective proved to {point.gap:.1e}"
        return Bracket(point.margin, point.margin, point.margin, False, method)
