"""One neuron of unit length with a Hermite polynomial, f(x) = he_k(<v, x>/|v|)/sqrt(k!).

On Gaussian inputs with a teacher of the same polynomial the exact risk is 1 - s^k, s the cosine of
both directions: the flow waits at s = 0 for a time that k decides (Ben Arous, Gheissari and
Jagannath 2021). f does not depend on |v|, so that flow conserves it.
"""

from __future__ import annotations

from math import factorial, sqrt
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator
from pydantic import model_validator

from core.errors import InputError, RuleError
from core.network.parametrisation import Array, Arrays, Block, Network, Shape
from core.network.section import FILE_MEANING, NetworkSection
from core.network.standard import draw_on_sphere
from core.settings import setting

MOST_DEGREE = 8  # E he_k^4 grows like 9^k: steps on single examples say little beyond


@final
class SingleIndexNetwork(NetworkSection):
    title: ClassVar[str] = "one neuron f(x) = he_k(<v, x>/|v|)/sqrt(k!), he_k of Hermite"
    source: ClassVar[str] = "Ben Arous, Gheissari and Jagannath 2021"

    known_teacher: ClassVar[str] = "hermite"
    divides_by_lengths: ClassVar[bool] = True
    words: ClassVar[str] = "single-index network"
    kind: Literal["single_index"] = "single_index"
    m: int | None = setting(1, meaning="one neuron", ge=1, le=1_000_000)
    degree: int = setting(2, meaning="degree k of the polynomial he_k", ge=1, le=MOST_DEGREE)
    init: Literal["paper", "overlap", "file"] = setting(
        "paper",
        meaning="paper: v uniform on the unit sphere; overlap: a unit vector with <v, e_1> = "
        f"overlap; {FILE_MEANING}",
    )
    overlap: float = setting(
        0.1,
        meaning="<v, e_1> of a start with init = overlap: with an orthonormal teacher",
        ge=0,
        le=1,
    )

    def not_homogeneous(self) -> str:
        return 'network.kind = "single_index": f does not depend on |v|'

    @model_validator(mode="after")
    def _check_width(self) -> SingleIndexNetwork:
        """Raise RuleError for more than one neuron."""
        if self.m not in (1, None):
            raise RuleError(
                f'network.kind = "single_index" is one neuron, but m = {self.m}; use m = 1',
                keys=("m",),
            )
        return self


def hermite(k: int, z: Any) -> Any:
    """Return he_k(z)/sqrt(k!), elementwise, of an array or a tensor; E he_k(z)^2/k! = 1.

    Parameters
    ----------
    k : int
        Degree, at least 0.
    z : array
        Arguments.

    Returns
    -------
    array
        Of the shape of z.

    Examples
    --------
    >>> hermite(3, np.array([2.0])).tolist() == [2.0 / np.sqrt(6.0)]  # z^3 - 3 z
    True
    """
    before, now = 0.0 * z, 0.0 * z + 1.0
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite has diverged
        for order in range(k):
            before, now = now, z * now - order * before
    return now / sqrt(factorial(k))


def hermite_slope(k: int, z: Any) -> Any:
    """Return the derivative of `hermite`, sqrt(k) he_(k-1)(z)/sqrt((k-1)!), for k at least 1."""
    return sqrt(k) * hermite(k - 1, z)


@final
class SingleIndex(Network):
    """Network of one neuron with the parameters V (1, d).

    >>> net = SingleIndex(SingleIndexNetwork(degree=1), Shape(1, np.zeros((5, 2))), {})
    >>> net.outputs(np.array([3.0, 4.0]), np.array([[5.0, 0.0], [0.0, 5.0]])).tolist()
    [3.0, 4.0]
    """

    kind = "single_index"
    section = SingleIndexNetwork
    row_space = True
    homogeneous = False
    degree = 1

    def __init__(self, section: SingleIndexNetwork, shape: Shape, fixed: Arrays) -> None:
        if shape.m != 1:
            raise InputError(
                f'network.kind = "single_index" is one neuron, but V has {shape.m} rows; give one.'
            )
        self.m, self.d, self.order = 1, shape.d, section.degree
        self.layout = (Block("V", (1, self.d)),)
        self.scaled = self.size

    @staticmethod
    def initial(
        section: SingleIndexNetwork, shape: Shape, generator: Generator
    ) -> dict[str, Array]:
        """Draw v uniformly on the sphere, or on its circle of latitude <v, e_1> = overlap.

        Parameters
        ----------
        section : SingleIndexNetwork
            Settings; `init` "overlap" chooses the circle.
        shape, generator : Shape, Generator
            Dimension d; source of randomness.

        Returns
        -------
        dict of str to array
            "V" (1, d), of length 1.

        Raises
        ------
        InputError
            A circle needs d of at least 2.
        """
        if section.init != "overlap":
            return {"V": draw_on_sphere(generator, 1, shape.d)}
        if shape.d < 2:
            raise InputError(
                'network.init = "overlap" needs a second dimension, but d = 1; choose data.d of at '
                "least 2."
            )
        remainder = np.sqrt(1.0 - section.overlap**2) * draw_on_sphere(generator, 1, shape.d - 1)
        return {"V": np.concatenate([[[section.overlap]], remainder], axis=1)}

    def _preactivations(self, flat: Any, inputs: Any) -> tuple[Any, Any]:
        """Return z (n,), the products with v/|v|, and |v|."""
        length = (flat * flat).sum() ** 0.5
        return inputs @ flat / length, length

    def outputs(self, flat: Any, inputs: Any, offset: Any = None) -> Any:
        z, length = self._preactivations(flat, inputs)
        if offset is not None:
            z = z + flat[self.d - 1] / length * offset[0]
        return hermite(self.order, z)

    def gradient(self, flat: Any, inputs: Any, g: Any) -> Any:
        z, length = self._preactivations(flat, inputs)
        weights = g * hermite_slope(self.order, z)
        return (weights @ inputs - (weights @ z) * flat / length) / length

    def derivative(self, flat: Array, inputs: Array, direction: Array) -> Array:
        z, length = self._preactivations(flat, inputs)
        along = inputs @ direction - z * (flat @ direction) / length
        return np.asarray(hermite_slope(self.order, z) * along / length)

    def nodes(self, flat: Array) -> tuple[Array, Array]:
        return np.ones(1), np.asarray(flat.reshape(1, self.d))
