"""Networks of other programs: names in recordings, and activations with NumPy alone.

A recorder may have nothing else. `core.network.recorded_network` computes the networks, and
adds derivatives and SciPy's faster erf; a test compares both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, final, get_args

import numpy as np
from numpy.typing import NDArray

# -------------------------------------------------------------------------------------- activations

Array = NDArray[Any]
ROOT = math.sqrt(2.0 / math.pi)
CUBIC = 0.044715  # Hendrycks and Gimpel, "Gaussian error linear units", section 2


def sigmoid(z: Array) -> Array:
    """Return 1/(1 + e^-z), which overflows on neither side.

    Parameters
    ----------
    z : array
        Real numbers, of any shape.

    Returns
    -------
    array
        Of the shape of `z`, in [0, 1].
    """
    e = np.exp(-np.abs(z))
    return np.asarray(np.where(z > 0.0, 1.0, e) / (1.0 + e))


def softplus(z: Array) -> Array:
    """Return ln(1 + e^z), without overflow.

    Parameters
    ----------
    z : array
        Real numbers, of any shape.

    Returns
    -------
    array
        Of the shape of `z`.
    """
    return np.asarray(np.maximum(z, 0.0) + np.log1p(np.exp(-np.abs(z))))


_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def gelu_tanh_inner(z: Array) -> Array:
    """Return tanh(sqrt(2/pi) (z + .044715 z^3)).

    Parameters
    ----------
    z : array
        Real numbers, of any shape.

    Returns
    -------
    array
        Of the shape of `z`, in [-1, 1].
    """
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
    """Return phi(z) of an activation.

    Parameters
    ----------
    name : str
        Name of the activation.
    slope : float
        Slope of a leaky ReLU on the left; unused by others.
    z : array
        Preactivations.

    Returns
    -------
    array
        Of the shape of `z`.

    Raises
    ------
    KeyError
        The name is unknown.

    Examples
    --------
    >>> activation_value("leaky_relu", 0.25, np.array([-4.0, 2.0])).tolist()
    [-1.0, 2.0]
    """
    if name == "leaky_relu":
        return np.where(z > 0.0, z, slope * z)
    if name == "smooth_leaky_relu":
        return slope * z + (1.0 - slope) * (softplus(z) - math.log(2.0))
    return VALUES[name](z)


# -------------------------------------------------------------------------------------------- forms

Layout = tuple[tuple[str, tuple[int, ...]], ...]
# phi by name. A leaky ReLU has the slope g on the left; its smooth version is g z + (1 - g) ln((1 +
# e^z)/2) (frei23, section F.1). gelu uses the exact normal distribution, gelu_tanh the usual
# approximation.
ActivationName = Literal[
    "relu",
    "leaky_relu",
    "smooth_leaky_relu",
    "linear",
    "quadratic",
    "tanh",
    "sigmoid",
    "softplus",
    "gelu",
    "gelu_tanh",
    "silu",
    "elu",
    "erf",
    "hardtanh",
]
ACTIVATIONS: tuple[str, ...] = get_args(ActivationName)
LEAKY = ("leaky_relu", "smooth_leaky_relu")
UNKNOWN = "unknown"  # an activation without a name
DEFAULT_SLOPE = 0.01  # default of PyTorch's LeakyReLU


def split_vector(flat: Array, layout: Sequence[Sequence[Any]]) -> dict[str, Array]:
    """Split a vector into the arrays of a layout.

    Parameters
    ----------
    flat : array (size,)
        Flat parameters.
    layout : sequence of (name, shape)
        Arrays in their order.

    Returns
    -------
    dict of str to array
        Views of `flat`, by name.

    Examples
    --------
    >>> split_vector(np.arange(3.0), (("a", (1,)), ("V", (1, 2))))
    {'a': array([0.]), 'V': array([[1., 2.]])}
    """
    parts, start = {}, 0
    for name, shape in layout:
        size = math.prod(shape)
        parts[name] = flat[start : start + size].reshape(shape)
        start += size
    return parts


@final
@dataclass(frozen=True, slots=True)
class Form:
    """Network f(x) = sum_j a_j phi(<v_j, x> + b_j) + c, and which of its arrays are trained.

    k outputs, 1 for two classes, else at least 3. `slope` is that of a leaky ReLU on the left.
    `outer`: the outer weights are trained; `alike`: all are +-1/sqrt(m).
    """

    n: int
    d: int
    m: int
    k: int = 1
    activation: str = "relu"
    slope: float = DEFAULT_SLOPE
    biases: bool = False
    offset: bool = False
    outer: bool = True
    alike: bool = False

    @property
    def kind(self) -> str:
        """Kind of the network in this program: one of the papers', or "recorded"."""
        plain = self.k == 1 and not self.biases and not self.offset
        if plain and self.alike and self.activation in LEAKY and 0.0 < self.slope <= 1.0:
            return "fixed_outer"
        bare = self.outer and not self.biases and not self.offset
        if self.activation == "quadratic" and self.k > 1 and bare:
            return "quadratic"
        if self.activation != "relu" or self.offset or not self.outer:
            return "recorded"
        if self.k > 1:
            return "multiclass"
        return "bias" if self.biases else "standard"

    @property
    def layout(self) -> Layout:
        """Trained arrays in the order of a frame, (name, shape); A (m, k) for k outputs."""
        several = self.k > 1
        outer = (("A", (self.m, self.k)) if several else ("a", (self.m,)),) if self.outer else ()
        parts: Layout = (*outer, ("V", (self.m, self.d)))
        if self.biases:
            parts = (*parts, ("b", (self.m,)))
        return (*parts, ("c", (self.k,))) if self.offset else parts

    @property
    def fixed_arrays(self) -> Layout:
        """Arrays that are not trained."""
        if self.outer:
            return ()
        return (("A", (self.m, self.k)),) if self.k > 1 else (("a", (self.m,)),)

    def section(self, content: str) -> dict[str, Any]:
        """Return the section `network` of the experiment; `content` is the SHA-256 of the start."""
        section: dict[str, Any] = {"kind": self.kind, "m": self.m, "init": "file"}
        section["content"] = content
        if self.kind == "multiclass":
            section["biases"] = self.biases
        if self.kind == "fixed_outer":
            section |= {"slope": self.slope, "smooth": self.activation != "leaky_relu"}
        if self.kind == "recorded":
            section |= {"activation": self.activation, "biases": self.biases}
            section |= {"offset": self.offset, "outer": self.outer}
            if self.activation in LEAKY:
                section["slope"] = self.slope
        return section
