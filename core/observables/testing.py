"""Test error: over the whole support if it is small, else on a fixed sample with its error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from core.data.dataset import TestSet
from core.losses import LeastSquares
from core.network.activation import LEAKY, RELU
from core.network.parametrisation import Network, TwoLayer, margins_of
from core.network.recorded_network import why_no_output
from core.observables.margins import scale
from core.observables.observable import (
    LABELLED,
    SHARE,
    Observable,
    cached_per_frame,
    cached_per_run,
    has_labels,
)
from core.problem.problem import points_for_test
from core.runs import Run

# ------------------------------------------------------------------------- signs of test outputs
#
# If frames are close together, most signs follow from an earlier frame: phi is 1-Lipschitz with
# phi(0) = 0, so that for effective weights (alpha, U) and (alpha', U')
#
#     |f'(x) - f(x)| <= |x| (sum_j |alpha'_j - alpha_j| |u'_j| + sum_j |alpha_j| |u'_j - u_j|),
#
# where each sum may be replaced by |alpha' - alpha| ||U'|| and |alpha| ||U' - U||, with ||.|| the
# largest singular value (Cauchy and Schwarz: |phi(U' x)| <= |U' x| and
# |phi(U' x) - phi(U x)| <= |(U' - U) x|). f' has the sign of f at every point where |f| exceeds the
# bound; only the other points are evaluated. Weights are divided by |alpha| and |U|, which changes
# no sign, since a network may grow without turning.

Array = NDArray[np.float64]
KEY = ("_test_signs", -1)
LARGEST_GRAM = 64
SURE = 1e-12  # relative to |x|: rounding error of f, for |alpha| = |U| = 1


@final
@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """Normalised weights: alpha (m,) and U (m, D), each of norm 1."""

    alpha: Array
    U: Array

    def distance(self, other: Weights) -> float:
        """Return a bound on |f'(x) - f(x)|/|x|: the smaller of two bounds for each of two sums."""
        outer = bound_of_sum(other.alpha - self.alpha, other.U)
        inner = bound_of_sum(self.alpha, other.U - self.U)
        return outer + inner

    def outputs(self, phi: Any, inputs: Array) -> Array:
        """Return f at inputs, in float64.

        Parameters
        ----------
        phi : Activation
            Activation of the neurons.
        inputs : array (N, D)
            Inputs.

        Returns
        -------
        array (N,)
        """
        return np.asarray(phi(inputs @ self.U.T) @ self.alpha, dtype=np.float64)

    def of_many(self, phi: Any, inputs: Any, block: int) -> Array:
        """Return f at many inputs.

        Parameters
        ----------
        phi : Activation
            Activation of the neurons.
        inputs : array (N, D)
            Inputs.
        block : int
            Number of inputs evaluated at a time.

        Returns
        -------
        array (N,)
        """
        f = np.empty(inputs.shape[0])
        for start in range(0, f.size, block):
            f[start : start + block] = self.outputs(phi, inputs[start : start + block])
        return f

    def single(self) -> Weights:
        """Return the weights in float32."""
        return Weights(self.alpha.astype(np.float32), self.U.astype(np.float32))

    @property
    def error(self) -> float:
        """Bound on the float32 error of |f|/|x|: its sums are of D and of m terms, |f| <= |x|."""
        return float((sum(self.U.shape) + 16) * np.finfo(np.float32).eps)


def bound_of_sum(a: Array, U: Array) -> float:
    """Return min(sum_j |a_j| |u_j|, |a| ||U||); the latter only where ||U|| is cheap.

    Both are at least |sum_j a_j z_j| / |x| for all |z_j| <= |<u_j, x>|.
    """
    by_rows = float(np.abs(a) @ np.linalg.norm(U, axis=1))
    if min(U.shape) > LARGEST_GRAM:
        return by_rows
    gram = U.T @ U if U.shape[0] > U.shape[1] else U @ U.T
    # Eigenvalues are accurate up to rounding errors of the largest.
    largest = float(np.linalg.eigvalsh(gram)[-1]) * (1.0 + 1e-9)
    return min(by_rows, float(np.linalg.norm(a)) * math.sqrt(max(largest, 0.0)))


