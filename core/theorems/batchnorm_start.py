"""batchnorm, Lemmas C.1 and C.2: outputs and weights at the start.

p_i = y_i f(x_i) for n examples in R^d, m neurons with weights a_j, v_j, W_0 and a_0 the parameters
at t = 0, eps_N that of Assumption 1.1 (`eps_n`), delta the context's probability of failure.
"""

from __future__ import annotations

import math

import numpy as np

from core.theorems import common
from core.theorems.batchnorm import (
    FROM_START,
    NORMALISED,
    eps_n,
    gaussian_start,
    of_batchnorm,
    standing_hypotheses,
    width_at_most,
)
from core.theorems.statement import Comparison, Context, Hypothesis


def compare_start_outputs(context: Context) -> Comparison:
    """Test max_i |p_i(W_0)| <= 4 eps_N ln(n/delta)."""
    run = context.run
    p = run.network.margins(run.origin, run.inputs, run.dataset.y)
    bound = 4.0 * eps_n(run) * common.log_term(run.dataset.n, context.delta)
    return common.compare_once("<=", bound, float(np.abs(p).max()), frame=0)


def compare_start_outer(context: Context) -> Comparison:
    """Test |a_0| <= 1 + sqrt(2 ln(1/delta)/m)."""
    run = context.run
    a = run.network.unpack(run.origin)["a"]
    bound = 1.0 + math.sqrt(2.0 * math.log(1.0 / context.delta) / run.network.m)
    return common.compare_once("<=", bound, float(np.linalg.norm(a)), frame=0)


def compare_start_inner(context: Context) -> Comparison:
    """Test the larger of max_j |v_j(0)|/2 and max_j 1/(5 |v_j(0)|) <= 1: |v_j(0)| in [1/5, 2]."""
    run = context.run
    # One number for both parts of the lemma: at most 1 if both hold.
    sizes = np.linalg.norm(run.network.directions(run.origin), axis=1)
    largest = float(max(sizes.max() / 2.0, 1.0 / (5.0 * sizes.min())))
    return common.compare_once("<=", 1.0, largest, frame=0)


def start_inner_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Lemma C.2 on V: the start, m <= delta exp(d/8), and d >= 2."""
    d = float(context.run.dataset.d)
    dimension = common.at_least("dimension d (for 1/|v_j|)", 2.0, d)
    return *gaussian_start(context), width_at_most(context), dimension


STATEMENTS = (
    of_batchnorm(
        "Lemma C.1",
        "Initial outputs are small.",
        r"\max_i |p_i(W_0)| \leq 4\, \epsilon_N \ln(n / \delta)",
        *NORMALISED,
        standing_hypotheses,
        compare_start_outputs,
    ),
    of_batchnorm(
        "Lemma C.2 (outer)",
        "The outer layer has an initial norm of about one.",
        r"\Vert a_0 \Vert \leq 1 + \sqrt{2 \ln(1/\delta) / m}",
        *FROM_START,
        compare_start_outer,
    ),
    of_batchnorm(
        "Lemma C.2 (inner)",
        "No inner weight is initially long or short.",
        r"\max_j |v_j| \leq 2, \quad \max_j 1 / |v_j| \leq 5",
        *NORMALISED,
        start_inner_hypotheses,
        compare_start_inner,
    ),
)
