"""telgarsky22, Theorem 2.1: SGD in the kernel regime.

m neurons, W_t the parameters after t steps of size eta, gamma_ntk or gamma the kernel's margin (of
`almost_sure_margin`), delta the context's probability of failure.
"""

from __future__ import annotations

import math

from core.runs import Run
from core.theorems import common
from core.theorems.statement import Comparison, Context, Hypothesis
from core.theorems.telgarsky22_data import GAUSSIAN, of_telgarsky22
from core.theorems.telgarsky22_ntk import almost_sure_margin, is_exp_tailed_standard, needed_width


def is_sgd(run: Run) -> bool:
    """Return True for `is_exp_tailed_standard` under SGD, with fresh or training examples."""
    return is_exp_tailed_standard(run) and run.experiment.dynamics.kind == "sgd"


def sgd_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Theorem 2.1.

    They are |x_i| <= 1, the start, the logistic loss, no penalty, gamma_ntk almost surely, one
    fresh example a step, m >= (64 ln(t/delta)/gamma)^2 at each frame, and eta in [gamma/(10 sqrt
    m), gamma^2/6400], ends included. Undecided where gamma is not known.
    """
    run = context.run
    gamma, assumption = almost_sure_margin(context)
    steps = common.counted_steps(run)
    m, eta = run.network.m, common.step_size(run)
    low, high = gamma / (10.0 * math.sqrt(m)), common.power(gamma, 2) / 6400.0
    is_known = gamma > 0.0
    return (
        common.unit_ball(run),
        common.paper_start(run, GAUSSIAN),
        common.loss_is(run, "logistic"),
        common.plain_risk(run),
        assumption,
        common.one_fresh_example(run, "fresh examples, one a step"),
        common.width(
            run, needed_width(64.0, steps, context, gamma), "(64 ln(t/delta)/gamma_ntk)^2"
        ),
        Hypothesis(
            "step eta in [gamma_ntk/(10 sqrt m), gamma_ntk^2/6400]",
            f"{common.format_number(low)} to {common.format_number(high)}",
            common.format_number(eta),
            low <= eta <= high if is_known else None,
        ),
    )


def compare_sgd_error(context: Context) -> Comparison:
    """Test min over s < t of the test error <= 8 ln(1/delta)/t + 2560/(t gamma^2).

    t counts steps, and s runs over earlier frames: the first frame is open.
    """
    gamma, _ = almost_sure_margin(context)
    steps = common.counted_steps(context.run)
    bound = (
        8.0 * math.log(1.0 / context.delta) + common.divide(2560.0, common.power(gamma, 2))
    ) / steps
    error = common.least_before(context.trace("test_error"))
    return common.compare_all_frames("<=", bound, error, "test_error")


def compare_sgd_distance(context: Context) -> Comparison:
    """Test |W_t - W_0| <= 80 eta sqrt(m)/gamma at every frame; undecided if gamma is unknown."""
    gamma, _ = almost_sure_margin(context)
    run = context.run
    bound = common.divide(80.0 * common.step_size(run) * math.sqrt(run.network.m), gamma)
    return common.compare_all_frames("<=", bound, context.trace("distance"), "distance")


SGD = (is_sgd, "the standard network under SGD", sgd_hypotheses)

STATEMENTS = (
    of_telgarsky22(
        "Theorem 2.1 (error)",
        "One pass of SGD reaches a small test error.",
        r"\min_{s<t} \Pr[p \leq 0] \leq \frac{8 \ln(1/\delta)}{t} + "
        r"\frac{2560}{t\, \gamma_{\mathrm{ntk}}^2}",
        *SGD,
        compare_sgd_error,
        "The proof needs one more delta than the statement's 1 - 7 delta.",
    ),
    of_telgarsky22(
        "Theorem 2.1 (distance)",
        "SGD stays near initialisation.",
        r"\max_{s<t} \Vert W_s - W_0 \Vert \leq 80\, \eta \sqrt{m} / \gamma_{\mathrm{ntk}}",
        *SGD,
        compare_sgd_distance,
    ),
)
