"""frei23, section 4 and appendix E: gradient descent on the smoothed leaky network.

n examples x_i in R^d, p_i = y_i f(x_i), L the mean loss, Rmin and Rmax the extremes of |x_i|, R =
Rmax/Rmin, gamma the activation's least slope, m neurons with weights w_j, alpha the step, and
Ghat_s the mean of |l'(p_i)| after s steps. "From step 1 on" leaves out frames at t = 0.
"""

from __future__ import annotations

import math

import numpy as np

from core.network.standard import FixedOuter, FixedOuterNetwork
from core.observables.proofs import sum_bounds
from core.runs import Run
from core.study_file.descent import GradientDescent
from core.theorems import common
from core.theorems.common import Array
from core.theorems.frei23_data import (
    input_length_range,
    input_length_ratio,
    leaky_slope,
    of_frei23,
    orthogonality,
    outer_layer,
)
from core.theorems.statement import Comparison, Context, Hypothesis


def is_smooth_descent(run: Run) -> bool:
    """Return True for the smoothed leaky network, full-batch descent and the logistic loss.

    The least slope must be positive. A penalty is allowed (a hypothesis excludes it).
    """
    network = run.network
    if not isinstance(network, FixedOuter) or network.homogeneous:
        return False
    descent = isinstance(run.experiment.dynamics, GradientDescent)
    return descent and run.loss.kind == "logistic" and network.activation.slope > 0.0


def c_r(run: Run) -> float:
    """Return C_R = 10 R^2/gamma^2 + 10; infinite if an input is zero."""
    return 10.0 * input_length_ratio(run) ** 2 / leaky_slope(run) ** 2 + 10.0


def largest_step(run: Run) -> float:
    """Return the largest step of (A1): gamma^2/(5 n Rmax^2 R^2 C_R max(1, H)).

    gamma is the slope of the activation, and H = (1 - gamma)/4. 0 if an input is zero.
    """
    _, high = input_length_range(run)
    # max(1, H) = 1, since H = (1 - gamma)/4 is the largest second derivative of the activation.
    divisor = 5.0 * run.dataset.n * high**2 * input_length_ratio(run) ** 2 * c_r(run)
    return common.divide(leaky_slope(run) ** 2, divisor)


def start_scale(run: Run) -> float:
    """Return w of the start W(0) ~ N(0, w^2), a standard deviation; NaN for other programs.

    It is the setting's multiple of sqrt(2/(m + d)), not measured on W(0).
    """
    # The paper's w_TF = sqrt(2/(m + d)), and its "1/50", are standard deviations, not variances.
    section = run.experiment.network
    assert isinstance(section, FixedOuterNetwork)
    if run.is_external:  # by another program, with an unknown law
        return math.nan
    return float(section.init_multiple * math.sqrt(2.0 / (run.network.m + run.dataset.d)))


def largest_start(context: Context) -> float:
    """Return the largest w of (A2): alpha gamma^2 Rmin/(72 R C_R n sqrt(m d log(4m/delta))).

    log is natural, delta the context's. 0 if an input is zero.
    """
    run = context.run
    low, high = input_length_range(run)
    m, d = run.network.m, run.dataset.d
    root = math.sqrt(m * d * math.log(4.0 * m / context.delta))
    step = common.step_size(run)
    divisor = 72.0 * high * c_r(run) * run.dataset.n * root
    return common.divide(step * leaky_slope(run) ** 2 * low**2, divisor)


def standing_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the standing assumptions of appendix E, but for those on the data.

    They are the logistic loss, no penalty, a_j = +-1/sqrt(m), the start's law, alpha <=
    `largest_step` and w <= `largest_start`.
    """
    run = context.run
    return (
        common.loss_is(run, "logistic"),
        common.plain_risk(run),
        outer_layer(run),
        common.paper_start(run, "W ~ N(0, w^2)"),
        common.at_most("step alpha (A1)", largest_step(run), common.step_size(run)),
        common.at_most("start w (A2)", largest_start(context), start_scale(run)),
    )


def descent_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Theorem 4.2: `standing_hypotheses`, Rmin^2 >= 5 gamma^-2 C_R n P."""
    factor = 5.0 * leaky_slope(context.run) ** -2 * c_r(context.run)
    return *standing_hypotheses(context), orthogonality(context.run, "5 gamma^-2 C_R", factor)


