"""The optimum of frei23's problem (3), by its closed form.

With S_+ = sum of a_j^2 over a_j > 0 and S_- over a_j < 0 (m_1/m and m_2/m in the paper) and the
slope g, the multipliers of (3) with every constraint tight solve

    (K o G) lambda = 1,   G_ik = <x_i, x_k>,
    K_++ = S_+ + g^2 S_-,   K_-- = S_- + g^2 S_+,   K_+- = -g (S_+ + S_-),

where K_ik is chosen by the labels. Where lambda >= 0 it is the optimum, |W*|^2 = sum_i lambda_i,
and the margin min_i y_i f(x_i)/|W| is 1/|W*| (the network is 1-homogeneous).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from core.data.dataset import Array
from core.network.fixed_outer import FixedOuter
from core.problem import Problem
from core.reference.hull import MOST_POINTS, ROUNDING, TOO_MANY, coordinates, nearest
from core.reference.margin import Bracket, Reference, absent
from core.reference.sample import binary, data_key, refusal
from core.reference.watch import Watch


@final
@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """lower <= 1/|W*| <= upper and lambda (n,); `closed` when the closed form is the optimum.

    `fits` when y_i <v, x_i> > 0 > y_i <u, x_i>, so that the optimum of (3) is a KKT point of (1);
    without these signs the network with these v and u has other margins than (3) says.
    """

    lower: float
    upper: float
    multipliers: Array
    closed: bool
    fits: bool


def form(x: Array, y: Array, plus: float, minus: float, slope: float) -> Array:
    """K o G (n, n)."""
    positive = y > 0.0
    same = np.where(positive, plus + slope**2 * minus, minus + slope**2 * plus)
    alike = positive[:, None] == positive
    K = np.where(alike, same[:, None], -slope * (plus + minus))
    return np.asarray(K * (x @ x.T))


def optimum(x: Array, y: Array, plus: float, minus: float, slope: float) -> Optimum | None:
    """The optimum of (3); None where its constraints have no solution.

    Lemma B.8 of the paper: slope 1/2, m_1 = m_2, and lambda = 8/(4 e + 5), 8/(4 e + 5), 8/5.

    >>> e = 1.0 / 72.0
    >>> x = np.array([[-1.0, 0.0, 0.0], [e, np.sqrt(1.0 - e * e), 0.0], [0.0, 0.0, 1.0]])
    >>> found = optimum(x, np.array([-1.0, 1.0, 1.0]), 0.5, 0.5, 0.5)
    >>> bool(np.allclose(found.multipliers * (4.0 * e + 5.0), [8.0, 8.0, 8.0 + 6.4 * e]))
    True
    """
    M = form(x, y, plus, minus, slope)
    found = _closed(M)
    closed = found is not None
    if found is None:
        found = _by_active_set(M)
        if found is None:
            return None
    lower, upper, multipliers = found
    return Optimum(lower, upper, multipliers, closed, _fits(x, y, multipliers, slope))


def _closed(M: Array) -> tuple[float, float, Array] | None:
    try:
        multipliers = np.linalg.solve(M, np.ones(M.shape[0]))
        multipliers += np.linalg.solve(M, 1.0 - M @ multipliers)  # one step of refinement
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(multipliers).all() or (multipliers <= 0.0).any():
        return None
    return _ends(M, np.asarray(multipliers, dtype=np.float64))


def _ends(M: Array, multipliers: Array) -> tuple[float, float, Array] | None:
    """Primal: W scaled to min_i = 1; dual: |W*|^2 >= (sum lambda)^2/(lambda' M lambda)."""
    tight = M @ multipliers
    total, square = float(multipliers.sum()), float(multipliers @ tight)
    if square <= 0.0 or float(tight.min()) <= ROUNDING * float(np.abs(tight).max()):
        return None
    length = float(np.sqrt(square))
    lower, upper = float(tight.min()) / length, length / total
    return min(lower, upper), upper, multipliers / tight.min()


def _by_active_set(M: Array) -> tuple[float, float, Array] | None:
    found = nearest(coordinates(M))
    if not found.separable:
        return None
    return _ends(M, found.q)


def _fits(x: Array, y: Array, multipliers: Array, slope: float) -> bool:
    weight = np.where(y > 0.0, multipliers, -slope * multipliers)
    other = np.where(y < 0.0, multipliers, -slope * multipliers)
    v, u = weight @ x, other @ x
    return bool((y * (x @ v) > 0.0).all() and (y * (x @ u) < 0.0).all())


@final
class LeakyOptimum(Reference):
    """1/|W*| of problem (3)."""

    name = "leaky_optimum"
    title = "optimum of the leaky network"
    formula = (
        "max of min_i y_i f(x_i)/|W| (1-homogeneous) over networks whose nodes of a kind are "
        "equal, each linear piece as in problem (3): 1/sqrt(sum_i lambda_i), (K o G) lambda = 1, "
        "K_++ = (m_1 + g^2 m_2)/m, K_-- = (m_2 + g^2 m_1)/m, K_+- = -g"
    )
    source = "frei23, problem (3) and Theorem 3.2"
    label = "optimum of (3)"
    where = 'network.kind = "fixed_outer", not smooth, slope in (0, 1)'
    factor = 1.0

    def applies(self, problem: Problem) -> bool:
        section: Any = problem.experiment.network
        return (
            binary(problem)
            and isinstance(problem.network, FixedOuter)
            and not section.smooth
            and 0.0 < section.slope < 1.0
        )

    def key(self, problem: Problem) -> str:
        section: Any = problem.experiment.network
        return data_key(problem, section.slope, *_sides(problem))

    def compute(self, problem: Problem, watch: Watch) -> Bracket:
        sentence = refusal(problem)
        section: Any = problem.experiment.network
        data, slope = problem.dataset, section.slope
        if sentence or data.n > MOST_POINTS:
            return absent(sentence or TOO_MANY)
        watch.look()
        plus, minus = _sides(problem)
        try:
            found = optimum(data.x, data.y, plus, minus, slope)
        except ArithmeticError as error:
            return absent(str(error))
        if found is None:
            return absent("No network satisfies the constraints of problem (3) on these data.")
        return _told(found)


def _told(found: Optimum) -> Bracket:
    how = "closed form (K o G) lambda = 1, all lambda > 0"
    if not found.closed:
        how = "active-set NNLS on the dual of (3), since some lambda of the closed form is not > 0"
    if not found.fits:
        return absent(
            f"The optimum of problem (3), 1/|W*| = {found.lower:.4g}, has some y_i <v, x_i> <= 0 "
            "or y_i <u, x_i> >= 0: no network has that margin, and Theorem 3.2 does not apply."
        )
    method = f"{how}; gap {found.upper - found.lower:.1e}"
    return Bracket(found.lower, found.upper, found.lower, True, method)


def _sides(problem: Problem) -> tuple[float, float]:
    a = np.asarray(problem.network.fixed["a"], dtype=np.float64)
    return float((a[a > 0.0] ** 2).sum()), float((a[a < 0.0] ** 2).sum())
