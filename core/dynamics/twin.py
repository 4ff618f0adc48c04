"""The tuple by which compiled kernels know a two-layer network."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.compiled import network as codes
from core.compiled.kernel import ROWS
from core.network.parametrisation import TwoLayer


def twin(network: TwoLayer, n: int, D: int, dtype: Any = np.float64) -> tuple[NDArray[Any], ...]:
    """`net` of core.compiled.network for n inputs of dimension D, with work arrays of its own."""
    m, k = network.m, network.k
    code = network.code
    constants, eps = network.compiled_constants()
    spec = np.zeros(codes.SPEC, dtype=np.int64)
    spec[codes.CODE], spec[codes.PHI] = code, network.activation.code
    spec[codes.M], spec[codes.D], spec[codes.K] = m, D, k
    spec[codes.SCALED], spec[codes.DEGREE] = network.scaled, network.degree
    spec[codes.NORMALISES] = int(code == codes.BATCH_NORM and constants.shape == (D, D) and D > 0)
    if code == codes.BATCH_NORM and not getattr(network, "normalise", True):
        spec[codes.NORMALISES] = 0
    numbers = np.array([network.activation.slope, eps], dtype=dtype)
    arrays: list[NDArray[Any]] = [spec, numbers, np.array(constants, dtype=dtype, order="C")]
    trained = 0 if code == codes.FIXED_OUTER else k
    shapes = ((m, k), (m, D), (m, trained), (m, D), (m, D + 1), (ROWS, n))
    return (*arrays, *(np.zeros(shape, dtype=dtype) for shape in shapes))
