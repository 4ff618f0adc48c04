"""telgarsky22, Proposition 2.6, section 3 and appendix A: margins beyond the kernel regime.

n examples x_i in R^d, labels y_i = +-1, m neurons. The hard margin of a frame is min_i y_i
f(x_i)/|W|^2, the smoothed margin l^-1(sum_i l(y_i f(x_i)))/|W|^2. gamma_linear, gamma_gl (twice the
largest hard margin of any width) and gamma_ntk are margins of the data (telgarsky22_data), gamma_nc
and eps settings of r cones.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from core.data.cones import ConesData, TwoConesData
from core.observables.alarms import drift_tolerance
from core.runs import Run
from core.theorems import common
from core.theorems.statement import Comparison, Context, Hypothesis
from core.theorems.telgarsky22_data import GAUSSIAN, is_two_parity, of_telgarsky22

# log10 t from which "for all large t" and limits are judged. Margins still grow long after: at m =
# 16 that of Figure 1 is .0352 at log10 t = 1e4, .0406 at 1e20.
LATE = 10.0
EXPONENTIAL = "exponential"


def compare_limit(sense: str, bound: float, trace: common.Array, context: Context) -> Comparison:
    """Compare a trace with a bound at its last frame, as for a limit in t.

    A bound that is met holds at any time. A bound that is missed is undecided before log10 t =
    LATE, and violated from then on.

    Parameters
    ----------
    sense : str
        "<=" or ">=": trace `sense` bound.
    bound : float
        Limit.
    trace : array (T,)
        Margin at each frame.
    context : Context
        Run of the trace.

    Returns
    -------
    Comparison
    """
    comparison = common.compare_final(sense, bound, trace, "margins")
    end = common.last_log10_time(context.run)
    if comparison.holds is not False or end >= LATE - 1e-9:
        return comparison
    reached = common.format_number(end)
    reason = f"for large t only: not reached by log10 t = {reached}, judged from {LATE:g} on"
    return replace(comparison, holds=None, why=reason)


# --------------------------------------------------------------------------- Proposition 2.6


def is_on_two_cones(run: Run) -> bool:
    """Return True for the standard network under flow or full-batch descent on two_cones data.

    Any loss.
    """
    flow = common.follows_gradient(run)
    return common.standard_relu(run) and isinstance(run.experiment.data, TwoConesData) and flow


def positive_unit_data(run: Run) -> tuple[Hypothesis, Hypothesis]:
    """Return the hypotheses that all labels are +1, and that all |x_i| are 1 up to 1e-9."""
    positive = bool((run.dataset.y > 0).all())
    lengths = float(np.abs(np.linalg.norm(run.dataset.x, axis=1) - 1.0).max())
    labels = Hypothesis("all labels +1", "+1", "+1" if positive else "both", positive)
    return labels, common.at_most("| |x_i| - 1 |", 1e-9, lengths)


def two_cones_data_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses on the data: labels +1, |x_i| = 1, <x_i, x_j> <= -1/sqrt2 across cones.

    The first n // 2 examples form one cone, the last example, x', belongs to neither. An empty
    second cone meets the condition.
    """
    x, first = context.run.dataset.x[:-1], context.run.dataset.n // 2
    largest_product = float((x[:first] @ x[first:].T).max()) if x.shape[0] > first else -1.0
    opposition = common.at_most("<x_i, x_j> across S_1 and S_2", -math.sqrt(0.5), largest_product)
    return *positive_unit_data(context.run), opposition


