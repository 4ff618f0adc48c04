"""Observables of linear networks on real targets: strength of the mode, conserved quantities.

The risk of f(x) = <beta, x> is a constant plus (1/2)(beta - s)' C (beta - s), with
C = X'X/n and C s = X'y/n. Where C = c I the target s is the one mode of a single output.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.network.deep_linear import DeepLinear, singular_frames
from core.network.linear import Linear
from core.network.linear_predictor import LinearPredictor
from core.network.parametrisation import Network
from core.observables.observable import Observable, cached_per_run
from core.runs import Run

Array = NDArray[np.float64]
PROBES = 16
ROUNDING = 1e-9  # of what is taken for equal
ZERO = 1e-14  # of the largest strength at the start, below which a mode is not there
BALANCE = "the difference of W'W of each layer and W W' of the one before it"


def is_linear(run: Run) -> bool:
    """Return True for a two-layer linear network on real targets."""
    return isinstance(run.network, Linear) and run.dataset.real


def is_linear_network(run: Run) -> bool:
    """Return True for a network without activation."""
    return isinstance(run.network, Linear | LinearPredictor)


def has_mode(run: Run) -> bool:
    """Return True for a network without activation on real targets."""
    return is_linear_network(run) and run.dataset.real


def has_angle(run: Run) -> bool:
    """Return True if V is known in full: row-space runs lack its part outside of the data."""
    return has_mode(run) and run.reduction is None


def coefficients(network: Network, flat: Array) -> Array:
    """Return the coefficients beta of a network without activation, f(x) = <beta, x>.

    beta has the scale of the given parameters.

    Parameters
    ----------
    network : Network
        Network without activation.
    flat : array (size,)
        Flat parameters.

    Returns
    -------
    array (D,)
        Of k = `network.rows` > 1 the product of the matrices (k, D/k), row after row.
    """
    if isinstance(network, LinearPredictor):
        return np.asarray(network.coefficients(flat))
    a, V = network.unpack(flat).values()
    return np.asarray(a @ V)


@cached_per_run
def target(run: Run) -> Array:
    """Return the minimiser of the risk where X'X/n = c I.

    Parameters
    ----------
    run : Run
        Open run.

    Returns
    -------
    array (D,)
        s = X'y/(n c), c by `curvature`; NaN if c = 0.
    """
    x, y = run.inputs, run.dataset.y
    scale = curvature(run)
    return np.asarray(x.T @ y / y.size / (scale if scale > 0.0 else np.nan))


@cached_per_run
def curvature(run: Run) -> float:
    """Return c = tr(X'X)/(n D), the mean square of an entry of the inputs."""
    n, D = run.inputs.shape
    return float((run.inputs**2).sum() / (n * D))


@cached_per_run
def is_whitened(run: Run) -> bool:
    """Return True if X'X/n = c I but for rounding, by its products with random vectors."""
    x, scale = run.inputs, curvature(run)
    if not scale > 0.0:
        return False
    probes = np.random.default_rng(0).standard_normal((x.shape[1], PROBES))
    difference = x.T @ (x @ probes) / x.shape[0] - scale * probes
    return bool(np.linalg.norm(difference) <= ROUNDING * scale * np.linalg.norm(probes))


def mode_strength(run: Run, index: int) -> float:
    """Return <s/|s|, beta> at a frame; NaN without a mode."""
    if not has_mode(run):
        return float("nan")
    s = target(run)
    length = float(np.linalg.norm(s))
    beta = coefficients(run.network, run.physical_parameters(index))
    return float(beta @ s) / length if length > 0.0 else float("nan")


def mode_angle(run: Run, index: int) -> float:
    """Return the angle of beta and s in degrees; NaN where one of them is 0."""
    if not has_angle(run):
        return float("nan")
    s, beta = target(run), coefficients(run.network, run.parameters(index))
    beta = beta / (float(np.abs(beta).max()) or 1.0)  # squares of 1e-200 are 0
    lengths = float(np.linalg.norm(beta)) * float(np.linalg.norm(s))
    if not lengths > 0.0:
        return float("nan")
    component = float(beta @ s) / lengths
    across = float(np.linalg.norm(beta - s * (beta @ s) / (s @ s))) / float(np.linalg.norm(beta))
    return float(np.degrees(np.arctan2(across, component)))


def conserved_matrix(network: Linear, flat: Array) -> Array:
    """Return the matrix that gradient flow of any loss conserves.

    Parameters
    ----------
    network : Linear
        Linear network of two layers.
    flat : array (size,)
        Flat parameters.

    Returns
    -------
    array (m, m)
        a a' - V V'.
    """
    a, V = network.unpack(flat).values()
    return np.asarray(np.outer(a, a) - V @ V.T)


def invariants(network: Network, flat: Array) -> Array:
    """Return all numbers that gradient flow of any loss conserves in a linear network.

    Parameters
    ----------
    network : Network
        Network without activation.
    flat : array (size,)
        Flat parameters.

    Returns
    -------
    array
        `conserved_matrix` (m, m) for two layers, else a vector; empty if none is known.
    """
    if isinstance(network, Linear):
        return conserved_matrix(network, flat)
    return network.invariants(flat) if isinstance(network, LinearPredictor) else np.zeros(0)


def layer_drift(run: Run, index: int) -> float:
    """Return |C(t) - C(0)| / |W(t)|^2 at a frame, C as `invariants`; NaN for other networks."""
    if not is_linear_network(run):
        return float("nan")
    now = invariants(run.network, run.physical_parameters(index))
    initial = invariants(run.network, run.origin)
    squared = run.network.norm(run.physical_parameters(index)) ** 2
    return float(np.linalg.norm(now - initial)) / squared if squared > 0.0 else float("nan")


# ------------------------------------------------------------------- conditions of exact solutions


@cached_per_run
def flow_condition(run: Run) -> str:
    """Return why no exact solution of the flow is known for a linear network; "" if one is."""
    experiment = run.experiment
    if experiment.loss.kind != "least_squares" or experiment.loss.is_penalised:
        return 'the exact solution holds for loss.kind = "least_squares" without a penalty'
    shaped = getattr(experiment.dynamics, "schedule", "constant") != "constant"
    if not experiment.dynamics.full_gradient or shaped or run.has_changed_rule:
        return "the exact solution holds for gradient flow, or full-batch descent in small steps"
    if not is_whitened(run):
        return "the inputs are not white: X'X/n is not a multiple of the identity"
    unbalanced = layer_imbalance(run)
    if not unbalanced <= ROUNDING:
        return f"the start is not balanced: {BALANCE} is {unbalanced:.2g} of |W|^2"
    return ""


def layer_imbalance(run: Run) -> float:
    """Return |C| / |W|^2 at t = 0, C as `invariants`; 0 if W = 0."""
    squared = run.network.norm(run.origin) ** 2
    matrix = invariants(run.network, run.origin)
    return float(np.linalg.norm(matrix)) / squared if squared > 0.0 else 0.0


SAXE = "saxe14; docs/theory.md, 4.14"
WHERE = "two-layer linear networks on real targets"
ANY_DEPTH = "linear networks on real targets"
MODE = Observable(
    "mode_strength",
    "strength of the mode",
    "<s/|s|, beta>, f(x) = <beta, x>, s = X'y/(n c), c = tr(X'X)/(n d); undefined for s = 0",
    SAXE,
    mode_strength,
    applies=has_mode,
    where=ANY_DEPTH,
    tex=r"\langle s/|s|,\,\beta\rangle",
)


@cached_per_run
def target_modes(run: Run) -> tuple[Array, Array]:
    """Return the modes of the target s as vectors of its space, and their strengths.

    Of a product of matrices they are the singular vectors u v', row after row, and the singular
    values of s read as a matrix; of any other network s/|s| and |s|.

    Parameters
    ----------
    run : Run
        Open run.

    Returns
    -------
    array (r, D), array (r,)
        Strengths positive and decreasing; r = 0 where s = 0.
    """
    s, network = target(run), run.network
    if isinstance(network, DeepLinear) and network.rows > 1:
        left, values, right = singular_frames(s.reshape(network.rows, -1))
        return np.einsum("kr,dr->rkd", left, right).reshape(values.size, s.size), values
    length = float(np.linalg.norm(s))
    return (s[None] / length, np.array([length])) if length > 0.0 else (s[None][:0], np.zeros(0))


def start_in_modes(run: Run) -> tuple[Array, float]:
    """Return the strength of each mode of the target at t = 0, and the length outside.

    Parameters
    ----------
    run : Run
        Open run.

    Returns
    -------
    array (r,), float
        Strengths of rounding size are 0; the length is that of beta less its modes.
    """
    directions, _ = target_modes(run)
    beta = coefficients(run.network, run.origin)
    strengths = directions @ beta
    remainder = float(np.linalg.norm(beta - strengths @ directions))
    strengths[np.abs(strengths) <= ZERO * np.abs(strengths).max(initial=0.0)] = 0.0
    return strengths, remainder


def aligned_condition(run: Run) -> str:
    """Return why the curves of modes do not apply to a linear network; "" if they do."""
    if sentence := flow_condition(run):
        return sentence
    strengths, remainder = start_in_modes(run)
    if not strengths.size:
        return "the targets do not depend linearly on the inputs: X'y = 0"
    highest = float(strengths.max())
    if remainder <= ROUNDING * highest and highest > 0.0 and float(strengths.min()) >= 0.0:
        return ""
    if strengths.size > 1:
        return (
            "the start is not aligned: the product of the layers is not a sum of the target's modes"
        )
    return "the start is not aligned: f(0) is not a positive multiple of the target <s, x>"


OBSERVABLES = (
    MODE,
    Observable(
        "mode_angle",
        "angle to the target",
        "angle of beta, f(x) = <beta, x>, and s; undefined where one of them is 0",
        SAXE,
        mode_angle,
        unit="degrees",
        applies=has_angle,
        where=f"{ANY_DEPTH}, with d <= n",
        tex=r"\mathrm{angle}(\beta,\,s)",
    ),
    Observable(
        "layer_drift",
        "drift of the layers",
        "|C(t) - C(0)| / |W(t)|^2, C = W'W - W W' of neighbouring layers (a a' - V V' of two; "
        "u_l^2 - u_(l+1)^2 or u * w of diagonal ones); 0 for exact gradient flow",
        SAXE,
        layer_drift,
        applies=is_linear_network,
        where="linear networks",
        tex=r"\frac{|C(t)-C(0)|_F}{|W(t)|^2}",
        normalisation="divided by |W(t)|^2",
    ),
)
