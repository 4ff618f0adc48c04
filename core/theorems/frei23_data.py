"""frei23: conditions on the data, the leaky network and the flow, which its statements share.

n examples x_i in R^d, labels y_i = +-1; Rmin, Rmax are the extremes of |x_i|, R = Rmax/Rmin, and P
is the largest |<x_i, x_j>|, i != j. gamma is the slope of the leaky ReLU at negative arguments, a_j
are the fixed outer weights of m neurons, m_1 of them positive and m_2 negative.
"""

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

    The slope must be in (0, 1), ends excluded. False for the smoothed leaky ReLU of section 4
    (`is_smooth_descent`). Any dynamics. Both losses are for two classes.
    """
    network = run.network
    if not isinstance(network, FixedOuter) or not run.experiment.loss.exp_tailed:
        return False
    return network.homogeneous and 0.0 < network.activation.slope < 1.0


def is_leaky_flow(run: Run) -> bool:
    """Return True for a run of `is_leaky` under gradient flow or full-batch descent."""
    return is_leaky(run) and common.follows_gradient(run)


def leaky_slope(run: Run) -> float:
    """Return gamma, the slope of the (smoothed) leaky ReLU at negative arguments.

    The network must be a `FixedOuter`.
    """
    assert isinstance(run.network, FixedOuter)
    return float(run.network.activation.slope)


def input_length_range(run: Run) -> tuple[float, float]:
    """Return (Rmin, Rmax), the least and largest |x_i| of the training examples."""
    sizes = np.linalg.norm(run.dataset.x, axis=1)
    return float(sizes.min()), float(sizes.max())


def input_length_ratio(run: Run) -> float:
    """Return R = Rmax/Rmin; infinite if an input is zero."""
    low, high = input_length_range(run)
    return high / low if low > 0.0 else math.inf


def coherence(run: Run) -> float:
    """Return P = max over i != j of |<x_i, x_j>|, not normalised; 0 for a single example."""
    gram = np.abs(run.dataset.x @ run.dataset.x.T)
    np.fill_diagonal(gram, 0.0)
    return float(gram.max())


def orthogonality(run: Run, formula: str, factor: float) -> Hypothesis:
    """Return the hypothesis Rmin^2 >= factor n P, up to 1e-9; it fails if an input is zero.

    Parameters
    ----------
    run : Run
        Open run.
    formula : str
        Text of the factor, which decides nothing.
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
    """Return the hypothesis a_j = +-1/sqrt(m) for all j, to 1e-9, which a file may violate.

    The network must have fixed outer weights (`FixedOuter`).
    """
    network = run.network
    assert isinstance(network, FixedOuter)
    difference = float(np.abs(np.abs(network.fixed["a"]) * math.sqrt(run.network.m) - 1.0).max())
    text = "outer weights a_j = +-1/sqrt(m): max_j | |a_j| sqrt(m) - 1 |"
    return common.at_most(text, common.ROUNDING, difference)


def both_signs(run: Run) -> Hypothesis:
    """Return the hypothesis that some a_j > 0 and some a_j < 0: m_1 >= 1 and m_2 >= 1.

    The network must have fixed outer weights (`FixedOuter`).
    """
    network = run.network
    assert isinstance(network, FixedOuter)
    a = network.fixed["a"]
    fewer = min(int((a > 0.0).sum()), int((a < 0.0).sum()))
    return common.at_least("neurons of each sign m_1, m_2", 1.0, float(fewer))


def network_hypotheses(run: Run) -> tuple[Hypothesis, Hypothesis]:
    """Return `outer_layer` and `both_signs`, the assumptions of section 3 on the network."""
    return outer_layer(run), both_signs(run)


def flow_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Theorem 3.4.

    They are the two of `network_hypotheses`, `near_orthogonal`, `common.flow` and
    `common.exp_tailed`.
    """
    run = context.run
    return (
        *network_hypotheses(run),
        near_orthogonal(run),
        common.flow(run),
        common.exp_tailed(run),
    )