def two_cones_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Proposition 2.6.

    They are those on the data, a small linear margin, the start, the exponential or logistic loss,
    flow, and the width. The linear margin and the width have no explicit constant: both are
    undecided for every run.
    """
    run = context.run
    return (
        *two_cones_data_hypotheses(context),
        Hypothesis(
            "x' leaves the data a linear margin below c/(2^15 d)",
            "c is not explicit",
            common.format_number(context.lower("gamma_linear")),
            None,
        ),
        common.paper_start(run, GAUSSIAN),
        common.loss_is(run, EXPONENTIAL, "logistic"),
        common.flow(run),
        Hypothesis("width m >= m_0", "not explicit", str(run.network.m), None),
    )


def compare_escape(context: Context) -> Comparison:
    """Test the last hard margin >= the linear solution's, gamma_linear/2 from above.

    As `compare_limit`: undecided if missed before log10 t = LATE.
    """
    # With one label u is one ReLU neuron a <v, x>, whose |W|^2 margin is half of the linear one
    # (docs/theory.md, 5.2); the text compares with the linear margin itself. The limit must exceed
    # it, and therefore its upper end.
    bound = context.upper("gamma_linear") / 2.0
    return compare_limit(">=", bound, context.trace("hard_margin"), context)


def lemma_a_1_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Lemma A.1: labels +1, |x_i| = 1, and positive weights.

    The last one is Assumption 1.1 with alpha_k > 0, met exactly where all labels are +1.
    """
    labels, lengths = positive_unit_data(context.run)
    text = "Assumption 1.1 with alpha_k > 0"
    return labels, lengths, Hypothesis(text, "positive weights", "all labels are +1", labels.met)


def compare_lemma_a_1(context: Context) -> Comparison:
    """Test the upper end of gamma_ntk >= (lower end of gamma_gl)/(8 sqrt d)."""
    bound = context.lower("gamma_gl") / (8.0 * math.sqrt(context.run.dataset.d))
    return common.margin_at_least(context, "gamma_ntk", bound, "")


# ------------------------------------------------------------------------------- Theorem 3.2


def is_on_cones(run: Run) -> bool:
    """Return True for the standard network with exponential loss on cones, by flow or descent.

    Descent is full-batch, and the data of kind `cones`, not `two_cones`.
    """
    flow = common.follows_gradient(run)
    cones = isinstance(run.experiment.data, ConesData)
    return common.standard_relu(run) and cones and flow and run.loss.kind == EXPONENTIAL


def collapse_constants(context: Context) -> tuple[float, float, int]:
    """Return gamma_nc, eps and r as the settings of the cones promise them, not as measured.

    The data must be of kind `cones`.
    """
    section = context.run.experiment.data
    assert isinstance(section, ConesData)
    return section.gamma_nc, section.eps, section.r


def covering_width(context: Context, base: float, r: float) -> float:
    """Return 2 base^d ln(r/delta), enough directions to come near each of r.

    Parameters
    ----------
    context : Context
        Its run gives d.
    base : float
        Base of the power, such as 2/eps.
    r : float
        Number of directions to cover.

    Returns
    -------
    float
        With 2 base^d cut at e^700, which float64 can hold.
    """
    exponent = math.log(2.0) + context.run.dataset.d * math.log(base)
    # All widths beyond float64 are equally out of reach.
    return math.exp(min(exponent, 700.0)) * float(common.log_term(r, context.delta))


def collapse_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Theorem 3.2.

    They are |x_i| <= 1, the start, the exponential loss, flow, gamma_nc > 0 of the examples, eps <
    gamma_nc of the settings, and m >= 2 (2/eps)^d ln(r/delta).
    """
    run = context.run
    gamma, eps, r = collapse_constants(context)
    width = covering_width(context, 2.0 / eps, r)
    return (
        common.unit_ball(run),
        common.paper_start(run, GAUSSIAN),
        common.loss_is(run, EXPONENTIAL),
        common.flow(run),
        common.positive(context, "gamma_nc", "Assumption 3.1 on the sample"),
        common.less_than("eps < gamma_nc", gamma, eps),
        common.width(run, width, "2 (2/eps)^d ln(r/delta)"),
    )


def compare_collapse_margin(context: Context) -> Comparison:
    """Test the last smoothed margin >= (gamma_nc - eps)/(8 r), as `compare_limit`."""
    gamma, eps, r = collapse_constants(context)
    trace = context.trace("smoothed_margin")
    return compare_limit(">=", (gamma - eps) / (8.0 * r), trace, context)


def compare_collapse_error(context: Context) -> Comparison:
    """Compare the last test error with the theorem's upper bound, an O(.) without its constant.

    r^2 ln(n)^3/(n (gamma_nc - eps)^2) + ln(1/delta)/n. `holds` is no verdict: the statement has
    `constants=False`.
    """
    (gamma, eps, r), n = collapse_constants(context), context.run.dataset.n
    first = common.divide(r**2 * math.log(n) ** 3, n * (gamma - eps) ** 2)
    bound = first + math.log(1.0 / context.delta) / n
    return common.compare_final("<=", bound, context.trace("test_error"), "test_error")


def exponential_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypothesis of the exponential loss."""
    return (common.loss_is(context.run, EXPONENTIAL),)


