"""wei19: the kernel's gap, weak regularisation and margins, generalisation by margins.

n examples x_i in R^d, labels y_i; Theta are all weights of m neurons, L the mean loss, L_lambda = L
+ lambda |Theta|^2 with lambda the setting l2, sigma the noise of the perturbed flow. gamma* is the
largest normalised margin min_i y_i f(x_i)/|Theta|^2 of any width, the "hard margin" the normalised
margin of a frame.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from core.data.constructions import Wei19Data
from core.runs import Run
from core.theorems import common
from core.theorems.statement import Comparison, Context, Hypothesis, Statement

of_wei19 = partial(Statement, "wei19")


def is_on_wei19_data(run: Run) -> bool:
    """Return True for the data of (2.1), kind wei19, with any network and dynamics."""
    return isinstance(run.experiment.data, Wei19Data)


def is_kernel_on_wei19_data(run: Run) -> bool:
    """Return True for the dynamics `kernel` on the data of (2.1), with any network."""
    return is_on_wei19_data(run) and run.experiment.dynamics.kind == "kernel"


def is_fully_trained(run: Run) -> bool:
    """Return True for a homogeneous network a_j, u_j with one output and all weights trained.

    These weights must be the parameters themselves (`direct`): no normalised or product weights.
    Any loss and dynamics.
    """
    network = run.network
    return network.direct and not network.fixed and network.k == 1 and network.homogeneous


def is_network_on_wei19_data(run: Run) -> bool:
    """Return True for a network of `is_fully_trained`, logistic loss, on the data of (2.1).

    A penalty is not required.
    """
    return is_on_wei19_data(run) and is_fully_trained(run) and run.loss.kind == "logistic"


def is_penalised(run: Run) -> bool:
    """Return True for a network of `is_fully_trained`, logistic loss, and l2 > 0, on any data."""
    return is_fully_trained(run) and run.loss.kind == "logistic" and run.experiment.loss.l2 > 0.0


def has_many_classes(run: Run) -> bool:
    """Return True for the network of several outputs, with l2 > 0; its loss is cross-entropy."""
    return run.network.kind == "multiclass" and run.experiment.loss.l2 > 0.0


def has_bounded_margin(run: Run) -> bool:
    """Return True if the normalised margin is at most gamma*.

    This needs two classes, the logistic or exponential loss, and a ReLU network without biases, or
    with biases for d = 1.
    """
    monotone = run.experiment.loss.exp_tailed
    one_dimensional = run.network.kind == "bias" and run.dataset.d == 1
    return monotone and run.dataset.classes == 2 and (run.network.plain_relu or one_dimensional)


def best_margin_name(run: Run) -> str:
    """Return the name of the reference margin of which gamma* is half.

    "gamma_l1" for the kind `bias`, else "gamma_gl".
    """
    return "gamma_l1" if run.network.kind == "bias" else "gamma_gl"


def best_margin(context: Context, upper: bool) -> float:
    """Return gamma*, half of `best_margin_name`, from above (`upper`) or below.

    It is the paper's gamma* for m >= n + 1 (Proposition B.10). NaN if unknown, or zero. The lower
    end is proved, the upper end may not be.
    """
    name = best_margin_name(context.run)
    return 0.5 * (context.upper(name) if upper else context.lower(name))


def global_minimiser() -> Hypothesis:
    """Return the hypothesis of the global minimum, undecided for every run."""
    text = "the global minimiser of L_lambda"
    return Hypothesis(text, "global", "an iterate of training: not known", None)


# ---------------------------------------------------------------------------------- Theorem 2.1


def gap_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Theorem 2.1 (i): the data of (2.1), and n <= d^2 without factor."""
    n, d = context.run.dataset.n, context.run.dataset.d
    return (
        Hypothesis(
            "data of (2.1)", "D", context.run.experiment.data.kind, is_on_wei19_data(context.run)
        ),
        common.at_most("n <= d^2", float(d * d), float(n)),
    )


def compare_kernel_error(context: Context) -> Comparison:
    """Return the last test error without a bound (NaN), undecided: Omega(1) has no constant."""
    error = common.last_value(context.trace("test_error"))
    reason = "Omega(1) states no constant"
    return common.compare_once(">=", common.NAN, error, "test_error", reason, frame=-1)


