"""Margins known in closed form: of whole distributions, and of neural collapse."""

from __future__ import annotations

from math import sqrt
from typing import Any, final

import numpy as np

from core.data.cones import ConesData, simplex
from core.data.constructions import DyadicData, Wei19Data
from core.data.dataset import Array
from core.data.parity import ParityData
from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.corners import corner_constant
from core.reference.margin import (
    Bracket,
    Reference,
    SampleMargin,
    absent_bracket,
    data_key,
    exact_bracket,
)


def even_parity_margin(k: int, d: int) -> float:
    """Return gamma_gl of all 2^d corners for even k: C(k - 2, k/2 - 1)/(2^(k-1) sqrt(k d)).

    >>> [round(even_parity_margin(k, 1), 5) for k in (2, 4, 6)]
    [0.35355, 0.125, 0.07655]
    """
    # Attained by the 2^k sign vectors on the k bits with equal weights, and proved by equal weights
    # q on the corners (docs/theory.md, 5.4).
    return corner_constant(k) / sqrt(k * d)


def dyadic_margin(d: int) -> float:
    """Return gamma_linear of the points 2^-j e_j, j = 1, ..., d: sqrt(3/(4^(d+1) - 4)).

    1/gamma^2 is the sum of 4^j:

    >>> round(1.0 / dyadic_margin(3) ** 2, 9)
    84.0
    """
    # 4^(d+1) is factored out: it exceeds float64 from d = 511 on.
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

    def compute(self, problem: Problem, watch: CancelToken) -> Bracket:
        section: Any = problem.experiment.data
        k, d = section.k, problem.dataset.d
        if k == 1:  # y = sqrt(d) x_1: two opposite neurons give half of the linear predictor
            return exact_bracket(0.5 / sqrt(d), "closed form, k = 1: 1/(2 sqrt(d))")
        if k % 2:
            return absent_bracket(
                f"The margin of {k}-parity on all corners is exactly 0: a ReLU network without "
                "biases has a linear odd part, and an odd parity of 3 or more bits is orthogonal "
                "to every linear function."
            )
        return exact_bracket(even_parity_margin(k, d), f"closed form for k = {k}, d = {d}")


@final
class Wei19Population(Reference):
    """Margin 1/8 of the four-neuron network on D of wei19 (2.1)."""

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

    def compute(self, problem: Problem, watch: CancelToken) -> Bracket:
        section: Any = problem.experiment.data
        value = 0.125 / (sqrt(section.d - 1.0) if section.scaled else 1.0)
        return exact_bracket(value, "closed form of that network's margin, on every point of D")


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

    def compute(self, problem: Problem, watch: CancelToken) -> Bracket:
        return exact_bracket(dyadic_margin(problem.dataset.d), "closed form sqrt(3/(4^(d+1) - 4))")


# ------------------------------------------------------------------------------- neural collapse

# Of products of unit vectors, in up to thousands of dimensions.
ROUNDING = 1e-12


def find_violation(
    x: Array, y: Array, axes: Array, signs: Array, gamma_nc: float, eps: float
) -> str:
    """Return the first example that violates Assumption 3.1 as a sentence; "" if none does.

    Each x is in a cone of its label, <beta_k, x> >= gamma_nc and |(I - beta_k beta_k') x| <=
    gamma_nc sqrt(eps/2), and <beta_l, x> <= -eps for every other cone. The paper's y_i in these
    products is a slip.

    Parameters
    ----------
    x : array (n, d)
        Inputs.
    y : array (n,)
        Labels +-1.
    axes : array (r, d)
        Unit axes beta_k of the cones.
    signs : array (r,)
        Label of each cone.
    gamma_nc, eps : float
        Constants of the assumption.

    Returns
    -------
    str
        Sentence or "".
    """
    # Products without y_i, unlike the text: with y_i Assumption 3.1 contradicts its own use
    # (docs/theory.md, 8.2).
    components = x @ axes.T
    own = components.argmax(axis=1)
    rows = np.arange(x.shape[0])
    length = components[rows, own]
    offsets = np.linalg.norm(x - length[:, None] * axes[own], axis=1)
    without_own = components.copy()
    without_own[rows, own] = -np.inf
    wrong = (
        (length < gamma_nc - ROUNDING)
        | (offsets > gamma_nc * np.sqrt(eps / 2.0) + ROUNDING)
        | (without_own.max(axis=1) > -eps + ROUNDING)
        | (signs[own] != y)
    )
    if not wrong.any():
        return ""
    place = int(wrong.argmax())
    return (
        f"Assumption 3.1 does not hold on these examples: number {place} has <beta, x> = "
        f"{length[place]:.3g} along its own cone, {offsets[place]:.3g} across it and at most "
        f"{without_own[place].max():.3g} along the others."
    )


@final
class CollapseMargin(SampleMargin):
    """gamma_nc/(2 r), a lower bound of gamma_gl/2."""

    name = "gamma_nc"
    title = "neural-collapse margin"
    formula = (
        "gamma_nc/(2 r), r cones: Assumption 3.1 gives gamma_gl >= gamma_nc/r, and a network with "
        "|W|^2 has half of it. Checked on the sample, without the y_i that the text has by a slip"
    )
    source = "telgarsky22, Assumption 3.1 and Theorem 3.2"
    label = "gamma_nc / (2 r)"
    plain_relu = True
    where = 'data.kind = "cones"'
    factor = 1.0

    def applies(self, problem: Problem) -> bool:
        return isinstance(problem.experiment.data, ConesData) and super().applies(problem)

    def key(self, problem: Problem) -> str:
        section: Any = problem.experiment.data
        settings = (section.r, section.gamma_nc, section.eps, section.labels)
        return data_key(problem, settings)

    def of_sample(self, problem: Problem, watch: CancelToken) -> Bracket:
        section: Any = problem.experiment.data
        data = problem.dataset
        axes = simplex(section.r, data.d)
        signs = np.ones(section.r)
        if section.labels == "mixed":
            signs[1::2] = -1.0
        sentence = find_violation(data.x, data.y, axes, signs, section.gamma_nc, section.eps)
        if sentence:
            return absent_bracket(sentence)
        # Assumption 3.1 gives gamma_gl >= gamma_nc/r, since the weights of r cones sum to 1, not
        # gamma_nc/2 as the name may suggest.
        value = section.gamma_nc / (2.0 * section.r)
        method = (
            f"gamma_nc = {section.gamma_nc:g}, r = {section.r}; Assumption 3.1 checked on all "
            f"{data.n} examples"
        )
        return exact_bracket(value, method)
