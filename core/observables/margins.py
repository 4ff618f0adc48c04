"""Risk, margins and dual weights.

f is L-homogeneous in W_h = e^rho * flat_h, the homogeneous parameters, L = `network.degree`, so
that outputs, scores and margins at W are e^(L rho) times those at the flat parameters. Scores are
the arguments of the loss: the margins p_i, or for k > 2 classes the k - 1 margins P_ic of an
example's own logit over each other logit.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from core.network.parametrisation import margins_of
from core.network.recorded_network import why_no_output
from core.observables.observable import (
    HOMOGENEOUS,
    LABELLED,
    MEAN,
    SHARE,
    Observable,
    Shape,
    cached_per_frame,
    has_labels,
)
from core.runs import Run

Array = NDArray[np.float64]
ATOM = 1e-3
LARGEST_EXPONENT = 700.0  # e to a larger exponent may overflow


@cached_per_frame
def flat_outputs(run: Run, index: int) -> Array:
    """Return the network's outputs at the frame's flat parameters.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (n,) or (n, k)
        f(x_i), or the k logits of each example.
    """
    return run.problem.outputs(run.parameters(index))


def flat_margins(run: Run, index: int) -> Array:
    """Return the margins at the frame's flat parameters.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (n,)
        p_i = y_i f(x_i); for k classes, own logit minus the largest other.
    """
    return margins_of(flat_outputs(run, index), run.dataset.y)


def flat_scores(run: Run, index: int) -> Array:
    """Return the arguments of the loss at the frame's flat parameters.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (n,) or (n, k - 1)
        Margins p_i, or for k > 2 classes the margins over each other class.
    """
    return run.loss.scores(flat_outputs(run, index), run.dataset.y)


def scale(run: Run, index: int) -> float:
    """Return e^(L rho), the factor from margins at the flat parameters to margins at W."""
    exponent = run.network.degree * run.rho[index]
    if exponent < LARGEST_EXPONENT:  # the common case; errstate is slow
        return float(np.exp(exponent))
    with np.errstate(over="ignore"):
        return float(np.exp(exponent))


def flat_norm_power(run: Run, index: int) -> float:
    """Return the divisor of margins: |flat_h|^L, 1 for the flow's unit vectors; or |a| |c|."""
    return run.network.norm_power(run.parameters(index))


def _divide(value: float, norm: float) -> float:
    """Return the quotient; NaN for a norm of 0 or NaN."""
    return value / norm if norm > 0.0 else float("nan")


def log10_risk(run: Run, index: int) -> float:
    """Return log10 of the risk with 1/n and without the penalty, also where the risk underflows."""
    log_risk = run.loss.log_risk(scale(run, index) * flat_scores(run, index))
    return log_risk / float(np.log(10.0))


def risk(run: Run, index: int) -> float:
    """Return the risk with 1/n and without the penalty: 0 or inf beyond float64."""
    with np.errstate(over="ignore", under="ignore"):  # log10_risk covers values beyond float64
        return float(np.exp(np.log(10.0) * log10_risk(run, index)))


def hard_margin(run: Run, index: int) -> float:
    """Return min_i p_i over |W|^L, or over |a| |c| with batch norm; NaN where W = 0."""
    return _divide(float(flat_margins(run, index).min()), flat_norm_power(run, index))


def balanced_margin(run: Run, index: int) -> float:
    """Return min_i p_i / |W|^2, for degree 2; NaN where W = 0."""
    # The paper's margins of batch norm are over |a| |c|, at most half of this one; Theorem 3.6 of
    # homogeneity makes this one monotone (docs/theory.md, 3.3).
    squared = run.network.norm(run.parameters(index)) ** 2
    return _divide(float(flat_margins(run, index).min()), squared)


def l2_margin(run: Run, index: int) -> float:
    """Return min_i p_i / |W|^3, for degree 3; NaN where W = 0."""
    # Like that of batch norm: the penalty maximises the margin over N, flow this one.
    cubed = run.network.norm(run.parameters(index)) ** 3
    return _divide(float(flat_margins(run, index).min()), cubed)


