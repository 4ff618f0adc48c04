"""telgarsky22, sections 1 and 2: margins in the kernel regime, and gradient flow.

n examples x_i in R^d, m neurons (a_j, v_j), W_t all parameters at time t, R the mean of the loss l.
The smoothed margin gs(W) is l^-1(sum_i l(y_i f(x_i)))/|W|^2. gamma_ntk is the kernel's margin, the
law's or the sample's. ln is natural, delta the context's probability of failure.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from core.runs import Run
from core.theorems import common
from core.theorems.common import Array
from core.theorems.statement import Comparison, Context, Hypothesis
from core.theorems.telgarsky22_data import GAUSSIAN, is_two_parity, of_telgarsky22


def is_exp_tailed_standard(run: Run) -> bool:
    """Return True for `common.standard_relu` with the logistic or exponential loss."""
    return common.standard_relu(run) and run.experiment.loss.exp_tailed


def is_flow(run: Run) -> bool:
    """Return True for `is_exp_tailed_standard` under gradient flow or full-batch descent."""
    return is_exp_tailed_standard(run) and common.follows_gradient(run)


def sample_hypothesis(context: Context) -> Hypothesis:
    """Return Assumption 1.3 on the run's examples: gamma_ntk > 0, by `common.positive`."""
    return common.positive(context, "gamma_ntk", "Assumption 1.3: gamma_ntk of the sample")


def almost_sure_margin(context: Context) -> tuple[float, Hypothesis]:
    """Return gamma_ntk of Assumption 1.4, and the assumption.

    On 2-parity on all corners the paper proves 1/(50 d) (Proposition 1.6), and the assumption is
    met. Otherwise the proved lower end of the sample's gamma_ntk, which is at least the law's,
    replaces gamma_ntk (NaN if not known), and the assumption is undecided.
    """
    text = "Assumption 1.4: gamma_ntk almost surely"
    if is_two_parity(context.run):
        gamma = 1.0 / (50.0 * context.run.dataset.d)
        return gamma, Hypothesis(text, "> 0", f"{common.format_number(gamma)} = 1/(50 d)", True)
    gamma = context.lower("gamma_ntk")
    return gamma, Hypothesis(
        text, "> 0", f"{common.format_number(gamma)} on the sample alone", None
    )


def standing_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the standing assumptions of section 1.2: |x_i| <= 1, the start, `exp_tailed`.

    The lemmas call them "the section's".
    """
    run = context.run
    start = common.paper_start(run, GAUSSIAN)
    return common.unit_ball(run), start, common.exp_tailed(run)


def needed_width(factor: float, count: Any, context: Context, gamma: float) -> Any:
    """Return (factor ln(count/delta)/gamma)^2.

    Parameters
    ----------
    factor : float
        Constant of the text.
    count : float or array (T,)
        Number such as n or t; a logarithm below 0 counts as 0.
    context : Context
        Its delta is used.
    gamma : float
        Margin; the width is NaN unless the margin is positive.

    Returns
    -------
    float or array (T,)
    """
    if not gamma > 0.0:
        return common.NAN
    return common.power(factor * common.log_term(count, context.delta) / gamma, 2)


# --------------------------------------------------------------------- Lemmas 2.3, 2.4, Theorem 2.2


def lemma_2_3_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Lemma 2.3: the section's, gamma_ntk, flow, and the width at t.

    The width is m >= (640 ln(max(t, n)/delta)/gamma)^2 at each frame, gamma of
    `almost_sure_margin`.
    """
    run = context.run
    gamma, assumption = almost_sure_margin(context)
    # Printed with ln(t/delta); the proof also needs ln(n/delta): use the larger one.
    logarithm = np.maximum(common.log_times(run), math.log(run.dataset.n)) - math.log(context.delta)
    needed = common.power(640.0 * logarithm / gamma, 2) if gamma > 0.0 else common.NAN
    return (
        *standing_hypotheses(context),
        assumption,
        common.flow(run),
        common.width(run, needed, "(640 ln(max(t, n)/delta)/gamma_ntk)^2"),
    )


