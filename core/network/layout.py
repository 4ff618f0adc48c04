"""Names and shapes of a network's arrays, and the sizes that a network is made for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Arrays = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Block:
    """Name, as in the paper, and shape of one array of parameters."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """Sizes of a network: m neurons, training inputs x (n, d), k outputs (1 for two classes).

    Networks with statistics of the data read `x`; starts that depend on the targets read `y` (n,).
    """

    m: int
    x: Array
    k: int = 1
    y: Array | None = None

    @property
    def d(self) -> int:
        return int(self.x.shape[1])
