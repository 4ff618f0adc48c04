"""Largest margin of quadratic networks on addition modulo p, and a network that attains it.

f(a, b)[c] = sum_j w_j[c] (u_j[a] + v_j[b])^2 with theta_j = (u_j, v_j, w_j) in R^3p. Outputs are
3-homogeneous, and margins are divided by N = sum_j |theta_j|_2^3. Over all pairs (a, b), with the
label (a + b) mod p, the largest margin / N is

    gamma* = sqrt(2/27) / (sqrt(p) (p - 1))

(Morwani et al., Feature emergence via margin maximization, ICLR 2024, for primes; the proof holds
for every odd p. Their network has 4 (p - 1) neurons; 3 (p - 1) are enough, docs/theory.md, 5.6).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, final

import numpy as np

from core.data.modular import ModularData
from core.errors import InputError
from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.margin import Bracket, Reference, absent_bracket, exact_bracket


def check_odd(p: int) -> None:
    """Raise InputError unless p is odd and at least 3.

    The proof for primes needs no more: uniform weights on all gaps bound the margin by one
    frequency's share, which a network of all frequencies attains if no frequency is its own
    negative. If p is even, p/2 is its own negative.
    """
    if p < 3 or p % 2 == 0:
        raise InputError(f"p = {p} is not odd and at least 3; choose one such as {max(3, p + 1)}.")


def gamma_star(p: int) -> float:
    """Return the largest margin / N over all quadratic networks, of any width, for an odd p.

    >>> round(gamma_star(5), 8), round(gamma_star(23), 8)
    (0.03042903, 0.00257957)
    """
    check_odd(p)
    return float(np.sqrt(2.0 / 27.0) / (np.sqrt(p) * (p - 1)))


def penalised_optimum(p: int, penalty: float) -> tuple[float, float]:
    """Return R* and N*, the mean cross-entropy and the norm where R + penalty N is least.

    With q = penalty/gamma*, R* = -ln(1 - q) and N* = ln((p - 1)(1 - q)/q)/gamma*, since at the
    largest margin all p - 1 gaps are gamma* N: R(N) = ln(1 + (p - 1) exp(-gamma* N)), and
    R'(N) = -penalty. For q >= (p - 1)/p no N lowers the objective: (ln p, 0).

    >>> [round(value, 7) for value in penalised_optimum(5, 1e-4)]
    [0.0032917, 233.3621742]
    """
    if not penalty > 0.0:
        raise InputError(f"an optimum needs a penalty above 0, not {penalty:g}.")
    q = penalty / gamma_star(p)
    if q >= (p - 1) / p:
        return float(np.log(p)), 0.0
    return float(-np.log1p(-q)), float(np.log((p - 1) * (1.0 - q) / q) / gamma_star(p))


class ModularReference(Reference, ABC):
    """Level known for quadratic networks on all pairs of addition modulo an odd p."""

    where = 'data.kind = "modular" with network.kind = "quadratic"'

    def applies(self, problem: Problem) -> bool:
        on_sums = isinstance(problem.experiment.data, ModularData)
        return on_sums and problem.network.kind == "quadratic"

    def key(self, problem: Problem) -> str:
        section: Any = problem.experiment.data
        return f"{section.p} {section.n} {problem.experiment.loss.l23}"

    @final
    def compute(self, problem: Problem, watch: CancelToken) -> Bracket:
        section: Any = problem.experiment.data
        if problem.dataset.n < section.p**2:
            return absent_bracket(
                f"The theorem needs all {section.p**2} pairs, but training uses "
                f"{problem.dataset.n}; set data.fraction = 1."
            )
        return self.of_all_pairs(section.p, problem.experiment.loss.l23)

    @abstractmethod
    def of_all_pairs(self, p: int, penalty: float) -> Bracket:
        """Return the bracket for all pairs modulo an odd p, and the lambda of a run."""


@final
class ModularMargin(ModularReference):
    """gamma*: largest margin over N = sum_j |theta_j|^3."""

    name = "gamma_star"
    title = "largest margin of addition modulo p"
    formula = "max min_i p_i / sum_j |theta_j|^3 = sqrt(2/27)/(sqrt(p) (p - 1)), any width"
    source = "morwani24, section 4; attained by 3 (p - 1) neurons, docs/theory.md, 5.6"
    label = "gamma*"
    factor = 1.0

    def of_all_pairs(self, p: int, penalty: float) -> Bracket:
        return exact_bracket(gamma_star(p), "closed form sqrt(2/27)/(sqrt(p) (p - 1))")


class PenalisedReference(ModularReference, ABC):
    """Level of the least objective R + lambda N."""

    where = 'data.kind = "modular" with network.kind = "quadratic" and loss.l23 > 0'

    def applies(self, problem: Problem) -> bool:
        """Return True with a penalty l23 > 0."""
        return super().applies(problem) and problem.experiment.loss.l23 > 0.0


@final
class PenalisedRisk(PenalisedReference):
    """R*: risk where the objective is least."""

    name = "risk_star"
    title = "risk at the optimum"
    formula = "R* = -ln(1 - q), q = l23/gamma*, where R + l23 sum_j |theta_j|^3 is least"
    source = "docs/theory.md, 5.6, from gamma*"
    label = "R*"

    def of_all_pairs(self, p: int, penalty: float) -> Bracket:
        return exact_bracket(penalised_optimum(p, penalty)[0], "closed form -ln(1 - l23/gamma*)")


@final
class PenalisedNorm(PenalisedReference):
    """N*: norm where the objective is least."""

    name = "norm_star"
    title = "sum of cubed lengths at the optimum"
    formula = "N* = ln((p - 1)(1 - q)/q)/gamma*, q = l23/gamma*, where R + l23 N is least"
    source = "docs/theory.md, 5.6, from gamma*"
    label = "N*"

    def of_all_pairs(self, p: int, penalty: float) -> Bracket:
        return exact_bracket(
            penalised_optimum(p, penalty)[1], "closed form ln((p - 1)(1 - q)/q)/gamma*"
        )
