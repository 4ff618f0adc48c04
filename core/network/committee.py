"""Soft committee machine f(x) = sum_j erf(<v_j, x>/sqrt(2)), whose online training is an exact ODE.

Source: Saad and Solla 1995. The outer weights are 1 and not trained. f is bounded by m, so it is
homogeneous in no parameters.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator
from pydantic import model_validator

from core.errors import InputError, RuleError
from core.network.parametrisation import Array, Arrays, Block, Network, Shape, weighted_gram
from core.network.section import FILE_MEANING, NetworkSection
from core.settings import setting


@final
class CommitteeNetwork(NetworkSection):
    title: ClassVar[str] = "soft committee machine f(x) = sum_j erf(<v_j, x>/sqrt(2)), V trained"
    source: ClassVar[str] = "Saad and Solla 1995"

    known_teacher: ClassVar[str] = "erf"
    words: ClassVar[str] = "soft committee machine"
    kind: Literal["committee"] = "committee"
    init: Literal["paper", "overlap", "file"] = setting(
        "paper",
        meaning="paper: V ~ N(0, scale^2/d I); overlap: orthogonal v_j of length scale with "
        f"<v_j, e_j> = overlap, and v_j = 0 in all other coordinates up to m; {FILE_MEANING}",
    )
    scale: float = setting(
        0.5, meaning="length of each v_j at the start, or its size", gt=0, le=1e6
    )
    overlap: float = setting(
        0.01,
        meaning="<v_j, e_j> of a start with init = overlap: with the unit j of an orthonormal "
        "teacher",
        ge=0,
        le=1e6,
    )

    def not_homogeneous(self) -> str:
        return 'network.kind = "committee": erf is not homogeneous'

    @model_validator(mode="after")
    def _check_overlap(self) -> CommitteeNetwork:
        """Raise RuleError for an overlap larger than the neurons' length."""
        if self.init == "overlap" and self.overlap > self.scale:
            raise RuleError(
                f"network.overlap = {self.overlap:g} is larger than the length of the neurons, "
                f"network.scale = {self.scale:g}; choose an overlap of at most that",
                keys=("overlap", "scale"),
            )
        return self


def error_function(z: Any) -> Any:
    """Return erf(z/sqrt(2)), elementwise, of an array or a tensor."""
    if hasattr(z, "erf"):  # a torch tensor
        return (z / 2.0**0.5).erf()
    from scipy.special import erf

    return erf(z / np.sqrt(2.0)).astype(z.dtype, copy=False)


def error_slope(z: Any) -> Any:
    """Return the derivative of erf(z/sqrt(2)), sqrt(2/pi) e^(-z^2/2), of an array or a tensor."""
    exponent = -0.5 * z * z
    if hasattr(z, "erf"):
        return (2.0 / np.pi) ** 0.5 * exponent.exp()
    with np.errstate(under="ignore"):
        return np.asarray(z.dtype.type(np.sqrt(2.0 / np.pi)) * np.exp(exponent))


@final
class Committee(Network):
    """Soft committee machine with parameters V (m, d).

    >>> net = Committee(CommitteeNetwork(m=2), Shape(2, np.zeros((5, 1))), {})
    >>> net.outputs(np.array([1.0, 1.0]), np.array([[1.0], [-1.0]])).round(6).tolist()
    [1.365379, -1.365379]
    """

    kind = "committee"
    section = CommitteeNetwork
    row_space = True
    homogeneous = False
    degree = 1

    def __init__(self, section: CommitteeNetwork, shape: Shape, fixed: Arrays) -> None:
        self.m, self.d = shape.m, shape.d
        self.layout = (Block("V", (self.m, self.d)),)
        self.scaled = self.size

    @staticmethod
    def initial(section: CommitteeNetwork, shape: Shape, generator: Generator) -> dict[str, Array]:
        """Draw V ~ N(0, scale^2/d I), or an orthonormal basis beyond the first m coordinates.

        Parameters
        ----------
        section : CommitteeNetwork
            Settings; with `init` "overlap", <v_j, e_j> = overlap and |v_j| = scale.
        shape, generator : Shape, Generator
            Width m and dimension d; source of randomness.

        Returns
        -------
        dict of str to array
            "V" (m, d).

        Raises
        ------
        InputError
            The dimension has no room for m further directions: 2 m > d.
        """
        m, d = shape.m, shape.d
        if section.init != "overlap":
            return {"V": section.scale / np.sqrt(d) * generator.standard_normal((m, d))}
        if 2 * m > d:
            raise InputError(
                f'network.init = "overlap" needs two coordinates for each neuron, but m = {m} and '
                f"d = {d}; choose m of at most {d // 2}, or data.d of at least {2 * m}."
            )
        V = np.zeros((m, d))
        basis, _ = np.linalg.qr(generator.standard_normal((d - m, m)))
        V[:, :m] = section.overlap * np.eye(m)
        V[:, m:] = np.sqrt(section.scale**2 - section.overlap**2) * basis.T
        return {"V": V}

    def _matrix(self, flat: Any) -> Any:
        return flat.reshape(self.m, self.d)

    def outputs(self, flat: Any, inputs: Any, offset: Any = None) -> Any:
        z = self._matrix(flat) @ inputs.T
        if offset is not None:
            z = z + self._matrix(flat)[:, self.d - 1, None] * offset
        return error_function(z).sum(0)

    def gradient(self, flat: Any, inputs: Any, g: Any) -> Any:
        z = self._matrix(flat) @ inputs.T
        return ((error_slope(z) * g) @ inputs).reshape(-1)

    def derivative(self, flat: Array, inputs: Array, direction: Array) -> Array:
        z, dz = self._matrix(flat) @ inputs.T, self._matrix(direction) @ inputs.T
        return np.asarray((error_slope(z) * dz).sum(axis=0))

    def gram(self, flat: Array, inputs: Array) -> Array:
        slopes = error_slope(self._matrix(flat) @ inputs.T)
        return weighted_gram(inputs, np.ones(self.m), slopes)

    def nodes(self, flat: Array) -> tuple[Array, Array]:
        # Signed sizes s = 1, (m,), then the rows of V, (m, d).
        return np.ones(self.m), np.asarray(self._matrix(flat))
