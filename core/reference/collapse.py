"""gamma_nc/(2 r): the margin that neural collapse promises (telgarsky22, Assumption 3.1)."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from core.data.cones import ConesData, simplex
from core.data.dataset import Array
from core.problem.problem import Problem
from core.reference.margin import Bracket, absent, exact
from core.reference.sample import SampleMargin, binary, data_key
from core.reference.watch import Watch

# Of products of vectors of length 1, in up to thousands of dimensions.
ROUNDING = 1e-12


def unmet(x: Array, y: Array, axes: Array, signs: Array, gamma_nc: float, eps: float) -> str:
    """The first example against Assumption 3.1 as a sentence; "" where all keep to it.

    Each x is in a cone of its label, <beta_k, x> >= gamma_nc and |(I - beta_k beta_k') x| <=
    gamma_nc sqrt(eps/2), and <beta_l, x> <= -eps for every other cone. The paper's y_i in these
    products is a slip.
    """
    # Without y_i in the products, against the text: with it Assumption 3.1 contradicts its own use
    # (docs/theory.md, 8.2).
    along = x @ axes.T
    own = along.argmax(axis=1)
    rows = np.arange(x.shape[0])
    length = along[rows, own]
    across = np.linalg.norm(x - length[:, None] * axes[own], axis=1)
    others = along.copy()
    others[rows, own] = -np.inf
    wrong = (
        (length < gamma_nc - ROUNDING)
        | (across > gamma_nc * np.sqrt(eps / 2.0) + ROUNDING)
        | (others.max(axis=1) > -eps + ROUNDING)
        | (signs[own] != y)
    )
    if not wrong.any():
        return ""
    place = int(wrong.argmax())
    return (
        f"Assumption 3.1 does not hold on these examples: number {place} has <beta, x> = "
        f"{length[place]:.3g} along its own cone, {across[place]:.3g} across it and at most "
        f"{others[place].max():.3g} along the others."
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
    where = 'data.kind = "cones"'
    factor = 1.0

    def applies(self, problem: Problem) -> bool:
        data = problem.experiment.data
        return isinstance(data, ConesData) and binary(problem) and problem.network.plain_relu

    def key(self, problem: Problem) -> str:
        section: Any = problem.experiment.data
        settings = (section.r, section.gamma_nc, section.eps, section.labels)
        return data_key(problem, settings)

    def of_sample(self, problem: Problem, watch: Watch) -> Bracket:
        section: Any = problem.experiment.data
        data = problem.dataset
        axes = simplex(section.r, data.d)
        signs = np.ones(section.r)
        if section.labels == "mixed":
            signs[1::2] = -1.0
        sentence = unmet(data.x, data.y, axes, signs, section.gamma_nc, section.eps)
        if sentence:
            return absent(sentence)
        # Assumption 3.1 gives gamma_gl >= gamma_nc/r, since the weights of r cones sum to 1: not
        # gamma_nc/2, which the name may suggest.
        value = section.gamma_nc / (2.0 * section.r)
        method = (
            f"gamma_nc = {section.gamma_nc:g}, r = {section.r}; Assumption 3.1 checked on all "
            f"{data.n} examples"
        )
        return exact(value, method)
