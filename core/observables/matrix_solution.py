"""Exact solution of the flow of a two-layer linear network from any balanced start.

With Q = (W1', W2)', X = QQ' and F = [[0, S'], [S, 0]] the balanced flow of (1/2)|S - W2 W1|^2 is
X' = FX + XF - X^2, hence X(t) = E Q0 (I + Q0' P Q0)^-1 Q0' E with E = e^(Ft) and P the integral of
e^(2Fs) over [0, t] (Fukumizu 1998; Braun et al. 2022 write it by F^-1, so for invertible F alone;
the integral needs none: it is t where an eigenvalue is 0).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.network.deep_linear import DeepLinear
from core.network.linear import Linear
from core.observables.linear_modes import WHERE, curvature, flow_condition, target
from core.observables.observable import cached_per_run
from core.observables.prediction import Prediction
from core.runs import Run

Array = NDArray[np.float64]
# Of the largest eigenvalue times the time of one part: the semigroup is applied in parts, since
# over long times e^(Ft) loses the small directions of X.
PART = 2.0
MOST_PARTS = 2_000  # at rest by then, from any start above e^-8000
RANK = 1e-13  # of the largest singular value


@final
@dataclass(slots=True)
class MatrixSolution:
    """Solution from W1 (m, d) and W2 (k, m) at t = 0 for the target S (k, d).

    It moves in the span of Q0 and of the singular vectors of S, of at most 3 k dimensions, where
    X (N, N) is stored at multiples of a part.
    """

    S: Array
    basis: Array  # (d + k, N), orthonormal eigenvectors of F within the span
    rates: Array  # (N,), eigenvalues of F
    part: float
    states: list[Array]
    _lock: Lock = field(default_factory=Lock)

    @classmethod
    def from_start(cls, S: Array, W1: Array, W2: Array) -> MatrixSolution:
        """Return the solution from a balanced start, W2' W2 = W1 W1'.

        Parameters
        ----------
        S : array (k, d)
            Target.
        W1 : array (m, d)
            First layer.
        W2 : array (k, m)
            Second layer.

        Returns
        -------
        MatrixSolution
        """
        k, d = S.shape
        Q0 = np.concatenate([W1.T, W2])
        F = np.zeros((d + k, d + k))
        F[:d, d:], F[d:, :d] = S.T, S
        left, _, right = np.linalg.svd(S, full_matrices=False)
        span = np.zeros((d + k, 2 * left.shape[1]))
        span[:d, : right.shape[0]], span[d:, right.shape[0] :] = right.T, left
        inside = _orthonormal(np.concatenate([span, _orthonormal(Q0)], axis=1))
        rates, turn = np.linalg.eigh(inside.T @ F @ inside)
        basis = inside @ turn
        q = basis.T @ Q0
        largest = float(np.abs(rates).max(initial=0.0))
        part = PART / largest if largest > 0.0 else np.inf
        return cls(S, basis, rates, part, [np.asarray(q @ q.T)])

    def product(self, t: float) -> Array:
        """Return the product of the layers at one time.

        Parameters
        ----------
        t : float
            Time >= 0.

        Returns
        -------
        array (k, d)
            W2 W1.
        """
        d = self.S.shape[1]
        X = self._state(t)
        return np.asarray(self.basis[d:] @ X @ self.basis[:d].T)

    def _state(self, t: float) -> Array:
        """Return the state at time t, continued from the stored state at the start of its part."""
        if not np.isfinite(self.part):
            return self._step(self.states[0], t)
        part = int(min(t / self.part, MOST_PARTS))
        with self._lock:
            while len(self.states) <= part:
                self.states.append(self._step(self.states[-1], self.part))
            state = self.states[part]
        return self._step(state, min(t - part * self.part, self.part))

    def _step(self, X: Array, t: float) -> Array:
        """Return the state after a time t from X."""
        E = np.exp(self.rates * t)
        twice = 2.0 * self.rates * t
        safe = np.where(twice == 0.0, 1.0, twice)
        P = t * np.where(twice == 0.0, 1.0, np.expm1(twice) / safe)
        inner = np.linalg.solve(np.eye(E.size) + X * P, X)
        Y = E[:, None] * inner * E
        return np.asarray(0.5 * (Y + Y.T))


def _orthonormal(A: Array) -> Array:
    """Return an orthonormal basis of the span of the columns of A, (rows, rank)."""
    left, sizes, _ = np.linalg.svd(A, full_matrices=False)
    return np.asarray(left[:, sizes > RANK * sizes.max(initial=0.0)])


# ------------------------------------------------------------------------------------ of a run


def has_two_layers(run: Run) -> bool:
    """Return True for a linear network of two layers on real targets, of any number of outputs."""
    network = run.network
    two = isinstance(network, Linear) or (isinstance(network, DeepLinear) and network.degree == 2)
    return two and run.dataset.real


@cached_per_run
def solution_of(run: Run) -> MatrixSolution:
    """Return the solution for the data and the start of a run with `has_two_layers`; cached.

    Its time is c t: t the time of the run, c = `curvature(run)`.
    """
    network = run.network
    if isinstance(network, DeepLinear):
        W1, W2 = network.matrices(run.origin)
    else:
        a, W1 = network.unpack(run.origin).values()
        W2 = a[None]
    S = target(run).reshape(W2.shape[0], W1.shape[1])
    return MatrixSolution.from_start(S, W1, W2)


def products(run: Run, t: Array) -> Array:
    """Return the coefficients beta of a run's solution.

    Parameters
    ----------
    run : Run
        Open run.
    t : array (T,)
        Times of the run, >= 0.

    Returns
    -------
    array (T, D)
        Of several outputs the product of the matrices, row after row.
    """
    solution, scale = solution_of(run), curvature(run)
    return np.array([solution.product(scale * one).reshape(-1) for one in t.tolist()])


def mode_values(run: Run, t: Array) -> Array:
    """Return the strength of the target, by the matrix solution.

    Parameters
    ----------
    run : Run
        Open run.
    t : array (T,)
        Times of the run, >= 0.

    Returns
    -------
    array (T,)
        <s/|s|, beta>, as the observable mode_strength.
    """
    s = target(run)
    return np.asarray(products(run, t) @ s / np.linalg.norm(s))


def risk_values(run: Run, t: Array) -> Array:
    """Return log10 of the risk (1/2n) sum_i (f(x_i) - y_i)^2 along the matrix solution.

    Parameters
    ----------
    run : Run
        Open run.
    t : array (T,)
        Times of the run, >= 0.

    Returns
    -------
    array (T,)
        -inf where the risk is 0.
    """
    residual = products(run, t) @ run.inputs.T - run.dataset.y
    with np.errstate(divide="ignore"):
        return np.asarray(np.log10(0.5 * (residual**2).mean(axis=1)))


def condition(run: Run) -> str:
    """Return why the matrix solution does not apply to a linear network; "" if it does."""
    sentence = flow_condition(run)
    if not sentence and not target(run).any():
        return "the targets do not depend linearly on the inputs: X'y = 0"
    return sentence


SOURCE = "Fukumizu 1998 and Braun et al. 2022; docs/theory.md, 4.14"
FORMULA = "W2 W1 of QQ' = E Q0 (I + Q0' P Q0)^-1 Q0' E, E = e^(Ft), P = int_0^t e^(2Fs) ds"
TEX = r"QQ^T=E\,Q_0(I+Q_0^TP\,Q_0)^{-1}Q_0^TE"
PREDICTIONS = (
    Prediction(
        "mode_matrix",
        "mode_strength",
        "matrix solution",
        "strength of the mode by the matrix solution",
        FORMULA,
        SOURCE,
        mode_values,
        has_two_layers,
        condition,
        WHERE,
        tex=TEX,
    ),
    Prediction(
        "log10_risk_matrix",
        "log10_risk",
        "matrix solution",
        "log10 of the risk by the matrix solution",
        FORMULA,
        SOURCE,
        risk_values,
        has_two_layers,
        condition,
        WHERE,
        tex=TEX,
    ),
)
