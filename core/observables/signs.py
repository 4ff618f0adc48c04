"""Which test points a two-layer network has right, frame after frame, at the cost of few of them.

Of a trajectory whose frames lie close together most signs are known from an earlier frame: phi is
1-Lipschitz with phi(0) = 0, so that for effective weights (alpha, U) and (alpha', U')

    |f'(x) - f(x)| <= |x| sum_j (|alpha'_j - alpha_j| |u'_j| + |alpha_j| |u'_j - u_j|),

and f' has the sign of f at every point where |f| is above that. Only the others are evaluated.
Weights are divided by |alpha| and |U|, which changes no sign: a network that grows need not turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.network.activation import SMOOTH
from core.network.parametrisation import Network, TwoLayer
from core.runs import Run

Array = NDArray[np.float64]
KEY = ("_test_signs", -1)
SURE = 1e-12  # of |x|: rounding of f, |alpha| = |U| = 1


@final
@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """alpha (m,) and U (m, D), each of norm 1."""

    alpha: Array
    U: Array

    def moved(self, other: Weights) -> float:
        """sum_j (|alpha'_j - alpha_j| |u'_j| + |alpha_j| |u'_j - u_j|)."""
        outer = np.abs(other.alpha - self.alpha) @ np.linalg.norm(other.U, axis=1)
        inner = np.abs(self.alpha) @ np.linalg.norm(other.U - self.U, axis=1)
        return float(outer + inner)

    def outputs(self, phi: Any, inputs: Array) -> Array:
        """f at inputs (N, D), in float64."""
        return np.asarray(phi(inputs @ self.U.T) @ self.alpha, dtype=np.float64)

    def single(self) -> Weights:
        """The same in float32."""
        return Weights(self.alpha.astype(np.float32), self.U.astype(np.float32))

    @property
    def error(self) -> float:
        """What |f|/|x| may be off by in float32: its sums are of D and of m terms, |f| <= |x|."""
        return float((sum(self.U.shape) + 16) * np.finfo(np.float32).eps)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """At some frame's weights: y f > 0 (N,), and a lower bound of |f|/|x| (N,)."""

    weights: Weights
    right: NDArray[np.bool_]
    least: Array


def weights_of(network: Network, flat: Array) -> Weights | None:
    """None for what is not two-layer and homogeneous with one output, or vanishes."""
    if not isinstance(network, TwoLayer) or network.k != 1 or network.activation.code == SMOOTH:
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
    phi = run.network.activation  # type: ignore[attr-defined]
    least = np.zeros(y.size)
    right = np.zeros(y.size, dtype=bool)
    if known is not None:
        least = known.least - known.weights.moved(weights)
        right = known.right.copy()
    open_ = np.flatnonzero(~(least > SURE))
    single = weights.single()
    for begin in range(0, open_.size, block):
        part = open_[begin : begin + block]
        scaled = of_size_one(inputs[part])
        length = np.linalg.norm(scaled, axis=1)
        f, room = single.outputs(phi, scaled.astype(np.float32)), single.error
        close = np.flatnonzero(~(np.abs(f) > room * length))
        f[close] = weights.outputs(phi, scaled[close])
        right[part] = y[part] * f > 0.0
        least[part] = np.maximum(np.abs(f) / np.maximum(length, 1e-300) - room, 0.0)
    run.memo[KEY] = Known(weights, right, least)
    return right