def compare_potential(context: Context) -> Comparison:
    """Test Phi <= (1/2) ln|W| at the frames where Phi, the observable cone_potential, is finite."""
    potential = context.trace("cone_potential")
    # (1/2) ln |W|, from the column of |W|^2.
    bound = 0.25 * np.log(context.trace("norm_squared"))
    return common.compare_all_frames(
        "<=", bound, potential, "cone_potential", np.isfinite(potential)
    )


# ------------------------------------------------------------------------------- Theorem 3.3


def is_scalar_flow(run: Run) -> bool:
    """Return True for the scalar network with exponential loss, by flow (mirror too) or descent.

    Descent is full-batch. Any data.
    """
    flow = common.follows_gradient(run, mirror=True)
    return run.network.kind == "scalar" and flow and run.loss.kind == EXPONENTIAL


def population_gamma(context: Context) -> float:
    """Return gamma_gl of Assumption 1.2, from below: that of all corners, else the sample's.

    All corners are those of parity data (`parity_population`). NaN if neither is known.
    """
    corners = context.lower("parity_population")
    return context.lower("gamma_gl") if math.isnan(corners) else corners


def support_hypothesis(context: Context, text: str) -> Hypothesis:
    """Return the hypothesis gamma_gl > 0 on the law's support.

    `text` is the condition in words. Met if `parity_population` is known. Otherwise it fails if
    gamma_gl of the sample is proved zero, and is undecided if not.
    """
    corners = context.lower("parity_population")
    if not math.isnan(corners):
        return Hypothesis(text, "> 0", common.format_number(corners), True)
    sample = common.positive(context, "gamma_gl", text)
    met = None if sample.met else sample.met
    return Hypothesis(text, "> 0", f"{sample.present} on the sample alone", met)


def n_reference_neurons(context: Context) -> float:
    """Return r of the reference architecture: 4 for 2-parity on all corners, else NaN."""
    # The four neurons that are optimal on all corners (core.reference.global_margin).
    return 4.0 if is_two_parity(context.run) else common.NAN


def scalar_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Theorem 3.3.

    They are |x_i| <= 1, the start, the exponential loss, flow, gamma_gl > 0 on the support, and m
    >= 2 (4/gamma_gl)^d ln(r/delta), undecided unless r (`n_reference_neurons`) is known.
    """
    run, gamma, r = context.run, population_gamma(context), n_reference_neurons(context)
    is_known = gamma > 0.0 and not math.isnan(r)
    needed = covering_width(context, 4.0 / gamma, r) if is_known else common.NAN
    return (
        common.unit_ball(run),
        common.paper_start(run, "a, b = +-m^(-1/4), v on the sphere"),
        common.loss_is(run, EXPONENTIAL),
        common.flow(run),
        support_hypothesis(context, "gamma_gl almost surely (Assumption 1.2)"),
        common.width(run, needed, "2 (4/gamma_gl)^d ln(r/delta)"),
    )


def compare_scalar_margin(context: Context) -> Comparison:
    """Test the last smoothed margin >= gamma_gl/4, by `population_gamma` and `compare_limit`."""
    trace = context.trace("smoothed_margin")
    return compare_limit(">=", population_gamma(context) / 4.0, trace, context)


def balance_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of gradient flow, and of |a_j(0)| = |b_j(0)| for all j."""
    return common.flow(context.run), common.balanced_start(context.run)


