"""Test error: over the whole support where it is small, else on a fixed sample with its error."""

from __future__ import annotations

import numpy as np

from core.data.dataset import TestSet
from core.network.kernel import outputs
from core.observables.observable import Observable, Shape
from core.problem import points_for_test
from core.runs import Run

BLOCK_VALUES = 2**17  # activations at a time: they stay in the cache


def points_of(run: Run) -> TestSet | None:
    """The run's test points, made once and kept in the run; None where there are none."""
    key = ("_test_points", -1)
    if key not in run.memo:
        run.memo[key] = points_for_test(run.problem)
    points: TestSet | None = run.memo[key]
    return points


def error_on_test(run: Run, index: int) -> float:
    points = points_of(run)
    if points is None:
        return float("nan")
    alpha, U = run.network.effective(run.parameters(index))
    wrong, length = 0, max(16, BLOCK_VALUES // alpha.size)
    for begin in range(0, points.y.size, length):
        block = slice(begin, begin + length)
        wrong += int(np.count_nonzero(~(points.y[block] * outputs(alpha, U, points.x[block]) > 0)))
    return wrong / points.y.size


def standard_error(run: Run, index: int) -> float:
    points = points_of(run)
    if points is None:
        return float("nan")
    if points.exact:
        return 0.0
    error = ERROR.at(run, index)
    return float(np.sqrt(error * (1.0 - error) / points.y.size))


ERROR = Observable(
    "test_error",
    "test error",
    "share of test points with not y f(x) > 0: all 2^d corners for d <= 12, else 2^14 fixed points",
    "telgarsky22, Theorem 2.1",
    Shape.SCALAR,
    error_on_test,
)
OBSERVABLES = (
    ERROR,
    Observable(
        "test_error_se",
        "standard error of the test error",
        "sqrt(e (1 - e) / N) on N sampled points; 0 where every corner is tested",
        "",
        Shape.SCALAR,
        standard_error,
    ),
)
