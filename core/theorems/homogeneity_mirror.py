"""homogeneity, Lemmas 3.2 to 3.5: gradient flow as mirror flow of u = |a b|.

The network is h(x) = <a * b, F(x; V)>, u_j = |a_j b_j|, z_i = y_i beta * F(x_i; V) the signed
features with beta_j = sgn(a_j(0) b_j(0)). pbar >= 0, of sum 1, has the largest min_i <pbar,
z_i(0)>. gamma is the least min_i <pbar, z_i(s)> over times s up to t (`running_gamma`), and ub =
ln(t n)/gamma pbar. KL and D are both the divergence D(v, u) = <v, ln(v/u)> + <1, u - v>. G is the
mean of |l'(p_i)|, p_i = y_i h(x_i), over n examples.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from core.observables.alarms import drift_tolerance
from core.observables.features import kl, reference_distribution, reparametrise, signed_features
from core.observables.proofs import sum_bounds
from core.observables.registry import OBSERVABLES
from core.runs import Run
from core.theorems import common
from core.theorems.common import Array
from core.theorems.statement import Comparison, Context, Hypothesis, Statement

of_homogeneity = partial(Statement, "homogeneity")
START = "a_j, b_j uniform on +-1/sqrt(m)"


def is_reparametrised(run: Run) -> bool:
    """Return True for <a*b, F(x; V)>, V trained, logistic loss, flow or full-batch descent.

    True for `normalised` and for heads, not for `scalar`, whose V is fixed.
    """
    trains_features = run.network.factored and not run.network.fixed_features
    return trains_features and run.loss.kind == "logistic" and common.follows_gradient(run)


def is_shallow(run: Run) -> bool:
    """Return True for `is_reparametrised` with a network of kind `normalised`."""
    return is_reparametrised(run) and run.network.kind == "normalised"


def bounded_hypothesis(run: Run) -> Hypothesis:
    """Return Assumption 2.1 with the lemmas' bound 1: |x_i| <= 1, or for heads |F| <= 1.

    Networks with inner weights have |v_j| = 1 by themselves. A head's normalising layer bounds F by
    sqrt(m) only: its largest |F_j(x_i)| over all frames of the run counts.
    """
    if not run.network.inner_weights:
        largest = max(float(np.abs(signed_features(run, k)).max()) for k in range(run.frames))
        return common.at_most("|F| <= 1 on the run (Assumption 2.1 has any bound)", 1.0, largest)
    return common.unit_ball(run)


def standing_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the standing assumptions: logistic loss, flow, START, and `bounded_hypothesis`."""
    run = context.run
    start = common.paper_start(run, START)
    return common.loss_is(run, "logistic"), common.flow(run), start, bounded_hypothesis(run)


# ------------------------------------------------------------------------- u, pbar and their terms


def u_norms(run: Run) -> Array:
    """Return |u_s|_1 of each frame, u_s = |a * b| at the physical scale.

    Parameters
    ----------
    run : Run
        Open run.

    Returns
    -------
    array (T,)
        sum_j |a_j b_j|, infinite where it overflows; NaN if the outer weights are no products.
    """
    return np.array([reparametrise(run, k).sum() for k in range(run.frames)])


def initial_gamma(context: Context) -> float:
    """Return min_i <pbar, z_i(0)> at the first frame; may be 0 or negative, NaN without a pbar."""
    return float(OBSERVABLES["pbar_margin"].value_at(context.run, 0))


def running_gamma(context: Context) -> Array:
    """Return the least min_i <pbar, z_i(s)> over frames s <= t, pbar that of the start.

    Parameters
    ----------
    context : Context
        Run and its reference margins.

    Returns
    -------
    array (T,)
    """
    return np.minimum.accumulate(context.trace("pbar_margin"))


def start_divergence(context: Context) -> float:
    """Return R = KL(pbar, u(0)), not negative; infinite if u(0) is 0 where pbar is not."""
    divergence = float(OBSERVABLES["kl_pbar"].value_at(context.run, 0))
    return 0.0 if divergence < 0.0 else divergence


