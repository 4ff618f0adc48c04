"""telgarsky22, Proposition 2.6, section 3 and appendix A: margins beyond the kernel regime."""

from __future__ import annotations

import math

import numpy as np

from core.data.cones import ConesData, TwoConesData
from core.observables.registry import OBSERVABLES
from core.runs import Run
from core.theorems import common
from core.theorems.common import Array
from core.theorems.statement import Comparison, Context, Hypothesis, Statement
from core.theorems.telgarsky22_data import GAUSSIAN, SOURCE, two_parity

LATE = 10.0  # log10 t from which "for all large t" and limits are judged
EXPONENTIAL = "exponential"


def late(context: Context) -> bool:
    """Whether the run is far enough for a statement about large t to be judged."""
    times = context.run.log10_time[: context.run.frames]
    return bool(times.size and times[-1] >= LATE - 1e-9)


def in_the_end(sense: str, bound: float, measured: float, context: Context) -> Comparison:
    """At the last frame; a limit that is not yet reached is not called violated."""
    found = common.once(sense, bound, measured, "margins")
    if found.holds or late(context):
        return found
    reached = common.shown(common.last(context.run.log10_time[: context.run.frames]))
    why = f"for large t only: not reached by log10 t = {reached}, judged from {LATE:g} on"
    return common.undecided(sense, bound, measured, why, "margins")


# --------------------------------------------------------------------------- Proposition 2.6


def two_cones(run: Run) -> bool:
    """The standard network under gradient flow on two cones and x'."""
    flow = common.follows_gradient(run)
    return run.network.kind == "standard" and isinstance(run.experiment.data, TwoConesData) and flow


def two_cones_data(context: Context) -> tuple[Hypothesis, ...]:
    """What the proposition assumes of the data."""
    run = context.run
    x, y = run.dataset.x[:-1], run.dataset.y
    first = run.dataset.n // 2
    across = float((x[:first] @ x[first:].T).max()) if x.shape[0] > first else -1.0
    lengths = float(np.abs(np.linalg.norm(run.dataset.x, axis=1) - 1.0).max())
    return (
        Hypothesis("all labels +1", "+1", "+1" if (y > 0).all() else "both", bool((y > 0).all())),
        common.at_most("| |x_i| - 1 |", 1e-9, lengths),
        common.at_most("<x_i, x_j> across S_1 and S_2", -math.sqrt(0.5), across),
    )


def two_cones_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    run = context.run
    return (
        *two_cones_data(context),
        Hypothesis(
            "x' leaves the data a linear margin below c/(2^15 d)",
            "c is not explicit",
            common.shown(context.lower("gamma_linear")),
            None,
        ),
        common.paper_start(run, GAUSSIAN),
        common.loss_is(run, EXPONENTIAL, "logistic"),
        common.flow(run),
        Hypothesis("width m >= m_0", "not explicit", str(run.network.m), None),
    )


def escapes(context: Context) -> Comparison:
    bound = context.upper("gamma_linear") / 2.0
    return in_the_end(">=", bound, common.last(context.trace("hard_margin")), context)


def lemma_a_1_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    run = context.run
    positive = bool((run.dataset.y > 0).all())
    lengths = float(np.abs(np.linalg.norm(run.dataset.x, axis=1) - 1.0).max())
    return (
        Hypothesis("all labels +1", "+1", "+1" if positive else "both", positive),
        common.at_most("| |x_i| - 1 |", 1e-9, lengths),
        Hypothesis(
            "Assumption 1.1 with alpha_k > 0", "positive weights", "all labels are +1", positive
        ),
    )


def lemma_a_1(context: Context) -> Comparison:
    bound = context.lower("gamma_gl") / (8.0 * math.sqrt(context.run.dataset.d))
    return common.margin_at_least(context, "gamma_ntk", bound, "")


# ------------------------------------------------------------------------------- Theorem 3.2


def on_cones(run: Run) -> bool:
    """The standard network with the exponential loss under gradient flow on cones."""
    flow = common.follows_gradient(run)
    cones = isinstance(run.experiment.data, ConesData)
    return run.network.kind == "standard" and cones and flow and run.loss.kind == EXPONENTIAL


def collapse(context: Context) -> tuple[float, float, int]:
    """(gamma_nc, eps, r) of the section."""
    section = context.run.experiment.data
    assert isinstance(section, ConesData)
    return section.gamma_nc, section.eps, section.r


