"""telgarsky22, Lemmas A.3 to A.6 and C.1: the basis of the proofs.

n examples x_i in R^d, p_i = y_i f(x_i), d p_i its gradient in W, R the mean of the loss l, m
neurons w_j = (a_j, v_j), W or u all parameters, L the degree, delta the context's probability of
failure. The smoothed margin is l^-1(sum_i l(p_i))/|u|^L; q_i is |l'(p_i)| over its sum.
"""

from __future__ import annotations

import math

import numpy as np

from core.data.cones import ConesData
from core.observables.proof_potentials import has_cone_potential, has_scalar_potential
from core.observables.proofs import has_perceptron_sum, sum_bounds
from core.observables.registry import OBSERVABLES
from core.runs import Run
from core.theorems import common
from core.theorems.common import Array
from core.theorems.statement import Comparison, Context, Hypothesis
from core.theorems.telgarsky22_data import GAUSSIAN, WITH_THETA, of_telgarsky22, outer_transport
from core.theorems.telgarsky22_global import EXPONENTIAL, collapse_constants

# ------------------------------------------------------------------------- Lemmas A.4, A.5, C.1


def is_homogeneous_flow(run: Run) -> bool:
    """Return True for homogeneous f, exponential tail, (mirror) flow or descent, any penalty."""
    flow = common.follows_gradient(run, mirror=True)
    return run.network.homogeneous and run.experiment.loss.exp_tailed and flow


def frames_after_fit(context: Context) -> Array:
    """Return the mask of frames from the first one on with R < l(0)/n.

    Parameters
    ----------
    context : Context
        Run and its reference margins.

    Returns
    -------
    array (T,) of bool
        True from the first frame of `fitted_frames` on, also where a later one fails.
    """
    return np.asarray(np.maximum.accumulate(common.fitted_frames(context)))


def growth_hypotheses(context: Context, risk: str = "R(tau)") -> tuple[Hypothesis, ...]:
    """Return L-homogeneity, flow, R < l(0)/n from its first frame on; `risk` names R in words."""
    run = context.run
    needed = math.log10(run.loss.at_zero / run.dataset.n)
    smallest = np.minimum.accumulate(context.trace("log10_risk"))
    reached = common.less_than(f"log10 {risk} < log10 l(0)/n at some tau", needed, smallest)
    return common.homogeneous(run), common.flow(run), reached


def compare_norm_growth(context: Context) -> Comparison:
    """Test that ln |u| falls by at most 1e-9 from each frame of `frames_after_fit` to the next."""
    rise = np.concatenate([[0.0], np.diff(common.log_norms(context.run))])
    frames = np.concatenate([[False], frames_after_fit(context)[:-1]])
    reason = "R < l(0)/n is not reached"
    return common.compare_all_frames(">=", -1e-9, rise, "norm_squared", frames, reason)


def compare_dual_margin(context: Context) -> Comparison:
    """Test sum q_i p_i <= l^-1(sum l) + ln n, over |u|^L, at each frame; more if q is capped."""
    run = context.run
    smoothed = context.trace("smoothed_margin")
    powers = np.array([run.network.norm_power(run.parameters(k)) for k in range(run.frames)])
    log_scales = run.network.degree * run.rho[: run.frames]
    with np.errstate(under="ignore"):
        slack = np.exp(common.log(math.log(run.dataset.n)) - log_scales) / powers
    # Where p is 0, as with dead neurons, both sides are differences of numbers of size ln n.
    bound = smoothed + slack + common.ROUNDING * (np.abs(smoothed) + slack)
    dual = np.array([OBSERVABLES["dual_margin"].value_at(run, k) for k in range(run.frames)])
    # Under the temperature cap q is softer than the exact one, which increases sum q_i p_i.
    cap = run.temperature_cap
    if cap is not None:
        bound = np.maximum(bound, smoothed + math.log(run.dataset.n) / cap)
    return common.compare_all_frames("<=", bound, dual, "margins")