def target_scale(context: Context) -> Array:
    """Return c = ln(t n)/gamma of ub = c pbar, gamma of `running_gamma`, at each frame.

    Parameters
    ----------
    context : Context
        Run and its reference margins.

    Returns
    -------
    array (T,)
        NaN where t n <= 1 or gamma <= 0.
    """
    t, gamma = common.times(context.run), running_gamma(context)
    n = context.run.dataset.n
    with np.errstate(divide="ignore", invalid="ignore"):
        # Computed from log10 t, since t itself is infinite from 10^308 on.
        scale = (context.run.log10_time[: t.size] * math.log(10.0) + math.log(n)) / gamma
    return np.where((gamma > 0.0) & (scale > 0.0), scale, np.nan)


def target_kl(context: Context) -> Array:
    """Return D(ub, u_0) for ub = c pbar, c of `target_scale`, at each frame.

    Parameters
    ----------
    context : Context
        Run and its reference margins.

    Returns
    -------
    array (T,)
        Not negative; NaN where `target_scale` is NaN.
    """
    u = reparametrise(context.run, 0)
    pbar = reference_distribution(context.run)
    divergences = [kl(c * pbar, u) if np.isfinite(c) else np.nan for c in target_scale(context)]
    return np.asarray(np.maximum(divergences, 0.0))


def first_log10_times(context: Context) -> Array:
    """Return log10 t_1, t_1 = (20 R4/gamma)^4, by each frame's gamma and R4 = D(ub, u_0)/|ub|_1.

    Parameters
    ----------
    context : Context
        Run and its reference margins.

    Returns
    -------
    array (T,)
        NaN where `target_scale` is NaN.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = target_kl(context) / target_scale(context)
        return np.asarray(4.0 * np.log10(20.0 * ratio / running_gamma(context)))


def frames_after_first_time(context: Context) -> Array:
    """Return the mask of frames with t >= t_1, t_1 that of the same frame.

    Parameters
    ----------
    context : Context
        Run and its reference margins.

    Returns
    -------
    array (T,) of bool
        False where t_1 is NaN.
    """
    with np.errstate(invalid="ignore"):
        late = context.run.log10_time[: context.run.frames] >= first_log10_times(context)
    return np.asarray(late)


def why_not_yet(context: Context) -> str:
    """Return why t_1 is not reached, by the last frame's t_1, as a sentence without a full stop.

    Callers use the text only if no frame is late enough.
    """
    first = float(first_log10_times(context)[-1])
    if math.isnan(first):
        return "pbar no longer separates the features: t_1 does not exist"
    return f"t_1 = 10^{common.format_number(first)} is not reached"


def positive_initial_margin(context: Context) -> Hypothesis:
    """Return the hypothesis that `initial_gamma` is positive, the same at all frames."""
    gamma = initial_gamma(context)
    text = "pbar >= 0 with gamma = min_i <pbar, z_i(0)> > 0"
    return Hypothesis(text, "> 0", common.format_number(gamma), gamma > 0.0)


def positive_running_margin(context: Context) -> Hypothesis:
    """Return the hypothesis that `running_gamma` is positive, with a state for each frame."""
    text = "inf over s of min_i <pbar, z_i(s)> is positive"
    return common.greater_than(text, 0.0, running_gamma(context))


# ---------------------------------------------------------------------------- Lemmas 3.2 to 3.5


def compare_balance(context: Context) -> Comparison:
    """Test the drift of a_j^2 - b_j^2 over |W(t)|^2 <= `drift_tolerance` at every frame.

    The drift is max_j |(a_j^2 - b_j^2)(t) - (a_j^2 - b_j^2)(0)|, zero along the flow.
    """
    drift = context.trace("balance_drift")
    return common.compare_all_frames("<=", drift_tolerance(context.run), drift, "balance_drift")


def mirror_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Lemma 3.2: logistic loss, flow, |a_j(0)| = |b_j(0)| for all j."""
    run = context.run
    return common.loss_is(run, "logistic"), common.flow(run), common.balanced_start(run)


