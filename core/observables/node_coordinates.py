"""Coordinates and directions of neurons, also of runs in row-space form."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.runs import Run

Array = NDArray[np.float64]


def unit_rows(V: Array) -> tuple[Array, Array]:
    """Return the directions and lengths of rows of any size.

    Parameters
    ----------
    V : array (m, d)
        Rows; their squares may under- or overflow.

    Returns
    -------
    array (m, d), array (m,)
        v_j/|v_j|, NaN for rows of 0, and |v_j|.
    """
    largest = np.abs(V).max(axis=1)  # its square may underflow or overflow
    scaled = V / np.where(largest > 0.0, largest, np.nan)[:, None]
    lengths = np.linalg.norm(scaled, axis=1)
    return scaled / lengths[:, None], np.where(largest > 0.0, lengths * largest, 0.0)


def inner_columns(run: Run, U: Array, columns: Sequence[int]) -> Array:
    """Return some coordinates in R^d of inner weights, also of a row-space run.

    Parameters
    ----------
    run : Run
        Open run.
    U : array (m, D)
        Inner weights, with any biases last; row-space coordinates in a row-space run.
    columns : sequence of int
        Coordinates in R^d, from 0.

    Returns
    -------
    array (m, len(columns))
        0 in coordinates that the data do not have.
    """
    d = run.dataset.d
    inner = [column for column in columns if column < d]
    result = np.zeros((U.shape[0], len(columns)))
    places = [place for place, column in enumerate(columns) if column < d]
    if run.reduction is None:
        result[:, places] = U[:, inner]
    else:
        result[:, places] = run.reduction.columns(U[:, : run.reduction.size], inner)
    return result


def plane(run: Run, index: int, columns: Sequence[int]) -> Array:
    """Return |alpha_j| u_j at the flat parameters, projected on some coordinates.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.
    columns : sequence of int
        Coordinates in R^d, from 0.

    Returns
    -------
    array (m, len(columns))
    """
    s, U = run.network.nodes(run.parameters(index))
    return np.asarray(np.abs(s)[:, None] * inner_columns(run, U, columns))


def positions(run: Run, index: int, columns: Sequence[int] | None = None) -> Array:
    """Return |alpha_j| u_j at the physical scale, as drawn in Figure 1.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.
    columns : sequence of int, optional
        Coordinates in R^d, from 0; by default all d.

    Returns
    -------
    array (m, len(columns))
        Infinite where e^(L rho) overflows.
    """
    chosen = range(run.dataset.d) if columns is None else columns
    factor = np.exp(run.network.degree * run.rho[index])
    return np.asarray(factor * plane(run, index, chosen))
