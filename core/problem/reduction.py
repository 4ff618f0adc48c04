"""The row-space form: isometric coordinates of the inner weights, exact where d > n.

Full-batch training moves every v_j in the span of the (centred) data rows and, where the network
normalises v_j or the loss has a penalty, along the part of v_j(0) outside the span. With an
orthonormal basis Q (r, d) of the span and e_j the direction of v_j(0) outside it,

    v_j(t) = Q' c_j(t) + z_j(t) e_j,      x_i = Q' (Q x_i),

so that (c_j, z_j) in R^(r+1), with data (Q x_i, 0), is the same system: all norms and inner
products of one node are kept, and no engine has to know. The coefficients C on the data rows
are c = C X Q'; an orthonormal basis is used because X X' may be badly conditioned.
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
    """basis Q (r, d), perpendicular E (m, d) of unit or zero rows, mean (d,) that inputs lose."""

    basis: Array
    perpendicular: Array
    mean: Array

    @property
    def size(self) -> int:
        """r + 1, the dimension that the engines see."""
        return int(self.basis.shape[0]) + 1

    def inner(self, V: Array) -> Array:
        """(c, z) (m, r + 1) of inner weights V (m, d) whose outer part lies along E."""
        along = np.einsum("jk,jk->j", V, self.perpendicular)
        return np.concatenate([V @ self.basis.T, along[:, None]], axis=1)

    def full(self, reduced: Array) -> Array:
        """V (m, d) of (c, z) (m, r + 1)."""
        return np.asarray(reduced[:, :-1] @ self.basis + reduced[:, -1:] * self.perpendicular)

    def columns(self, reduced: Array, indices: list[int]) -> Array:
        """Some columns of V, (m, len(indices)), without making all of it."""
        part = reduced[:, :-1] @ self.basis[:, indices]
        return np.asarray(part + reduced[:, -1:] * self.perpendicular[:, indices])

    def training(self, x: Array) -> Array:
        """(Q (x - mean), 0) (n, r + 1) of points in the span."""
        inside = (x - self.mean) @ self.basis.T
        return np.concatenate([inside, np.zeros((x.shape[0], 1))], axis=1)

    def outside(self, x: Array) -> Array:
        """<e_j, x_i - mean> (m, n): what the nodes' parts outside the span see of any points."""
        return np.asarray(self.perpendicular @ (x - self.mean).T)


def mean_of(x: Array, centred: bool) -> Array:
    """What inputs lose: the training mean where the network centres them, else zeros, (d,)."""
    return np.asarray(x.mean(axis=0)) if centred else np.zeros(x.shape[1])


def reduction(x: Array, V: Array, centred: bool) -> Reduction:
    """The reduction for training inputs x (n, d) and inner weights V (m, d) at the start."""
    mean = mean_of(x, centred)
    _, singular, basis = np.linalg.svd(x - mean, full_matrices=False)
    # Rows that depend on each other, as duplicates do, span less: the form is as small as the rank.
    # tiny stands in where all rows are 0, and none is kept.
    kept = singular > RANK_TOLERANCE * max(float(singular[0]), np.finfo(float).tiny)
    basis = np.ascontiguousarray(basis[kept])
    outside = V - (V @ basis.T) @ basis
    outside -= (outside @ basis.T) @ basis  # once more: the first leaves rounding of size |V|
    norms = np.linalg.norm(outside, axis=1, keepdims=True)
    # What rounding leaves of a node within the span, 1e-16 of its size, has no direction.
    floor = 1e-13 * np.linalg.norm(V, axis=1, keepdims=True)
    perpendicular = np.where(norms > floor, outside / np.where(norms > floor, norms, 1.0), 0.0)
    return Reduction(basis, perpendicular, mean)