def network_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Theorem 2.1 (ii): those of (i), m >= 4, lambda, the minimiser.

    lambda > 0 is undecided, since "small" is not quantified; lambda = 0 fails.
    """
    run = context.run
    l2 = float(run.experiment.loss.l2)
    return (
        *gap_hypotheses(context),
        common.width(run, 4.0, "4"),
        Hypothesis(
            "lambda <= 1/poly(n), positive",
            "> 0",
            common.format_number(l2),
            None if l2 > 0 else False,
        ),
        global_minimiser(),
    )


def compare_network_error(context: Context) -> Comparison:
    """Compare the last test error with sqrt(d/n), the upper bound without its constant.

    `holds` is no verdict: the statement has `constants=False`.
    """
    n, d = context.run.dataset.n, context.run.dataset.d
    return common.compare_final("<=", math.sqrt(d / n), context.trace("test_error"), "test_error")


# ---------------------------------------------------------------- section 4 and appendices B, C, D


def positive_best_margin(context: Context) -> Hypothesis:
    """Return the hypothesis gamma* > 0, by `common.positive` of `best_margin_name`."""
    return common.positive(context, best_margin_name(context.run), "gamma* > 0")


def minimiser_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Theorem 4.1: logistic loss, gamma* > 0, global minimiser."""
    return (
        common.loss_is(context.run, "logistic"),
        positive_best_margin(context),
        global_minimiser(),
    )


def compare_minimiser_margin(context: Context) -> Comparison:
    """Return the last hard margin and gamma* from below, its limit for lambda -> 0; undecided."""
    measured = common.last_value(context.trace("hard_margin"))
    reason = "a limit in lambda: one run is one point of the path"
    return common.leave_open(">=", best_margin(context, False), measured, reason, "margins")


def classes_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Theorem C.1: cross-entropy, gamma* > 0, global minimiser.

    The last two are undecided for every run.
    """
    positive = Hypothesis("gamma* > 0", "> 0", "not computed for several classes", None)
    return common.loss_is(context.run, "cross_entropy"), positive, global_minimiser()


def leave_classes_open(context: Context) -> Comparison:
    """Return an undecided comparison with the last hard margin: gamma* is not computed."""
    measured = common.last_value(context.trace("hard_margin"))
    reason = "gamma* of several classes is not computed, and one run is one point of the path"
    return common.leave_open(">=", common.NAN, measured, reason, "margins")


def near_minimiser_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Theorem C.2: logistic loss, gamma* > 0, a near-minimiser.

    The last one is undecided for every run.
    """
    text = "L_lambda(Theta) <= alpha L_lambda(Theta_lambda), alpha <= 2, lambda small as stated"
    return (
        common.loss_is(context.run, "logistic"),
        positive_best_margin(context),
        Hypothesis(text, "alpha <= 2", "the global minimum is not known", None),
    )


def compare_near_minimiser_margin(context: Context) -> Comparison:
    """Test the last hard margin >= gamma*/20, gamma* from below.

    It is gamma*/(10 alpha) at alpha = 2. Undecided if gamma* is not known.
    """
    measured = common.last_value(context.trace("hard_margin"))
    # gamma*/(10 alpha) at alpha = 2, the largest of the theorem.
    return common.compare_once(
        ">=", best_margin(context, False) / 20.0, measured, "margins", frame=-1
    )


def unit_neuron_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypothesis |v_j| <= 1 on fixed inner weights, which |Theta|^2 does not include.

    Met if the network has no fixed inner weights.
    """
    text = "every weight counts in |Theta|: fixed inner weights have |v_j| <= 1"
    fixed = context.run.network.fixed.get("V")
    if fixed is None:
        return (Hypothesis(text, "<= 1", "all weights are trained, or normalised", True),)
    return (common.at_most(text, 1.0, float(np.linalg.norm(fixed, axis=1).max())),)


def compare_margin_with_best(context: Context) -> Comparison:
    """Test the hard margin <= gamma*, from above, at frames where it is not negative.

    A violation is undecided unless both ends of gamma* are proved.
    """
    trace = context.trace("hard_margin")
    # hard <= l1/2 <= gamma* requires min p >= 0: with a misclassified example a larger norm
    # increases the margin (docs/theory.md, 3.4).
    comparison = common.compare_all_frames(
        "<=", best_margin(context, True), trace, "margins", trace >= 0.0
    )
    return common.where_proved(context, best_margin_name(context.run), comparison)


def separation_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Corollary 4.2: a known law of the data, a hard margin >= 0."""
    margin = context.trace("hard_margin")
    least = common.at_least("a separating Theta: its margin", 0.0, margin)
    return common.known_law(context.run, "independent examples"), least


def compare_error_with_margin_bound(context: Context) -> Comparison:
    """Compare the test error with the upper bound for depth q = 2, at frames of positive margin.

    C/(gamma sqrt2 sqrt n) + sqrt(ln log2(4C/gamma)/n) + sqrt(ln(1/delta)/n), where C = max |x_i|,
    gamma is the frame's hard margin and log2 counts as at least 1. `holds` is no verdict: the
    statement has `constants=False`.
    """
    run, margin = context.run, context.trace("hard_margin")
    # C of the paper is max |x|, and two layers have depth q = 2.
    n, size = run.dataset.n, float(np.linalg.norm(run.dataset.x, axis=1).max())
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = np.log(np.maximum(np.log2(4.0 * size / margin), 1.0))
        bound = size / (margin * math.sqrt(2.0 * n)) + np.sqrt(inner / n)
    bound = bound + math.sqrt(math.log(1.0 / context.delta) / n)
    trace = context.trace("test_error")
    return common.compare_all_frames("<=", bound, trace, "test_error", margin > 0.0)


