"""Compiled twin of a two-layer network, and work arrays for kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.compiled.descent import Work
from core.compiled.kernel import ROWS
from core.compiled.network import Net
from core.network.activation import BATCH_NORM, FIXED_OUTER, SQUARE
from core.network.parametrisation import TwoLayer
from core.problem.problem import Problem

APART = 64  # numbers between two arrays


def compiled_network(network: TwoLayer, n: int, D: int, dtype: Any = np.float64) -> Net:
    """Return the compiled twin of a network, with separate work arrays.

    Parameters
    ----------
    network : TwoLayer
        Network with a code of core.compiled.network.
    n : int
        Number of inputs evaluated at once.
    D : int
        Dimension of the inputs x~.
    dtype : dtype
        Precision.

    Returns
    -------
    Net
        Twin.
    """
    number = np.dtype(dtype).type
    m, k, code, phi = network.m, network.k, network.code, network.activation
    constants, eps = network.compiled_constants()
    normalises = code == BATCH_NORM and getattr(network, "normalise", True)
    rows = m if phi.code == SQUARE else ROWS
    shapes = ((m, k), (m, D), (m, 0 if code == FIXED_OUTER else k), (m, D), (m, D + 1), (rows, n))
    return Net(
        code,
        phi.code,
        m,
        D,
        k,
        network.scaled,
        network.degree,
        int(normalises and constants.shape == (D, D) and D > 0),
        number(phi.slope),
        number(eps),
        np.array(constants, dtype, order="C"),
        *(np.zeros(shape, dtype) for shape in shapes),
    )


def make_work_arrays(problem: Problem, flat: NDArray[Any], limit: float, batch: int) -> Work:
    """Return the work arrays of steps of the parameters.

    Parameters
    ----------
    problem : Problem
        Problem whose network and loss count.
    flat : array (size,)
        Parameters, which steps update in place; their precision is the work's.
    limit : float
        Divergence limit.
    batch : int
        Examples in a step.

    Returns
    -------
    Work
        Arrays of zeros around the twin and `flat`.
    """
    network, D = problem.network, problem.inputs.shape[1]
    assert isinstance(network, TwoLayer)
    of_nodes, of_outputs = (network.m, batch), (network.k, batch)
    shapes = ((D, batch), of_nodes, of_nodes, of_outputs, of_outputs, flat.shape)
    arrays = [np.zeros(shape, flat.dtype) for shape in shapes]
    return Work(
        compiled_network(network, batch, D, flat.dtype), flat, problem.loss.code, limit, *arrays
    )


def padded_zeros(size: int) -> NDArray[np.float64]:
    """Return zeros that no other array follows closely.

    Loops over arrays that start within some 128 bytes of each other are not vectorised, and round
    otherwise: results would depend on the memory addresses of short arrays.

    Parameters
    ----------
    size : int
        Length of the array.

    Returns
    -------
    array (size,)
        View of a longer array.
    """
    return np.zeros(size + APART)[:size]
