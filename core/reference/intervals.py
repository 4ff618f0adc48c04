"""Margins of networks with biases on the line (wei19, section F.4).

    gamma_l1 = max over signed measures mu of mass 1 on the circle w^2 + b^2 = 1
               of min_i y_i int relu(w x_i + b) d mu
             = min over q in the simplex of max over the circle of |h|,
    h(w, b) = sum_i q_i y_i relu(w x_i + b).

Between two neighbouring breakpoints +-(1, -x_i)/|(1, -x_i)| of the circle h is linear in (w, b), so
its largest modulus is at a breakpoint or in the direction of that linear form: pricing is exact,
and no grid is needed. Columns are added until both sides meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from core.data.dataset import Array
from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.hull import pair_bound, rounding_bound
from core.reference.margin import (
    Bracket,
    SampleMargin,
    absent_bracket,
    data_key,
    has_binary_labels,
    unresolved_bracket,
)

MOST_EXAMPLES = 2000
ENOUGH, ROUNDS, NEW_COLUMNS = 1e-7, 60, 40


def append_ones(x: Array) -> Array:
    """Return inputs with a 1 appended.

    Parameters
    ----------
    x : array (n, 1)
        Inputs on the line.

    Returns
    -------
    array (n, 2)
        (x_i, 1).
    """
    return np.column_stack([x[:, 0], np.ones(x.shape[0])])


def breakpoints(points: Array) -> Array:
    """Return the breakpoints of h on the circle.

    Parameters
    ----------
    points : array (n, 2)
        (x_i, 1).

    Returns
    -------
    array (K, 2)
        Unit (w, b) with some w x_i + b = 0, by angle.
    """
    angle = np.arctan2(-points[:, 0], points[:, 1])  # of (1, -x_i)
    angles = np.unique(np.mod(np.concatenate([angle, angle + np.pi]), 2.0 * np.pi))
    return np.column_stack([np.cos(angles), np.sin(angles)])


def candidate_directions(points: Array, c: Array, ends: Array) -> tuple[Array, Array]:
    """Return directions among which |h| is largest.

    Parameters
    ----------
    points : array (n, 2)
        (x_i, 1).
    c : array (n,)
        Weights q y.
    ends : array (K, 2)
        Breakpoints.

    Returns
    -------
    tuple of arrays
        Directions (at most 3 K, 2), and h at each.
    """
    after = np.roll(ends, -1, axis=0)
    middle = ends + after
    wide = np.linalg.norm(middle, axis=1) < 1e-6  # half a circle between two breakpoints
    middle[wide] = np.column_stack([-ends[wide, 1], ends[wide, 0]])
    forms = ((middle @ points.T) > 0.0) * c @ points
    length = np.linalg.norm(forms, axis=1)
    units = forms[length > 0.0] / length[length > 0.0, None]
    directions = np.vstack([ends, units, -units])
    return directions, np.maximum(directions @ points.T, 0.0) @ c


def bracket_l1_margin(
    x: Array, y: Array, watch: CancelToken, enough: float = ENOUGH
) -> tuple[float, float, int]:
    """Return bounds of gamma_l1 and the number of rounds, for x (n, 1) and y (n,).

    One point at 1: the best (w, b) is along (1, 1), so the margin is sqrt(2).

    >>> lower, upper, _ = l1_margin(np.array([[1.0]]), np.array([1.0]), CancelToken())
    >>> round(lower, 9), round(upper, 9)
    (1.414213562, 1.414213562)
    """
    points = append_ones(x)
    ends = columns = breakpoints(points)
    size = float(np.linalg.norm(points, axis=1).max())
    lower, upper = 0.0, min(size, pair_bound(points, y))
    slack = rounding_bound(y.size, size)
    c = y / y.size
    turn = 0
    while turn < ROUNDS:
        turn += 1
        watch.check()
        directions, h = candidate_directions(points, c, ends)
        sizes = np.abs(h)
        upper = min(upper, float(sizes.max()) + slack)
        if upper - lower <= enough * upper or watch.timed_out:
            break
        best = np.argsort(-sizes)[:NEW_COLUMNS]
        columns = np.vstack([columns, directions[best]])
        # In units of the bound so far, since tolerances of the linear program are absolute.
        reached, c, is_used = _master(points, y, columns, upper)
        columns = columns[is_used]
        lower = max(lower, reached - slack)
    return min(lower, upper), upper, turn


def maximise_measure_margin(features: Array) -> Any:
    """Solve max t over a, b >= 0 of sum 1 in all, t <= sum_k (a_k - b_k) F_ik for all i, F (n, K).

    Returns SciPy's solution x = (a, b, t) with its marginals. Raises ArithmeticError where the
    linear program does not end.
    """
    from scipy.optimize import linprog  # slow to load

    n, count = features.shape
    solution = linprog(
        np.r_[np.zeros(2 * count), -1.0],
        np.hstack([-features, features, np.ones((n, 1))]),
        np.zeros(n),
        np.r_[np.ones(2 * count), 0.0][None],
        [1.0],
        bounds=[(0.0, None)] * (2 * count) + [(None, None)],
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if solution.status != 0:
        raise ArithmeticError(f"The linear program did not converge ({solution.message}).")
    return solution


def _master(
    points: Array, y: Array, columns: Array, unit: float = 1.0
) -> tuple[float, Array, Array]:
    """Return the margin of the best measure on the columns, weights q y, and which columns to keep.

    `unit` is about the margin: the program's tolerances are absolute.
    """
    features = y[:, None] * np.maximum(points @ columns.T, 0.0) / unit
    count, solution = len(columns), maximise_measure_margin(features)
    weights = np.maximum(solution.x[:-1], 0.0)
    signed = (weights[:count] - weights[count:]) / weights.sum()
    q = np.maximum(-solution.ineqlin.marginals, 0.0)
    reached = float((features @ signed).min())
    slack = solution.lower.marginals[:-1]
    # Remove columns far from use; otherwise the program grows by forty in every round.
    is_near = np.minimum(slack[:count], slack[count:]) < 0.2 * max(reached, 1e-12)
    return reached * unit, q / q.sum() * y, is_near | (signed != 0.0)


@final
class BiasMargin(SampleMargin):
    """gamma_l1 of networks with biases on 1-D data."""

    name = "gamma_l1"
    title = "l1 margin on the line"
    formula = (
        "max over signed measures of mass 1 on w^2 + b^2 = 1 of min_i y_i int relu(w x_i + b); the "
        "limit of the regularised network has |W|^2 margin gamma_l1/2, biases in the norm"
    )
    source = "wei19, Proposition B.10 and section F.4"
    label = "gamma_l1 / 2"
    where = 'network.kind = "bias" on data of one dimension'
    factor = 0.5
    most_examples = MOST_EXAMPLES
    too_many = "gamma_l1 is computed for up to {most} examples; here n = {n}."

    def applies(self, problem: Problem) -> bool:
        return (
            has_binary_labels(problem) and problem.dataset.d == 1 and problem.network.kind == "bias"
        )

    def of_sample(self, problem: Problem, watch: CancelToken) -> Bracket:
        data = problem.dataset
        lower, upper, rounds = bracket_l1_margin(data.x, data.y, watch)
        if not lower > 0.0:
            reason = "separability by a network is lost in rounding"
            if watch.timed_out:
                reason = "the time limit came before a positive margin; raise it"
            return unresolved_bracket(
                upper, float(np.linalg.norm(append_ones(data.x), axis=1).max()), True, reason
            )
        method = (
            f"linear program with exact pricing between breakpoints, {rounds} rounds; relative gap "
            f"{(upper - lower) / upper:.1e}"
        )
        return Bracket(lower, upper, lower, True, method)


# --------------------------------------------------------------------------- regularised problem
#
#     min over alpha in R^K of (1/n) sum_i ln(1 + exp(-y_i f(x_i))) + 2 lambda |alpha|_1,
#     f(x) = sum_k alpha_k relu(<u_k, x~>), u_k unit vectors of the plane,
#
# x~ = (x, 1) for networks with biases on the line, x~ = x for networks without in the plane. A node
# (a, u) of a network costs lambda (a^2 + |u|^2) >= 2 lambda |a| |u|, with equality when it is
# balanced, so the least objective of a wide network is this one as the u_k fill the circle, and
# |Theta|^2 = 2 |alpha|_1. As lambda falls to 0, min_i y_i f(x_i)/|alpha|_1 tends to gamma_l1
# (wei19, Theorem 4.1 and Proposition B.10).

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
        """Return f/(2 |alpha|_1) = f/|Theta|^2, (N,), at points x~ (N, 2)."""
        squared = 2.0 * np.abs(self.alpha).sum()
        return np.asarray(np.maximum(points @ self.directions.T, 0.0) @ self.alpha / squared)


def directions_of_circle(count: int = DIRECTIONS) -> Array:
    """Return evenly spaced unit vectors of the plane, (count, 2)."""
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

    Examples
    --------
    One example at x~ = (1, 0): alpha solves e^-alpha = 2 lambda/(1 - 2 lambda).

    >>> one = np.array([[1.0, 0.0]])
    >>> best = path_point(one, np.array([1.0]), 0.05, one)
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
        heights = np.abs(slopes)  # add peaks along the circle
        peaks = (heights >= np.roll(heights, 1)) & (heights >= np.roll(heights, -1))
        # Only the peaks: neighbours of a peak are nearly the same column, and make the problem
        # ill-conditioned.
        is_used |= peaks & (heights > mu)
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

    Points x~ (n, 2), y (n,), directions (K, 2). The objective is minus the margin, the gap that of
    the linear program. Raises ArithmeticError where the linear program does not end.

    >>> one = np.array([[1.0, 0.0]])
    >>> max_margin(one, np.array([1.0]), one).margin
    1.0
    """
    F = y[:, None] * np.maximum(points @ directions.T, 0.0)
    count, solution = len(directions), maximise_measure_margin(F)
    alpha = solution.x[:count] - solution.x[count:-1]
    gap = float(abs(solution.fun - solution.eqlin.marginals[0]))
    margin = float((F @ alpha).min() / np.abs(alpha).sum())
    return PathPoint(directions, alpha, float(solution.fun), gap, margin)


def _loss(p: Array) -> float:
    return float(np.logaddexp(0.0, -p).mean())


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
    """Return x~ (n, 2) of a problem whose nodes are directions of the plane; None for others."""
    kind, data = problem.experiment.network.kind, problem.dataset
    if kind == "bias" and data.d == 1:
        return append_ones(data.x)
    plain = kind == "standard" and problem.network.plain_relu
    return data.x if plain and data.d == 2 else None


def solve_problem(problem: Problem) -> PathPoint | None:
    """Return the solution for a problem with the logistic loss and l2 > 0; None for others."""
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