def smoothed_margin(run: Run, index: int) -> float:
    """Return the loss's smoothed margin over the divisor of `hard_margin`; NaN where W = 0."""
    factor = scale(run, index)
    smoothed = run.loss.smoothed_margin(factor * flat_scores(run, index))
    return _divide(smoothed, factor * flat_norm_power(run, index))


def l1_margin(run: Run, index: int) -> float:
    """Return min_i p_i over sum_j |s_j| |u_j|^e; NaN if all neurons are 0.

    e is `network.inner_degree`, 2 for neurons that square; the divisor has the degree of f. |u_j|
    counts as 1 for a head.
    """
    s, U = run.network.nodes(run.parameters(index))
    lengths = np.linalg.norm(U, axis=1) if run.network.inner_weights else np.ones(s.shape)
    # To the power that gives the sum the degree of f.
    lengths = lengths**run.network.inner_degree
    return _divide(float(flat_margins(run, index).min()), float(np.abs(s) @ lengths))


def dual_scores(run: Run, index: int) -> Array:
    """Return the dual weight of each score, at the temperature that the flow used.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (n,) or (n, k - 1)
        Beyond the temperature cap, the weights at the cap.
    """
    stored = run.dual(index)
    if stored is not None and run.network.k == 1:
        return stored
    temperature = scale(run, index)
    # Beyond the cap the flow followed the dual weights at the cap, not the exact ones.
    if run.temperature_cap is not None:
        temperature = min(temperature, run.temperature_cap)
    return run.loss.dual(temperature * flat_scores(run, index))


def dual(run: Run, index: int) -> Array:
    """Return the dual weight of each example.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (n,)
        q_i: stored beside float32 frames, else computed from the scores; for k classes the sum over
        the classes. Of sum 1 for the exponential loss, at least 1 for the logistic one.
    """
    stored = run.dual(index)
    if stored is not None:
        return stored
    q = dual_scores(run, index)
    return q if q.ndim == 1 else np.asarray(q.sum(axis=1))


def atoms(run: Run, index: int) -> float:
    """Return the number of examples with a dual weight above `ATOM`, not divided by sum_i q_i."""
    return float(np.count_nonzero(dual(run, index) > ATOM))


def dual_margin(run: Run, index: int) -> float:
    """Return the mean of the scores by their dual weights, over `flat_norm_power`; NaN if W = 0."""
    q = dual_scores(run, index)
    value = float(np.vdot(q, flat_scores(run, index))) / float(q.sum())
    return _divide(value, flat_norm_power(run, index))


def train_error(run: Run, index: int) -> float:
    """Return the share of examples with p_i <= 0 or NaN; NaN for networks without outputs."""
    if why_no_output(run.experiment.network):
        return float("nan")
    # "not p > 0" instead of "p <= 0": a NaN network must not count as perfect.
    return float(np.mean(~(flat_margins(run, index) > 0.0)))


def has_duals(run: Run) -> bool:
    """Return True if the loss tends to zero, so that dual weights exist."""
    return run.loss.monotone


def is_batch_norm(run: Run) -> bool:
    """Return True for networks with batch normalisation, whose divisor is |a| |c|."""
    return run.network.kind == "batch_norm"


def is_quadratic(run: Run) -> bool:
    """Return True for the quadratic activation, with which f is 3-homogeneous in the neurons."""
    return run.network.kind == "quadratic"


