"""Steps along polar factors, compiled: spectral descent, block by block of the parameters."""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

from numpy.typing import NDArray

from core.compiled.blas import eigh, gemm
from core.compiled.jit import compile_kernel
from core.compiled.numba_compat import as_matrix

Array = NDArray[Any]


class Polar(NamedTuple):
    """Blocks of the parameters, and work in float64 for the largest of them."""

    blocks: Array  # (b, 3) of int, first number, rows and columns; 0 columns for a vector
    floor: float  # of eigenvalues, relative to the largest
    M: Array  # (rows * columns,), and U
    U: Array
    gram: Array  # (r * r,), r the smaller side, like scaled and inverse
    scaled: Array
    inverse: Array
    values: Array  # (r,)


@compile_kernel
def step_vector(part: Array, g: Array, eta: float) -> None:
    """Add eta g/|g| to a block, nothing where g = 0.

    Parameters
    ----------
    part, g : array (size,)
        Block of W, updated in place, and of the gradient.
    eta : float
        Length of the step.
    """
    total = 0.0
    for k in range(g.size):
        total += float(g[k]) * float(g[k])
    if total > 0:
        step = part.dtype.type(eta / sqrt(total))
        for k in range(g.size):
            part[k] += step * g[k]


@compile_kernel
def step_matrix(part: Array, g: Array, rows: int, columns: int, eta: float, polar: Polar) -> bool:
    """Add eta M (M'M)^(-1/2) to a block, nothing where M = 0.

    Parameters
    ----------
    part, g : array (rows * columns,)
        Block of W, updated in place, and of the gradient, M.
    rows, columns : int
        Shape of the block.
    eta : float
        Length of the step.
    polar : Polar
        Work, and the floor of the eigenvalues.

    Returns
    -------
    bool
        False if LAPACK found no eigenvectors.
    """
    size, r = rows * columns, min(rows, columns)
    for k in range(size):
        polar.M[k] = g[k]
    M, U = as_matrix(polar.M[:size], rows, columns), as_matrix(polar.U[:size], rows, columns)
    Q, scaled = as_matrix(polar.gram[: r * r], r, r), as_matrix(polar.scaled[: r * r], r, r)
    inverse, values = as_matrix(polar.inverse[: r * r], r, r), polar.values[:r]
    if columns <= rows:
        gemm(M.T, M, Q)
    else:
        gemm(M, M.T, Q)
    if eigh(Q, values) != 0:
        return False
    top = values[r - 1]
    if not top > 0:
        return True
    for i in range(r):
        root = sqrt(max(values[i], polar.floor * top))
        for k in range(r):
            scaled[i, k] = Q[i, k] / root
    gemm(Q.T, scaled, inverse)
    if columns <= rows:
        gemm(M, inverse, U)
    else:
        gemm(inverse, M, U)
    step = part.dtype.type(eta)
    for k in range(size):
        part[k] += step * part.dtype.type(polar.U[k])
    return True


@compile_kernel
def move_blocks(flat: Array, g: Array, eta: float, polar: Polar) -> bool:
    """Move each block along its polar factor, or along g/|g| for a vector.

    Parameters
    ----------
    flat, g : array (size,)
        W, updated in place, and the gradient or its mean.
    eta : float
        Length of the step in the operator norm.
    polar : Polar
        Blocks and work.

    Returns
    -------
    bool
        False if LAPACK found no eigenvectors of a block.
    """
    blocks = polar.blocks
    for b in range(blocks.shape[0]):
        first, rows, columns = blocks[b, 0], blocks[b, 1], blocks[b, 2]
        size = rows * max(columns, 1)
        part, slope = flat[first : first + size], g[first : first + size]
        if columns == 0:
            step_vector(part, slope, eta)
        elif not step_matrix(part, slope, rows, columns, eta, polar):
            return False
    return True