def compare_growth(context: Context) -> Comparison:
    """Test |u_t|_1 <= |u_0|_1 exp(2 int_0^t G) at every frame but the first.

    Frames give a lower and an upper bound of int G. A frame holds by the lower one, fails by the
    upper one, and is open where |u_t|_1 is between.
    """
    u = u_norms(context.run)
    with np.errstate(over="ignore"):
        lower, upper = (u[0] * np.exp(2.0 * grown.cumsum()) for grown in sum_bounds(context.run))
    # The spacing of frames limits the accuracy of int G: between both bounds the result is open.
    bound = np.where(u <= lower, lower, np.where(u > upper, upper, np.nan))
    reason = "the frames are too far apart to evaluate int G"
    # At t = 0 both sides are equal.
    return common.compare_all_frames("<=", bound, u, "u", np.arange(u.size) > 0, reason)


def compare_size(context: Context) -> Comparison:
    """Test max over s <= t of |u_s|_1 <= (8 R4 + 2)|ub|_1 + 32 at every frame.

    R4 = D(ub, u_0)/|ub|_1 and ub are those of t, so that the bound grows with ln t. Frames without
    a `target_scale` are open.
    """
    c, divergence = target_scale(context), target_kl(context)
    bound = 8.0 * divergence + 2.0 * c + 32.0
    return common.compare_all_frames("<=", bound, np.maximum.accumulate(u_norms(context.run)), "u")


def compare_regret(context: Context) -> Comparison:
    """Test the regret bound at the last frame.

    (|u_t|/8) 1[|u_t| >= 2|ub|] + 2 int L_s(u_s) <= D(ub, u_0) + 2 int L_s(ub), norms |.|_1. L_s(u)
    is the mean of the logistic loss of <u, z_i(s)>, and ub that of the last frame. The left
    integral is taken from below, the right one from above (rectangles between frames). Undecided if
    ub is not known or t overflows.
    """
    run = context.run
    c = float(target_scale(context)[-1])
    pbar, t = reference_distribution(run), common.times(run)
    if not np.isfinite(c) or not np.isfinite(t[-1]):
        return common.leave_open("<=", common.NAN, common.NAN, "ln(t n)/gamma is not known here")
    at_target = np.array(
        [np.logaddexp(0.0, -c * (signed_features(run, k) @ pbar)).mean() for k in range(t.size)]
    )
    risk = context.trace("risk")
    steps = np.diff(t)
    left_side = 2.0 * float(steps @ np.minimum(risk[1:], risk[:-1]))
    right = 2.0 * float(steps @ np.maximum(at_target[1:], at_target[:-1]))
    size = float(u_norms(run)[-1])
    left_side += size / 8.0 if size >= 2.0 * c else 0.0
    return common.compare_once("<=", float(target_kl(context)[-1]) + right, left_side, frame=-1)


