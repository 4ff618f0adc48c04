"""Regularised problem over directions of the plane, of wide networks at one lambda.

    min over alpha in R^K of (1/n) sum_i ln(1 + exp(-y_i f(x_i))) + 2 lambda |alpha|_1,
    f(x) = sum_k alpha_k relu(<u_k, x~>), u_k unit vectors of the plane,

x~ = (x, 1) for networks with biases on the line, x~ = x for networks without in the plane. A
neuron (a, u) of a network costs lambda (a^2 + |u|^2) >= 2 lambda |a| |u|, with equality when it
is balanced, so the least objective of a wide network is this one as the u_k fill the circle, and
|Theta|^2 = 2 |alpha|_1. As lambda falls to 0, min_i y_i f(x_i)/|alpha|_1 tends to gamma_l1
(wei19, Theorem 4.1 and Proposition B.10).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.data.dataset import Array
from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.intervals import ENOUGH, append_ones, maximise_measure_margin
from core.reference.margin import (
    Bracket,
    SampleMargin,
    absent_bracket,
    data_key,
    has_binary_labels,
)

DIRECTIONS = 1000  # evenly spaced (w, b), as many as in section F.4
MOST_ON_PATH = 500  # examples
PATH_ROUNDS = 100


@final
@dataclass(frozen=True, slots=True, eq=False)
class PathPoint:
    """Solution alpha (K,) on directions (K, 2), its objective, and the proved gap to the least.

    `margin` is min_i y_i f(x_i)/|alpha|_1, NaN for alpha = 0.
    """

    directions: Array
    alpha: Array
    objective: float
    gap: float
    margin: float

    def evaluate(self, points: Array) -> Array:
        """Return the network's outputs over |Theta|^2 = 2 |alpha|_1.

        Parameters
        ----------
        points : array (N, 2)
            Points x~.

        Returns
        -------
        array (N,)
            f(x~)/(2 |alpha|_1); NaN for alpha = 0.
        """
        squared = 2.0 * np.abs(self.alpha).sum()
        return np.asarray(np.maximum(points @ self.directions.T, 0.0) @ self.alpha / squared)


def directions_of_circle(count: int = DIRECTIONS) -> Array:
    """Return evenly spaced unit vectors of the plane.

    Parameters
    ----------
    count : int
        Number of directions.

    Returns
    -------
    array (count, 2)
        Counter-clockwise from (1, 0).
    """
    angle = 2.0 * np.pi * np.arange(count) / count
    return np.column_stack([np.cos(angle), np.sin(angle)])


def solve_path_point(points: Array, y: Array, penalty: float, directions: Array) -> PathPoint:
    """Return the solution at one penalty, to a relative duality gap of ENOUGH.

    Parameters
    ----------
    points, y : array (n, 2), array (n,)
        Inputs x~, and labels +-1.
    penalty, directions : float, array (K, 2)
        lambda > 0, and unit directions u_k.

    Returns
    -------
    PathPoint
        After PATH_ROUNDS rounds its gap may be larger; `gap` is proved in any case.

    Examples
    --------
    One example at x~ = (1, 0): alpha solves e^-alpha = 2 lambda/(1 - 2 lambda).

    >>> one = np.array([[1.0, 0.0]])
    >>> best = solve_path_point(one, np.array([1.0]), 0.05, one)
    >>> round(float(best.alpha[0]), 6), best.gap < 1e-7  # alpha = ln 9
    (2.197225, True)
    """
    from scipy.optimize import minimize  # slow to load

    F = y[:, None] * np.maximum(points @ directions.T, 0.0)
    mu, alpha = 2.0 * penalty, np.zeros(directions.shape[0])
    is_used = np.zeros(alpha.size, dtype=bool)
    objective, gap = float(np.log(2.0)), np.inf
    for _ in range(PATH_ROUNDS):
        q = _loss_weights(F @ alpha)
        slopes = F.T @ q
        gap = objective - _dual_value(q, float(np.abs(slopes).max()), mu)
        # The duality gap bounds the distance of the objective from its minimum on these directions.
        if gap <= ENOUGH * objective:
            break
        is_used |= _find_peaks(np.abs(slopes), mu)
        Z = np.concatenate([F[:, is_used], -F[:, is_used]], axis=1)

        def value(beta: Array, Z: Array = Z) -> tuple[float, Array]:
            p = Z @ beta
            return _loss(p) + mu * float(beta.sum()), mu - Z.T @ _loss_weights(p)

        # alpha as a difference of two parts >= 0, which makes |alpha|_1 smooth.
        start = np.concatenate([np.maximum(alpha[is_used], 0.0), np.maximum(-alpha[is_used], 0.0)])
        # As far as L-BFGS converges: the criterion is the duality gap over the whole circle.
        options = {"ftol": 1e-16, "gtol": 1e-13, "maxiter": 20_000, "maxfun": 40_000}
        bounds = [(0.0, None)] * start.size
        solution = minimize(
            value, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
        )
        half = start.size // 2
        alpha = np.zeros_like(alpha)
        alpha[is_used] = solution.x[:half] - solution.x[half:]
        objective = _loss(F @ alpha) + mu * float(np.abs(alpha).sum())
    total = float(np.abs(alpha).sum())
    margin = float((F @ alpha).min()) / total if total > 0.0 else float("nan")
    return PathPoint(directions, alpha, objective, gap, margin)


def maximise_l1_margin(points: Array, y: Array, directions: Array) -> PathPoint:
    """Solve the hard-margin l1-SVM: alpha of |alpha|_1 = 1 with the largest min_i y_i f(x_i).

    Parameters
    ----------
    points : array (n, 2)
        Inputs x~.
    y : array (n,)
        Labels +-1.
    directions : array (K, 2)
        Unit directions u_k.

    Returns
    -------
    PathPoint
        Its objective is minus the margin, its gap that of the linear program.

    Raises
    ------
    ArithmeticError
        The linear program does not end.

    Examples
    --------
    >>> one = np.array([[1.0, 0.0]])
    >>> maximise_l1_margin(one, np.array([1.0]), one).margin
    1.0
    """
    F = y[:, None] * np.maximum(points @ directions.T, 0.0)
    count, solution = len(directions), maximise_measure_margin(F)
    alpha = solution.x[:count] - solution.x[count:-1]
    gap = float(abs(solution.fun - solution.eqlin.marginals[0]))
    margin = float((F @ alpha).min() / np.abs(alpha).sum())
    return PathPoint(directions, alpha, float(solution.fun), gap, margin)


def _loss(p: Array) -> float:
    """Return the mean logistic loss of margins p (n,)."""
    return float(np.logaddexp(0.0, -p).mean())


def _find_peaks(heights: Array, least: float) -> NDArray[np.bool_]:
    """Return the mask of the peaks above `least` along the circle.

    Neighbours of a peak are nearly the same column, and would make the problem ill-conditioned.
    """
    peaks = (heights >= np.roll(heights, 1)) & (heights >= np.roll(heights, -1))
    return np.asarray(peaks & (heights > least))


def _loss_weights(p: Array) -> Array:
    """Return -1/n of the loss's slope at each margin: 1/(n (1 + e^p))."""
    return np.asarray(np.exp(-np.logaddexp(0.0, p)) / p.size)


