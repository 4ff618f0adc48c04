"""The compiled matrix products, each way they are done, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.compiled import kernel, kernel_loops, tiles

DTYPES = pytest.mark.parametrize("dtype", [np.float64, np.float32])
sizes = st.tuples(st.integers(4, 19), st.integers(1, 21), st.integers(8, 70))


def drawn(dtype: type, *shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def near(found: np.ndarray, left: np.ndarray, right: np.ndarray) -> bool:
    """Return each entry to a few roundings of its largest term.

    The oracle is exact to 64 bits at least: a library's product of float64 matrices may itself be
    13 roundings off where 2,000 terms are added one after another.
    """
    wider = np.longdouble if found.dtype == np.float64 else np.float64
    wanted = left.astype(wider) @ right.astype(wider)
    scale = np.abs(left).astype(np.float64) @ np.abs(right).astype(np.float64)
    return bool((np.abs(found - wanted) <= 8 * np.finfo(found.dtype).eps * scale).all())


@DTYPES
@given(size=sizes)
def test_tiles_of_every_remainder(dtype: type, size: tuple[int, int, int]) -> None:
    m, inner, n = size
    A, B = drawn(dtype, m, inner), drawn(dtype, inner, n, seed=1)
    C = np.full((m + 1, n), np.nan, dtype)  # a row more, which must stay as it is
    assert tiles.fits(A, B)
    tiles.product(A, B, C[:m])
    assert near(C[:m], A, B)
    assert np.isnan(C[m]).all()


@DTYPES
def test_what_does_not_fit_is_not_done_by_tiles(dtype: type) -> None:
    width = 32 // np.dtype(dtype).itemsize
    assert not tiles.fits(drawn(dtype, 3, 5), drawn(dtype, 5, 64))
    assert not tiles.fits(drawn(dtype, 4, 5), drawn(dtype, 5, width - 1))
    most = 32_768 // (64 * np.dtype(dtype).itemsize)
    assert tiles.fits(drawn(dtype, 4, most), drawn(dtype, most, 64))
    assert not tiles.fits(drawn(dtype, 4, most + 1), drawn(dtype, most + 1, 64))


@DTYPES
@pytest.mark.parametrize(
    "size", [(1, 1, 1), (3, 2, 5), (9, 7, 12), (64, 33, 300), (70, 5, 2000), (64, 40, 40)]
)
def test_both_products_of_a_step(dtype: type, size: tuple[int, int, int]) -> None:
    m, d, n = size
    U, X = drawn(dtype, m, d), drawn(dtype, n, d, seed=1)
    XT, Z, d_U = np.array(X.T, order="C"), np.zeros((m, n), dtype), np.zeros((m, d), dtype)
    kernel.preactivations(U, XT, Z)
    assert near(Z, U, XT)
    for rows in (X, X[:0]):
        d_U[:] = np.nan
        kernel.inner_gradient(Z, XT, rows, d_U)
        assert near(d_U, Z, X)
    kernel_loops.preactivations_by_loops(U, XT, Z)
    assert near(Z, U, XT)
    kernel_loops.inner_gradient_by_loops(Z, XT, d_U)
    assert near(d_U, Z, X)