@final
@dataclass(frozen=True, slots=True, eq=False)
class ScaledInputs:
    """Test inputs divided by powers of 2 (`of_size_one`), in float32 (N, D), and |x| (N,)."""

    inputs: NDArray[np.float32]
    lengths: Array


def scale_inputs(inputs: Array, block: int = 4096) -> ScaledInputs:
    """Return inputs (N, D) scaled to the range of float32, computed block by block."""
    small = np.empty(inputs.shape, dtype=np.float32)
    lengths = np.empty(inputs.shape[0])
    for start in range(0, inputs.shape[0], block):
        part = of_size_one(inputs[start : start + block])
        small[start : start + block] = part
        lengths[start : start + block] = np.linalg.norm(part, axis=1)
    return ScaledInputs(small, lengths)


@final
@dataclass(frozen=True, slots=True, eq=False)
class KnownSigns:
    """Signs and sizes at some frame's weights: y f > 0 (N,), and a lower bound of |f|/|x| (N,)."""

    tested: ScaledInputs
    weights: Weights
    right: NDArray[np.bool_]
    least: Array


def is_cone(network: TwoLayer) -> bool:
    """Return True if f = <alpha, phi(U x~)> with phi(c z) = c phi(z) for c > 0, and 1-Lipschitz."""
    phi = network.activation
    return network.plain_sum and phi.code in (RELU, LEAKY) and abs(phi.slope) <= 1.0


def weights_of(network: Network, flat: Array) -> Weights | None:
    """Return the normalised weights of a homogeneous two-layer network with one output.

    None for other networks, and for weights of norm 0 or beyond float64.
    """
    if not isinstance(network, TwoLayer) or network.k != 1 or not is_cone(network):
        return None
    alpha, U = (np.asarray(part, dtype=np.float64) for part in network.effective(flat))
    sizes = float(np.linalg.norm(alpha)), float(np.linalg.norm(U))
    if not (min(sizes) > 0.0 and np.isfinite(sizes).all()):
        return None
    return Weights(alpha / sizes[0], U / sizes[1])


def of_size_one(inputs: Array) -> Array:
    """Divide each row by the power of 2 above its largest entry: exact, and changes no sign of f.

    float32 and squares can then represent inputs of any size.

    Parameters
    ----------
    inputs : array (N, D)
        Inputs.

    Returns
    -------
    array (N, D)
    """
    exponents = np.frexp(np.abs(inputs).max(axis=1))[1]
    return np.asarray(np.ldexp(inputs, -exponents[:, None]))


def are_right(run: Run, flat: Array, inputs: Array, y: Array, block: int) -> Any | None:
    """Return y_i f(x_i) > 0 at test inputs, evaluating only where earlier frames leave it open.

    The run's memo stores the result, replaced as a whole: the order of frames does not matter.

    Parameters
    ----------
    run : Run
        Open run.
    flat : array
        Flat parameters.
    inputs : array (N, D)
        Test inputs, the same in each call for a run.
    y : array (N,)
        Labels, 1 or -1.
    block : int
        Number of inputs evaluated at a time.

    Returns
    -------
    array (N,) of bool, or None
        None if the network has to be evaluated in the plain way.
    """
    weights = weights_of(run.network, flat)
    if weights is None:
        return None
    signs: KnownSigns | None = run.memo.get(KEY)
    tested = scale_inputs(inputs) if signs is None else signs.tested
    phi = run.network.activation  # type: ignore[attr-defined]
    right, least = np.zeros(y.size, dtype=bool), np.zeros(y.size)
    if signs is not None:
        right, least = signs.right.copy(), signs.least - signs.weights.distance(weights)
    open_ = np.flatnonzero(~(least > SURE))
    f = weights.single().of_many(phi, tested.inputs[open_], block)
    room = weights.error * tested.lengths[open_]
    close = np.flatnonzero(~(np.abs(f) > room))
    f[close] = weights.of_many(phi, of_size_one(inputs[open_[close]]), block)
    right[open_] = y[open_] * f > 0.0
    size = np.maximum(np.abs(f) - room, 0.0)
    least[open_] = size / np.maximum(tested.lengths[open_], 1e-300)
    run.memo[KEY] = KnownSigns(tested, weights, right, least)
    return right


# -------------------------------------------------------------------------------- the test error

