"""Optimum of frei23's problem (3), by its closed form.

With S_+ = sum of a_j^2 over a_j > 0 and S_- over a_j < 0 (m_1/m and m_2/m in the paper) and the
slope g, the multipliers of (3) with every constraint tight solve

    (K o G) lambda = 1,   G_ik = <x_i, x_k>,
    K_++ = S_+ + g^2 S_-,   K_-- = S_- + g^2 S_+,   K_+- = -g (S_+ + S_-),

where the labels choose K_ik. Where lambda >= 0 it is the optimum, |W*|^2 = sum_i lambda_i, and the
margin min_i y_i f(x_i)/|W| is 1/|W*| (the network is 1-homogeneous).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from core.data.dataset import Array
from core.network.standard import FixedOuter
from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.hull import MOST_POINTS, gram_coordinates, rounding_bound, separate_from_origin
from core.reference.margin import (
    Bracket,
    SampleMargin,
    absent_bracket,
    data_key,
    has_binary_labels,
    unresolved_bracket,
    zero_bracket,
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """Bounds lower <= 1/|W*| <= upper and lambda (n,); `closed` if the closed form is the optimum.

    `fits` if y_i <v, x_i> > 0 > y_i <u, x_i> beyond rounding, so that the optimum of (3) is a KKT
    point of (1). Without these signs a network with these v and u has other margins than those of
    (3).
    """

    lower: float
    upper: float
    multipliers: Array
    closed: bool
    fits: bool


def dual_matrix(x: Array, y: Array, plus: float, minus: float, slope: float) -> Array:
    """Return the matrix K o G of problem (3).

    Parameters
    ----------
    x : array (n, d)
        Inputs.
    y : array (n,)
        Labels +-1.
    plus, minus : float
        S_+ and S_-.
    slope : float
        g, slope of the leaky ReLU on the left.

    Returns
    -------
    array (n, n)
        K o G.
    """
    positive = y > 0.0
    same_side = np.where(positive, plus + slope**2 * minus, minus + slope**2 * plus)
    alike = positive[:, None] == positive
    K = np.where(alike, same_side[:, None], -slope * (plus + minus))
    return np.asarray(K * (x @ x.T))


def solve_leaky_problem(
    x: Array, y: Array, plus: float, minus: float, slope: float
) -> Optimum | None:
    """Return the optimum of problem (3).

    Parameters
    ----------
    x : array (n, d)
        Inputs.
    y : array (n,)
        Labels +-1.
    plus, minus : float
        S_+ and S_-.
    slope : float
        g, slope of the leaky ReLU on the left.

    Returns
    -------
    Optimum or None
        None if the constraints exclude each other or rounding could hide that they do.

    Examples
    --------
    Lemma B.8 of the paper: slope 1/2, m_1 = m_2, and lambda = 8/(4 e + 5), 8/(4 e + 5), 8/5.

    >>> e = 1.0 / 72.0
    >>> x = np.array([[-1.0, 0.0, 0.0], [e, np.sqrt(1.0 - e * e), 0.0], [0.0, 0.0, 1.0]])
    >>> best = solve_leaky_problem(x, np.array([-1.0, 1.0, 1.0]), 0.5, 0.5, 0.5)
    >>> bool(np.allclose(best.multipliers * (4.0 * e + 5.0), [8.0, 8.0, 8.0 + 6.4 * e]))
    True
    """
    M = dual_matrix(x, y, plus, minus, slope)
    closed = _closed_form(M)
    bracket = closed or _bounds_of(M, separate_from_origin(gram_coordinates(M)).q)
    if bracket is None:
        return None
    fits = _satisfies_kkt(x, y, bracket[2], slope)
    return Optimum(*bracket, closed=closed is not None, fits=fits)


def _closed_form(M: Array) -> tuple[float, float, Array] | None:
    """Return `_bounds_of` the solution of M lambda = 1; None unless all lambda are positive."""
    try:
        multipliers = np.linalg.solve(M, np.ones(M.shape[0]))
        multipliers += np.linalg.solve(M, 1.0 - M @ multipliers)  # one step of refinement
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(multipliers).all() or (multipliers <= 0.0).any():
        return None
    return _bounds_of(M, np.asarray(multipliers, dtype=np.float64))


def _bounds_of(M: Array, multipliers: Array) -> tuple[float, float, Array] | None:
    """Return the primal bound, W scaled to min_i = 1, and the dual bound, with the multipliers.

    The dual is |W*|^2 >= (sum lambda)^2/(lambda' M lambda).
    """
    tight = M @ multipliers
    total, square = float(multipliers.sum()), float(multipliers @ tight)
    error = rounding_bound(len(M), float(M.diagonal().max())) * total
    if square <= error * total or float(tight.min()) <= error:
        return None
    upper = float(np.sqrt(square + error * total))
    lower = (float(tight.min()) - error) / upper
    with np.errstate(over="ignore"):  # an outer layer of 1e-150
        ends = upper / total, multipliers / tight.min()
    return (lower, *ends) if all(np.isfinite(end).all() for end in ends) else None


def _satisfies_kkt(x: Array, y: Array, multipliers: Array, slope: float) -> bool:
    weight = np.where(y > 0.0, multipliers, -slope * multipliers)
    scaled = np.where(y < 0.0, multipliers, -slope * multipliers)
    v, u = weight @ x, scaled @ x
    lengths = np.linalg.norm(x, axis=1)
    error = rounding_bound(sum(x.shape), float(multipliers @ lengths) * float(lengths.max()))
    return bool((y * (x @ v) > error).all() and (y * (x @ u) < -error).all())


@final
class LeakyOptimum(SampleMargin):
    """Margin 1/|W*| of problem (3)."""

    name = "leaky_optimum"
    title = "optimum of the leaky network"
    formula = (
        "max of min_i y_i f(x_i)/|W| (1-homogeneous) over networks whose neurons of a kind are "
        "equal, each linear piece as in problem (3): 1/sqrt(sum_i lambda_i), (K o G) lambda = 1, "
        "K_++ = (m_1 + g^2 m_2)/m, K_-- = (m_2 + g^2 m_1)/m, K_+- = -g"
    )
    source = "frei23, problem (3) and Theorem 3.2"
    label = "optimum of (3)"
    version = 2
    most_examples = MOST_POINTS
    where = 'network.kind = "fixed_outer", not smooth, slope in (0, 1)'
    factor = 1.0

    def applies(self, problem: Problem) -> bool:
        section: Any = problem.experiment.network
        return (
            has_binary_labels(problem)
            and isinstance(problem.network, FixedOuter)
            and not section.smooth
            and 0.0 < section.slope < 1.0
        )

    def key(self, problem: Problem) -> str:
        section: Any = problem.experiment.network
        return data_key(problem, section.slope, *_sides(problem))

    def of_sample(self, problem: Problem, watch: CancelToken) -> Bracket:
        section: Any = problem.experiment.network
        x, y, (plus, minus) = problem.dataset.x, problem.dataset.y, _sides(problem)
        best = solve_leaky_problem(x, y, plus, minus, section.slope)
        if best is None:
            return _unsolved_bracket(dual_matrix(x, y, plus, minus, section.slope))
        return _solved_bracket(best)


def _unsolved_bracket(M: Array) -> Bracket:
    """Return the bracket where no W meets all constraints: |W*| >= sum q / sqrt(q' M q)."""
    sizes = M.diagonal()
    if not sizes.all():
        place = int(sizes.argmin())
        return zero_bracket(
            "No network satisfies the constraints of problem (3) on these data: it is 0 at "
            f"example {place}."
        )
    q = separate_from_origin(gram_coordinates(M)).q
    error = rounding_bound(len(M), float(sizes.max()))
    upper = float(np.sqrt(max(float(q @ M @ q), 0.0) + error))
    reason = "feasibility of problem (3) is lost in rounding"
    return unresolved_bracket(upper, float(np.sqrt(sizes.max())), True, reason)


def _solved_bracket(best: Optimum) -> Bracket:
    how = "closed form (K o G) lambda = 1, all lambda > 0"
    if not best.closed:
        how = "active-set NNLS on the dual of (3), since some lambda of the closed form is not > 0"
    if not best.fits:
        return absent_bracket(
            f"The optimum of problem (3), 1/|W*| = {best.lower:.4g}, does not have y_i <v, x_i> "
            "> 0 > y_i <u, x_i> at every example: no network is known to have that margin, and "
            "Theorem 3.2 does not apply."
        )
    method = f"{how}; gap {best.upper - best.lower:.1e}"
    return Bracket(best.lower, best.upper, best.lower, True, method)


def _sides(problem: Problem) -> tuple[float, float]:
    """Return the sums of a_j^2 over the positive and over the negative outer weights."""
    a = np.asarray(problem.network.fixed["a"], dtype=np.float64)
    return float((a[a > 0.0] ** 2).sum()), float((a[a < 0.0] ** 2).sum())
