"""Kernels give the same bits wherever their arrays lie in memory.

LLVM vectorises a loop that reads and writes arrays if they do not overlap, which the code checks
when it runs; arrays that lie side by side count as overlapping. The loop without vectors takes its
sums in another order. Whether small arrays lie side by side is up to the allocator, so that a run
differed from itself in the last bit, about once in five hundred.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.compiled import descent, kernel
from core.compiled.dual import dual_weights
from core.compiled.stochastic import one_pass
from core.losses import CROSS_ENTROPY, EXPONENTIAL, LEAST_SQUARES, LOGISTIC, SQUARED
from core.network.activation import RELU

COMPILED = Path(descent.__file__).parent
ALIGNMENT = 16  # bytes, of the allocator
LAYOUTS = 60
# Loops that sum and write all the same, since a second pass over the arrays would cost time. The
# test by layouts covers them.
ONE_PASS = {"backpropagate", "one_pass"}


def side_by_side(rng: np.random.Generator, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Copy arrays into one piece of memory, in any order, half of them without a gap."""
    count = sum(array.nbytes // ALIGNMENT + 40 for array in arrays)
    memory, place = np.zeros(count * ALIGNMENT // 8), 0
    copies = list(arrays)
    for index in rng.permutation(len(arrays)).tolist():
        array = arrays[index]
        place += 2 * int(rng.integers(0, 2) * rng.integers(0, 20))
        copies[index] = memory[place : place + array.size].reshape(array.shape)
        copies[index][...] = array
        place += array.size + array.size % 2
    return copies


def bits(call: Callable[..., Any], arrays: list[np.ndarray]) -> set[tuple[Any, ...]]:
    """Return all results of a kernel, in the last bit, at many layouts of its arrays."""
    rng, results = np.random.default_rng(1), set()
    for _ in range(LAYOUTS):
        copies = side_by_side(rng, arrays)
        results.add((repr(call(*copies)), *(copy.tobytes() for copy in copies)))
    return results


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(shape).standard_normal(shape)


SIZES = pytest.mark.parametrize("size", [1, 4, 5, 8, 16, 17, 33])


@SIZES
@pytest.mark.parametrize("loss", [EXPONENTIAL, LOGISTIC, SQUARED, LEAST_SQUARES])
def test_slopes_of_losses(loss: int, size: int) -> None:
    def call(f: np.ndarray, y: np.ndarray, g: np.ndarray) -> float:
        return descent.slopes(loss, f, y, 0.3, g)

    arrays = [drawn(1, size), np.sign(drawn(size)), np.zeros((1, size))]
    assert len(bits(call, arrays)) == 1


@SIZES
def test_slopes_of_classes(size: int) -> None:
    def call(F: np.ndarray, y: np.ndarray, G: np.ndarray) -> float:
        return descent.slopes(CROSS_ENTROPY, F, y, 0.3, G)

    for n in (1, 3):
        k = size + 1
        arrays = [drawn(k, n), np.arange(n) % k * 1.0, np.zeros((k, n))]
        assert len(bits(call, arrays)) == 1, n


@SIZES
@pytest.mark.parametrize("form", [EXPONENTIAL, LOGISTIC])
def test_dual_weights(form: int, size: int) -> None:
    def call(p: np.ndarray, q: np.ndarray) -> None:
        dual_weights(form, 1, p, 2.0, q)

    assert len(bits(call, [drawn(size), np.zeros(size)])) == 1


@SIZES
def test_one_pass_over_the_neurons(size: int) -> None:
    """The two loops of ONE_PASS, by examples and by coordinates."""

    def back(a: np.ndarray, *others: np.ndarray) -> None:
        Z, G, C, d_a, h = others
        kernel.backpropagate(RELU, 0.0, a, Z, G, C, d_a, h)

    m = 5
    work = [np.zeros((m, size)), np.zeros((m, 1)), np.zeros(size)]
    assert len(bits(back, [drawn(m, 1), drawn(m, size), drawn(1, size), *work])) == 1

    def step(a: np.ndarray, V: np.ndarray, z: np.ndarray, x: np.ndarray, after: np.ndarray) -> Any:
        return one_pass(a, V, z, 0.2, 0.99, x, after)

    arrays = [drawn(m), drawn(m, size), drawn(m, 1)[:, 0], drawn(size), drawn(1, size)[0]]
    assert len(bits(step, arrays)) == 1


def sums_and_writes(loop: ast.For) -> bool:
    """Return True for a loop without loops in it that adds to a number and writes to an array."""
    nodes = [node for line in loop.body for node in ast.walk(line)]
    if any(isinstance(node, ast.For) for node in nodes):
        return False
    adds = any(
        isinstance(node, ast.AugAssign)
        and isinstance(node.op, ast.Add | ast.Sub)
        and isinstance(node.target, ast.Name)
        and ast.unparse(node.value) != "1"  # not a counter
        for node in nodes
    )
    return adds and any(
        isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) for node in nodes
    )


def loops_that_sum_and_write(path: Path) -> set[str]:
    """Return the functions of a module that have such a loop."""
    functions = (
        node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)
    )
    return {
        function.name
        for function in functions
        if any(isinstance(node, ast.For) and sums_and_writes(node) for node in ast.walk(function))
    }


def test_no_loop_sums_and_writes() -> None:
    """In kernels, but for those above, whose layouts are tried."""
    names = {name for path in COMPILED.glob("*.py") for name in loops_that_sum_and_write(path)}
    assert names == ONE_PASS