def lemma_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return `standing_hypotheses` and `positive_running_margin`, those of Lemmas 3.3 to 3.5."""
    return (*standing_hypotheses(context), positive_running_margin(context))


def compare_margin_after_first_time(context: Context) -> Comparison:
    """Test the hard margin >= gamma/(4 (1 + R4)) for t >= t_1.

    The hard margin is half of min_i <z_i, u>/|u|_1. gamma is `running_gamma` and R4 = D(ub,
    u_0)/|ub|_1, both at the same frame.
    """
    with np.errstate(invalid="ignore"):
        ratio = target_kl(context) / target_scale(context)
    # <z_i, u>/|u|_1 is twice the margin over |a|^2 + |b|^2.
    bound = running_gamma(context) / (4.0 * (1.0 + ratio))
    reason = why_not_yet(context)
    frames = frames_after_first_time(context)
    return common.compare_all_frames(
        ">=", bound, context.trace("hard_margin"), "margins", frames, reason
    )


def compare_smoothed_margin(context: Context) -> Comparison:
    """Test psi/|u| >= gamma - (1 + 2 ln n)/|u| - D(|u| pbar, u_0)/(|u| xi) for t >= t_1.

    |u| is |u_t|_1, psi = l^-1(sum_i l(p_i)), and xi = int (1/n)/(1 + e^psi) from t_1 on, from below
    (rectangles). Numbers are halved: the smoothed margin psi/|W|^2 is half of psi/|u|.
    """
    run, frames = context.run, frames_after_first_time(context)
    reason = why_not_yet(context)
    n, u, pbar = run.dataset.n, u_norms(run), reference_distribution(run)
    start, smoothed = reparametrise(run, 0), context.trace("smoothed_margin")
    psi = smoothed * context.trace("norm_squared")
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        # xi with 1/n and a plus sign, as in the appendix; the main text has neither, and omits a
        # term ln |u| that need not vanish.
        slope = np.exp(-np.logaddexp(0.0, psi)) / n
        steps = np.diff(common.times(run)) * np.minimum(slope[1:], slope[:-1]) * frames[:-1]
        xi = np.concatenate([[0.0], np.cumsum(steps)])
        divergence = np.array([kl(size * pbar, start) for size in u])
        bound = running_gamma(context) - (1.0 + 2.0 * math.log(n)) / u - divergence / (u * xi)
    is_compared = np.logical_and(frames, xi > 0.0)
    return common.compare_all_frames(">=", 0.5 * bound, smoothed, "margins", is_compared, reason)


REPARAMETRISED = (is_reparametrised, "normalised networks and heads, logistic loss, gradient flow")
LEMMA = (*REPARAMETRISED, lemma_hypotheses)
STATEMENTS = (
    of_homogeneity(
        "Lemma 3.2",
        "a_j^2 = b_j^2 = u_j at all times (to the tolerance shown).",
        r"u_j = |a_j b_j| = a_j^2 = b_j^2",
        *REPARAMETRISED,
        mirror_hypotheses,
        compare_balance,
    ),
    of_homogeneity(
        "Lemma 3.3 (2)",
        "The regret of the mirror flow against ub = ln(tn)/gamma pbar.",
        r"\frac{|u_t|_1}{8} 1[|u_t|_1 \geq 2 |\bar{u}|_1] + \int_0^t f_s(u_s) \leq "
        r"\mathrm{KL}(\bar{u}, u_0) + \int_0^t f_s(\bar{u})",
        *LEMMA,
        compare_regret,
        "The text has f_s = -2 L_s twice; it is +2 L_s.",
    ),
    of_homogeneity(
        "Lemma 3.4 (growth)",
        "u grows no faster than its gradients allow.",
        r"|u_t|_1 \leq |u_0|_1 \exp\left(2 \int_0^t \mathcal{G}\right)",
        *REPARAMETRISED,
        standing_hypotheses,
        compare_growth,
        "The appendix prints exp(int G); 2 is right. The integral is taken between frames (.2 %).",
    ),
    of_homogeneity(
        "Lemma 3.4 (size)",
        "u stays of the order of ub.",
        r"\sup_{s \leq t} |u_s|_1 \leq (8 R + 2) |\bar{u}|_1 + 32",
        *LEMMA,
        compare_size,
        "R is D(ub, u0)/|ub|_1 here, not KL(pbar, u0).",
    ),
    of_homogeneity(
        "Lemma 3.4 (margin)",
        "From t_1 = (20 R/gamma)^4 on the margin is large.",
        r"\min_i y_i h / (|a|^2 + |b|^2) \geq \gamma / (4 (1 + R))",
        *LEMMA,
        compare_margin_after_first_time,
    ),
    of_homogeneity(
        "Lemma 3.5 (as in A.3)",
        "The smoothed margin approaches gamma.",
        r"\frac{\psi(u_t)}{|u_t|_1} \geq \gamma - \frac{1 + 2 \ln n}{|u_t|_1} - "
        r"\frac{D(|u_t|_1 \bar{p}, u_0)}{|u_t|_1 \xi_t}",
        *LEMMA,
        compare_smoothed_margin,
        "In the main text xi has the wrong sign and no 1/n, and a term ln|u| is missing: as "
        "printed, the lemma is not proved. The appendix's form is evaluated.",
    ),
)