def collapse_width(context: Context) -> float:
    _, eps, r = collapse(context)
    d = context.run.dataset.d
    exponent = math.log(2.0) + d * math.log(2.0 / eps)
    return math.exp(min(exponent, 700.0)) * common.log_term(context.run, r, context.delta)


def collapse_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    run = context.run
    gamma, eps, _ = collapse(context)
    return (
        common.unit_ball(run),
        common.paper_start(run, GAUSSIAN),
        common.loss_is(run, EXPONENTIAL),
        common.flow(run),
        common.positive(context, "gamma_nc", "Assumption 3.1 on the sample"),
        common.below("eps < gamma_nc", gamma, eps),
        common.width(run, collapse_width(context), "2 (2/eps)^d ln(r/delta)"),
    )


def collapse_margin(context: Context) -> Comparison:
    gamma, eps, r = collapse(context)
    measured = common.last(context.trace("smoothed_margin"))
    return in_the_end(">=", (gamma - eps) / (8.0 * r), measured, context)


def collapse_error(context: Context) -> Comparison:
    (gamma, eps, r), n = collapse(context), context.run.dataset.n
    first = common.over(r**2 * math.log(n) ** 3, n * (gamma - eps) ** 2)
    bound = first + math.log(1.0 / context.delta) / n
    return common.once("<=", bound, common.last(context.trace("test_error")), "test_error")


def potential_bound(context: Context) -> Comparison:
    """Phi <= (1/2) ln|W| at every frame."""
    potential = context.trace("cone_potential")
    bound = 0.25 * np.log(context.trace("norm_squared"))
    return common.throughout("<=", bound, potential, "cone_potential", np.isfinite(potential))


# ------------------------------------------------------------------------------- Theorem 3.3


def scalar_flow(run: Run) -> bool:
    """The scalar network with the exponential loss under its flow."""
    flow = common.follows_gradient(run, mirror=True)
    return run.network.kind == "scalar" and flow and run.loss.kind == EXPONENTIAL


def population_gamma(context: Context) -> float:
    """gamma_gl of Assumption 1.2: that of all corners where it is known, else the sample's."""
    corners = context.lower("parity_population")
    return context.lower("gamma_gl") if math.isnan(corners) else corners


def on_support(context: Context, text: str) -> Hypothesis:
    """gamma_gl of the law's support is positive: known for 2-parity, else only on the sample."""
    corners = context.lower("parity_population")
    if not math.isnan(corners):
        return Hypothesis(text, "> 0", common.shown(corners), True)
    found = common.positive(context, "gamma_gl", text)
    return Hypothesis(
        text, "> 0", f"{found.present} on the sample alone", None if found.met else found.met
    )


def reference_nodes(context: Context) -> float:
    """r of the reference architecture: 4 for 2-parity, else not known."""
    return 4.0 if two_parity(context.run) else common.NAN


def scalar_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    run, gamma, r = context.run, population_gamma(context), reference_nodes(context)
    d, needed = run.dataset.d, common.NAN
    if gamma > 0.0 and not math.isnan(r):
        exponent = math.log(2.0) + d * math.log(4.0 / gamma)
        needed = math.exp(min(exponent, 700.0)) * common.log_term(run, r, context.delta)
    return (
        common.unit_ball(run),
        common.paper_start(run, "a, b = +-m^(-1/4), v on the sphere"),
        common.loss_is(run, EXPONENTIAL),
        common.flow(run),
        on_support(context, "gamma_gl almost surely (Assumption 1.2)"),
        common.width(run, needed, "2 (4/gamma_gl)^d ln(r/delta)"),
    )


def scalar_margin(context: Context) -> Comparison:
    measured = common.last(context.trace("smoothed_margin"))
    return in_the_end(">=", population_gamma(context) / 4.0, measured, context)


def balance_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    return common.flow(context.run), common.balanced_start(context.run)


def scalar_balance(context: Context) -> Comparison:
    """max_j |a_j^2 - b_j^2| / max_(s<=t) |W(s)|^2, zero along the flow.

    Not over |W(t)|^2: a_j^2 - b_j^2 is conserved, and with it the rounding of squares as large as
    |W|^2 ever was. A network that vanishes, on data that it cannot fit, is rounding in the end.
    """
    run = context.run
    tolerance = 1e-3 if run.experiment.dynamics.log_time else 5e-2
    norms = [run.network.norm(run.parameters(k)) for k in range(run.frames)]
    with np.errstate(divide="ignore", under="ignore"):
        sizes = 2.0 * (np.log(norms) + run.rho[: run.frames])
        shrunk = np.exp(sizes - np.maximum.accumulate(sizes))
    drift = shrunk * context.trace("balance_drift")
    return common.throughout("<=", tolerance, drift, "balance_drift")