def fitting_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Lemma E.11 (c): `standing_hypotheses`, Rmin^2 >= 8 gamma^-2 n P."""
    factor = 8.0 * leaky_slope(context.run) ** -2
    return *standing_hypotheses(context), orthogonality(context.run, "8 gamma^-2", factor)


def frames_after_start(run: Run) -> Array:
    """Return the mask of frames with at least one step taken, the frame of step 1 included.

    Parameters
    ----------
    run : Run
        Open run.

    Returns
    -------
    array (T,) of bool
    """
    return np.asarray(run.steps[: run.frames] >= 1)


def lower_loss_sums(context: Context) -> Array:
    """Return lower bounds of alpha sum_(s<t) Ghat_s, t the steps taken up to each frame.

    Parameters
    ----------
    context : Context
        Run and its reference margins.

    Returns
    -------
    array (T,)
        Bounds, since frames leave out steps; they never decrease.
    """
    return sum_bounds(context.run)[0].cumsum()


def compare_loss(context: Context) -> Comparison:
    """Test log10 L <= log10 of 2 sqrt(16 L(0) n R^2/(gamma^2 Rmin^2 alpha T)) from step 1 on.

    T - 1 is the number of steps taken.
    """
    run = context.run
    low, _ = input_length_range(run)
    risk = context.trace("log10_risk")
    constant = common.divide(
        16.0 * run.dataset.n * input_length_ratio(run) ** 2, leaky_slope(run) ** 2 * low**2
    )
    # T counts iterates from W^(0): W^(T-1) is the iterate after t = T - 1 steps.
    steps = run.steps[: run.frames].astype(np.float64) + 1.0
    start = common.log(constant / common.step_size(run)) / math.log(10.0)
    inside = start + float(risk[0]) - np.log10(steps)
    bound = math.log10(2.0) + 0.5 * inside
    return common.compare_all_frames("<=", bound, risk, "log10_risk", frames_after_start(run))


def compare_neuron_growth(context: Context) -> Comparison:
    """Test min_j |w_j|/|a_j| >= `lower_loss_sums` Rmin^2/(4 sqrt2 Rmax sqrt n) from step 1 on."""
    run = context.run
    assert isinstance(run.network, FixedOuter)
    low, high = input_length_range(run)
    a = np.abs(run.network.fixed["a"])
    smallest = np.array(
        [
            float((np.linalg.norm(run.network.unpack(run.parameters(k))["V"], axis=1) / a).min())
            for k in range(run.frames)
        ]
    )
    factor = common.divide(low**2, 4.0 * math.sqrt(2.0) * high * math.sqrt(run.dataset.n))
    return common.compare_all_frames(
        ">=", factor * lower_loss_sums(context), smallest, frames=frames_after_start(run)
    )


def compare_stable_rank(context: Context) -> Comparison:
    """Test |W_t|_F^2/|W_t|_2^2 <= 256 C_R R^4/gamma^2 from step 1 on."""
    run = context.run
    bound = 256.0 * c_r(run) * input_length_ratio(run) ** 4 / leaky_slope(run) ** 2
    trace = context.trace("stable_rank")
    return common.compare_all_frames("<=", bound, trace, "stable_rank", frames_after_start(run))


def start_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypothesis of the start's law W(0) ~ N(0, w^2), with any w."""
    return (common.paper_start(context.run, "W ~ N(0, w^2)"),)


def compare_start_norms(context: Context) -> Comparison:
    """Test max_j |w_j(0)|^2 <= 5 w^2 d log(4m/delta), w of `start_scale`."""
    run = context.run
    V = run.network.unpack(run.origin)["V"]
    largest = float(np.square(V).sum(axis=1).max())
    logarithm = math.log(4.0 * run.network.m / context.delta)
    limit = 5.0 * start_scale(run) ** 2 * run.dataset.d * logarithm
    return common.compare_once("<=", limit, largest, frame=0)


