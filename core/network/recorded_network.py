"""Networks of other programs' runs, f(x) = sum_j a_j phi(<v_j, x> + b_j) + c, and their phi."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from core.errors import InputError
from core.network.activation import LEAKY, RELU, SMOOTH, Activation
from core.network.bias import with_biases, with_ones
from core.network.parametrisation import Arrays, Block, Shape, TwoLayer, join_flat
from core.network.section import NetworkSection
from core.run_files.networks import (
    CUBIC,
    ROOT,
    UNKNOWN,
    VALUES,
    ActivationName,
    Form,
    gelu_tanh_inner,
    sigmoid,
)
from core.settings import setting

Array = NDArray[np.float64]
# Distinct from the codes of compiled kernels (core.network.activation), which do not include it.
OTHER = 3


@final
@dataclass(frozen=True, slots=True)
class Phi:
    """Activation by name: phi, phi' and phi'' as functions of any z.

    `degree` is that of phi(c z) = c^degree phi(z) for c > 0, and 0 if phi is not homogeneous. At a
    kink phi' is the slope on the left (docs/theory.md, 2.4). `code` and `slope` are those of
    `core.network.activation.Activation`.

    >>> phi_of("tanh")(np.array([0.0])).tolist(), phi_of("tanh").slopes(np.array([0.0])).tolist()
    ([0.0], [1.0])
    >>> phi_of("leaky_relu", 0.25)(np.array([-4.0, 2.0])).tolist()
    [-1.0, 2.0]
    >>> bool(np.isnan(phi_of("unknown")(np.zeros(1)))[0])
    True
    """

    name: str
    function: Callable[[Array], Array]
    slopes: Callable[[Array], Array]
    degree: int = 0
    code: int = OTHER
    slope: float = 0.0
    second: Callable[[Array], Array] | None = None  # phi'' off the kinks; None if it is 0

    @property
    def bent(self) -> bool:
        """True if phi'' is not 0 off the kinks."""
        return self.second is not None

    def __call__(self, z: Any) -> Any:
        return self.function(z)

    def curvatures(self, z: Any) -> Any:
        """Return phi''(z); at a kink, that on the left.

        >>> phi_of("quadratic").curvatures(np.array([3.0])).tolist(), phi_of("relu").bent
        ([2.0], False)
        """
        return 0.0 * z if self.second is None else self.second(z)


def normal_law(z: Array) -> Array:
    """Return P(Z <= z) of a standard normal Z.

    Parameters
    ----------
    z : array
        Values, of any shape.

    Returns
    -------
    array
        Probabilities, of the shape of z.
    """
    from scipy.special import ndtr

    return np.asarray(ndtr(z))


def erf(z: Array) -> Array:
    """Return 2/sqrt(pi) times the integral of e^(-s^2) from 0 to z.

    Parameters
    ----------
    z : array
        Values, of any shape.

    Returns
    -------
    array
        Error function, of the shape of z.
    """
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
    """Return the second derivative, as all `_bend` functions do."""
    s = sigmoid(z)
    return np.asarray(s * sigmoid(-z) * (2.0 + z * (1.0 - 2.0 * s)))


def _silu_slope(z: Array) -> Array:
    s = sigmoid(z)
    return np.asarray(s * (1.0 + z * (1.0 - s)))


def _erf_slope(z: Array) -> Array:
    return np.asarray(2.0 / np.sqrt(np.pi) * np.exp(-(z**2)))


def _hardtanh_slope(z: Array) -> Array:
    # The left slope at the kink z = 1 is 1, at the kink z = -1 it is 0.
    return np.where((z > -1.0) & (z <= 1.0), 1.0, 0.0)


def _fill_nan(z: Array) -> Array:
    """Return NaN in the shape of z: an unknown activation."""
    return np.full(np.shape(z), np.nan)


PLAIN: dict[str, Phi] = {
    recorded.name: recorded
    for recorded in (
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
        Phi(UNKNOWN, _fill_nan, _fill_nan, second=_fill_nan),
    )
}


def phi_of(name: str, slope: float = 0.0) -> Phi:
    """Return an activation by its name; `slope` is that of a leaky ReLU on the left.

    Raises KeyError for an unknown name.
    """
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


# ----------------------------------------------------------------------------------- the network
#
# A foreign network as described to `marginscope.record`: with another activation, an outer bias c,
# or untrained outer weights. It is analysed here, never trained.

NOT_TRAINED = (
    'network.kind = "recorded" is the network of another program\'s run and is not trained here'
)


@final
class RecordedNetwork(NetworkSection):
    title: ClassVar[str] = "f(x) = sum_j a_j phi(<v_j, x> + b_j) + c of another program's run"
    source: ClassVar[str] = "the user's own"

    kind: Literal["recorded"] = "recorded"
    activation: Literal[ActivationName, "unknown"] = setting(
        "relu", meaning="phi by name; unknown: f is not known"
    )
    slope: float = setting(0.01, meaning="slope of a leaky ReLU on the left")
    biases: bool = setting(False, meaning="true if the neurons have biases b")
    offset: bool = setting(False, meaning="true if the network has an outer bias c")
    outer: bool = setting(True, meaning="true if the outer weights are trained")
    init: Literal["file"] = setting("file", meaning="file: as recorded")

    def not_homogeneous(self) -> str:
        if self.offset:
            return "network.offset = true: an outer bias has another degree than the rest"
        if phi_of(self.activation, self.slope).degree == 0:
            return f'network.activation = "{self.activation}": it is not homogeneous'
        return ""


ZERO = "the network is 0"


def why_no_output(section: NetworkSection) -> str:
    """Return why f has no value at any weights; empty if it has one."""
    if getattr(section, "activation", "") != UNKNOWN:
        return ""
    return "f is not known, as its activation is not"


def why_no_margin(section: NetworkSection) -> str:
    """Return why a frame has no margin: f has no value, or |f| is 0 everywhere."""
    return why_no_output(section) or ZERO


@final
class Recorded(TwoLayer):
    """Recorded network: alpha = a (m,) or A (m, k); u_j = v_j, or (v_j, b_j) on (x, 1).

    The degree is that of phi, plus 1 where the outer weights are trained.
    """

    kind = "recorded"
    section = RecordedNetwork
    classes = "any"
    direct = True

    def __init__(self, section: RecordedNetwork, shape: Shape, fixed: Arrays) -> None:
        self.m, self.d, self.k = shape.m, shape.d, shape.k
        self.form = Form(
            n=shape.x.shape[0],
            d=shape.d,
            m=shape.m,
            k=shape.k,
            activation=section.activation,
            slope=section.slope,
            biases=section.biases,
            offset=section.offset,
            outer=section.outer,
        )
        self.layout = tuple(Block(name, size) for name, size in self.form.layout)
        self.fixed = {
            name: np.ascontiguousarray(fixed[name], dtype=np.float64)
            for name, _ in self.form.fixed_arrays
        }
        self.activation = phi_of(section.activation, section.slope)  # type: ignore[assignment]
        self.plain_sum = not section.offset
        self.homogeneous = not section.not_homogeneous()
        self.inner_degree = max(1, phi_of(section.activation).degree)
        self.degree = self.inner_degree + int(section.outer)
        self.scaled = self.size - (shape.k if section.offset else 0)
        self._outer = "A" if shape.k > 1 else "a"

    @staticmethod
    def initial(section: RecordedNetwork, shape: Shape, generator: Generator) -> dict[str, Array]:
        """Raise InputError: the recording is the only start."""
        raise InputError(f"{NOT_TRAINED}; choose another kind.")

    def fixed_shapes(self, shape: Shape) -> dict[str, tuple[int, ...]]:
        return dict(self.form.fixed_arrays)

    def inputs(self, x: Array) -> Array:
        return with_ones(x) if self.form.biases else x

    def outputs(self, flat: Any, inputs: Any, offset: Any = None) -> Any:
        f = super().outputs(flat, inputs, offset)
        if not self.form.offset:
            return f
        c = self.unpack(flat)["c"]
        return f + (c if self.k > 1 else c[0])

    def gradient(self, flat: Any, inputs: Any, g: Any) -> Any:
        slope = super().gradient(flat, inputs, g)
        return join_flat([slope, np.atleast_1d(g.sum(axis=0))]) if self.form.offset else slope

    def derivative(self, flat: Array, inputs: Array, direction: Array) -> Array:
        derivative = super().derivative(flat, inputs, direction)
        if not self.form.offset:
            return derivative
        c = self.unpack(direction)["c"]
        return np.asarray(derivative + (c if self.k > 1 else c[0]))

    def gram(self, flat: Array, inputs: Array) -> Array:
        K = super().gram(flat, inputs)
        if not self.form.offset:
            return K
        n = inputs.shape[0]
        return np.asarray(K + np.kron(np.ones((n, n)), np.eye(self.k)))

    def effective(self, flat: Any) -> tuple[Any, Any]:
        parts = {**self.fixed, **self.unpack(flat)}
        V = parts["V"]
        return parts[self._outer], with_biases(V, parts["b"]) if self.form.biases else V

    def push(self, flat: Any, direction: Any) -> tuple[Any, Any]:
        parts = self.unpack(direction)
        V = parts["V"]
        alpha = parts[self._outer] if self.form.outer else 0.0 * self.fixed[self._outer]
        return alpha, with_biases(V, parts["b"]) if self.form.biases else V

    def pull(self, flat: Any, d_alpha: Any, d_U: Any) -> Any:
        slope = super().pull(flat, d_alpha, d_U)
        return slope if self.form.outer else slope[d_alpha.size :]