def compare_risk_with_time(context: Context) -> Comparison:
    """Test log10 R(W_t) <= -log10(5 t) at every frame with t > 0."""
    t = common.times(context.run)
    with np.errstate(divide="ignore"):
        bound = -np.log10(5.0) - context.run.log10_time[: t.size]
    return common.compare_all_frames(
        "<=", bound, context.trace("log10_risk"), "log10_risk", t > 0.0
    )


def compare_flow_distance(context: Context) -> Comparison:
    """Test |W_t - W_0| <= gamma sqrt(m)/80 at every frame, gamma by `almost_sure_margin`."""
    gamma, _ = almost_sure_margin(context)
    bound = gamma * math.sqrt(context.run.network.m) / 80.0
    return common.compare_all_frames("<=", bound, context.trace("distance"), "distance")


def crossing_radius(context: Context) -> float:
    """Return gamma_ntk sqrt(m)/32 from the sample's proved lower end; NaN if not known."""
    return context.lower("gamma_ntk") * math.sqrt(context.run.network.m) / 32.0


def frames_after_crossing(context: Context) -> Array:
    """Return the mask of frames from the first one on with |W - W0| >= gamma_ntk sqrt(m)/32.

    Parameters
    ----------
    context : Context
        Run and its reference margins.

    Returns
    -------
    array (T,) of bool
        True from that frame on, also where W returns. False at all frames if gamma_ntk is not known
        or the distance is not reached.
    """
    distance = context.trace("distance")
    beyond = distance >= crossing_radius(context)
    # From the first such frame on: the statement is that the flow never returns.
    return np.maximum.accumulate(beyond) if beyond.any() else np.zeros(distance.shape, bool)


def lemma_2_4_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Lemma 2.4.

    They are the section's, gamma_ntk > 0 of the sample, flow, m >= 256 ln(n/delta)/gamma_ntk^2, and
    a time tau with R(W_tau) < l(0)/n and |W_tau - W_0| <= gamma_ntk sqrt(m)/64. Frames meet the
    last condition from tau on.
    """
    run, gamma = context.run, context.lower("gamma_ntk")
    n = run.dataset.n
    logarithm = common.log_term(n, context.delta)
    needed = 256.0 * logarithm * common.power(gamma, -2) if gamma > 0.0 else common.NAN
    reached = np.where(common.fitted_frames(context), context.trace("distance"), np.inf)
    nearest = np.minimum.accumulate(reached)  # over the times up to each frame
    return (
        *standing_hypotheses(context),
        sample_hypothesis(context),
        common.flow(run),
        common.width(run, needed, "256 ln(n/delta)/gamma_ntk^2"),
        common.at_most(
            "a time tau with R(W_tau) < l(0)/n and |W_tau - W_0| <= gamma_ntk sqrt(m)/64",
            crossing_radius(context) / 2.0,
            nearest,
        ),
    )


def compare_distance_after_crossing(context: Context) -> Comparison:
    """Test |W_t - W_0| >= gamma_ntk sqrt(m)/32 at `frames_after_crossing`."""
    frames = frames_after_crossing(context)
    reason = "the distance gamma_ntk sqrt(m)/32 is not reached yet"
    return common.compare_all_frames(
        ">=", crossing_radius(context), context.trace("distance"), "distance", frames, reason
    )


def compare_margin_after_crossing(context: Context) -> Comparison:
    """Test the smoothed margin >= gamma_ntk^2/4096 at `frames_after_crossing`, gamma from below."""
    bound = common.power(context.lower("gamma_ntk"), 2) / 4096.0
    reason = "the distance gamma_ntk sqrt(m)/32 is not reached yet"
    trace = context.trace("smoothed_margin")
    return common.compare_all_frames(
        ">=", bound, trace, "margins", frames_after_crossing(context), reason
    )


def rebalanced_margins(context: Context) -> Array:
    """Return the smoothed margin of the rebalanced networks (a/sqrt(gamma_ntk), V sqrt(gamma_ntk)).

    Parameters
    ----------
    context : Context
        Run and its reference margins.

    Returns
    -------
    array (T,)
        Divided by |What|^2, What the rebalanced parameters, as the smoothed margin by |W|^2. NaN if
        gamma_ntk is not known.
    """
    gamma, run = context.lower("gamma_ntk"), context.run
    margins = context.trace("smoothed_margin")
    smoothed = np.full(margins.shape, np.nan)
    for index in range(margins.size):
        parts = run.network.unpack(run.parameters(index))
        a, V = float(np.sum(parts["a"] ** 2)), float(np.sum(parts["V"] ** 2))
        smoothed[index] = margins[index] * common.divide(a + V, common.divide(a, gamma) + V * gamma)
    return smoothed


def compare_rebalanced_margin(context: Context) -> Comparison:
    """Test gs(What) >= gamma_ntk/4096 at the first frame of `frames_after_crossing` alone.

    gs(What) are `rebalanced_margins`. The lemma speaks of no other time.
    """
    bound = context.lower("gamma_ntk") / 4096.0
    reason = "the distance gamma_ntk sqrt(m)/32 is not reached yet"
    after = frames_after_crossing(context)
    frames = np.zeros(after.size, bool)
    frames[np.flatnonzero(after)[:1]] = True
    return common.compare_all_frames(
        ">=", bound, rebalanced_margins(context), "margins", frames, reason
    )


def theorem_2_2_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Theorem 2.2: the section's, gamma_ntk, flow, and the width.

    gamma_ntk counts twice: `almost_sure_margin`, which the width m >= (640 ln(n/delta)/gamma)^2
    uses, and `sample_hypothesis`.
    """
    run = context.run
    gamma, assumption = almost_sure_margin(context)
    needed = needed_width(640.0, run.dataset.n, context, gamma)
    width = common.width(run, needed, "(640 ln(n/delta)/gamma_ntk)^2")
    # The comparison uses the sample's gamma_ntk, which is at least the law's.
    return (
        *standing_hypotheses(context),
        assumption,
        sample_hypothesis(context),
        common.flow(run),
        width,
    )


