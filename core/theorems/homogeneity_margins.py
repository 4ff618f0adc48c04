"""homogeneity, Theorems 3.1, 3.6 and 4.1, Example 4.1 and Lemma A.1: margins.

n examples in R^d, p_i their margins, psi = l^-1(sum_i l(p_i)), R in a time the divergence KL(pbar,
u(0)) (`start_divergence`), else the mean risk. gamma is `initial_gamma`, gamma_D that of the law's
support (`population_gamma`). Hard margin: min_i p_i/|W|^L, |W|^2 = |a|^2 + |b|^2 for L = 2.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from core.data.parity import ParityData
from core.observables.alarms import monotone_margin
from core.observables.features import reference_distribution
from core.runs import Run
from core.theorems import common
from core.theorems.common import Array
from core.theorems.homogeneity_mirror import (
    REPARAMETRISED,
    initial_gamma,
    is_shallow,
    of_homogeneity,
    positive_initial_margin,
    standing_hypotheses,
    start_divergence,
)
from core.theorems.statement import Comparison, Context, Hypothesis
from core.theorems.telgarsky22_global import population_gamma, support_hypothesis
from core.theorems.telgarsky22_lemmas import (
    frames_after_fit,
    growth_hypotheses,
    is_homogeneous_flow,
)

LN_10 = math.log(10.0)

# ----------------------------------------------------------------------- Theorems 3.1, 3.6, 4.1


def log_t_n(context: Context) -> Array:
    """Return ln(t n) of each frame, with t = 1 in place of 0.

    Parameters
    ----------
    context : Context
        Run and its reference margins.

    Returns
    -------
    array (T,)
    """
    times = common.log_times(context.run)
    return np.where(np.isfinite(times), times, 0.0) + math.log(context.run.dataset.n)


def allowed_gap(context: Context) -> Array:
    """Return ln(t n)(8 R + 2) + 32 of each frame, R of `start_divergence` and ln(t n) of `log_t_n`.

    Parameters
    ----------
    context : Context
        Run and its reference margins.

    Returns
    -------
    array (T,)
    """
    return log_t_n(context) * (8.0 * start_divergence(context) + 2.0) + 32.0


def allowed_spread(gamma: float, c_1: Any, limit: Array) -> Array:
    """Return gamma^3/(4 C_1 limit^2).

    Parameters
    ----------
    gamma : float
        Margin of the initial features.
    c_1 : float or array (T,)
        C_1; 0 if the features do not move.
    limit : array (T,)
        Bound on the size of u at each frame, such as `allowed_gap`.

    Returns
    -------
    array (T,)
        Infinite where C_1 = 0.
    """
    with np.errstate(divide="ignore"):
        spread = common.power(gamma, 3) / (4.0 * c_1 * limit**2)
    return np.where(np.asarray(c_1) == 0.0, np.inf, spread)


def theorem_3_1_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Theorem 3.1: the paper's, gamma > 0, small |pbar|_inf and C_2.

    The last two have a state for each frame, with the largest C_1 and C_2 up to it. C_1 and C_2 are
    the observables c_1 and c_2, on gradients of the features in V.
    """
    gamma, run = initial_gamma(context), context.run
    # NaN for runs with neither trace.
    c_1, c_2 = (np.fmax.accumulate(context.trace(name)) for name in ("c_1", "c_2"))
    spread = float(reference_distribution(run).max())
    limit = allowed_gap(context)
    return (
        *standing_hypotheses(context),
        positive_initial_margin(context),
        common.at_most(
            "|pbar|_inf <= gamma^3/(4 C_1 [ln(tn)(8R + 2) + 32]^2)",
            allowed_spread(gamma, c_1, limit),
            spread,
        ),
        common.at_most("C_2 <= gamma/(4 [ln(tn)(8R + 2) + 32]^2)", gamma / (4.0 * limit**2), c_2),
    )