def exponential_network_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Lemma A.5: homogeneous network, exponential loss."""
    return common.homogeneous(context.run), common.loss_is(context.run, EXPONENTIAL)


def is_exponential(run: Run) -> bool:
    """Return True for a homogeneous network with the exponential loss, under any dynamics."""
    return run.network.homogeneous and run.loss.kind == EXPONENTIAL


def has_covering_start(run: Run) -> bool:
    """Return True for the standard or scalar ReLU network on 2-parity or cones."""
    observable = OBSERVABLES["covering_radius"]
    return run.network.plain_relu and not run.network.starts_small and observable.applies(run)


def cover_eps(context: Context) -> float:
    """Return the eps with m = 2 (2/eps)^d ln(r/delta), r the number of cones, else 4."""
    run = context.run
    r = collapse_constants(context)[2] if isinstance(run.experiment.data, ConesData) else 4
    ratio = run.network.m / (2.0 * common.log_term(r, context.delta))
    return float(2.0 * ratio ** (-1.0 / run.dataset.d))


def cover_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Lemma C.1: v_j ~ N(0, I/d), and a width with eps <= 2."""
    # For eps > 2 the lemma is void: no two unit vectors are that far apart.
    small = common.at_most("eps with m = 2 (2/eps)^d ln(r/delta)", 2.0, cover_eps(context))
    return common.paper_start(context.run, "v_j ~ N(0, I/d)"), small


def compare_covering_radius(context: Context) -> Comparison:
    """Test max_k min_j |v_j(0)/|v_j(0)| - beta_k| <= min(`cover_eps`, 2), beta_k the directions."""
    measured = float(OBSERVABLES["covering_radius"].value_at(context.run, 0))
    eps = min(cover_eps(context), 2.0)
    return common.compare_once("<=", eps, measured, "covering_radius", frame=0)


# ------------------------------------------------------------------------------------ Lemma A.3


def log_n_over_delta(context: Context) -> float:
    """Return ln(n/delta), at least 0, delta the context's."""
    return float(common.log_term(context.run.dataset.n, context.delta))


def transport_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return A.3 (1)'s: |x_i| <= 1, start, `outer_transport`'s gamma > 0 (undecided for NaN)."""
    gamma = outer_transport(context.run).gamma
    return (
        common.unit_ball(context.run),
        common.paper_start(context.run, GAUSSIAN),
        Hypothesis(
            "Assumption 1.3 with a theta of the outer layer: its gamma, from below",
            "> 0",
            common.format_number(gamma),
            None if math.isnan(gamma) else gamma > 0.0,
        ),
    )


def near_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Lemma A.3 (2): those of (1), and m >= 2 ln(1/delta)."""
    needed = 2.0 * math.log(1.0 / context.delta)
    width = common.width(context.run, needed, "2 ln(1/delta)")
    return *transport_hypotheses(context), width


