"""Diagonal linear networks: f(x) = sum_j <u_j1 * ... * u_jL, x>, or <u_j^2 - w_j^2, x>.

Source: Woodworth et al. 2020; Gunasekar, Lee, Soudry and Srebro 2018. L-homogeneous. Gradient flow
of any loss conserves u_l^2 - u_(l+1)^2 in every coordinate, and u * w for u^2 - w^2
(docs/theory.md, 4.17). One neuron, m = 1, is the network of the papers; more are added up.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator
from pydantic import model_validator

from core.errors import RuleError
from core.network.linear_predictor import LinearPredictor
from core.network.parametrisation import Array, Arrays, Block, Shape
from core.network.section import FILE_MEANING, NetworkSection
from core.settings import setting


@final
class DiagonalLinearNetwork(NetworkSection):
    title: ClassVar[str] = "diagonal linear network f(x) = sum_j <u_j1 * ... * u_jL, x>"
    source: ClassVar[str] = "Woodworth et al. 2020; Gunasekar, Lee, Soudry and Srebro 2018"
    shrinks: ClassVar[str] = "layers or m"

    words: ClassVar[str] = "diagonal linear network"
    kind: Literal["diagonal_linear"] = "diagonal_linear"
    m: int | None = setting(
        1, meaning="number of diagonal networks that are added up", ge=1, le=1_000_000
    )
    layers: int = setting(2, meaning="L, number of factors of each coefficient", ge=2, le=16)
    form: Literal["product", "squares"] = setting(
        "product",
        meaning="product: u_1 * ... * u_L, whose signs never change from a start with equal "
        "layers; squares: u^2 - w^2, of two layers, which takes either sign",
    )
    init: Literal["equal", "paper", "random", "file"] = setting(
        "equal",
        meaning=f"equal or paper: all entries are scale; random: N(0, scale^2); {FILE_MEANING}",
    )
    scale: float = setting(0.3, meaning="size of each entry at the start", gt=0, le=1e6)

    @model_validator(mode="after")
    def _two_layers(self) -> DiagonalLinearNetwork:
        """Raise RuleError for `form` "squares" with other than two layers."""
        if self.form == "squares" and self.layers != 2:
            raise RuleError(
                f'form = "squares" has two layers, u and w, but layers = {self.layers}; leave '
                'layers out, or use form = "product"',
                keys=("form", "layers"),
            )
        return self

    @property
    def small_start(self) -> bool:
        return self.init != "file"

    def weights(self, d: int, k: int) -> int:
        return (self.m or 1) * d * self.layers


@final
class DiagonalLinear(LinearPredictor):
    """Diagonal linear network with parameters u1, ..., uL, or u and w, each (m, d).

    beta is the sum over neurons of u1 * ... * uL, or of u^2 - w^2.

    >>> net = DiagonalLinear(DiagonalLinearNetwork(layers=3), Shape(1, np.zeros((5, 2))), {})
    >>> flat = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    >>> net.coefficients(flat).tolist()  # (1, 2) * (3, 4) * (5, 6)
    [15.0, 48.0]
    """

    kind = "diagonal_linear"
    section = DiagonalLinearNetwork

    def __init__(self, section: DiagonalLinearNetwork, shape: Shape, fixed: Arrays) -> None:
        self.m, self.d = shape.m, shape.d
        self.squares = section.form == "squares"
        self.degree = section.layers
        names = ("u", "w") if self.squares else [f"u{one + 1}" for one in range(self.degree)]
        self.layout = tuple(Block(name, (self.m, self.d)) for name in names)
        self.scaled = self.size

    @staticmethod
    def initial(
        section: DiagonalLinearNetwork, shape: Shape, generator: Generator
    ) -> dict[str, Array]:
        """Draw the layers in their order, or set all entries to the scale.

        Parameters
        ----------
        section : DiagonalLinearNetwork
            Settings; `init` "random" makes the entries N(0, scale^2).
        shape, generator : Shape, Generator
            Number m of diagonal networks and dimension d; source of randomness, used by "random".

        Returns
        -------
        dict of str to array (m, d)
            "u1", ..., "uL", or "u" and "w" with `form` "squares".
        """
        arrays = {}
        for block in DiagonalLinear(section, shape, {}).layout:
            is_random = section.init == "random"
            entries = generator.standard_normal(block.shape) if is_random else np.ones(block.shape)
            arrays[block.name] = section.scale * entries
        return arrays

    def _layers(self, flat: Any) -> Any:
        """Return the layers, (L, m, d)."""
        return flat.reshape(len(self.layout), self.m, self.d)

    def products(self, flat: Any) -> Any:
        """Return the coefficients of each neuron, (m, d), which add up to beta."""
        layers = self._layers(flat)
        if self.squares:
            return layers[0] ** 2 - layers[1] ** 2
        product = layers[0]
        for layer in layers[1:]:
            product = product * layer
        return product

    def _slopes(self, flat: Any) -> Any:
        """Return the derivative of each neuron's coefficient in each layer's entry, (L, m, d)."""
        layers = self._layers(flat)
        if self.squares:
            return np.stack([2.0 * layers[0], -2.0 * layers[1]])
        # Products of the other layers without a division, since an entry may be 0.
        before, after = np.ones_like(layers), np.ones_like(layers)
        for place in range(1, len(layers)):
            before[place] = before[place - 1] * layers[place - 1]
            after[-1 - place] = after[-place] * layers[-place]
        return before * after

    def coefficients(self, flat: Any) -> Any:
        return self.products(flat).sum(axis=0)

    def push_coefficients(self, flat: Array, direction: Array) -> Array:
        return np.asarray((self._slopes(flat) * self._layers(direction)).sum(axis=(0, 1)))

    def pull_coefficients(self, flat: Array, d_beta: Array) -> Array:
        return np.asarray((self._slopes(flat) * d_beta).reshape(-1))

    def invariants(self, flat: Array) -> Array:
        layers = self._layers(flat)
        if self.squares:
            return np.asarray(layers[0] * layers[1]).reshape(-1)
        return np.asarray(layers[:-1] ** 2 - layers[1:] ** 2).reshape(-1)

    def imbalance(self, flat: Array) -> Array:
        """Return what gradient flow conserves of the first and last layer of each diagonal network.

        Parameters
        ----------
        flat : array (size,)
            Trained parameters.

        Returns
        -------
        array (m,)
            |u_j1|^2 - |u_jL|^2, or <u_j, w_j> with `form` "squares".
        """
        layers = self._layers(flat)
        if self.squares:
            return np.asarray((layers[0] * layers[1]).sum(axis=1))
        return np.asarray((layers[0] ** 2 - layers[-1] ** 2).sum(axis=1))

    def nodes(self, flat: Array) -> tuple[Array, Array]:
        return np.ones(self.m), np.asarray(self.products(flat))