def compare_margin_after(context: Context, log10_needed: float, bound: float) -> Comparison:
    """Test the hard margin >= `bound` from a time on.

    Parameters
    ----------
    context : Context
        Run.
    log10_needed : float
        log10 t from which frames are compared, included; infinite for never.
    bound : float
        Lower bound of the margin.

    Returns
    -------
    Comparison
        Undecided, with the time in words, if no frame is as late.
    """
    run = context.run
    frames = run.log10_time[: run.frames] >= log10_needed
    reason = f"t = 10^{common.format_number(log10_needed)} is not reached"
    return common.compare_all_frames(
        ">=", bound, context.trace("hard_margin"), "margins", frames, reason
    )


def first_log10_time(context: Context, gamma: float) -> float:
    """Return log10 of (20 R/gamma)^4; infinite unless gamma > 0, -inf for R = 0."""
    if not gamma > 0.0:
        return math.inf
    # Theorem 4.1 prints the time without the exponent 4.
    return 4.0 * common.log(20.0 * start_divergence(context) / gamma) / LN_10


def second_log10_time(context: Context, gamma: float) -> float:
    """Return log10 of e + exp(exp(4 n R/gamma)); infinite beyond float64, or unless gamma > 0."""
    if not gamma > 0.0:
        return math.inf
    exponent = 4.0 * context.run.dataset.n * start_divergence(context) / gamma
    # ln(e + e^(e^x)) by logaddexp, where e^x itself is a number.
    return math.inf if exponent > 700.0 else float(np.logaddexp(1.0, math.exp(exponent))) / LN_10


def compare_theorem_3_1(context: Context) -> Comparison:
    """Test the hard margin >= gamma/(4 (1 + R)) from t = (20 R/gamma)^4 on; undecided earlier."""
    gamma = initial_gamma(context)
    bound = gamma / (4.0 * (1.0 + start_divergence(context)))
    return compare_margin_after(context, first_log10_time(context, gamma), bound)


def compare_theorem_3_1_late(context: Context) -> Comparison:
    """Test the hard margin >= gamma/32 from t = e + exp(exp(4 n R/gamma)) on; else undecided."""
    gamma = initial_gamma(context)
    return compare_margin_after(context, second_log10_time(context, gamma), gamma / 32.0)


def compare_feature_margin(context: Context) -> Comparison:
    """Test min_i <pbar, z_i(s)> >= gamma/2 at every frame: (5).

    pbar is that of the start and z_i(s) are the signed features at time s. Undecided unless gamma,
    the left side at the start, is positive.
    """
    bound, trace = initial_gamma(context) / 2.0, context.trace("pbar_margin")
    if not bound > 0.0:
        reason = "the initial features have no margin"
        return common.leave_open(">=", bound, float(trace.min()), reason, "pbar_margin")
    return common.compare_all_frames(">=", bound, trace, "pbar_margin")


def compare_margin_growth(context: Context) -> Comparison:
    """Test that each frame's smoothed margin is at least that of the frame before, once R < l(0)/n.

    The earlier frame must be one of `frames_after_fit`. The margin is psi/|W_h|^L, W_h the
    homogeneous parameters, also for batch norm, whose shown margins are over |a| |c|. The
    integrator's own error decides about small falls, for every statement alike
    (`allow_integration_error`).
    """
    run = context.run
    margins = np.array([monotone_margin(run, frame) for frame in range(run.frames)])
    before = np.concatenate([[np.nan], margins[:-1]])
    frames = np.concatenate([[False], frames_after_fit(context)[:-1]])
    reason = "R < l(0)/n is not reached"
    return common.compare_all_frames(">=", before, margins, "margins", frames, reason)