def is_perturbed(run: Run) -> bool:
    """Return True for the dynamics `perturbed`, which train the standard network alone."""
    return bool(run.experiment.dynamics.kind == "perturbed")


def differentiable_features() -> Hypothesis:
    """Return the hypothesis of differentiable features, which fails for every run (ReLU)."""
    return Hypothesis("Assumption 3.1: Phi differentiable", "smooth", "ReLU (footnote 3)", False)


def flow_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Theorem 3.3: differentiable features, and a small sigma.

    The first one fails for every run (`differentiable_features`), the second one is undecided.
    """
    sigma = float(getattr(context.run.experiment.dynamics, "sigma", 0.0))
    return (
        differentiable_features(),
        Hypothesis(
            "sigma = exp(-d log(1/e) poly)", "unquantified", common.format_number(sigma), None
        ),
    )


def compare_last_risk_with_first(context: Context) -> Comparison:
    """Compare the last risk with the first risk, an upper bound, since L* is not known.

    Both are without the penalty. `holds` is no verdict: the statement has `constants=False`.
    """
    trace = context.trace("risk")
    return common.compare_once("<=", float(trace[0]), float(trace[-1]), "log10_risk", frame=-1)


D_WHERE = "data of kind wei19"
PENALISED = (is_penalised, "logistic loss with l2 > 0")
PERTURBED = (is_perturbed, "the perturbed flow")
STATEMENTS = (
    of_wei19(
        "Theorem 2.1 (i)",
        "With d^2 samples or fewer the kernel still errs.",
        r"\Pr[y f_{\mathrm{kernel}}(x) \leq 0] = \Omega(1), \quad n \leq d^2",
        is_kernel_on_wei19_data,
        f"{D_WHERE}, kernel predictors",
        gap_hypotheses,
        compare_kernel_error,
        constants=False,
    ),
    of_wei19(
        "Theorem 2.1 (ii)",
        "The regularised network needs of order d samples.",
        r"\Pr[y f(x) \leq 0] \lesssim \sqrt{d / n}",
        is_network_on_wei19_data,
        f"{D_WHERE}, logistic loss",
        network_hypotheses,
        compare_network_error,
        "The text's O(d^2) samples should be O(d).",
        constants=False,
    ),
    of_wei19(
        "Theorem 3.3",
        "The perturbed flow finds the global optimum in polynomial time.",
        r"\min_{t \leq t_\epsilon} L[\rho_t] - L^* \leq \epsilon",
        *PERTURBED,
        flow_hypotheses,
        compare_last_risk_with_first,
        "In Example 3.2 the regulariser is a sum over i, in (2.2) a mean.",
        constants=False,
    ),
    of_wei19(
        "Theorem 4.1",
        "Margins of regularised minimisers converge to the maximum margin.",
        r"\gamma_\lambda \rightarrow \gamma^*, \quad \lambda \rightarrow 0",
        *PENALISED,
        minimiser_hypotheses,
        compare_minimiser_margin,
    ),
    of_wei19(
        "Theorem C.1",
        "With several classes, margins of regularised minimisers converge too.",
        r"\gamma_\lambda \rightarrow \gamma^*, \quad \lambda \rightarrow 0",
        has_many_classes,
        "multiclass with l2 > 0",
        classes_hypotheses,
        leave_classes_open,
    ),
    of_wei19(
        "Theorem C.2",
        "Near-minimisers have a tenth of the maximum margin, or a twentieth.",
        r"\gamma' \geq \gamma^* / (10\, \alpha), \quad \alpha \leq 2",
        *PENALISED,
        near_minimiser_hypotheses,
        compare_near_minimiser_margin,
    ),
    of_wei19(
        "Theorem 4.3, Proposition B.10",
        "No width has a larger margin than gamma*.",
        r"\gamma(\Theta) \leq \gamma^*_m \leq \gamma^*_{n+1} = \gamma_{\ell_1} / 2",
        has_bounded_margin,
        "standard, scalar, normalised; bias in one dimension",
        unit_neuron_hypotheses,
        compare_margin_with_best,
    ),
    of_wei19(
        "Corollary 4.2, Proposition D.1",
        "Margins bound the test error, up to a constant.",
        r"L(\Theta) \lesssim \frac{C}{\gamma \sqrt{2 n}} + \epsilon(\gamma)",
        is_fully_trained,
        "trained two-layer networks",
        separation_hypotheses,
        compare_error_with_margin_bound,
        constants=False,
    ),
)