BLOCK_VALUES = 2**17  # activations per block: they fit into the cache
MOST_VALUES = 2**24  # limit of the test points as seen by a row-space run, cached for all frames


class TestValues(NamedTuple):
    """Shares of wrong answers, and the means of min((y - f)^2, 1) and of (y - f)^2/2."""

    error: float
    loss: float = float("nan")
    risk: float = float("nan")


NOTHING = TestValues(float("nan"))


@cached_per_run
def points_of(run: Run) -> TestSet | None:
    """Return the run's test points; None if it has none."""
    return points_for_test(run.problem)


@cached_per_run
def _network_inputs(run: Run) -> tuple[Array, Array | None] | None:
    """Return the network's view of all test points; None if it is too large to store."""
    points = points_of(run)
    assert points is not None
    width = run.network.m if run.reduction is not None else 0
    if points.y.size * (width + run.inputs.shape[1]) > MOST_VALUES:
        return None
    return run.as_network_inputs(points.x)


@cached_per_frame
def test_values(run: Run, index: int) -> TestValues:
    """Return test error, test loss and test risk of a frame; NaN without test points.

    Test loss and risk have a meaning for squared losses only.
    """
    points = points_of(run)
    if points is None or why_no_output(run.experiment.network):
        return NOTHING
    flat, network, factor = run.parameters(index), run.network, scale(run, index)
    cached = _network_inputs(run)
    wrong, clipped, squares, length = 0, 0.0, 0.0, max(16, BLOCK_VALUES // network.m)
    # Squared losses need f itself, not only its sign.
    if cached is not None and cached[1] is None and not run.loss.fits:
        right = are_right(run, flat, cached[0], points.y, length)
        if right is not None:
            return TestValues(float(np.count_nonzero(~right)) / points.y.size)
    for start in range(0, points.y.size, length):
        block = slice(start, start + length)
        inputs, offset = (
            run.as_network_inputs(points.x[block]) if cached is None else _block(cached, block)
        )
        f = np.asarray(network.outputs(flat, inputs, offset))
        # At the flat parameters, since e^(L rho) changes no sign.
        wrong += int(np.count_nonzero(~(margins_of(f, points.y[block]) > 0.0)))
        if f.ndim == 1:
            with np.errstate(over="ignore"):
                squared_errors = (points.y[block] - factor * f) ** 2
                clipped += float(np.minimum(squared_errors, 1.0).sum())
                squares += float(squared_errors.sum())
    count = points.y.size
    return TestValues(wrong / count, clipped / count, squares / (2.0 * count))


def _block(cached: tuple[Array, Array | None], block: slice) -> tuple[Array, Array | None]:
    inputs, offset = cached
    return inputs[block], None if offset is None else offset[:, block]


def error_on_test(run: Run, index: int) -> float:
    """Return the share of test points that are wrong; NaN without test points."""
    return test_values(run, index).error


def loss_on_test(run: Run, index: int) -> float:
    """Return the mean of min((f - y)^2, 1) on the test points; NaN unless the loss is squared."""
    return test_values(run, index).loss if is_squared(run) else float("nan")


def risk_on_test(run: Run, index: int) -> float:
    """Return the test risk, with the factor of the run's least-squares loss; NaN for others."""
    if not isinstance(run.loss, LeastSquares):
        return float("nan")
    return 2.0 * run.loss.factor * test_values(run, index).risk


def is_squared(run: Run) -> bool:
    """Return True for the loss "squared" alone, not for least squares or mse."""
    return run.loss.kind == "squared"


def has_squared_error(run: Run) -> bool:
    """Return True for runs whose risk is a mean of (f - y)^2, or half of that mean."""
    return isinstance(run.loss, LeastSquares)


def standard_error(run: Run, index: int) -> float:
    """Return the binomial standard error of the test error; 0 for an exact law, or NaN."""
    points = points_of(run)
    if points is None:
        return float("nan")
    if points.exact:
        return 0.0
    # The binomial error of a fixed sample, without the scatter over seeds.
    error = error_on_test(run, index)
    return float(np.sqrt(error * (1.0 - error) / points.y.size))


OBSERVABLES = (
    Observable(
        "test_error",
        "test error",
        "share of test points that fail p > 0: the whole support where it is small (all 2^d "
        "corners for d <= 12), else 2^14 fixed points, fewer beyond d = 1024",
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
