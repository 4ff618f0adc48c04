"""Row-space form: isometric coordinates of the inner weights, exact where d > n.

Full-batch training moves every v_j in the span of the (centred) data rows and, where the network
normalises v_j or the loss has a penalty, along the part of v_j(0) outside the span. With an
orthonormal basis Q (r, d) of the span and e_j the direction of v_j(0) outside it,

    v_j(t) = Q' c_j(t) + z_j(t) e_j,      x_i = Q' (Q x_i),

so that (c_j, z_j) in R^(r+1), with data (Q x_i, 0), is the same system: the form preserves all
norms and inner products of one neuron, and engines need no change. The coefficients C on the data
rows are c = C X Q'. The basis is orthonormal because X X' may be badly conditioned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
RANK_TOLERANCE = 1e-12  # of the largest singular value


@final
@dataclass(frozen=True, slots=True, eq=False)
class Reduction:
    """Basis Q (r, d), perpendicular E (m, d) of unit or zero rows, and the inputs' mean (d,)."""

    basis: Array
    perpendicular: Array
    mean: Array

    @property
    def size(self) -> int:
        """r + 1, the dimension that the engines see."""
        return int(self.basis.shape[0]) + 1

    def inner(self, V: Array) -> Array:
        """Return the reduced coordinates of inner weights.

        Parameters
        ----------
        V : array (m, d)
            Inner weights whose part outside the span is along E.

        Returns
        -------
        array (m, r + 1)
            (c, z).
        """
        products = np.einsum("jk,jk->j", V, self.perpendicular)
        return np.concatenate([V @ self.basis.T, products[:, None]], axis=1)

    def full(self, reduced: Array) -> Array:
        """Return the inner weights with given reduced coordinates.

        Parameters
        ----------
        reduced : array (m, r + 1)
            (c, z).

        Returns
        -------
        array (m, d)
            V.
        """
        return np.asarray(reduced[:, :-1] @ self.basis + reduced[:, -1:] * self.perpendicular)

    def columns(self, reduced: Array, indices: list[int]) -> Array:
        """Return some columns of V without computing all of it.

        Parameters
        ----------
        reduced : array (m, r + 1)
            (c, z).
        indices : list of int
            Columns.

        Returns
        -------
        array (m, len(indices))
            Columns of V.
        """
        part = reduced[:, :-1] @ self.basis[:, indices]
        return np.asarray(part + reduced[:, -1:] * self.perpendicular[:, indices])

    def training(self, x: Array) -> Array:
        """Return the reduced coordinates of points in the span.

        Parameters
        ----------
        x : array (n, d)
            Training inputs.

        Returns
        -------
        array (n, r + 1)
            (Q (x - mean), 0).
        """
        inside = (x - self.mean) @ self.basis.T
        return np.concatenate([inside, np.zeros((x.shape[0], 1))], axis=1)

    def perpendicular_products(self, x: Array) -> Array:
        """Return the inner products of any points with the neurons' directions outside the span.

        Parameters
        ----------
        x : array (n, d)
            Points.

        Returns
        -------
        array (m, n)
            <e_j, x_i - mean>.
        """
        return np.asarray(self.perpendicular @ (x - self.mean).T)


def mean_of(x: Array, centred: bool) -> Array:
    """Return the vector subtracted from inputs: the training mean if centred, else 0.

    Parameters
    ----------
    x : array (n, d)
        Training inputs.
    centred : bool
        True for a network that centres its inputs.

    Returns
    -------
    array (d,)
        Mean or zeros.
    """
    return np.asarray(x.mean(axis=0)) if centred else np.zeros(x.shape[1])


def reduction(x: Array, V: Array, centred: bool) -> Reduction:
    """Return the row-space form of a problem at its start.

    Parameters
    ----------
    x : array (n, d)
        Training inputs.
    V : array (m, d)
        Inner weights at the start.
    centred : bool
        True for a network that centres its inputs.

    Returns
    -------
    Reduction
        Form whose rank r counts singular values above RANK_TOLERANCE times the largest.
    """
    mean = mean_of(x, centred)
    _, singular, basis = np.linalg.svd(x - mean, full_matrices=False)
    # Linearly dependent rows, such as duplicates, lower the rank and the size of the reduced form.
    # `tiny` covers X = 0, where no row is kept.
    mask = singular > RANK_TOLERANCE * max(float(singular[0]), np.finfo(float).tiny)
    basis = np.ascontiguousarray(basis[mask])
    outside = V - (V @ basis.T) @ basis
    # Twice: the first projection leaves rounding errors of size |V|.
    outside -= (outside @ basis.T) @ basis
    norms = np.linalg.norm(outside, axis=1, keepdims=True)
    # For a neuron within the span only rounding remains, 1e-16 of its size; it has no direction.
    floor = 1e-13 * np.linalg.norm(V, axis=1, keepdims=True)
    perpendicular = np.where(norms > floor, outside / np.where(norms > floor, norms, 1.0), 0.0)
    return Reduction(basis, perpendicular, mean)