def _dual_value(q: Array, largest: float, mu: float) -> float:
    """Return the dual at q scaled into its feasible set: (1/n) sum of the entropy of n q_i."""
    # Clipped above 0, where u ln u would be NaN instead of 0.
    u = np.clip(q.size * q * min(1.0, mu / largest if largest > 0.0 else 1.0), 1e-300, 1.0)
    other_term = np.where(u < 1.0, (1.0 - u) * np.log1p(-np.minimum(u, 1.0 - 1e-16)), 0.0)
    return float(-(u * np.log(u) + other_term).mean())


def lifted_inputs(problem: Problem) -> Array | None:
    """Return the inputs x~ of a problem whose neurons are directions of the plane.

    Parameters
    ----------
    problem : Problem
        Problem with any network.

    Returns
    -------
    array (n, 2) or None
        (x, 1) for a network with biases on the line, x for a standard ReLU network in the plane;
        None for all others.
    """
    kind, data = problem.experiment.network.kind, problem.dataset
    if kind == "bias" and data.d == 1:
        return append_ones(data.x)
    plain = kind == "standard" and problem.network.plain_relu
    return data.x if plain and data.d == 2 else None


def solve_problem(problem: Problem) -> PathPoint | None:
    """Return the solution at lambda = l2 on the directions of the circle.

    None unless the loss is logistic, l2 > 0, and the neurons are directions of the plane.
    """
    loss, points = problem.experiment.loss, lifted_inputs(problem)
    if points is None or loss.kind != "logistic" or not loss.l2 > 0.0:
        return None
    return solve_path_point(points, problem.dataset.y, loss.l2, directions_of_circle())


@final
class PathMargin(SampleMargin):
    """Margin of the regularised l1 problem at the run's own lambda."""

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
    most_examples = MOST_ON_PATH
    too_many = "It is computed for up to {most} examples, not n = {n}."

    def applies(self, problem: Problem) -> bool:
        kinds = (problem.experiment.network.kind, problem.experiment.loss.kind)
        penalised = kinds == ("bias", "logistic") and problem.experiment.loss.l2 > 0.0
        return has_binary_labels(problem) and problem.dataset.d == 1 and penalised

    def key(self, problem: Problem) -> str:
        return data_key(problem, float(problem.experiment.loss.l2))

    def of_sample(self, problem: Problem, watch: CancelToken) -> Bracket:
        point = solve_problem(problem)
        if point is None or not np.isfinite(point.margin):
            return absent_bracket("The penalty is so large that the best network is zero.")
        method = f"l1 problem on {DIRECTIONS} directions, objective proved to {point.gap:.1e}"
        return Bracket(point.margin, point.margin, point.margin, False, method)
