"""What kernels are made of: compiled it does what Python does, in few of LLVM's instructions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import types
from numpy.typing import NDArray

from core.compiled import kernel
from core.compiled.jit import Kernel, compiled

Array = NDArray[Any]


@pytest.fixture(autouse=True)
def cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels of tests are kept nowhere."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))


def agree(function: Callable[..., Any], *arguments: Any) -> None:
    """A kernel returns, and leaves in its arguments, what Python does, to the last digit."""
    mine = [np.copy(one) if isinstance(one, np.ndarray) else one for one in arguments]
    theirs = [np.copy(one) if isinstance(one, np.ndarray) else one for one in arguments]
    assert isinstance(function, Kernel)
    np.testing.assert_array_equal(function(*mine), function.py_func(*theirs))
    for ours, python in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(ours, python)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_elements_rows_and_shapes(kind: type) -> None:
    @compiled
    def moved(cube: Array, places: Array) -> float:
        matrix = cube[places[0]]
        row, last = matrix[places[1]], matrix[-1]
        row[0] = cube[1, 0, 2] + last[1]
        cube[0, 1][2] = cube[places[0], places[1], 0]
        matrix[1, 1] += row.size + matrix.size + cube.shape[2] * matrix.shape[0]
        return float(cube[-1, -2, 1] + last[-1])

    agree(moved, np.arange(24).reshape(2, 4, 3).astype(kind), np.array([1, 2]))


@pytest.mark.parametrize(("first", "last"), [(0, 3), (2, 2), (1, 99), (5, 5), (4, 99), (99, 99)])
def test_slices_end_where_the_array_does(first: int, last: int) -> None:
    @compiled
    def parts(vector: Array, matrix: Array, first: int, last: int) -> tuple[int, ...]:
        some, rows, rest, begin = vector[first:last], matrix[first:last], vector[first:], vector[:2]
        some[:] = 7.0
        rows[:] = -1
        begin[:] = begin[0]
        return some.size, rows.shape[0], rows.shape[1], rest.size, begin.size, vector[1:3].size

    agree(parts, np.arange(5.0), np.ones((5, 2)), first, last)


def test_a_vector_is_a_matrix_and_rows_lie_where_they_are() -> None:
    @compiled
    def reshaped(flat: Array, m: int, d: int) -> float:
        matrix = flat[m : m + m * d].reshape(m, d)
        matrix[m - 1, 0] = flat[0]
        matrix[0][:] = 3.0
        return float(matrix[m - 1, d - 1])

    agree(reshaped, np.arange(10.0), 2, 3)


def test_tuples_of_arrays_and_arrays_that_are_chosen() -> None:
    @compiled
    def within(net: tuple[Array, ...], j: int) -> float:
        return float(net[0][j] + net[1][j, 1])

    @compiled
    def both(net: tuple[Array, ...], j: int) -> tuple[Array, Array]:
        if j > 0:
            return net[0][:j], net[1]
        return net[0], net[1]

    @compiled
    def chosen(a: Array, b: Array, M: Array, j: int) -> float:
        a[0] = within((a, M), j)
        one, M = both((b, M), j)
        first, _ = (a, b)[:2]
        other = first if j == 1 else one
        for i in range(other.size):
            other[i] += M[j, 0]
        return other[0]

    def python(a: Array, b: Array, M: Array, j: int) -> float:
        a[0] = a[j] + M[j, 1]
        other = a if j == 1 else b[:j] if j > 0 else b
        other += M[j, 0]
        return float(other[0])

    for j in range(3):
        mine, theirs = ([np.arange(3.0), np.arange(4.0) + 5.0] for _ in range(2))
        M = np.arange(6.0).reshape(3, 2) + 10.0
        assert chosen(*mine, M, j) == python(*theirs, M, j)
        for ours, other in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(ours, other)


@pytest.mark.parametrize(("first", "last"), [(0, 7), (3, 3), (5, 2), (-3, 4)])
def test_ranges(first: int, last: int) -> None:
    @compiled
    def looped(found: Array, first: int, last: int, step: int) -> int:
        for i in range(last):
            found[0] += i
        for i in range(first, last):
            found[1] = 10.0 * found[1] + i
        for i in range(first, last, 4):
            found[2] = 10.0 * found[2] + i
        for i in range(last, first, step):
            found[3] = 10.0 * found[3] + i
        for i in range(first, last):
            for j in range(i, last, 2):
                if j == 5:
                    break
                found[4] += i * j
        return last

    agree(looped, np.zeros(5), first, last, -2)


NUMBERS = np.array([-1.5, 0.0, 2.0, np.nan, np.inf])


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_arithmetic_and_comparisons_nan_included(kind: type) -> None:
    @compiled
    def worked_out(a: Array, b: Array, n: int, out: Array) -> None:
        for i in range(a.size):
            for j in range(b.size):
                x, y = a[i], b[j]
                out[i, j, 0] = max(x, y)
                out[i, j, 1] = min(x, y)
                out[i, j, 2] = max(1, n, i)
                out[i, j, 3] = min(x, y, 1)
                out[i, j, 4] = (x < y) + 2 * (x <= y) + 4 * (x > y) + 8 * (x >= y)
                out[i, j, 5] = (x == y) + 2 * (x != y) + 4 * (i < n) + 8 * (i == n) + 16 * (i != n)
                out[i, j, 6] = x * y + n - i * j
                out[i, j, 7] = -x + abs(y) + (n + i) % 3 + (n - i) // 2

    assert isinstance(worked_out, Kernel)
    values = NUMBERS.astype(kind)
    mine, theirs = np.zeros((2, 5, 5, 8), dtype=kind)
    worked_out(values, values, 3, mine)
    with np.errstate(invalid="ignore"):
        worked_out.py_func(values, values, 3, theirs)
    np.testing.assert_array_equal(mine, theirs)


def test_arrays_of_another_order_are_numbas_own() -> None:
    @compiled
    def turned(matrix: Array) -> float:
        other = matrix.T
        return float(other[1, 0] + other.shape[0])

    agree(turned, np.arange(6.0).reshape(2, 3))
    agree(turned, np.asfortranarray(np.arange(6.0).reshape(2, 3)))


def test_kernels_are_lowered_to_few_instructions() -> None:
    """Every instruction is made, written, parsed, cleaned up and made into machine code.

    As numba lowers it the loop is 129 instructions, of which an element takes thirty.
    """

    @compiled
    def added(a: Array, M: Array) -> None:
        for i in range(a.size):
            a[i] += M[i, 1]

    @compiled
    def outside(pair: tuple[Array, Array]) -> None:
        added(pair[0], pair[1])

    outside((np.zeros(2), np.ones((2, 2))))
    assert isinstance(added, Kernel) and isinstance(outside, Kernel)
    assert instructions(added) <= 30
    assert instructions(outside) <= instructions(added) + 5


def test_the_smoothed_activation_is_done_by_wide_vectors() -> None:
    """Where the processor has them: a third less time, of which vectors half as wide take all."""
    again = compiled(kernel.smoothed.py_func)
    z = np.array([-1.0, 2.0])
    again(0.1, z, np.zeros(2))
    (result,) = again._part.overloads.values()
    assert '"prefer-vector-width"="512"' in str(result.library._final_module)


def instructions(function: Kernel) -> int:
    """How many LLVM is given for a kernel, with all that it calls."""
    (result,) = function._part.overloads.values()
    assert result.signature.return_type == types.none
    functions = result.library._final_module.functions
    return sum(len(list(block.instructions)) for one in functions for block in one.blocks)
