"""Which test points a two-layer network has right, frame after frame, at the cost of few of them.

Of a trajectory whose frames lie close together most signs are known from an earlier frame: phi is
1-Lipschitz with phi(0) = 0, so that for effective weights (alpha, U) and (alpha', U')

    |f'(x) - f(x)| <= |x| (sum_j |alpha'_j - alpha_j| |u'_j| + sum_j |alpha_j| |u'_j - u_j|),

where each sum may be replaced by |alpha' - alpha| ||U'|| and |alpha| ||U' - U||, ||.|| the largest
singular value (Cauchy and Schwarz: |phi(U' x)| <= |U' x|, |phi(U' x) - phi(U x)| <= |(U' - U) x|),
and f' has the sign of f at every point where |f| is above that. Only the others are evaluated.
Weights are divided by |alpha| and |U|, which changes no sign: a network that grows need not turn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.network.activation import LEAKY, RELU
from core.network.parametrisation import Network, TwoLayer
from core.runs import Run

Array = NDArray[np.float64]
KEY = ("_test_signs", -1)
LARGEST_GRAM = 64
SURE = 1e-12  # of |x|: rounding of f, |alpha| = |U| = 1


@final
@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """alpha (m,) and U (m, D), each of norm 1."""

    alpha: Array
    U: Array

    def distance(self, other: Weights) -> float:
        """What |f'(x) - f(x)|/|x| is at most: the smaller of two bounds for each of two sums."""
        outer = bound_of_sum(other.alpha - self.alpha, other.U)
        inner = bound_of_sum(self.alpha, other.U - self.U)
        return outer + inner

    def outputs(self, phi: Any, inputs: Array) -> Array:
        """f at inputs (N, D), in float64."""
        return np.asarray(phi(inputs @ self.U.T) @ self.alpha, dtype=np.float64)

    def of_many(self, phi: Any, inputs: Any, block: int) -> Array:
        """f at inputs (N, D), so many at a time."""
        f = np.empty(inputs.shape[0])
        for begin in range(0, f.size, block):
            f[begin : begin + block] = self.outputs(phi, inputs[begin : begin + block])
        return f

    def single(self) -> Weights:
        """The same in float32."""
        return Weights(self.alpha.astype(np.float32), self.U.astype(np.float32))

    @property
    def error(self) -> float:
        """What |f|/|x| may be off by in float32: its sums are of D and of m terms, |f| <= |x|."""
        return float((sum(self.U.shape) + 16) * np.finfo(np.float32).eps)


def bound_of_sum(a: Array, U: Array) -> float:
    """min(sum_j |a_j| |u_j|, |a| ||U||), the latter left out where ||U|| would be dear.

    Both are at least |sum_j a_j z_j| / |x| for all |z_j| <= |<u_j, x>|.
    """
    by_rows = float(np.abs(a) @ np.linalg.norm(U, axis=1))
    if min(U.shape) > LARGEST_GRAM:
        return by_rows
    gram = U.T @ U if U.shape[0] > U.shape[1] else U @ U.T
    # The eigenvalues are right to rounding of the largest of them.
    largest = float(np.linalg.eigvalsh(gram)[-1]) * (1.0 + 1e-9)
    return min(by_rows, float(np.linalg.norm(a)) * math.sqrt(max(largest, 0.0)))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Scaled:
    """Test inputs divided by powers of 2 (`of_size_one`), in float32 (N, D), and |x| (N,)."""

    inputs: NDArray[np.float32]
    lengths: Array


def scaled(inputs: Array, block: int = 4096) -> Scaled:
    """Inputs (N, D) so that float32 holds them, made block by block."""
    small = np.empty(inputs.shape, dtype=np.float32)
    lengths = np.empty(inputs.shape[0])
    for begin in range(0, inputs.shape[0], block):
        part = of_size_one(inputs[begin : begin + block])
        small[begin : begin + block] = part
        lengths[begin : begin + block] = np.linalg.norm(part, axis=1)
    return Scaled(small, lengths)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """At some frame's weights: y f > 0 (N,), and a lower bound of |f|/|x| (N,)."""

    tested: Scaled
    weights: Weights
    right: NDArray[np.bool_]
    least: Array


def is_cone(network: TwoLayer) -> bool:
    """Whether f = <alpha, phi(U x~)> with phi(c z) = c phi(z) for c > 0, and 1-Lipschitz."""
    phi = network.activation
    return network.plain_sum and phi.code in (RELU, LEAKY) and abs(phi.slope) <= 1.0


def weights_of(network: Network, flat: Array) -> Weights | None:
    """None for what is not two-layer and homogeneous with one output, or vanishes."""
    if not isinstance(network, TwoLayer) or network.k != 1 or not is_cone(network):
        return None
    alpha, U = (np.asarray(part, dtype=np.float64) for part in network.effective(flat))
    sizes = float(np.linalg.norm(alpha)), float(np.linalg.norm(U))
    if not (min(sizes) > 0.0 and np.isfinite(sizes).all()):
        return None
    return Weights(alpha / sizes[0], U / sizes[1])


def of_size_one(inputs: Array) -> Array:
    """Each row over the power of 2 above its largest entry: exact, and changes no sign of f.

    float32 and squares then hold inputs of any size.
    """
    exponents = np.frexp(np.abs(inputs).max(axis=1))[1]
    return np.asarray(np.ldexp(inputs, -exponents[:, None]))


def right_on(run: Run, flat: Array, inputs: Array, y: Array, block: int) -> Any | None:
    """y_i f(x_i) > 0 at test inputs (N, D), (N,); None where it has to be evaluated plainly.

    What it knows is kept in the run, and replaced whole: any order of frames gives the same.
    """
    weights = weights_of(run.network, flat)
    if weights is None:
        return None
    known: Known | None = run.memo.get(KEY)
    tested = scaled(inputs) if known is None else known.tested
    phi = run.network.activation  # type: ignore[attr-defined]
    right, least = np.zeros(y.size, dtype=bool), np.zeros(y.size)
    if known is not None:
        right, least = known.right.copy(), known.least - known.weights.distance(weights)
    open_ = np.flatnonzero(~(least > SURE))
    f = weights.single().of_many(phi, tested.inputs[open_], block)
    room = weights.error * tested.lengths[open_]
    close = np.flatnonzero(~(np.abs(f) > room))
    f[close] = weights.of_many(phi, of_size_one(inputs[open_[close]]), block)
    right[open_] = y[open_] * f > 0.0
    size = np.maximum(np.abs(f) - room, 0.0)
    least[open_] = size / np.maximum(tested.lengths[open_], 1e-300)
    run.memo[KEY] = Known(tested, weights, right, least)
    return right