def wide_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Lemma A.3 (3): those of (1), and m >= (64 ln(n/delta)/gamma)^2."""
    gamma = outer_transport(context.run).gamma
    needed = common.divide(64.0 * log_n_over_delta(context), gamma) ** 2
    width = common.width(context.run, needed, "(64 ln(n/delta)/gamma_ntk)^2")
    return *transport_hypotheses(context), width


def compare_start_derivative(context: Context) -> Comparison:
    """Test min_i <thetabar, d p_i(W_0)> >= its bound in (1), thetabar_j = theta(w_j)/sqrt(m).

    The bound is gamma sqrt(m) - sqrt(32 ln(n/delta)), gamma of `outer_transport`.
    """
    run, transport = context.run, outer_transport(context.run)
    bound = transport.gamma * math.sqrt(run.network.m) - math.sqrt(32.0 * log_n_over_delta(context))
    slopes = run.network.derivative(run.origin, run.inputs, transport.direction)
    return common.compare_once(">=", bound, float((run.dataset.y * slopes).min()), frame=0)


def mixed_terms(context: Context, share: Array) -> Array:
    """Return min_i <r thetabar + W_0, d p_i(W_t)> - p_i(W_t) of each frame.

    thetabar is the direction of `outer_transport`: it moves outer weights only, is not of unit
    length, and is 0 if no q exists.

    Parameters
    ----------
    context : Context
        Run and its reference margins.
    share : array (T,)
        r of each frame; NaN at frames that are left out.

    Returns
    -------
    array (T,)
        NaN where r is not finite.
    """
    run, direction = context.run, outer_transport(context.run).direction
    least = np.full(run.frames, np.nan)
    for k in np.flatnonzero(np.isfinite(share)):
        now = run.physical_parameters(int(k))
        derivative = run.network.derivative(now, run.inputs, share[k] * direction + run.origin)
        p = run.network.margins(now, run.inputs, run.dataset.y)
        least[k] = (run.dataset.y * derivative - p).min()
    return least


def compare_near_start(context: Context) -> Comparison:
    """Compare `mixed_terms` at r = 1 with the lower bound of (2), at every frame.

    gamma sqrt(m) - [sqrt(32 ln(n/delta)) + 4 R + 4] - [4 ln(n/delta) + 4 R + R^2], R = |W_t - W_0|
    and gamma that of `outer_transport`.
    """
    run, gamma = context.run, outer_transport(context.run).gamma
    far, log_n = context.trace("distance"), log_n_over_delta(context)
    bound = gamma * math.sqrt(run.network.m) - (math.sqrt(32.0 * log_n) + 4.0 * far + 4.0)
    bound = bound - (4.0 * log_n + 4.0 * far + far**2)
    share = np.where(np.isfinite(bound), 1.0, np.nan)
    return common.compare_all_frames(">=", bound, mixed_terms(context, share))


def compare_wide_network(context: Context) -> Comparison:
    """Compare `mixed_terms` at r = R/8 with the lower bound of (3), at every frame.

    gamma r sqrt(m)/2 - 160 r^2, R = max(8, |W_t - W_0|) and gamma that of `outer_transport`.
    """
    run, gamma = context.run, outer_transport(context.run).gamma
    share = np.maximum(context.trace("distance"), 8.0) / 8.0
    bound = 0.5 * gamma * share * math.sqrt(run.network.m) - 160.0 * share**2
    share = np.where(np.isfinite(bound), share, np.nan)
    return common.compare_all_frames(">=", bound, mixed_terms(context, share))


# ------------------------------------------------------------------------------------ Lemma A.6


def has_potential(run: Run) -> bool:
    """Return True if Phi (Theorem 3.2 or 3.3) and int Q are known (`has_perceptron_sum`)."""
    return has_perceptron_sum(run) and (has_cone_potential(run) or has_scalar_potential(run))


def potential(context: Context) -> Array:
    """Return Phi of Theorem 3.2 (on cones, standard network), else of 3.3, at each frame.

    Parameters
    ----------
    context : Context
        Run and its reference margins.

    Returns
    -------
    array (T,)
        -inf where Phi is not defined yet.
    """
    cones = has_cone_potential(context.run)
    return context.trace("cone_potential" if cones else "scalar_potential")


def first_finite_frame(context: Context) -> int:
    """Return the first frame with a finite Phi; the number of frames if Phi is finite at none."""
    finite = np.isfinite(potential(context))
    return int(finite.argmax()) if finite.any() else context.run.frames


def least_potential_rate(context: Context) -> float:
    """Return gammahat: the least (increase of Phi)/(int Q/n) between neighbouring frames.

    Frames count from tau, `first_finite_frame`, on, Q = sum_i exp(-p_i), and int Q/n is from above.
    The time of the mean risk has the 1/n. NaN with fewer than two such frames.
    """
    tau = first_finite_frame(context)
    grown, passed = np.diff(potential(context)[tau:]), sum_bounds(context.run)[1][tau + 1 :]
    is_known = passed > 0.0
    return float((grown[is_known] / passed[is_known]).min()) if is_known.any() else common.NAN


def potential_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Lemma A.6: homogeneity, loss, flow, Phi finite, its two bounds."""
    run, tau, gamma = context.run, first_finite_frame(context), least_potential_rate(context)
    above = (potential(context) - 0.5 * common.log_norms(run))[tau:]
    largest = float(above.max()) if above.size else common.NAN
    return (
        common.homogeneous(run),
        common.loss_is(run, EXPONENTIAL),
        common.flow(run),
        Hypothesis(
            "Phi(u_tau) > -infinity at some tau",
            "a frame",
            f"frame {tau}" if tau < run.frames else "none",
            tau < run.frames,
            (np.arange(run.frames) >= tau).astype(np.int8),
        ),
        common.at_most("Phi - (1/2) ln |u| from tau on", 0.0, largest),
        Hypothesis(
            "d Phi/dt >= Q/n gammahat from tau on, gammahat > 0",
            "> 0",
            common.format_number(gamma),
            gamma > 0.0 if not math.isnan(gamma) else None,
        ),
    )


def compare_promised_margin(context: Context) -> Comparison:
    """Test the best smoothed margin >= gammahat - [(1/2) ln |u_tau| - Phi_tau + ln n J]/I.

    The best is over frames from tau to t. I = int_tau^t Q/n is from below, J = int_tau^t
    (Q/n)/|u|^2 from above. Phi_tau + gammahat I <= (1/2) ln |u_t|, and Lemma A.5 bounds d (1/2)
    ln |u|/dt by Q/n (smoothed margin + ln n/|u|^2) in the time of the mean risk. The bound tends to
    gammahat, `least_potential_rate`.
    """
    run, tau = context.run, first_finite_frame(context)
    margins = context.trace("smoothed_margin")
    bound = np.full(run.frames, np.nan)
    if tau + 1 < run.frames:
        logs = common.log_norms(run)[tau:]
        lower, upper = (grown[tau + 1 :] for grown in sum_bounds(run))
        inverse = upper * np.exp(-2.0 * np.minimum(logs[1:], logs[:-1]))
        deduction = 0.5 * logs[0] - potential(context)[tau]
        deduction = deduction + math.log(run.dataset.n) * np.cumsum(inverse)
        total, rate = lower.cumsum(), least_potential_rate(context)
        bound[tau + 1 :] = np.where(total > 0.0, rate - deduction / total, np.nan)
    best = np.full(run.frames, np.nan)
    best[tau:] = np.fmax.accumulate(margins[tau:])
    reason = "the potential is not finite at two frames yet"
    return common.compare_all_frames(">=", bound, best, "margins", reason=reason)