def compare_scalar_balance(context: Context) -> Comparison:
    """Test the drift of a_j^2 - b_j^2 over max_(s<=t) |W(s)|^2 <= `drift_tolerance` at each frame.

    The drift is max_j |(a_j^2 - b_j^2)(t) - (a_j^2 - b_j^2)(0)|, zero along the flow. It is not
    taken over |W(t)|^2: rounding is that of squares as large as |W|^2 ever was. A network that
    vanishes, on data that it cannot fit, is rounding in the end.
    """
    sizes = 2.0 * common.log_norms(context.run)
    with np.errstate(under="ignore"):
        shrunk = np.exp(sizes - np.maximum.accumulate(sizes))
    drift = shrunk * context.trace("balance_drift")
    return common.compare_all_frames("<=", drift_tolerance(context.run), drift, "balance_drift")


ON_CONES = (is_on_cones, "the standard network, exponential loss, cones")
COLLAPSE = (*ON_CONES, collapse_hypotheses)
SCALAR = (is_scalar_flow, "the scalar network, exponential loss")
STATEMENTS = (
    of_telgarsky22(
        "Proposition 2.6",
        "Wide networks escape the linear solution, a bad KKT point.",
        r"\lim_t \mathring\gamma(W_t) > \hat\gamma / 2",
        is_on_two_cones,
        "the standard network on two cones",
        two_cones_hypotheses,
        compare_escape,
        "The text's margin of the linear solution is the linear one; as a network of norm |W|^2 it "
        "has half of it, which is what the flow is compared with. Its f >= 1/sqrt2 is 1/(2 sqrt2).",
    ),
    of_telgarsky22(
        "Lemma A.1",
        "With a single label a global margin implies an NTK margin.",
        r"\gamma_{\mathrm{ntk}} \geq \gamma_{\mathrm{gl}} / (8 \sqrt{d})",
        is_on_two_cones,
        "two cones",
        lemma_a_1_hypotheses,
        compare_lemma_a_1,
    ),
    of_telgarsky22(
        "Theorem 3.2 (margin)",
        "On collapsed data gradient flow reaches a margin of order gamma_nc/r.",
        r"\mathring\gamma(W_t) \geq (\gamma_{\mathrm{nc}} - \epsilon) / (8\, r)",
        *COLLAPSE,
        compare_collapse_margin,
        "Assumption 3.1 is taken without its y_i, and with alpha_k = +-1/r in place of 1/k.",
    ),
    of_telgarsky22(
        "Theorem 3.2 (error)",
        "On collapsed data the test error is small, up to a constant.",
        r"\Pr[p \leq 0] = \mathcal{O}\left(\frac{r^2 \ln(n)^3}{n (\gamma_{\mathrm{nc}} - "
        r"\epsilon)^2} + \frac{\ln(1/\delta)}{n}\right)",
        *COLLAPSE,
        compare_collapse_error,
        constants=False,
    ),
    of_telgarsky22(
        "Theorem 3.2 (potential)",
        "The proof's potential is at most half of ln |W|.",
        r"\Phi = \frac{1}{4} \sum_k |\alpha_k| \ln \sum_j \varphi_{kj} |a_j v_j| \leq "
        r"\frac{1}{2} \ln \Vert W \Vert",
        *ON_CONES,
        exponential_hypotheses,
        compare_potential,
        "The printed definition of phi is garbled; it is read as the proof uses it.",
    ),
    of_telgarsky22(
        "Theorem 3.3 (margin)",
        "Without rotation gradient flow reaches half of the best margin.",
        r"\mathring\gamma(a, b) \geq \gamma_{\mathrm{gl}} / 4",
        *SCALAR,
        scalar_hypotheses,
        compare_scalar_margin,
        "A factor 1/2 is dropped between lines of the proof; the theorem's gamma_gl/4 is right.",
    ),
    of_telgarsky22(
        "Theorem 3.3 (balance)",
        "a_j^2 = b_j^2 at all times (to the tolerance shown).",
        r"\max_j |a_j^2 - b_j^2| / \Vert W \Vert^2 = 0",
        *SCALAR,
        balance_hypotheses,
        compare_scalar_balance,
    ),
)
