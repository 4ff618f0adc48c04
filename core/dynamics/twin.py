"""What compiled kernels know of a two-layer network."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.compiled.kernel import ROWS
from core.compiled.network import Net
from core.network.codes import BATCH_NORM, FIXED_OUTER
from core.network.parametrisation import TwoLayer


def twin(network: TwoLayer, n: int, D: int, dtype: Any = np.float64) -> Net:
    """The network for n inputs of dimension D, with work arrays of its own."""
    number = np.dtype(dtype).type
    m, k, code, phi = network.m, network.k, network.code, network.activation
    constants, eps = network.compiled_constants()
    normalises = code == BATCH_NORM and getattr(network, "normalise", True)
    shapes = ((m, k), (m, D), (m, 0 if code == FIXED_OUTER else k), (m, D), (m, D + 1), (ROWS, n))
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