def compare_start_means(context: Context) -> Comparison:
    """Test max_j |<w_j(0), mubar>| <= 2 w sqrt(log(4m/delta)), mubar = sum_i y_i x_i over its norm.

    w is that of `start_scale`.
    """
    run = context.run
    V = run.network.unpack(run.origin)["V"]
    mean = run.dataset.y @ run.inputs
    # In row-space form V has one more coordinate, orthogonal to all inputs and their mean.
    inner = np.abs(V[:, : mean.size] @ mean).max() / np.linalg.norm(mean)
    bound = 2.0 * start_scale(run) * math.sqrt(math.log(4.0 * run.network.m / context.delta))
    return common.compare_once("<=", bound, float(inner), frame=0)


def compare_loss_ratio(context: Context) -> Comparison:
    """Test max over i, j of l'(p_i)/l'(p_j) <= C_R at every frame."""
    ratio = 10.0 ** context.trace("log10_loss_ratio")  # infinite where the column has no number
    return common.compare_all_frames("<=", c_r(context.run), ratio, "loss_ratio")


def compare_start_ratio(context: Context) -> Comparison:
    """Test max_i p_i - min_i p_i <= 2 at the start: exponential losses differ by e^2 at most."""
    run = context.run
    p = run.network.margins(run.origin, run.inputs, run.dataset.y)
    return common.compare_once("<=", 2.0, float(p.max() - p.min()), frame=0)


def compare_first_step(context: Context) -> Comparison:
    """Test min_i p_i > 0 at the first recorded frame with a step; undecided without a frame."""
    run = context.run
    after = np.flatnonzero(frames_after_start(run))
    if not after.size:
        return common.leave_open(">=", 0.0, common.NAN, "no step is recorded yet")
    index = int(after[0])
    p = run.network.margins(run.parameters(index), run.inputs, run.dataset.y)
    if p.min() == 0.0:  # the statement's > is strict
        return Comparison(">=", 0.0, 0.0, False, "train_error", frame=index)
    return common.compare_once(">=", 0.0, float(p.min()), "train_error", frame=index)


def compare_frobenius_norm(context: Context) -> Comparison:
    """Test |W_t|_F <= |W_0|_F + sqrt(2 C_R) Rmax/sqrt n alpha sum_(s<t) Ghat_s at every frame.

    The sum is taken from above.
    """
    run = context.run
    size = np.sqrt(context.trace("norm_squared"))
    rate = math.sqrt(2.0 * c_r(run)) * input_length_range(run)[1] / math.sqrt(run.dataset.n)
    bound = size[0] + rate * sum_bounds(run)[1].cumsum()
    return common.compare_all_frames("<=", bound, size, "norm_squared")


def compare_spectral_norm(context: Context) -> Comparison:
    """Test |W_t|_2 >= gamma Rmin/(4 sqrt2 R sqrt n) `lower_loss_sums` from step 1 on.

    |W_t|_2 is the largest singular value.
    """
    run = context.run
    low, high = input_length_range(run)
    divisor = 4.0 * math.sqrt(2.0) * high * math.sqrt(run.dataset.n)
    factor = common.divide(leaky_slope(run) * low**2, divisor)
    trace = context.trace("sigma_1")
    return common.compare_all_frames(
        ">=", factor * lower_loss_sums(context), trace, "sigma_1", frames_after_start(run)
    )


def compare_gradient(context: Context) -> Comparison:
    """Test |grad L| >= gamma Rmin/(2 sqrt2 R sqrt n) Ghat from step 1 on: 3/4 of (15)'s constant.

    Measured is |grad L| over the right-hand side of (15), and the bound is .75.
    """
    # 3/4 of sqrt(2)/3 is 1/(2 sqrt 2).
    return common.compare_all_frames(
        ">=", 0.75, context.trace("proxy_pl"), "proxy_pl", frames_after_start(context.run)
    )


def compare_start_rank(context: Context) -> Comparison:
    """Compare |W_0|_F^2/|W_0|_2^2 with m d/(sqrt m + sqrt d)^2, that of a Gaussian matrix.

    `holds` is no verdict: the statement has `constants=False`.
    """
    run = context.run
    m, d = run.network.m, run.dataset.d
    # The edge of the Marchenko-Pastur law; not a statement of the paper.
    expected = m * d / (math.sqrt(m) + math.sqrt(d)) ** 2
    return common.compare_once(
        "<=", expected, float(context.trace("stable_rank")[0]), "stable_rank"
    )


