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

from typing import Any, final

import numpy as np

from core.data.dataset import Array
from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.hull import pair_bound, rounding_bound
from core.reference.margin import (
    Bracket,
    SampleMargin,
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
    """Return bounds of gamma_l1 and the number of rounds.

    Parameters
    ----------
    x : array (n, 1)
        Inputs.
    y : array (n,)
        Labels +-1.
    watch : CancelToken
        Cancellation token; once it has timed out, the current bounds are returned.
    enough : float
        Gap relative to the upper bound at which the search ends.

    Returns
    -------
    lower, upper : float
        Proved bounds.
    rounds : int
        Solved linear programs.

    Examples
    --------
    One point at 1: the best (w, b) is along (1, 1), so the margin is sqrt(2).

    >>> lower, upper, _ = bracket_l1_margin(np.array([[1.0]]), np.array([1.0]), CancelToken())
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