# ------------------------------------------------------------------------- Lemmas A.4, A.5, C.1


def homogeneous_flow(run: Run) -> bool:
    """A homogeneous network, a loss with duals, gradient flow or its descent."""
    flow = common.follows_gradient(run, mirror=True)
    return run.network.homogeneous and run.loss.kind in (EXPONENTIAL, "logistic") and flow


def after_fit(context: Context) -> Array:
    """Frames from the first one on with R < l(0)/n, (T,)."""
    return np.asarray(np.maximum.accumulate(common.fitted(context)))


def growth_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    risk = context.trace("log10_risk")
    threshold = 1.0 if context.run.loss.kind == EXPONENTIAL else math.log(2.0)
    needed = math.log10(threshold / context.run.dataset.n)
    smallest = common.below("log10 R(tau) < log10 l(0)/n at some tau", needed, float(risk.min()))
    return common.homogeneous(context.run), common.flow(context.run), smallest


def growth(context: Context) -> Comparison:
    """ln |u| never falls; told by its smallest increase between frames."""
    run = context.run
    sizes = np.array([common.log(run.network.norm(run.parameters(k))) for k in range(run.frames)])
    sizes = sizes + run.rho[: run.frames]
    rise = np.concatenate([[0.0], np.diff(sizes)])
    fits = after_fit(context)
    frames = np.concatenate([[False], fits[:-1]])
    return common.throughout(">=", -1e-9, rise, "norm_squared", frames, "R < l(0)/n is not reached")


def growth_a_5(context: Context) -> Comparison:
    """sum_i q_i p_i <= l^-1(sum l) + ln n, both over |u|^L."""
    run = context.run
    smoothed = context.trace("smoothed_margin")
    powers = np.array([run.network.norm_power(run.parameters(k)) for k in range(run.frames)])
    with np.errstate(under="ignore"):
        slack = np.exp(
            common.log(math.log(run.dataset.n)) - run.network.degree * run.rho[: run.frames]
        )
    slack = slack / powers
    # Where p is 0, as of dead nodes, both sides are differences of numbers of the size of ln n.
    bound = smoothed + slack + common.ROUNDING * (np.abs(smoothed) + slack)
    dual = np.array([OBSERVABLES["dual_margin"].at(run, k) for k in range(run.frames)])
    # Under the temperature cap q is softer than the true one, which makes sum q_i p_i larger.
    cap = run.temperature_cap
    if cap is not None:
        bound = np.maximum(bound, smoothed + math.log(run.dataset.n) / cap)
    return common.throughout("<=", bound, dual, "margins")


def exponential_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    return (common.loss_is(context.run, EXPONENTIAL),)


def any_weights(context: Context) -> tuple[Hypothesis, ...]:
    return common.homogeneous(context.run), common.loss_is(context.run, EXPONENTIAL)


def is_exponential(run: Run) -> bool:
    """A homogeneous network with the exponential loss."""
    return run.network.homogeneous and run.loss.kind == EXPONENTIAL


def covers(run: Run) -> bool:
    """Directions of the law are known, and inner weights that start Gaussian or on the sphere."""
    observable = OBSERVABLES["covering_radius"]
    return run.network.plain_relu and not run.network.starts_small and observable.applies(run)


def cover_eps(context: Context) -> float:
    """The smallest eps with m >= 2 (2/eps)^d ln(r/delta)."""
    run = context.run
    r = collapse(context)[2] if isinstance(run.experiment.data, ConesData) else 4
    ratio = run.network.m / (2.0 * common.log_term(run, r, context.delta))
    return float(2.0 * ratio ** (-1.0 / run.dataset.d))


def cover_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    # Beyond eps = 2 the lemma says nothing: no two unit vectors are further apart.
    small = common.at_most("eps with m = 2 (2/eps)^d ln(r/delta)", 2.0, cover_eps(context))
    return common.paper_start(context.run, "v_j ~ N(0, I/d)"), small


