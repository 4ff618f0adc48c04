"""The activations of recorded networks by name, as other programs have them, for NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.network.activation import LEAKY, RELU, SMOOTH, Activation
from core.run_files.networks import (
    CUBIC,
    ROOT,
    UNKNOWN,
    VALUES,
    gelu_tanh_inner,
    sigmoid,
)

Array = NDArray[np.float64]
OTHER = 3  # beside those of compiled kernels (core.network.activation), of which it has none


@final
@dataclass(frozen=True, slots=True)
class Phi:
    """phi, phi' and phi'' at any z; `degree` is that of phi(c z) = c^degree phi(z) for c > 0, 0
    for none.

    `code` and `slope` are those of `core.network.activation.Activation`.

    >>> of("tanh")(np.array([0.0])).tolist(), of("tanh").slopes(np.array([0.0])).tolist()
    ([0.0], [1.0])
    >>> of("leaky_relu", 0.25)(np.array([-4.0, 2.0])).tolist()
    [-1.0, 2.0]
    >>> bool(np.isnan(of("unknown")(np.zeros(1)))[0])
    True
    """

    name: str
    function: Callable[[Array], Array]
    derivative: Callable[[Array], Array]
    degree: int = 0
    code: int = OTHER
    slope: float = 0.0
    second: Callable[[Array], Array] | None = None  # phi'' off the kinks; None where it is 0

    @property
    def bent(self) -> bool:
        """Whether phi'' is anything but 0 off the kinks."""
        return self.second is not None

    def __call__(self, z: Any) -> Any:
        return self.function(z)

    def slopes(self, z: Any) -> Any:
        """phi'(z); at a kink that on the left (docs/theory.md, 2.4)."""
        return self.derivative(z)

    def curvatures(self, z: Any) -> Any:
        """phi''(z); at a kink that on the left.

        >>> of("quadratic").curvatures(np.array([3.0])).tolist(), of("relu").bent
        ([2.0], False)
        """
        return 0.0 * z if self.second is None else self.second(z)


def normal_law(z: Array) -> Array:
    """P(Z <= z) of a standard normal Z."""
    from scipy.special import ndtr

    return np.asarray(ndtr(z))


def erf(z: Array) -> Array:
    """2/sqrt(pi) times the integral of e^(-s^2) from 0 to z."""
    from scipy.special import erf as of_scipy

    return np.asarray(of_scipy(z))


def _density(z: Array) -> Array:
    return np.asarray(np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi))


def _gelu_tanh_slope(z: Array) -> Array:
    t = gelu_tanh_inner(z)
    return np.asarray(0.5 * (1 + t) + 0.5 * z * (1 - t**2) * ROOT * (1 + 3 * CUBIC * z**2))


def _gelu_tanh_bend(z: Array) -> Array:
    t, first, second = gelu_tanh_inner(z), ROOT * (1 + 3 * CUBIC * z**2), ROOT * 6 * CUBIC * z
    return np.asarray((1 - t**2) * (first + 0.5 * z * (second - 2 * t * first**2)))


def _tanh_bend(z: Array) -> Array:
    t = np.tanh(z)
    return np.asarray(-2.0 * t * (1.0 - t**2))


def _sigmoid_bend(z: Array) -> Array:
    s = sigmoid(z)
    return np.asarray(s * sigmoid(-z) * (1.0 - 2.0 * s))


def _silu_bend(z: Array) -> Array:
    s = sigmoid(z)
    return np.asarray(s * sigmoid(-z) * (2.0 + z * (1.0 - 2.0 * s)))


def _silu_slope(z: Array) -> Array:
    s = sigmoid(z)
    return np.asarray(s * (1.0 + z * (1.0 - s)))


def _erf_slope(z: Array) -> Array:
    return np.asarray(2.0 / np.sqrt(np.pi) * np.exp(-(z**2)))


def _hardtanh_slope(z: Array) -> Array:
    # On the left of the kink at 1 the slope is 1, on the left of that at -1 it is 0.
    return np.where((z > -1.0) & (z <= 1.0), 1.0, 0.0)


def _nothing(z: Array) -> Array:
    return np.full(np.shape(z), np.nan)


PLAIN: dict[str, Phi] = {
    phi.name: phi
    for phi in (
        Phi("relu", VALUES["relu"], lambda z: np.where(z > 0, 1.0, 0.0), 1, RELU),
        Phi("linear", VALUES["linear"], np.ones_like, 1),
        Phi(
            "quadratic",
            VALUES["quadratic"],
            lambda z: 2.0 * z,
            2,
            second=lambda z: 0.0 * z + 2.0,
        ),
        Phi("tanh", VALUES["tanh"], lambda z: 1.0 - np.tanh(z) ** 2, second=_tanh_bend),
        Phi(
            "sigmoid",
            VALUES["sigmoid"],
            lambda z: sigmoid(z) * sigmoid(-z),
            second=_sigmoid_bend,
        ),
        Phi(
            "softplus",
            VALUES["softplus"],
            sigmoid,
            second=lambda z: sigmoid(z) * sigmoid(-z),
        ),
        Phi(
            "gelu",
            lambda z: z * normal_law(z),
            lambda z: normal_law(z) + z * _density(z),
            second=lambda z: _density(z) * (2.0 - z**2),
        ),
        Phi("gelu_tanh", VALUES["gelu_tanh"], _gelu_tanh_slope, second=_gelu_tanh_bend),
        Phi("silu", VALUES["silu"], _silu_slope, second=_silu_bend),
        Phi(
            "elu",
            VALUES["elu"],
            lambda z: np.exp(np.minimum(z, 0.0)),
            second=lambda z: np.where(z > 0.0, 0.0, np.exp(np.minimum(z, 0.0))),
        ),
        Phi("erf", erf, _erf_slope, second=lambda z: -2.0 * z * _erf_slope(z)),
        Phi("hardtanh", VALUES["hardtanh"], _hardtanh_slope),
        Phi(UNKNOWN, _nothing, _nothing, second=_nothing),
    )
}


def of(name: str, slope: float = 0.0) -> Phi:
    """phi by its name; `slope` is that of a leaky ReLU on the left. KeyError for another name."""
    if name == "smooth_leaky_relu":
        smooth = Activation(SMOOTH, slope)
        return Phi(name, smooth, smooth.slopes, 0, SMOOTH, slope, smooth.curvatures)
    if name != "leaky_relu":
        return PLAIN[name]
    return Phi(
        name,
        lambda z: np.where(z > 0.0, z, slope * z),
        lambda z: np.where(z > 0.0, 1.0, slope),
        1,
        LEAKY,
        slope,
    )