of_labels = partial(Observable, applies=has_labels, where=LABELLED)
of_duals = partial(Observable, applies=has_duals, where="losses with duals")
OBSERVABLES = (
    Observable(
        "risk",
        "risk",
        "R = (1/n) sum_i l(p_i)",
        "telgarsky22, section 1.2",
        risk,
        tex=r"R=\frac{1}{n}\sum_{i=1}^n\ell(p_i)",
        normalisation=MEAN,
    ),
    Observable(
        "log10_risk",
        "log10 of the risk",
        "log10 R (base 10), R with 1/n, computed without underflow",
        "telgarsky22, section 1.2",
        log10_risk,
        tex=r"\log_{10}\frac{1}{n}\sum_{i=1}^n\ell(p_i)",
        normalisation="with 1/n; logarithm to base 10",
    ),
    of_labels(
        "hard_margin",
        "hard margin",
        "min_i p_i / |W|^L",
        "telgarsky22, section 1.2; batchnorm, section 1.3",
        hard_margin,
        tex=r"\frac{\min_i p_i}{|W|^L}",
        normalisation=HOMOGENEOUS,
    ),
    of_labels(
        "smoothed_margin",
        "smoothed margin",
        "l^-1(sum_i l(p_i)) / |W|^L, the sum and not the mean; NaN for the squared loss",
        "telgarsky22, section 1.2; homogeneity, section 3",
        smoothed_margin,
        tex=r"\frac{\ell^{-1}(\sum_i\ell(p_i))}{|W|^L}",
        normalisation=HOMOGENEOUS + "; the sum of the losses, without 1/n",
    ),
    of_labels(
        "l1_margin",
        "l1 margin",
        "min_i p_i / sum_j |a_j| |v_j| for the effective weights; |a_j b_j| alone for the head, "
        "|A_j| |v_j|^2 for neurons that square",
        "telgarsky22, Assumption 1.1",
        l1_margin,
        tex=r"\frac{\min_i p_i}{\sum_j|a_j|\,|v_j|}",
        normalisation="divided by sum_j |a_j| |v_j| (l1), of |v_j|^2 where neurons square; half of "
        "it is comparable with margins over |W|^2",
    ),
    Observable(
        "balanced_margin",
        "balanced margin",
        "min_i p_i / (|a|^2 + |c|^2): at most half the hard margin, and monotone",
        "batchnorm, section 1.3",
        balanced_margin,
        applies=is_batch_norm,
        where="batch_norm",
        tex=r"\frac{\min_i p_i}{|a|^2+|c|^2}",
        normalisation="divided by |a|^2 + |c|^2",
    ),
    Observable(
        "l2_margin",
        "margin over |W|^3",
        "min_i p_i / |W|^3: at most the hard margin; gradient flow maximises it in the limit",
        "morwani24, section 3; definition",
        l2_margin,
        applies=is_quadratic,
        where="quadratic",
        tex=r"\frac{\min_i p_i}{|W|^3}",
        normalisation="divided by |W|^3, |W|^2 = |A|_F^2 + |V|_F^2",
    ),
    of_duals(
        "dual_margin",
        "dual margin",
        "sum_i q_i p_i / (|W|^L sum_i q_i): the hard margin from above, to ln(n)/E",
        "telgarsky22, section 1.2",
        dual_margin,
        tex=r"\frac{\sum_i q_i p_i}{|W|^L\,\sum_i q_i}",
        normalisation=HOMOGENEOUS + "; q divided by its sum",
    ),
    of_labels(
        "train_error",
        "training error",
        "share of the n examples that fail p_i > 0",
        "definition",
        train_error,
        unit=SHARE,
        tex=r"\frac{1}{n}\sum_{i=1}^n 1[\mathrm{not}\ p_i>0]",
        normalisation=MEAN,
    ),
    of_duals(
        "atoms",
        "atoms of q",
        "number of i with q_i > 0.001",
        "definition",
        atoms,
        tex=r"\sum_{i=1}^n 1[q_i>10^{-3}]",
        normalisation="a count",
    ),
    of_duals(
        "dual",
        "dual weights",
        "q_i = l'(p_i) / l'(l^-1(sum_k l(p_k))); summed over the classes for more than two",
        "telgarsky22, section 1.2",
        dual,
        shape=Shape.POINT,
        tex=r"q_i=\frac{\ell'(p_i)}{\ell'(\ell^{-1}(\sum_k\ell(p_k)))}",
        normalisation="sum_i q_i = 1 for the exponential loss, at least 1 for the logistic one",
    ),
)
