"""Exact curves of linear networks of any depth, from a balanced start.

Balanced layers along singular vectors of the target move by da/dt = L a^(2-2/L) (s - a): a is the
strength of a mode of a deep linear network, or a coefficient of a diagonal one
(`core.observables.depth_curve`; docs/theory.md, 4.17).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.network.deep_linear import DeepLinear
from core.network.diagonal import DiagonalLinear
from core.observables.depth_curve import DepthCurve
from core.observables.linear_modes import (
    aligned_condition,
    coefficients,
    curvature,
    flow_condition,
    start_in_modes,
    target,
    target_modes,
)
from core.observables.observable import cached_per_run
from core.observables.prediction import Prediction
from core.runs import Run

Array = NDArray[np.float64]


# -------------------------------------------------------------------------------- deep networks


def is_deep(run: Run) -> bool:
    """Return True for a deep linear network on real targets."""
    return isinstance(run.network, DeepLinear) and run.dataset.real


@cached_per_run
def _mode_curves(run: Run) -> tuple[DepthCurve | None, ...]:
    """Return the curve of each mode; None for one that the start lacks, which stays 0."""
    (_, values), (strengths, _) = target_modes(run), start_in_modes(run)
    return tuple(
        DepthCurve.from_start(s, a, run.network.degree) if a > 0.0 else None
        for s, a in zip(values.tolist(), strengths.tolist(), strict=True)
    )


def predict_mode(run: Run, number: int, t: Array) -> Array:
    """Return the strength of one mode of an aligned start.

    Parameters
    ----------
    run : Run
        Run of a deep linear network to which `aligned_condition` does not object.
    number : int
        Number of the mode, from 1, in the order of `target_modes`.
    t : array (T,)
        Times.

    Returns
    -------
    array (T,)
        Strengths.
    """
    scaled = curvature(run) * np.asarray(t, dtype=np.float64)
    curve = _mode_curves(run)[number - 1]
    return np.zeros(scaled.shape) if curve is None else curve.values(scaled)


def predict_modes(run: Run, t: Array) -> Array:
    """Return the strength of each mode of an aligned start.

    Parameters
    ----------
    run : Run
        Run of a deep linear network to which `aligned_condition` does not object.
    t : array (T,)
        Times of the run, >= 0.

    Returns
    -------
    array (T, r)
        Strengths, in the order of `target_modes`.
    """
    numbers = range(1, len(_mode_curves(run)) + 1)
    return np.stack([predict_mode(run, number, t) for number in numbers], axis=1)


def deep_values(run: Run, t: Array) -> Array:
    """Return the strength of the target in a deep linear network.

    Parameters
    ----------
    run : Run
        Open run.
    t : array (T,)
        Times of the run, >= 0.

    Returns
    -------
    array (T,)
        <s/|s|, beta>, as the observable mode_strength; over all modes of several outputs.
    """
    _, values = target_modes(run)
    return np.asarray(predict_modes(run, t) @ (values / np.linalg.norm(values)))


@cached_per_run
def _target_risk(run: Run) -> float:
    """Return the risk of the target, which no linear predictor goes below."""
    residual = run.dataset.y - run.inputs @ target(run)
    return 0.5 * float((residual**2).mean())


def log10_risk_at(run: Run, squared: Array) -> Array:
    """Return log10 of the risk of coefficients at given distances from the target.

    For white inputs (`is_whitened`): the risk is that of the target plus (c/2) |beta - s|^2.

    Parameters
    ----------
    run : Run
        Open run.
    squared : array (T,)
        |beta - s|^2.

    Returns
    -------
    array (T,)
        -inf where the risk is 0.
    """
    with np.errstate(divide="ignore"):
        return np.asarray(np.log10(_target_risk(run) + 0.5 * curvature(run) * squared))


def deep_risk(run: Run, t: Array) -> Array:
    """Return log10 of the risk that the modes of a deep linear network predict.

    Parameters
    ----------
    run : Run
        Open run.
    t : array (T,)
        Times of the run, >= 0.

    Returns
    -------
    array (T,)
    """
    _, values = target_modes(run)
    return log10_risk_at(run, ((predict_modes(run, t) - values) ** 2).sum(axis=1))


# ---------------------------------------------------------------------------- diagonal networks


def is_diagonal(run: Run) -> bool:
    """Return True for a diagonal linear network on real targets."""
    return isinstance(run.network, DiagonalLinear) and run.dataset.real


def diagonal_condition(run: Run) -> str:
    """Return why the curves do not apply to a diagonal network; "" if they do."""
    network = run.network
    assert isinstance(network, DiagonalLinear)
    if network.squares:
        return 'the exact solution holds for network.form = "product"'
    if network.m > 1:
        return f"the exact solution holds for one neuron, network.m = 1, not for {network.m}"
    sentence = flow_condition(run)
    if sentence:
        return sentence
    # Layers of equal sizes and other signs move alike: a sign that no layer changes.
    if not (coefficients(network, run.origin) > 0.0).all():
        return "the exact solution holds for starts with positive coefficients"
    return ""


@cached_per_run
def _coordinate_curves(run: Run) -> tuple[DepthCurve, ...]:
    start = coefficients(run.network, run.origin)
    depth = run.network.degree
    return tuple(
        DepthCurve.from_start(float(s), float(a), depth)
        for s, a in zip(target(run), start, strict=True)
    )


def predict_coefficients(run: Run, t: Array) -> Array:
    """Return the coefficients beta of a diagonal network.

    Parameters
    ----------
    run : Run
        Open run.
    t : array (T,)
        Times of the run, >= 0.

    Returns
    -------
    array (T, d)
    """
    scaled = curvature(run) * np.asarray(t)
    return np.stack([curve.values(scaled) for curve in _coordinate_curves(run)], axis=1)


def diagonal_values(run: Run, t: Array) -> Array:
    """Return the strength of the target in a diagonal network.

    Parameters
    ----------
    run : Run
        Open run.
    t : array (T,)
        Times of the run, >= 0.

    Returns
    -------
    array (T,)
        <s/|s|, beta>, as the observable mode_strength.
    """
    s = target(run)
    return np.asarray(predict_coefficients(run, t) @ s / np.linalg.norm(s))


def diagonal_risk(run: Run, t: Array) -> Array:
    """Return log10 of the risk that the curves of a diagonal network predict.

    Parameters
    ----------
    run : Run
        Open run.
    t : array (T,)
        Times of the run, >= 0.

    Returns
    -------
    array (T,)
    """
    error = predict_coefficients(run, t) - target(run)
    return log10_risk_at(run, (error**2).sum(axis=1))


SOURCE = "saxe14; docs/theory.md, 4.17"
DEEP, DIAGONAL = "deep linear networks on real targets", "diagonal linear networks on real targets"
FORMULA = "a of da/dt = L c a^(2-2/L) (s - a), s the length of X'y/(n c), c = tr(X'X)/(n d)"
EACH = "beta_i of d beta_i/dt = L c beta_i^(2-2/L) (s_i - beta_i), s = X'y/(n c), c = tr(X'X)/(n d)"
TEX = r"\dot{a}=Lc\,a^{2-2/L}(s-a)"
EACH_TEX = r"\dot{\beta}_i=Lc\,\beta_i^{2-2/L}(s_i-\beta_i)"
PREDICTIONS = (
    Prediction(
        "mode_depth",
        "mode_strength",
        "mode of depth L",
        "strength of the mode of a deep network",
        FORMULA,
        SOURCE,
        deep_values,
        is_deep,
        aligned_condition,
        DEEP,
        tex=TEX,
    ),
    Prediction(
        "log10_risk_depth",
        "log10_risk",
        "mode of depth L",
        "log10 of the risk by the mode of a deep network",
        FORMULA,
        SOURCE,
        deep_risk,
        is_deep,
        aligned_condition,
        DEEP,
        tex=TEX,
    ),
    Prediction(
        "mode_coordinates",
        "mode_strength",
        "coordinates",
        "strength of the mode by the curves of the coordinates",
        EACH,
        SOURCE,
        diagonal_values,
        is_diagonal,
        diagonal_condition,
        DIAGONAL,
        tex=EACH_TEX,
    ),
    Prediction(
        "log10_risk_coordinates",
        "log10_risk",
        "coordinates",
        "log10 of the risk by the curves of the coordinates",
        EACH,
        SOURCE,
        diagonal_risk,
        is_diagonal,
        diagonal_condition,
        DIAGONAL,
        tex=EACH_TEX,
    ),
)
