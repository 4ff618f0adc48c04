"""Test error: over the whole support where it is small, else on a fixed sample with its error."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.data.dataset import TestSet
from core.losses import LeastSquares
from core.network.parametrisation import margins_of
from core.observables.margins import scale
from core.observables.observable import LABELLED, SHARE, Observable, has_labels, memoised, once
from core.observables.signs import right_on
from core.problem.problem import points_for_test
from core.runs import Run

Array = NDArray[np.float64]
BLOCK_VALUES = 2**17  # activations at a time: they stay in the cache
MOST_VALUES = 2**24  # of what a row-space run sees of the test points, kept for all frames


class TestValues(NamedTuple):
    """Shares of wrong answers, and the means of min((y - f)^2, 1) and of (y - f)^2/2."""

    error: float
    loss: float = float("nan")
    risk: float = float("nan")


NOTHING = TestValues(float("nan"))


@once
def points_of(run: Run) -> TestSet | None:
    """The run's test points, made once and kept in the run; None where there are none."""
    return points_for_test(run.problem)


@once
def _seen(run: Run) -> tuple[Array, Array | None] | None:
    """What the network sees of all test points; None where it is too large to be kept."""
    points = points_of(run)
    assert points is not None
    width = run.network.m if run.reduction is not None else 0
    if points.y.size * (width + run.inputs.shape[1]) > MOST_VALUES:
        return None
    return run.seen(points.x)


@memoised
def test_values(run: Run, index: int) -> TestValues:
    """Test error and test loss of a frame; NaN where there are no test points."""
    points = points_of(run)
    if points is None:
        return NOTHING
    flat, network, factor = run.parameters(index), run.network, scale(run, index)
    kept = _seen(run)
    wrong, clipped, squares, length = 0, 0.0, 0.0, max(16, BLOCK_VALUES // network.m)
    # Losses of squares ask for f itself, and not for its sign alone.
    if kept is not None and kept[1] is None and not run.loss.fits:
        right = right_on(run, flat, kept[0], points.y, length)
        if right is not None:
            return TestValues(float(np.count_nonzero(~right)) / points.y.size)
    for begin in range(0, points.y.size, length):
        block = slice(begin, begin + length)
        inputs, offset = run.seen(points.x[block]) if kept is None else _block(kept, block)
        f = np.asarray(network.outputs(flat, inputs, offset))
        # At the flat parameters, since e^(L rho) changes no sign.
        wrong += int(np.count_nonzero(~(margins_of(f, points.y[block]) > 0.0)))
        if f.ndim == 1:
            with np.errstate(over="ignore"):
                apart = (points.y[block] - factor * f) ** 2
                clipped += float(np.minimum(apart, 1.0).sum())
                squares += float(apart.sum())
    count = points.y.size
    return TestValues(wrong / count, clipped / count, squares / (2.0 * count))


def _block(kept: tuple[Array, Array | None], block: slice) -> tuple[Array, Array | None]:
    inputs, offset = kept
    return inputs[block], None if offset is None else offset[:, block]


def error_on_test(run: Run, index: int) -> float:
    return test_values(run, index).error


def loss_on_test(run: Run, index: int) -> float:
    return test_values(run, index).loss if is_squared(run) else float("nan")


def risk_on_test(run: Run, index: int) -> float:
    if not isinstance(run.loss, LeastSquares):
        return float("nan")
    return 2.0 * run.loss.factor * test_values(run, index).risk


def is_squared(run: Run) -> bool:
    return run.loss.kind == "squared"


def has_squared_error(run: Run) -> bool:
    """Return True for runs whose risk is a mean of (f - y)^2, or half of that mean."""
    return isinstance(run.loss, LeastSquares)


def standard_error(run: Run, index: int) -> float:
    points = points_of(run)
    if points is None:
        return float("nan")
    if points.exact:
        return 0.0
    # The binomial error of a fixed sample. It says nothing of the scatter over seeds.
    error = error_on_test(run, index)
    return float(np.sqrt(error * (1.0 - error) / points.y.size))


OBSERVABLES = (
    Observable(
        "test_error",
        "test error",
        "share of test points with not p > 0: the whole support where it is small (all 2^d corners "
        "for d <= 12), else 2^14 fixed points, fewer beyond d = 1024",
        "telgarsky22, Theorem 2.1",
        error_on_test,
        unit=SHARE,
        applies=has_labels,
        where=LABELLED,
        tex=r"\mathrm{Pr}[\mathrm{not}\ yf(x)>0]",
        normalisation="with 1/N, N test points",
        costly=True,
    ),
    Observable(
        "test_error_se",
        "standard error of the test error",
        "sqrt(e (1 - e) / N) on N sampled points; 0 where the whole support is tested",
        "definition (binomial standard error)",
        standard_error,
        applies=has_labels,
        where=LABELLED,
        tex=r"\sqrt{e(1-e)/N}",
        normalisation="divided by sqrt(N), N test points",
        costly=True,
    ),
    Observable(
        "test_loss",
        "test loss",
        "mean of min((y - f(x))^2, 1) over the test points",
        "wei19, section F.3",
        loss_on_test,
        applies=is_squared,
        where="squared loss",
        tex=r"\frac{1}{N}\sum_{i=1}^N\min((y_i-f(x_i))^2,1)",
        normalisation="with 1/N, N test points",
        costly=True,
    ),
    Observable(
        "test_risk",
        "test risk",
        "(1/2N) sum (f(x) - y)^2 over N test points; with loss mse (1/N) sum (f(x) - y)^2",
        "definition",
        risk_on_test,
        applies=has_squared_error,
        where="least squares and mse",
        tex=r"\frac{c}{N}\sum_{i=1}^N(f(x_i)-y_i)^2,\ c=\frac{1}{2},\ \mathrm{mse:}\ c=1",
        normalisation="with 1/N, N test points",
        costly=True,
    ),
)