THETA = (
    "Theta moves the outer layer alone. At W_0 the a_j have variance 1/m and not 1, so that the "
    "part in V, which Assumption 1.3 allows, counts only 1/sqrt(m) as much: with it the printed "
    "bound fails."
)
STATEMENTS = (
    of_telgarsky22(
        "Lemma A.4",
        "Once R < l(0)/n the norm keeps growing.",
        r"\frac{\mathrm{d}}{\mathrm{d}t} \Vert u_t \Vert > 0, \quad t \geq \tau",
        is_homogeneous_flow,
        "homogeneous networks under gradient flow",
        growth_hypotheses,
        compare_norm_growth,
    ),
    of_telgarsky22(
        "Lemma A.5",
        "The dual margin is at most the smoothed one plus ln n.",
        r"\sum_i q_i p_i \leq \ell^{-1}\left(\sum_i \ell(p_i)\right) + \ln n",
        is_exponential,
        "homogeneous networks, exponential loss",
        exponential_network_hypotheses,
        compare_dual_margin,
    ),
    of_telgarsky22(
        "Lemma C.1",
        "Enough random directions cover every reference direction.",
        r"\max_k \min_j \Vert \tilde{v}_j - \beta_k \Vert \leq \epsilon, \quad "
        r"m \geq 2 (2/\epsilon)^d \ln(r/\delta)",
        has_covering_start,
        "the standard and scalar network on data of known directions",
        cover_hypotheses,
        compare_covering_radius,
    ),
    of_telgarsky22(
        "Lemma A.3 (1)",
        "A transport gives the sampled neurons a margin.",
        r"\min_i \langle \bar\theta, \partial p_i(W_0) \rangle \geq \gamma_{\mathrm{ntk}} \sqrt{m} "
        r"- \sqrt{32 \ln(n / \delta)}",
        *WITH_THETA,
        transport_hypotheses,
        compare_start_derivative,
        THETA,
    ),
    of_telgarsky22(
        "Lemma A.3 (2)",
        "The margin persists while weights stay near initialisation.",
        r"\langle \bar\theta + W_0, \partial p_i(W) \rangle - p_i(W) \geq \gamma_{\mathrm{ntk}} "
        r"\sqrt{m} - [\sqrt{32 \ln(n / \delta)} + 4 R + 4] - [4 \ln(n / \delta) + 4 R + R^2]",
        *WITH_THETA,
        near_hypotheses,
        compare_near_start,
        "Printed with 8 R + 4 and 2 R + 2 R sqrt(m) + 4 sqrt(m); the brackets are the proof's. "
        + THETA,
    ),
    of_telgarsky22(
        "Lemma A.3 (3)",
        "Wide networks retain half of the margin.",
        r"\langle r \bar\theta + W_0, \partial p_i(W) \rangle - p_i(W) \geq "
        r"\gamma_{\mathrm{ntk}}\, r \sqrt{m} / 2 - 160\, r^2, \quad r = R / 8 \geq 1",
        *WITH_THETA,
        wide_hypotheses,
        compare_wide_network,
        THETA,
    ),
    of_telgarsky22(
        "Lemma A.6",
        "A potential that grows with Q guarantees a margin.",
        r"\liminf_t \gamma(u_t) \geq \hat\gamma, \quad \Phi \leq \frac{1}{2} \ln \Vert u \Vert, "
        r"\quad \dot\Phi \geq \mathcal{Q} \hat\gamma / n",
        has_potential,
        "standard on cones and scalar on known directions, exponential loss",
        potential_hypotheses,
        compare_promised_margin,
        "Printed R -> infinity; it goes to 0. The bound is the proof's at finite t, which tends to "
        "gammahat, the least rate between frames. Q is over n since time is that of the mean risk. "
        "Integrals between frames are known up to bounds, which the frames' spacing sets.",
    ),
)
