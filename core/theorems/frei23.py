"""frei23, Theorems 3.1 and 3.4, Lemmas 3.3 and B.8: gradient flow of the leaky network.

L is the mean of l(y_i f(x_i)) over the n training examples x_i in R^d with labels y_i = +-1. Rmin,
Rmax are the extremes of |x_i|, R = Rmax/Rmin, and gamma is the slope of the leaky ReLU. Problem (3)
is the paper's reduced max-margin problem in the two mean neurons.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.observables.registry import OBSERVABLES
from core.reference.leaky import solve_leaky_problem
from core.runs import Run
from core.theorems import common
from core.theorems.frei23_data import (
    coherence,
    flow_hypotheses,
    input_length_range,
    input_length_ratio,
    is_leaky,
    is_leaky_flow,
    leaky_slope,
    near_orthogonal,
    of_frei23,
)
from core.theorems.frei23_points import (
    CERTIFIED,
    KKT,
    ROOM,
    WHERE,
    largest_margin_deviation,
    make_item_comparison,
)
from core.theorems.statement import Comparison, Context, Hypothesis
from core.theorems.states import State

LN_2 = math.log(2.0)

# ------------------------------------------------------------------------- Theorems 3.1 and 3.4


def fit_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Theorem 3.1: flow, exponential tail, a time with L < log(2)/n.

    log is the natural logarithm. A frame meets the last condition from the first fit on, also where
    L grows again.
    """
    run = context.run
    needed = math.log10(math.log(2.0) / run.dataset.n)
    smallest = np.minimum.accumulate(context.trace("log10_risk"))
    reached = common.less_than("log10 L(t_0) < log10 log(2)/n", needed, smallest)
    return common.flow(run), common.exp_tailed(run), reached


def compare_kkt_residual(context: Context) -> Comparison:
    """Test the relative `kkt_residual` of the last frame <= .01; else undecided, never violated."""
    residual = float(OBSERVABLES[KKT].value_at(context.run, context.run.frames - 1))
    comparison = common.compare_once("<=", 0.01, residual, KKT, frame=-1)
    if comparison.holds:
        return comparison
    reason = "a limit without a rate: not reached yet"
    return replace(common.leave_open("<=", 0.01, residual, reason, KKT), frame=-1)


def compare_fit_time(context: Context) -> Comparison:
    """Compare log10 t_0 with its bound as `bracket_fit_time` does, with a state for each frame.

    Frames HOLD from the first fit on if the bound holds. If the bound is violated, frames later
    than it FAIL. All other frames are OPEN.
    """
    comparison, fits = bracket_fit_time(context), fitted_frame_indices(context)
    times = context.run.log10_time[: context.run.frames]
    states = np.full(times.shape, State.OPEN, dtype=np.int8)
    if comparison.holds:
        states[fits[0] :] = State.HOLDS
    elif comparison.holds is False:
        states[times > comparison.bound] = State.FAILS
    return replace(
        comparison, states=states, limit=True, frame=None if comparison.holds is None else -1
    )


def fitted_frame_indices(context: Context) -> NDArray[np.intp]:
    """Return the indices of all frames with L < log(2)/n, log the natural logarithm.

    Parameters
    ----------
    context : Context
        Run and its reference margins.

    Returns
    -------
    array (at most T,) of int
        Indices, in increasing order.
    """
    return np.flatnonzero(context.trace("log10_risk") < math.log10(LN_2 / context.run.dataset.n))


def bracket_fit_time(context: Context) -> Comparison:
    """Test log10 t_0 <= log10 of 85 L(0) R^2 n^3/(gamma^2 Rmin^2).

    t_0 is the first time with L < log(2)/n. The bound holds if the first frame with a fit is in
    time. The bound is violated if a frame without any fit so far is later. Otherwise undecided: no
    fit yet, no frame between, an input is zero, or the first frame fits at t = 0.
    """
    run = context.run
    low, _ = input_length_range(run)
    risk = context.trace("log10_risk")
    n = run.dataset.n
    # In logarithms, since t_0 may exceed float64.
    constant = common.divide(
        85.0 * input_length_ratio(run) ** 2 * n**3, leaky_slope(run) ** 2 * low**2
    )
    bound = float(risk[0]) + common.log(constant) / math.log(10.0)
    fits = fitted_frame_indices(context)
    # t_0 is after the last frame before the fit, and at or before the first one with it.
    before = int(fits[0]) - 1 if fits.size else run.frames - 1
    unfit = float(run.log10_time[before]) if before >= 0 else -math.inf
    if math.isnan(bound):
        return common.leave_open("<=", bound, common.NAN, "an input is zero: no bound exists")
    if unfit > bound:
        return common.compare_once("<=", bound, unfit)
    if not fits.size:
        return common.leave_open("<=", bound, common.NAN, "L < log(2)/n is not reached yet")
    first = float(run.log10_time[fits[0]])
    if first > bound:
        return common.leave_open(
            "<=", bound, first, "no frame is recorded between t_0 and the bound"
        )
    return common.compare_once("<=", bound, first)


def compare_proxy_pl(context: Context) -> Comparison:
    """Test |grad L| over the right-hand side of (15) >= 1 at every frame.

    The right-hand side is sqrt2 Rmin gamma Ghat/(3 R sqrt n), Ghat the mean of |l'(y_i f(x_i))|.
    """
    return common.compare_all_frames(">=", 1.0, context.trace("proxy_pl"), "proxy_pl")


