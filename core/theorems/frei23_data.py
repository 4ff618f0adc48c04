"""frei23: conditions on the data, the leaky network and the flow, which its statements share."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from core.network.standard import FixedOuter
from core.runs import Run
from core.theorems import common
from core.theorems.statement import Context, Hypothesis, Statement

of_frei23 = partial(Statement, "frei23")


def is_leaky(run: Run) -> bool:
    """Return True for fixed outer weights, leaky ReLU, and the logistic or exponential loss.

    Its slope must be in (0, 1). The smoothed leaky ReLU of section 4 is another network
    (`is_smooth_descent`). Both losses are for two classes.
    """
    network = run.network
    if not isinstance(network, FixedOuter) or not run.experiment.loss.exp_tailed:
        return False
    return network.homogeneous and 0.0 < network.activation.slope < 1.0


def is_leaky_flow(run: Run) -> bool:
    """Return True for a network of `is_leaky` under gradient flow or full-batch descent."""
    return is_leaky(run) and common.follows_gradient(run)


def leaky_slope(run: Run) -> float:
    """Return gamma, the slope of the leaky ReLU."""
    assert isinstance(run.network, FixedOuter)
    return float(run.network.activation.slope)


def input_length_range(run: Run) -> tuple[float, float]:
    """Return (Rmin, Rmax) of |x_i|."""
    sizes = np.linalg.norm(run.dataset.x, axis=1)
    return float(sizes.min()), float(sizes.max())


def input_length_ratio(run: Run) -> float:
    """Return R = Rmax/Rmin; infinite if an input is zero."""
    low, high = input_length_range(run)
    return high / low if low > 0.0 else math.inf


def coherence(run: Run) -> float:
    """Return P = max over i != j of |<x_i, x_j>|."""
    gram = np.abs(run.dataset.x @ run.dataset.x.T)
    np.fill_diagonal(gram, 0.0)
    return float(gram.max())


def orthogonality(run: Run, formula: str, factor: float) -> Hypothesis:
    """Return the hypothesis Rmin^2 >= factor n P, which fails if an input is zero.

    Parameters
    ----------
    run : Run
        Open run of a leaky network.
    formula : str
        Text of the factor.
    factor : float
        Factor of n P.

    Returns
    -------
    Hypothesis
        The same at all frames.
    """
    low, _ = input_length_range(run)
    text = f"near-orthogonal data: Rmin^2 >= {formula} n P"
    if low == 0.0:
        return Hypothesis(text, "> 0", "an input is zero", False)
    return common.at_least(text, factor * run.dataset.n * coherence(run), low**2)


def near_orthogonal(run: Run) -> Hypothesis:
    """Return the hypothesis of Theorem 3.2 on the data, Rmin^2 >= 3 gamma^-3 R^2 n P."""
    return orthogonality(
        run, "3 gamma^-3 R^2", 3.0 * leaky_slope(run) ** -3 * input_length_ratio(run) ** 2
    )


def outer_layer(run: Run) -> Hypothesis:
    """Return the hypothesis a_j = +-1/sqrt(m) up to rounding, which a file may violate.

    The network must have fixed outer weights (`FixedOuter`).
    """
    network = run.network
    assert isinstance(network, FixedOuter)
    difference = float(np.abs(np.abs(network.fixed["a"]) * math.sqrt(run.network.m) - 1.0).max())
    text = "outer weights a_j = +-1/sqrt(m): max_j | |a_j| sqrt(m) - 1 |"
    return common.at_most(text, common.ROUNDING, difference)


def both_signs(run: Run) -> Hypothesis:
    """Return the hypothesis of m_1, m_2 >= 1 neurons of each sign."""
    network = run.network
    assert isinstance(network, FixedOuter)
    a = network.fixed["a"]
    fewer = min(int((a > 0.0).sum()), int((a < 0.0).sum()))
    return common.at_least("neurons of each sign m_1, m_2", 1.0, float(fewer))


def network_hypotheses(run: Run) -> tuple[Hypothesis, Hypothesis]:
    """Return the assumptions of section 3, from (2) on: a_j = +-1/sqrt(m), and of both signs."""
    return outer_layer(run), both_signs(run)


def flow_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Theorem 3.4: network, near-orthogonal data, flow, `exp_tailed`."""
    run = context.run
    return (
        *network_hypotheses(run),
        near_orthogonal(run),
        common.flow(run),
        common.exp_tailed(run),
    )
