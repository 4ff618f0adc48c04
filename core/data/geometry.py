"""Directions of the input space: axes of plots, and the hard-margin separator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.data.dataset import Array
from core.errors import InputError

MOST_FOR_AXES = 1_000  # examples from which principal components are computed


def principal_axes(x: Array) -> Array:
    """Return the first two principal directions of the rows.

    They are those of the first 1000 rows if there are more.

    Parameters
    ----------
    x : array (n, d)
        Points.

    Returns
    -------
    array (2, d), or (1, 1) for d = 1
        Orthonormal rows whose largest entries are positive.

    Examples
    --------
    >>> principal_axes(np.array([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    part = x[:MOST_FOR_AXES]
    centred = part - part.mean(axis=0)
    # Use the smaller of X X' and X' X: both have the same nonzero eigenvalues, and X' maps between
    # their eigenvectors.
    if centred.shape[0] < centred.shape[1]:
        _, vectors = np.linalg.eigh(centred @ centred.T)
        rows = (centred.T @ vectors[:, ::-1][:, :2]).T
    else:
        _, vectors = np.linalg.eigh(centred.T @ centred)
        rows = vectors[:, ::-1][:, :2].T
    # Data of rank 0 or 1 leave directions undetermined; coordinate axes fill them.
    return fix_signs(orthonormal([*rows, *np.eye(2, x.shape[1])]))


def fix_signs(axes: Array) -> Array:
    """Return rows with signs that make their largest entries positive.

    LAPACK implementations differ in signs.

    Parameters
    ----------
    axes : array (k, d)
        Rows.

    Returns
    -------
    array (k, d)
        Rows, some negated; the entry of largest modulus counts.
    """
    largest = np.abs(axes).argmax(axis=1)
    # + 0.0 turns -0 into 0.
    return np.asarray(axes * np.sign(axes[np.arange(len(axes)), largest])[:, None]) + 0.0


def orthonormal(rows: Sequence[Array]) -> Array:
    """Return the first two independent directions of some rows, made orthonormal.

    Parameters
    ----------
    rows : sequence of array (d,)
        Directions; dependent ones are skipped.

    Returns
    -------
    array (2, d)
        Orthonormal rows; fewer if the rows span less.
    """
    axes: list[Array] = []
    for row in rows:
        size = np.linalg.norm(row)
        residual = row / size if size > 0 else row
        for axis in [*axes, *axes]:  # twice, against rounding
            residual = residual - (residual @ axis) * axis
        length = float(np.linalg.norm(residual))
        # Rounding leaves much less than 1e-8 of a dependent row of length 1.
        if length > 1e-8:
            axes.append(residual / length)
        if len(axes) == 2:
            break
    return np.array(axes)


def max_margin(points: Array) -> tuple[float, Array, NDArray[np.intp]]:
    """Return the hard margin through the origin, max over |w| = 1 of min_i <G_i, w>.

    Lawson and Hanson: with u >= 0 closest to e in min |[G'; 1'] u - e_(d+1)|, q = u / sum u are the
    weights of the hull's point nearest to 0, and w points there.

    Parameters
    ----------
    points : array (n, d)
        Rows G_i = y_i x_i.

    Returns
    -------
    margin : float
        min_i <G_i, w> > 0.
    w : array (d,)
        Unit vector.
    support : array of int
        Indices of positive weight.

    Raises
    ------
    InputError
        No w is right on every point.

    Examples
    --------
    >>> margin, w, support = max_margin(np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> round(margin, 6), w.round(6).tolist(), support.tolist()
    (0.707107, [0.707107, 0.707107], [0, 1])
    """
    from scipy.optimize import nnls  # slow to load, and rarely needed

    count, d = points.shape
    stacked = np.vstack([points.T, np.ones(count)])
    weights, _ = nnls(stacked, np.concatenate([np.zeros(d), [1.0]]))
    nearest = points.T @ (weights / weights.sum())
    length = float(np.linalg.norm(nearest))
    # The margin of this w on the points, valid even if NNLS did not converge, unlike its distance.
    margin = float((points @ nearest).min()) / length if length > 0 else 0.0
    if margin <= 0.0:
        raise InputError("The points cannot be separated by a hyperplane through the origin.")
    return margin, nearest / length, np.flatnonzero(weights > 0)