def theorem_4_1_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Theorem 4.1: the paper's, gamma_D > 0, and the width.

    m >= 2^10 max(ln^2(t n) d^2/gamma_D^8, ln^2(2 n/(delta gamma_D)) (8/gamma_D)^(2d-2)) at each
    frame; undecided if gamma_D is not known.
    """
    run, gamma = context.run, population_gamma(context)
    n, d = run.dataset.n, run.dataset.d
    needed: Any = common.NAN
    if gamma > 0.0:
        first = 2.0**10 * log_t_n(context) ** 2 * d**2 * common.power(gamma, -8)
        # In logarithms: at d = 20 the width has dozens of digits.
        exponent = (2 * d - 2) * math.log(8.0 / gamma)
        logarithm = math.log(2.0 * n / (context.delta * gamma)) ** 2
        needed = np.maximum(first, 2.0**10 * logarithm * math.exp(min(exponent, 600.0)))
    return (
        *standing_hypotheses(context),
        support_hypothesis(context, "gamma_D of the support"),
        common.width(run, needed, "max(2^10 ln^2(tn) d^2/gamma^8, 2^10 ln^2(..)(8/gamma)^(2d-2))"),
    )


def compare_theorem_4_1(context: Context) -> Comparison:
    """Test the hard margin >= gamma_D/(32 d ln(1/gamma_D)) from t = (20 R/gamma_D)^4 on.

    Undecided earlier, and unless gamma_D is known, in (0, 1).
    """
    gamma, d = population_gamma(context), context.run.dataset.d
    if not 0.0 < gamma < 1.0:
        return common.leave_open(">=", common.NAN, common.NAN, "gamma_D is not known", "margins")
    bound = gamma / (32.0 * d * math.log(1.0 / gamma))
    return compare_margin_after(context, first_log10_time(context, gamma), bound)


def compare_theorem_4_1_late(context: Context) -> Comparison:
    """Test the hard margin >= gamma_D/32 from `second_log10_time` on; undecided earlier."""
    gamma = population_gamma(context)
    return compare_margin_after(context, second_log10_time(context, gamma), gamma / 32.0)


# --------------------------------------------------------------------- Example 4.1 and Lemma A.1


def is_parity(run: Run) -> bool:
    """Return True for k-parity, k >= 2, with the uniform law on all corners (no frozen bit).

    Any network and dynamics.
    """
    section = run.experiment.data
    uniform = isinstance(section, ParityData) and section.law == "uniform" and not section.freeze
    return uniform and run.experiment.data.k >= 2  # type: ignore[attr-defined]


def parity_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypothesis of Example 4.1, k-parity on all corners: met by `is_parity` runs."""
    k = context.run.experiment.data.k  # type: ignore[attr-defined]
    return (
        Hypothesis("x on corners, y = d^(k/2) prod x_i", "parity", f"k = {k}, all corners", True),
    )


def compare_parity_margin(context: Context) -> Comparison:
    """Test the global margin of all corners, from above, >= 1/(k sqrt d), k relevant bits of d.

    The margin is 0 for odd k >= 3. For other k it is `parity_population`, and the test is undecided
    if this is not known, or if an end that is not proved violates the bound.
    """
    section = context.run.experiment.data
    assert isinstance(section, ParityData)
    bound = 1.0 / (section.k * math.sqrt(section.d))
    # A network without biases has a linear odd part, and odd parity is orthogonal to all linear
    # functions: its margin on the full cube is exactly 0 (docs/theory.md, 5.3).
    odd = section.k >= 3 and section.k % 2 == 1
    if odd:
        return common.compare_once(">=", bound, 0.0, "margins")
    return common.margin_at_least(context, "parity_population", bound)


def has_binary_exp_tail(run: Run) -> bool:
    """Return True for one output with the logistic or exponential loss, under any dynamics."""
    return run.experiment.loss.exp_tailed and run.network.k == 1


