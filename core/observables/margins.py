"""Risk, margins and dual weights. W = e^rho * flat; f is L-homogeneous, L = `network.degree`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.network.kernel import margins as network_margins
from core.observables.observable import Observable, Shape, memoised
from core.runs import Run

Array = NDArray[np.float64]
ATOM = 1e-3


def flat_margins(run: Run, index: int) -> Array:
    """p_i = y_i f(x_i) at the frame's flat parameters, (n,); times e^(L rho) it is that of W."""
    return np.asarray(memoised(run, "_flat_margins", index, _flat_margins))


def _flat_margins(run: Run, index: int) -> Array:
    alpha, U = run.network.effective(run.parameters(index))
    return network_margins(alpha, U, run.dataset.x, run.dataset.y)


def scale(run: Run, index: int) -> float:
    """e^(L rho), what margins at the flat parameters are multiplied by to be those of W."""
    with np.errstate(over="ignore"):
        return float(np.exp(run.network.degree * run.rho[index]))


def flat_norm_power(run: Run, index: int) -> float:
    """|flat|^L: 1 for the flow's unit vectors."""
    flat = run.parameters(index)
    return float(np.linalg.norm(flat)) ** run.network.degree


def _over(value: float, norm: float) -> float:
    return value / norm if norm > 0.0 else float("nan")


def log10_risk(run: Run, index: int) -> float:
    log_risk = run.loss.log_risk(scale(run, index) * flat_margins(run, index))
    return log_risk / float(np.log(10.0))


def risk(run: Run, index: int) -> float:
    with np.errstate(over="ignore", under="ignore"):  # log10_risk tells what is beyond these
        return float(np.exp(np.log(10.0) * log10_risk(run, index)))


def hard_margin(run: Run, index: int) -> float:
    return _over(float(flat_margins(run, index).min()), flat_norm_power(run, index))


def smoothed_margin(run: Run, index: int) -> float:
    factor = scale(run, index)
    smoothed = run.loss.smoothed(factor * flat_margins(run, index))
    return _over(smoothed, factor * flat_norm_power(run, index))


def l1_margin(run: Run, index: int) -> float:
    alpha, U = run.network.effective(run.parameters(index))
    l1 = float(np.abs(alpha) @ np.linalg.norm(U, axis=1))
    return _over(float(flat_margins(run, index).min()), l1)


def dual(run: Run, index: int) -> Array:
    """q (n,): stored beside float32 frames; else from p at the temperature the flow used."""
    stored = run.dual(index)
    if stored is not None:
        return stored
    temperature = scale(run, index)
    if run.temperature_cap is not None:
        temperature = min(temperature, run.temperature_cap)
    return run.loss.dual(temperature * flat_margins(run, index))


def atoms(run: Run, index: int) -> float:
    return float(np.count_nonzero(dual(run, index) > ATOM))


def dual_margin(run: Run, index: int) -> float:
    q = dual(run, index)
    value = float(q @ flat_margins(run, index)) / float(q.sum())
    return _over(value, flat_norm_power(run, index))


def train_error(run: Run, index: int) -> float:
    # "not p > 0" and not "p <= 0": a network that is not a number must not count as perfect.
    return float(np.mean(~(flat_margins(run, index) > 0.0)))


S, P = Shape.SCALAR, Shape.POINT
OBSERVABLES = (
    Observable("risk", "risk", "R = (1/n) sum_i l(p_i)", "telgarsky22, section 1.2", S, risk),
    Observable(
        "log10_risk", "log10 of the risk", "log10 R, computed without underflow",
        "telgarsky22, section 1.2", S, log10_risk,
    ),
    Observable(
        "hard_margin", "hard margin", "min_i p_i / |W|^L", "telgarsky22, section 1.2", S,
        hard_margin,
    ),
    Observable(
        "smoothed_margin", "smoothed margin",
        "l^-1(sum_i l(p_i)) / |W|^L, the sum and not the mean",
        "telgarsky22, section 1.2; homogeneity, section 3", S, smoothed_margin,
    ),
    Observable(
        "l1_margin", "l1 margin", "min_i p_i / sum_j |a_j| |v_j|", "telgarsky22, Assumption 1.1", S,
        l1_margin,
    ),
    Observable(
        "dual_margin", "dual margin",
        "sum_i q_i p_i / (|W|^L sum_i q_i): the hard margin from above, to ln(n)/E",
        "telgarsky22, section 1.2", S, dual_margin,
    ),
    Observable(
        "train_error", "training error", "share of examples with not p_i > 0", "", S, train_error
    ),
    Observable(
        "atoms", "atoms of q", "number of i with q_i > 0.001", "", S, atoms
    ),
    Observable(
        "dual", "dual weights", "q_i = l'(p_i) / l'(l^-1(sum_k l(p_k)))",
        "telgarsky22, section 1.2", P, dual,
    ),
)  # fmt: skip
