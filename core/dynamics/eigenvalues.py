"""Largest eigenvalues of an operator, as searches and proofs return them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Top:
    """Largest eigenvalues of an operator, in decreasing order.

    `values` (count,), unit `vectors` (count, size), `bounds` (count,) on the error of each value,
    and the number of `products` that were taken.
    """

    values: Array
    vectors: Array
    bounds: Array
    products: int

    @property
    def largest(self) -> float:
        return float(self.values[0])

    @staticmethod
    def unknown(count: int, size: int, products: int) -> Top:
        """Return NaN for the eigenvalues of an operator that is not finite.

        Parameters
        ----------
        count : int
            Number of eigenvalues.
        size : int
            Dimension of the operator.
        products : int
            Number of products that were taken.

        Returns
        -------
        Top
            Values, vectors and bounds of NaN.
        """
        unknown_values = np.full(count, np.nan)
        return Top(unknown_values, np.full((count, size), np.nan), unknown_values, products)