SMOOTH = (is_smooth_descent, "fixed_outer, smooth, under gradient descent with the logistic loss")
DESCENT = (*SMOOTH, descent_hypotheses)
START = (*SMOOTH, start_hypotheses)
SUMS = "Sums between recorded frames are interpolated (1 %)."
STATEMENTS = (
    of_frei23(
        "Theorem 4.2, item 1",
        "The loss falls like 1/sqrt(t) (log10 of the loss).",
        r"L(W^{(T-1)}) \leq 2 \sqrt{\frac{16\, L(0)\, n R^2}{\gamma^2 R_{\min}^2\, \alpha\, T}}",
        *DESCENT,
        compare_loss,
        "The constant is that of appendix E.7; the text has C_1.",
    ),
    of_frei23(
        "Theorem 4.2, item 2",
        "Every neuron grows without bound.",
        r"\Vert w_j^{(t)} \Vert \geq \frac{\alpha |a_j| R_{\min}^2}{4 \sqrt{2} R_{\max} \sqrt{n}} "
        r"\sum_{s<t} \hat{G}_s",
        *DESCENT,
        compare_neuron_growth,
        SUMS,
    ),
    of_frei23(
        "Theorem 4.2, item 3",
        "The stable rank is bounded from the first step on.",
        r"\sup_{t \geq 1} \Vert W^{(t)} \Vert_F^2 / \Vert W^{(t)} \Vert_2^2 \leq 256\, C_R R^4 / "
        r"\gamma^2",
        *DESCENT,
        compare_stable_rank,
        "The constant is the appendix's; the text has C_2.",
    ),
    of_frei23(
        "Lemma E.1 (norms)",
        "All neurons are small at initialisation.",
        r"\Vert w_j^{(0)} \Vert^2 \leq 5\, \omega^2 d \log(4 m / \delta)",
        *START,
        compare_start_norms,
    ),
    of_frei23(
        "Lemma E.1 (mean)",
        "No neuron is initially aligned with the mean direction.",
        r"|\langle w_j^{(0)}, \bar\mu \rangle| \leq 2\, \omega \sqrt{\log(4 m / \delta)}",
        *START,
        compare_start_means,
    ),
    of_frei23(
        "Lemma E.4",
        "No example's loss dominates the others.",
        r"\sup_t \max_{i,j} \ell'(p_i) / \ell'(p_j) \leq C_R",
        *DESCENT,
        compare_loss_ratio,
    ),
    of_frei23(
        "Lemma E.11 (a)",
        "Initial exponential losses are alike (logarithms).",
        r"\max_{i,j} (p_i - p_j) \leq 2",
        *SMOOTH,
        standing_hypotheses,
        compare_start_ratio,
    ),
    of_frei23(
        "Lemma E.11 (c)",
        "One step fits all examples.",
        r"\min_i y_i f(x_i; W^{(1)}) > 0",
        *SMOOTH,
        fitting_hypotheses,
        compare_first_step,
    ),
    of_frei23(
        "Lemma E.12",
        "The weights grow no faster than the losses allow.",
        r"\Vert W^{(t)} \Vert_F \leq \Vert W^{(0)} \Vert_F + \frac{\sqrt{2 C_R} R_{\max} \alpha}"
        r"{\sqrt{n}} \sum_{s<t} \hat{G}_s",
        *DESCENT,
        compare_frobenius_norm,
        SUMS,
    ),
    of_frei23(
        "Lemma E.13",
        "The top singular value grows with the sum of the losses.",
        r"\Vert W^{(t)} \Vert_2 \geq \frac{\alpha \gamma R_{\min}}{4 \sqrt{2} R \sqrt{n}} "
        r"\sum_{s<t} \hat{G}_s",
        *DESCENT,
        compare_spectral_norm,
        SUMS,
    ),
    of_frei23(
        "Lemma E.14",
        "The gradient is large wherever the loss is.",
        r"\Vert \nabla L \Vert \geq \frac{\gamma R_{\min}}{2 \sqrt{2} R \sqrt{n}} \hat{G}",
        *DESCENT,
        compare_gradient,
    ),
    of_frei23(
        "Initial stable rank",
        "A Gaussian matrix has about this stable rank.",
        r"\approx m d / (\sqrt{m} + \sqrt{d})^2",
        *START,
        compare_start_rank,
        constants=False,
    ),
)
