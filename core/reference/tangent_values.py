"""Values of the parts of gamma_ntk's means in given directions (core.reference.tangent)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from core.data.dataset import Array
from core.reference.hull import gram_coordinates
from core.reference.neuron_means import NeuronMeans
from core.reference.tangent_weights import Weights

CHUNK = 2**18  # values per piece of directions times examples


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Examples in coordinates of their span, and the law of the directions.

    `rows` (n, r) have the inner products of the examples, and `outside` is d - r.
    """

    rows: Array
    y: Array
    outside: int

    @property
    def d(self) -> int:
        return int(self.rows.shape[1]) + self.outside

    @property
    def size(self) -> float:
        """Largest |x_i|."""
        return float(np.linalg.norm(self.rows, axis=1).max())


def make_sample(x: Array, y: Array) -> Sample:
    """Return the sample of examples x (n, d) with labels y (n,): for d > n and d > 2, in R^n."""
    n, d = x.shape
    return Sample(x, y, 0) if d <= max(n, 2) else Sample(gram_coordinates(x @ x.T), y, d - n)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """Values in N directions: |D| (k1 + c k2) of each, and the parts of each example's e_i.

    `aligned` (N, n) is y_i 1[.] <D, x_i> and `along` (N, n) y_i relu(<u, x_i>); `length` (N,) is
    |D| (k1 + c k2), `squared` |D|^2 and `height` <u, D>. e_i = first aligned + second along.
    """

    aligned: Array
    along: Array
    length: Array
    squared: Array
    height: Array
    first: Array
    second: Array


def evaluate_directions(z: Array, sample: Sample, weights: Weights, means: NeuronMeans) -> Values:
    """Return the values of directions, at given weights of the examples.

    Parameters
    ----------
    z : array (N, n)
        <u, x_i> of unit directions u.
    sample : Sample
        Examples, and their labels.
    weights : Weights
        Weights q, and the floor of |D|.
    means : NeuronMeans
        Table of k1 and k2 for the dimension of the sample.

    Returns
    -------
    Values
        In units of |x_i|. A neuron whose D is 0 has length 0, and e_i = 0 if the floor is positive.
    """
    rows, q = sample.rows, weights.q
    active_labels = np.where(z > 0.0, sample.y, 0.0)
    D = (active_labels * q) @ rows
    squared = np.einsum("jk,jk->j", D, D)
    size = np.sqrt(squared)
    active = active_labels * z
    height = active @ q
    cosine = np.divide(height, size, out=np.zeros_like(size), where=size > 0.0)
    k1, k2 = means(cosine)
    floored = np.sqrt(squared + weights.floor**2)
    aligned = D @ rows.T
    aligned *= active_labels
    return Values(
        aligned,
        active,
        size * k1 + height * k2,
        squared,
        height,
        k1 / floored,
        k2 * np.divide(size, floored, out=np.zeros_like(size), where=floored > 0.0),
    )