def compare_mean_direction(context: Context) -> Comparison:
    """Test min over k of <muhat/|muhat|, y_k x_k> >= sqrt2 Rmin/(3 R sqrt n).

    muhat = sum_i y_i x_i; the left side counts as 0 if it vanishes. Data alone, at no frame.
    """
    run = context.run
    low, high = input_length_range(run)
    signed = run.dataset.y[:, None] * run.dataset.x
    mean = signed.sum(axis=0)
    size = float(np.linalg.norm(mean))
    measured = float((signed @ mean).min()) / size if size > 0.0 else 0.0
    # Rmin/R is Rmin^2/Rmax.
    bound = common.divide(math.sqrt(2.0) * low**2, 3.0 * high * math.sqrt(run.dataset.n))
    return common.compare_once(">=", bound, measured)


def orthogonality_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return `near_orthogonal` (Rmin^2 >= 3 gamma^-3 R^2 n P) as the only hypothesis."""
    return (near_orthogonal(context.run),)


def lemma_3_3_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypothesis of Lemma 3.3 on the law of the inputs, always undecided."""
    run = context.run
    text = "x_i ~ N(0, Sigma), Tr Sigma = d, |Sigma| = O(1)"
    return (Hypothesis(text, "Gaussian", run.experiment.data.kind, None),)


def compare_coherence(context: Context) -> Comparison:
    """Compare max over i != j of |<x_i, x_j>|/d with sqrt(ln n / d), an upper bound as an O(.).

    `holds` is no verdict: the statement has `constants=False`.
    """
    run = context.run
    n, d = run.dataset.n, run.dataset.d
    return common.compare_once("<=", math.sqrt(math.log(n) / d), coherence(run) / d)


def is_three_point(run: Run) -> bool:
    """Return True for `is_leaky` on three_point data, slope 1/2, equally many a_j of each sign."""
    if not is_leaky(run) or run.experiment.data.kind != "three_point":
        return False
    # The lemma's closed form is for m_1 = m_2.
    balanced = abs(float(np.sign(run.network.fixed["a"]).sum())) < 0.5
    return leaky_slope(run) == 0.5 and balanced


def compare_multipliers(context: Context) -> Comparison:
    """Test that the multipliers of problem (3) equal their closed form, to 1e-9 absolute.

    The problem is solved for the run's data, whatever its frames. Undecided without a solution.
    """
    run = context.run
    eps = float(run.experiment.data.eps)  # type: ignore[attr-defined]
    best = solve_leaky_problem(run.dataset.x, run.dataset.y, 0.5, 0.5, 0.5)
    expected = np.array([8.0 / (4.0 * eps + 5.0), 8.0 / (4.0 * eps + 5.0), 1.6])
    difference = common.NAN if best is None else float(np.abs(best.multipliers - expected).max())
    # Both are closed forms, and differ by rounding alone.
    return common.compare_once("<=", 1e-9, difference)


def b_8_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypothesis of Lemma B.8, eps <= 1/72, eps the setting of three_point data."""
    eps = float(context.run.experiment.data.eps)  # type: ignore[attr-defined]
    return (common.at_most("eps <= 1/72", 1.0 / 72.0, eps),)


LEAKY = (is_leaky, "fixed_outer with a leaky ReLU")
FLOW = (is_leaky_flow, WHERE, flow_hypotheses)
STATEMENTS = (
    of_frei23(
        "Theorem 3.1",
        "Gradient flow tends to a KKT point (to a residual of .01).",
        r"\min \frac{1}{2} \Vert W \Vert^2 \quad \mathrm{s.t.} \quad y_i f(x_i; W) \geq 1",
        *CERTIFIED,
        fit_hypotheses,
        compare_kkt_residual,
        "Printed with log 2 for both losses; for the exponential one l(0)/n = 1/n is enough.",
    ),
    of_frei23(
        "Lemma 3.3",
        "Gaussian data are nearly orthogonal in high dimension.",
        r"|\langle x_i, x_j \rangle| / d = \mathcal{O}(\sqrt{\log n / d})",
        *LEAKY,
        lemma_3_3_hypotheses,
        compare_coherence,
        constants=False,
    ),
    of_frei23(
        "Theorem 3.4 (time)",
        "Gradient flow fits the data by this time (log10 t).",
        r"t_0 \leq 85\, L(0)\, R^2 n^3 / (\gamma^2 R_{\min}^2)",
        *FLOW,
        compare_fit_time,
    ),
    of_frei23(
        "Theorem 3.4 (15)",
        "The gradient is large wherever the loss is.",
        r"\Vert \nabla L \Vert \geq \frac{\sqrt{2} R_{\min} \gamma}{3 R \sqrt{n}} \hat{G}",
        *FLOW,
        compare_proxy_pl,
    ),
    of_frei23(
        "Theorem 3.4 (mean)",
        "The mean direction separates the data.",
        r"\langle \hat\mu / \Vert \hat\mu \Vert, y_k x_k \rangle \geq \sqrt{2} R_{\min} / (3 R "
        r"\sqrt{n})",
        *LEAKY,
        orthogonality_hypotheses,
        compare_mean_direction,
    ),
    of_frei23(
        "Corollary 3.5",
        f"Gradient flow reaches the point of Theorem 3.2{ROOM}.",
        r"\max_i |y_i f(x_i; W) - 1| \leq 10^{-3}",
        *CERTIFIED,
        flow_hypotheses,
        make_item_comparison(largest_margin_deviation),
    ),
    of_frei23(
        "Lemma B.8",
        "Multipliers of the counterexample (a check by Marginscope).",
        r"\lambda = \left(\frac{8}{4 \epsilon + 5}, \frac{8}{4 \epsilon + 5}, \frac{8}{5}\right)",
        is_three_point,
        "three_point data, slope 1/2",
        b_8_hypotheses,
        compare_multipliers,
    ),
)