def loss_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypothesis of Lemma A.1, the logistic or the exponential loss: always met."""
    return (common.loss_is(context.run, "logistic", "exponential"),)


def compare_hard_with_smoothed(context: Context) -> Comparison:
    """Test min p <= psi + 2 ln n + 1 (exponential: psi + ln n), over |W|^L, where min p >= 0.

    |W|^L is at the physical scale.

    The logistic bound is only true where S = sum l <= ln n + 1: min p <= psi + ln n + S (n - 1)/n
    at every W. It is judged at `fitted_frames`, R < l(0)/n, where S <= ln 2.
    """
    run = context.run
    logarithm = math.log(run.dataset.n)
    extra = logarithm if run.loss.kind == "exponential" else 2.0 * logarithm + 1.0
    hard, smoothed = context.trace("hard_margin"), context.trace("smoothed_margin")
    powers = np.array([run.network.norm_power(run.parameters(k)) for k in range(run.frames)])
    with np.errstate(under="ignore", divide="ignore"):
        room = extra * np.exp(-run.network.degree * run.rho[: run.frames]) / powers
    frames = hard >= 0.0
    if run.loss.kind == "logistic":
        frames = np.logical_and(frames, common.fitted_frames(context))
    bound = smoothed + room + common.ROUNDING * (np.abs(smoothed) + room)  # both cancel at p = 0
    return common.compare_all_frames("<=", bound, hard, "margins", frames)


THEOREM_3_1 = (*REPARAMETRISED, theorem_3_1_hypotheses)
SHALLOW = (
    is_shallow,
    "the normalised network, logistic loss, gradient flow",
    theorem_4_1_hypotheses,
)
PBAR = (
    "pbar >= 0 and the sign beta are missing in print; pbar is the LP's over the initial features."
)
STATEMENTS = (
    of_homogeneity(
        "Theorem 3.1 (margin)",
        "Near the initial features the margin is large.",
        r"\min_i y_i h / (|a|^2 + |b|^2) \geq \gamma / (4 (1 + R)), \quad t \geq (20 R / \gamma)^4",
        *THEOREM_3_1,
        compare_theorem_3_1,
        PBAR,
    ),
    of_homogeneity(
        "Theorem 3.1 (late)",
        "At late times the margin is at least gamma/32.",
        r"\min_i y_i h / (|a|^2 + |b|^2) \geq \gamma / 32, \quad t \geq e + e^{e^{4 n R / \gamma}}",
        *THEOREM_3_1,
        compare_theorem_3_1_late,
        "The informal Theorem 1.1 has gamma/16; the formal one has gamma/32.",
    ),
    of_homogeneity(
        "Theorem 3.1 (5)",
        "The features keep half of their margin during training.",
        r"\inf_s \min_i \langle \bar{p}, z_i(s) \rangle \geq \gamma / 2",
        *THEOREM_3_1,
        compare_feature_margin,
        PBAR,
    ),
    of_homogeneity(
        "Theorem 3.6",
        "Once R < l(0)/n the margin of the homogeneous part never falls.",
        r"\frac{\mathrm{d}}{\mathrm{d}t} \frac{\psi(w_t)}{|\hat{w}_t|^L} \geq 0, \quad t \geq \tau",
        is_homogeneous_flow,
        "networks homogeneous in some parameters, gradient flow",
        partial(growth_hypotheses, risk="R(w(tau))"),
        compare_margin_growth,
    ),
    of_homogeneity(
        "Theorem 4.1 (margin)",
        "Shallow networks reach a margin of order gamma/d.",
        r"\min_i y_i h / (|a|^2 + |b|^2) \geq \frac{\gamma}{32\, d \ln(1 / \gamma)}",
        *SHALLOW,
        compare_theorem_4_1,
        "The time t >= 20 R/gamma lacks an exponent 4 in print.",
    ),
    of_homogeneity(
        "Theorem 4.1 (late)",
        "At late times the margin is at least gamma/32.",
        r"\min_i y_i h / (|a|^2 + |b|^2) \geq \gamma / 32",
        *SHALLOW,
        compare_theorem_4_1_late,
    ),
    of_homogeneity(
        "Example 4.1",
        "The paper's margin of k-sparse parity.",
        r"\gamma \geq 1 / (k \sqrt{d})",
        is_parity,
        "k-parity on all corners",
        parity_hypotheses,
        compare_parity_margin,
        "Checked numerically: all corners have .3536, .1250 and .0765 over sqrt(d) for k = 2, 4, "
        "6, below 1/(k sqrt d); odd k >= 3 has 0.",
        printed=True,
    ),
    of_homogeneity(
        "Lemma A.1 (2)",
        "The smallest margin is close to the smoothed one.",
        r"\min_i p_i \leq \psi + 2 \ln n + 1",
        has_binary_exp_tail,
        "two classes, logistic or exponential loss",
        loss_hypotheses,
        compare_hard_with_smoothed,
        "For the logistic loss min p >= 0 is not enough: p = 0 fails from n = 8 on, where "
        "psi = -ln(2^n - 1). It is judged once R < l(0)/n, where it is proved.",
    ),
)
