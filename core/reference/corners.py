"""Parities of an even number of bits on all corners of the cube: margins in closed form.

With C_k = C(k - 2, k/2 - 1)/2^(k-1) the largest margins are C_k/sqrt(d) over max |v_j|_inf and over
the spectral norm, C_k/sqrt(k d) over l_2 and C_k/(k sqrt(d)) over l_1 (docs/theory.md, 5.7).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import comb
from typing import final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
MOST_DIMENSIONS = 16


def corner_constant(k: int) -> float:
    """Return C_k = C(k - 2, k/2 - 1)/2^(k-1) of an even k.

    >>> [corner_constant(k) for k in (2, 4, 6, 8)]
    [0.5, 0.25, 0.1875, 0.15625]
    """
    return float(comb(k - 2, k // 2 - 1) / 2.0 ** (k - 1))


@final
@dataclass(frozen=True, slots=True)
class Parity:
    """Parity y = sign * prod_j sqrt(d) x_j of some `bits` j, an even number of them."""

    bits: tuple[int, ...]
    sign: float
    d: int

    @property
    def k(self) -> int:
        return len(self.bits)

    @property
    def margin(self) -> float:
        """C_k/sqrt(d): the margin of `best_neurons`, over max_j |v_j|_inf."""
        return float(corner_constant(self.k) / np.sqrt(self.d))

    def best_neurons(self) -> tuple[Array, Array]:
        """Return the signs and directions of the best network's neurons.

        The beta are all vectors s of +-1 on the bits and 0 elsewhere. Their signs are prod s times
        that of y, and minus this for k = 4, 8, ...; all masses are equal.

        Returns
        -------
        tuple of two arrays
            alpha (2^k,), entries +-1, and beta (2^k, d), of length sqrt(k).
        """
        signs = np.array(list(product((1.0, -1.0), repeat=self.k)))
        beta = np.zeros((len(signs), self.d))
        beta[:, self.bits] = signs
        turned = -1.0 if self.k % 4 == 0 else 1.0
        return turned * self.sign * signs.prod(axis=1), beta


def find_corner_parity(x: Array, y: Array) -> Parity | None:
    """Return the parity of data that are all corners of {-1, 1}^d/sqrt(d), once each.

    Parameters
    ----------
    x : array (n, d)
        Inputs.
    y : array (n,)
        Labels +-1.

    Returns
    -------
    Parity or None
        None for other data, and for an odd number of bits.

    Examples
    --------
    >>> x = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]) / np.sqrt(2.0)
    >>> find_corner_parity(x, np.array([-1.0, 1.0, 1.0, -1.0]))
    Parity(bits=(0, 1), sign=-1.0, d=2)
    """
    n, d = x.shape
    if not 2 <= d <= MOST_DIMENSIONS or n != 2**d:
        return None
    if not np.allclose(np.abs(x) * np.sqrt(d), 1.0, rtol=0.0, atol=1e-12):
        return None
    place = (x < 0.0) @ (1 << np.arange(d))
    if (np.bincount(place, minlength=n) != 1).any():
        return None
    labels = np.empty(n)
    labels[place] = y
    # Walsh-Hadamard transform: sums of y times each character; the sum is n for y itself.
    for j in range(d):
        pairs = labels.reshape(-1, 2, 1 << j)
        labels = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).ravel()
    character = int(np.abs(labels).argmax())
    bits = tuple(j for j in range(d) if character >> j & 1)
    if abs(labels[character]) != n or not bits or len(bits) % 2:
        return None
    return Parity(bits, float(np.sign(labels[character])), d)