def make_error_comparison(gamma_power: int) -> Callable[[Context], Comparison]:
    """Return the function that compares the test error with an upper bound, an O(.).

    The bound is ln(n)^3/(n gamma_ntk^gamma_power) + ln(1/delta)/n, at `frames_after_crossing`.
    `holds` is no verdict: the statements have `constants=False`.
    """

    def compare(context: Context) -> Comparison:
        """Compare the test error with the bound after the crossing."""
        gamma, n = context.lower("gamma_ntk"), context.run.dataset.n
        first = common.divide(math.log(n) ** 3, n * common.power(gamma, gamma_power))
        bound = first + math.log(1.0 / context.delta) / n
        error = context.trace("test_error")
        return common.compare_all_frames(
            "<=", bound, error, "test_error", frames_after_crossing(context)
        )

    return compare


def lemma_2_5_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Lemma 2.5: |x_i| <= 1, a known law, smoothed margin > 0."""
    margin = context.trace("smoothed_margin")
    return (
        common.unit_ball(context.run),
        common.known_law(context.run, "independent examples"),
        common.greater_than("smoothed margin of the last frame", 0.0, margin),
    )


def compare_lemma_2_5(context: Context) -> Comparison:
    """Compare the test error with ln(n)^3/(n gs^2) + ln(1/delta)/n where gs > 0, an O(.).

    `holds` is no verdict: the statement has `constants=False`.
    """
    n, margin = context.run.dataset.n, context.trace("smoothed_margin")
    with np.errstate(divide="ignore", over="ignore"):
        bound = math.log(n) ** 3 / (n * margin**2) + math.log(1.0 / context.delta) / n
    return common.compare_all_frames(
        "<=", bound, context.trace("test_error"), "test_error", margin > 0.0
    )


def has_test_error(run: Run) -> bool:
    """Return True for `is_exp_tailed_standard`, with given test examples or a known law."""
    section = run.experiment.data
    is_error_known = run.dataset.x_test is not None or section.known_law
    return is_exp_tailed_standard(run) and is_error_known


FLOW = (is_flow, "the standard network under gradient flow")
LEMMA_2_3 = (*FLOW, lemma_2_3_hypotheses)
LEMMA_2_4 = (*FLOW, lemma_2_4_hypotheses)
THEOREM_2_2 = (*FLOW, theorem_2_2_hypotheses)
STATEMENTS = (
    of_telgarsky22(
        "Lemma 2.3 (risk)",
        "Gradient flow reaches a small risk near initialisation.",
        r"R(W_t) \leq 1 / (5\, t)",
        *LEMMA_2_3,
        compare_risk_with_time,
        "The proof also needs ln(n/delta): the width is taken with max(t, n).",
    ),
    of_telgarsky22(
        "Lemma 2.3 (distance)",
        "Up to time t gradient flow stays near initialisation.",
        r"\sup_{s \leq t} \Vert W_s - W_0 \Vert \leq \gamma_{\mathrm{ntk}} \sqrt{m} / 80",
        *LEMMA_2_3,
        compare_flow_distance,
    ),
    of_telgarsky22(
        "Lemma 2.4 (distance)",
        "Once it leaves this ball, the flow never returns.",
        r"\Vert W_s - W_0 \Vert \geq \gamma_{\mathrm{ntk}} \sqrt{m} / 32, \quad s \geq t",
        *LEMMA_2_4,
        compare_distance_after_crossing,
    ),
    of_telgarsky22(
        "Lemma 2.4 (margin)",
        "Once the flow has left the ball, the smoothed margin stays large.",
        r"\mathring\gamma(W_s) \geq \gamma_{\mathrm{ntk}}^2 / 4096, \quad s \geq t",
        *LEMMA_2_4,
        compare_margin_after_crossing,
    ),
    of_telgarsky22(
        "Lemma 2.4 (rebalanced)",
        "With rebalanced layers the margin is larger.",
        r"\mathring\gamma(\widehat{W}_t) \geq \gamma_{\mathrm{ntk}} / 4096, \quad "
        r"\widehat{W} = (a / \sqrt{\gamma_{\mathrm{ntk}}}, V \sqrt{\gamma_{\mathrm{ntk}}})",
        *LEMMA_2_4,
        compare_rebalanced_margin,
    ),
    of_telgarsky22(
        "Theorem 2.2 (margin)",
        "Wide networks under gradient flow keep a positive margin.",
        r"\mathring\gamma(W_s) \geq \gamma_{\mathrm{ntk}}^2 / 4096, \quad s \geq t",
        *THEOREM_2_2,
        compare_margin_after_crossing,
    ),
    of_telgarsky22(
        "Theorem 2.2 (error)",
        "Wide networks with that margin have a small test error, up to a constant.",
        r"\Pr[p \leq 0] \leq \mathcal{O}\left(\frac{\ln(n)^3}{n\, \gamma_{\mathrm{ntk}}^4} + "
        r"\frac{\ln(1/\delta)}{n}\right)",
        *THEOREM_2_2,
        make_error_comparison(4),
        constants=False,
    ),
    of_telgarsky22(
        "Theorem 2.2 (error at W_t)",
        "When the flow leaves the ball, its test error is small.",
        r"\Pr[p \leq 0] \leq \mathcal{O}\left(\frac{\ln(n)^3}{n\, \gamma_{\mathrm{ntk}}^2} + "
        r"\frac{\ln(1/\delta)}{n}\right)",
        *THEOREM_2_2,
        make_error_comparison(2),
        constants=False,
    ),
    of_telgarsky22(
        "Lemma 2.5",
        "A smoothed margin bounds the test error at any width.",
        r"\Pr[p \leq 0] \leq \mathcal{O}\left(\frac{\ln(n)^3}{n\, \mathring\gamma(W)^2} + "
        r"\frac{\ln(1/\delta)}{n}\right)",
        has_test_error,
        "the standard network",
        lemma_2_5_hypotheses,
        compare_lemma_2_5,
        constants=False,
    ),
)
