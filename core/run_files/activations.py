"""Values of the activations of recorded networks, for NumPy arrays and with NumPy alone.

`core.network.recorded` adds their derivatives, and SciPy's faster erf.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
ROOT = math.sqrt(2.0 / math.pi)
CUBIC = 0.044715  # of Hendrycks and Gimpel, "Gaussian error linear units", section 2


def sigmoid(z: Array) -> Array:
    """Return 1/(1 + e^-z), which overflows on neither side."""
    e = np.exp(-np.abs(z))
    return np.asarray(np.where(z > 0.0, 1.0, e) / (1.0 + e))


def softplus(z: Array) -> Array:
    """Return ln(1 + e^z)."""
    return np.asarray(np.maximum(z, 0.0) + np.log1p(np.exp(-np.abs(z))))


_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def gelu_tanh_inner(z: Array) -> Array:
    """Return tanh(sqrt(2/pi) (z + .044715 z^3))."""
    return np.asarray(np.tanh(ROOT * (z + CUBIC * z**3)))


VALUES: dict[str, Callable[[Array], Array]] = {
    "relu": lambda z: z.clip(0.0),
    "linear": lambda z: 1.0 * z,
    "quadratic": lambda z: z**2,
    "tanh": np.tanh,
    "sigmoid": sigmoid,
    "softplus": softplus,
    "gelu": lambda z: 0.5 * z * _erfc(-z / math.sqrt(2.0)),
    "gelu_tanh": lambda z: 0.5 * z * (1.0 + gelu_tanh_inner(z)),
    "silu": lambda z: z * sigmoid(z),
    "elu": lambda z: np.where(z > 0.0, z, np.expm1(np.minimum(z, 0.0))),
    "erf": _erf,
    "hardtanh": lambda z: np.clip(z, -1.0, 1.0),
}


def activation_value(name: str, slope: float, z: Array) -> Array:
    """Return phi(z) of an activation by name; `slope` is that of a leaky ReLU on the left.

    >>> activation_value("leaky_relu", 0.25, np.array([-4.0, 2.0])).tolist()
    [-1.0, 2.0]

    Raises KeyError for another name.
    """
    if name == "leaky_relu":
        return np.where(z > 0.0, z, slope * z)
    if name == "smooth_leaky_relu":
        return slope * z + (1.0 - slope) * (softplus(z) - math.log(2.0))
    return VALUES[name](z)
