"""gamma_inf and gamma_1: hard margins of linear predictors over |w|_inf and |w|_1."""

from __future__ import annotations

from abc import abstractmethod
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.hull import MOST_POINTS, rounding_bound, separate_from_origin
from core.reference.linear import bracket_of
from core.reference.margin import Bracket, absent_bracket, signed_inputs, unresolved_bracket
from core.reference.norms import NormMargin
from core.reference.programs import Program, solve_program

Array = NDArray[np.float64]
HYPERPLANE = "a hyperplane through the origin"
LATE = "The linear program of this margin did not finish within the time limit; allow more time."


def make_program(G: Array, p: float) -> Program:
    """Return the program max t with <G_i, w> >= t and |w|_p <= 1 of rows G (n, d), p = 1 or inf.

    Its variables are w and t; for p = 1 the positive and the negative part of w, and t. Rows are
    divided by their largest entries.
    """
    n, d = G.shape
    sizes = np.abs(G).max(axis=1)
    sizes[sizes == 0.0] = 1.0
    rows = -G / sizes[:, None]
    if np.isinf(p):
        box = np.r_[np.full(d, -1.0), -np.inf], np.r_[np.ones(d), np.inf]
        return Program(np.eye(d + 1)[d], np.c_[rows, 1.0 / sizes], np.zeros(n), *box)
    table = np.vstack([np.c_[rows, -rows, 1.0 / sizes], np.r_[np.ones(2 * d), 0.0]])
    box = np.r_[np.zeros(2 * d), -np.inf], np.full(2 * d + 1, np.inf)
    return Program(np.eye(2 * d + 1)[2 * d], table, np.eye(n + 1)[n], *box)


def bracket_linear_margin(G: Array, p: float, watch: CancelToken) -> Bracket:
    """Return the bracket of max over |w|_p <= 1 of min_i <G_i, w>.

    The lower end is that of w as found, and the upper end the dual norm of sum_i q_i G_i, each
    widened by its rounding.

    Parameters
    ----------
    G : array (n, d)
        Rows y_i x_i.
    p : float
        1 or inf.
    watch : CancelToken
        Cancellation token.

    Returns
    -------
    Bracket
        Certified bracket.

    Examples
    --------
    >>> G = np.diag([0.5, 0.25])
    >>> [round(bracket_linear_margin(G, p, CancelToken()).value, 12) for p in (np.inf, 1.0)]
    [0.25, 0.166666666667]
    """
    n, d = G.shape
    unit = float(np.abs(G).max()) or 1.0
    rows = G / unit
    solution = solve_program(make_program(rows, p), watch)
    if not solution.finished:
        return absent_bracket(LATE)
    w = solution.v[:d] if np.isinf(p) else solution.v[:d] - solution.v[d:-1]
    w = w / max(float(np.linalg.norm(w, p)), 1e-300)
    sizes = np.abs(rows).max(axis=1)
    q = solution.multipliers[:n] / np.where(sizes > 0.0, sizes, 1.0)
    q = q / q.sum() if q.sum() > 0.0 else np.full(n, 1.0 / n)
    own = 1.0 if np.isinf(p) else np.inf
    margins, sums = rows @ w, q @ rows
    # The rounding error of each sum is that of the sum of its terms' sizes.
    lower = float((margins - rounding_bound(d, 1.0) * (np.abs(rows) @ np.abs(w))).min())
    upper = float(
        np.linalg.norm(np.abs(sums) + rounding_bound(n + d, 1.0) * (q @ np.abs(rows)), own)
    )
    reached, gap = float(margins.min()), float(np.linalg.norm(sums, own) - margins.min())
    if not lower > 0.0:
        best = separate_from_origin(G)
        if best.farkas:
            return bracket_of(best, HYPERPLANE)
        reason = f"separability by {HYPERPLANE} is lost in rounding"
        return unresolved_bracket(upper * unit, unit, True, reason)
    method = f"linear program, primal and dual; gap {max(gap, 0.0) * unit:.1e}"
    return Bracket(lower * unit, max(upper, reached) * unit, reached * unit, True, method)


class LinearNormMargin(NormMargin):
    """Margin of linear predictors over |w|_p: base of gamma_inf and gamma_1."""

    most_examples = MOST_POINTS
    source = "our derivation (docs/theory.md, 5.7)"

    @property
    @abstractmethod
    def p(self) -> float:
        """Exponent of the norm of w: 1 or inf."""

    def of_sample(self, problem: Problem, watch: CancelToken) -> Bracket:
        return bracket_linear_margin(np.unique(signed_inputs(problem), axis=0), self.p, watch)


@final
class MaximumMargin(LinearNormMargin):
    """gamma_inf: largest margin over the largest weight."""

    name = "gamma_inf"
    title = "linear margin in the maximum norm"
    formula = (
        "max over |w|_inf = 1 of min_i y_i <w, x_i>, no intercept: bounds margin_linf of linear "
        "predictors, which sign descent raises"
    )
    label = "gamma_inf"
    norm = "sign"
    p = np.inf


@final
class CoordinateMargin(LinearNormMargin):
    """gamma_1: largest margin over |w|_1."""

    name = "gamma_1"
    title = "linear margin in the l1 norm"
    formula = (
        "max over |w|_1 = 1 of min_i y_i <w, x_i>, no intercept: bounds margin_l1 of linear "
        "predictors, which coordinate descent raises"
    )
    label = "gamma_1"
    norm = "coordinate"
    p = 1.0