def cover(context: Context) -> Comparison:
    measured = float(OBSERVABLES["covering_radius"].at(context.run, 0))
    return common.once("<=", min(cover_eps(context), 2.0), measured, "covering_radius")


FLOWS = "homogeneous networks under gradient flow"
STATEMENTS = (
    Statement(
        "Proposition 2.6", SOURCE, "Wide networks leave the linear solution, a bad KKT point.",
        r"\lim_t \mathring\gamma(W_t) > \hat\gamma / 2",
        two_cones, "the standard network on two cones", two_cones_hypotheses, escapes,
        "The text's margin of the linear solution is the linear one; as a network of norm |W|^2 it "
        "has half of it, which is what the flow is compared with. Its f >= 1/sqrt2 is 1/(2 sqrt2).",
    ),
    Statement(
        "Lemma A.1", SOURCE, "With one label a global margin gives an NTK margin.",
        r"\gamma_{\mathrm{ntk}} \geq \gamma_{\mathrm{gl}} / (8 \sqrt{d})",
        two_cones, "two cones", lemma_a_1_hypotheses, lemma_a_1,
    ),
    Statement(
        "Theorem 3.2 (margin)", SOURCE, "On collapsed data the flow finds a margin of that order.",
        r"\mathring\gamma(W_t) \geq (\gamma_{\mathrm{nc}} - \epsilon) / (8\, r)",
        on_cones, "the standard network, exponential loss, cones",
        collapse_hypotheses, collapse_margin,
        "Assumption 3.1 is taken without its y_i, and with alpha_k = +-1/r in place of 1/k.",
    ),
    Statement(
        "Theorem 3.2 (error)", SOURCE, "The test error of that margin, up to a constant.",
        r"\Pr[p \leq 0] = \mathcal{O}\left(\frac{r^2 \ln(n)^3}{n (\gamma_{\mathrm{nc}} - "
        r"\epsilon)^2} + \frac{\ln(1/\delta)}{n}\right)",
        on_cones, "the standard network, exponential loss, cones",
        collapse_hypotheses, collapse_error, constants=False,
    ),
    Statement(
        "Theorem 3.2 (potential)", SOURCE, "The proof's potential is at most half of ln |W|.",
        r"\Phi = \frac{1}{4} \sum_k |\alpha_k| \ln \sum_j \varphi_{kj} |a_j v_j| \leq "
        r"\frac{1}{2} \ln \Vert W \Vert",
        on_cones, "the standard network, exponential loss, cones",
        exponential_hypotheses, potential_bound,
        "The printed definition of phi is garbled; it is read as the proof uses it.",
    ),
    Statement(
        "Theorem 3.3 (margin)", SOURCE, "Without rotation the flow finds half the best margin.",
        r"\mathring\gamma(a, b) \geq \gamma_{\mathrm{gl}} / 4",
        scalar_flow, "the scalar network, exponential loss", scalar_hypotheses, scalar_margin,
        "A factor 1/2 is dropped between lines of the proof; the theorem's gamma_gl/4 is right.",
    ),
    Statement(
        "Theorem 3.3 (balance)", SOURCE, "a_j^2 = b_j^2 at all times (to the tolerance shown).",
        r"\max_j |a_j^2 - b_j^2| / \Vert W \Vert^2 = 0",
        scalar_flow, "the scalar network, exponential loss",
        balance_hypotheses, scalar_balance,
    ),
    Statement(
        "Lemma A.4", SOURCE, "Once R < l(0)/n the norm grows for ever.",
        r"\frac{\mathrm{d}}{\mathrm{d}t} \Vert u_t \Vert > 0, \quad t \geq \tau",
        homogeneous_flow, FLOWS, growth_hypotheses, growth,
    ),
    Statement(
        "Lemma A.5", SOURCE, "The dual margin is at most the smoothed one plus ln n.",
        r"\sum_i q_i p_i \leq \ell^{-1}\left(\sum_i \ell(p_i)\right) + \ln n",
        is_exponential, "homogeneous networks, exponential loss",
        any_weights, growth_a_5,
    ),
    Statement(
        "Lemma C.1", SOURCE, "So many initial directions come near every reference direction.",
        r"\max_k \min_j \Vert \tilde{v}_j - \beta_k \Vert \leq \epsilon, \quad "
        r"m \geq 2 (2/\epsilon)^d \ln(r/\delta)",
        covers, "the standard and scalar network on data of known directions",
        cover_hypotheses, cover,
    ),
)  # fmt: skip
