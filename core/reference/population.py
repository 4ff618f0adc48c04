"""Margins of whole distributions, where they are known exactly."""

from __future__ import annotations

from math import comb, sqrt
from typing import Any, final

from core.data.constructions import DyadicData, Wei19Data
from core.data.parity import ParityData
from core.problem.problem import Problem
from core.reference.margin import Bracket, Reference, absent, exact
from core.reference.watch import Watch


def even_parity(k: int, d: int) -> float:
    """gamma_gl of all 2^d corners for even k: C(k - 2, k/2 - 1)/(2^(k-1) sqrt(k d)).

    >>> [round(even_parity(k, 1), 5) for k in (2, 4, 6)]
    [0.35355, 0.125, 0.07655]
    """
    # Attained by the 2^k sign vectors on the k bits with equal weights; equal weights q on the
    # corners prove it (docs/theory.md, 5.4).
    return comb(k - 2, k // 2 - 1) / (2.0 ** (k - 1) * sqrt(k * d))


def dyadic(d: int) -> float:
    """gamma_linear of the points 2^-j e_j, j = 1, ..., d: sqrt(3/(4^(d+1) - 4)).

    1/gamma^2 is the sum of 4^j:

    >>> round(1.0 / dyadic(3) ** 2, 9)
    84.0
    """
    # 4^(d+1) taken out: it is beyond float64 from d = 511 on.
    return sqrt(3.0) * 2.0 ** -(d + 1) / sqrt(1.0 - 4.0**-d)


@final
class ParityPopulation(Reference):
    """gamma_gl of all corners of the cube."""

    name = "parity_population"
    title = "global margin of all corners"
    formula = (
        "gamma_gl (l1 over unit directions) of all 2^d corners: 1/sqrt(8 d) for k = 2; for even k "
        "C(k-2, k/2-1)/(2^(k-1) sqrt(k d)); half of it in the plot. A sample's gamma_gl is at "
        "least this"
    )
    source = "telgarsky22, Proposition 1.6; homogeneity, Example 4.1 (its constant is a slip)"
    label = "all corners / 2"
    where = 'data.kind = "parity", uniform on the corners, nothing frozen'
    factor = 0.5

    def applies(self, problem: Problem) -> bool:
        section: Any = problem.experiment.data
        return (
            isinstance(section, ParityData)
            and section.law == "uniform"
            and not section.freeze
            and problem.network.plain_relu
        )

    def key(self, problem: Problem) -> str:
        section: Any = problem.experiment.data
        return f"{section.k} {section.d}"

    def compute(self, problem: Problem, watch: Watch) -> Bracket:
        section: Any = problem.experiment.data
        k, d = section.k, problem.dataset.d
        if k == 1:  # y = sqrt(d) x_1: two opposite nodes make half of the linear predictor
            return exact(0.5 / sqrt(d), "closed form, k = 1: 1/(2 sqrt(d))")
        if k % 2:
            return absent(
                f"The margin of {k}-parity on all corners is exactly 0: a ReLU network without "
                "biases has a linear odd part, and an odd parity of 3 or more bits is orthogonal "
                "to every linear function."
            )
        return exact(even_parity(k, d), f"closed form for k = {k}, d = {d}")


@final
class Wei19Population(Reference):
    """1/8: the four-neuron network on D of wei19 (2.1)."""

    name = "wei19_population"
    title = "margin of the four-neuron network"
    formula = (
        "min y f/|Theta|^2 = 1/8 of f = relu(x_1) + relu(-x_1) - relu(x_2) - relu(-x_2), "
        "|Theta|^2 = 8; divided by sqrt(d - 1) for scaled data. A lower bound of the best margin "
        "of the distribution"
    )
    source = "wei19, Theorem 2.1 and its proof"
    label = "four neurons"
    where = 'data.kind = "wei19" with network.kind = "standard"'
    factor = 1.0

    def applies(self, problem: Problem) -> bool:
        on_d = isinstance(problem.experiment.data, Wei19Data)
        return on_d and problem.network.kind == "standard" and problem.network.plain_relu

    def key(self, problem: Problem) -> str:
        section: Any = problem.experiment.data
        return f"{section.d} {section.scaled}"

    def compute(self, problem: Problem, watch: Watch) -> Bracket:
        section: Any = problem.experiment.data
        value = 0.125 / (sqrt(section.d - 1.0) if section.scaled else 1.0)
        return exact(value, "closed form of that network's margin, on every point of D")


@final
class DyadicPopulation(Reference):
    """gamma_linear of the dyadic points."""

    name = "dyadic_population"
    title = "linear margin of the dyadic points"
    formula = "max over |u| = 1 of min_i y_i <u, x_i> = sqrt(3/(4^(d+1) - 4)), not halved"
    source = "batchnorm, Proposition 1.1"
    label = "dyadic gamma_linear"
    where = 'data.kind = "dyadic"'

    def applies(self, problem: Problem) -> bool:
        return isinstance(problem.experiment.data, DyadicData)

    def key(self, problem: Problem) -> str:
        return str(problem.experiment.data.d)

    def compute(self, problem: Problem, watch: Watch) -> Bracket:
        return exact(dyadic(problem.dataset.d), "closed form sqrt(3/(4^(d+1) - 4))")
