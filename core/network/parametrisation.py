"""The map from trained parameters to the effective weights (alpha, U) of core.network.kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Block:
    """One trained array: its name in the paper and its shape."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return prod(self.shape)


class Parametrisation(ABC):
    """Trained parameters, kept flat in the order of `layout`, and what they mean.

    `degree` is L, the homogeneity of f in the trained parameters: f(c W) = c^L f(W) for c > 0.
    """

    kind: str
    degree: int
    layout: tuple[Block, ...]

    @property
    def size(self) -> int:
        """Number of trained parameters."""
        return sum(block.size for block in self.layout)

    @abstractmethod
    def initialise(self, generator: np.random.Generator) -> Array:
        """The paper's random start, flat."""

    @abstractmethod
    def effective(self, flat: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """(alpha (m,), U (m, d)) of the two-layer network that `flat` stands for."""

    @abstractmethod
    def pullback(self, flat: Array, d_alpha: Array, d_U: Array) -> Array:
        """The gradient in the trained parameters, flat, from that in (alpha, U)."""

    @abstractmethod
    def imbalance(self, flat: Array) -> Array:
        """Per node, the difference of squared layer norms that gradient flow conserves, (m,)."""

    @abstractmethod
    def directions(self, flat: Array) -> Array:
        """The inner weight vector of each node, whose rotation is watched, (m, d)."""

    def unpack(self, flat: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Views of `flat` (..., size) by name, each (..., *shape)."""
        views: dict[str, NDArray[Any]] = {}
        start = 0
        for block in self.layout:
            part = flat[..., start : start + block.size]
            views[block.name] = part.reshape(*flat.shape[:-1], *block.shape)
            start += block.size
        return views

    def pack(self, arrays: Mapping[str, Array]) -> Array:
        """The flat float64 vector of named arrays; shapes must be those of `layout`."""
        parts = [np.asarray(arrays[block.name], dtype=np.float64) for block in self.layout]
        return np.concatenate([part.reshape(-1) for part in parts])
