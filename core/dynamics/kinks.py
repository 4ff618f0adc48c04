"""Kinks of a two-layer ReLU network's risk, and the convex program that slides along them.

Neuron j has a kink wherever <u_j, x_i> = 0. At those whose slope to the right is the larger one the
flow slides: Filippov's field takes the part sigma in [0, 1] of the jump that keeps it there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
PARALLEL = 12  # decimals to which two unit normals agree
ROUNDS = 30
NOISE = 1e-10  # relative to the terms of a slope: smaller values are rounding
LARGE = 1e9  # solution over right side: a system this close to singular needs a careful solver
NEGLIGIBLE = 1e-13  # relative to the largest eigenvalue of a Gram matrix


@final
@dataclass(frozen=True, slots=True, eq=False)
class Hyperplanes:
    """Hyperplanes <u, x_i> = 0 of the examples, with parallel ones as one.

    x_i = size_i * normals[of_i], with unit normals (h, D); x_i = 0 has size 0.
    """

    normals: Array
    of: NDArray[np.int64]
    size: Array

    @staticmethod
    def from_inputs(x: Array) -> Hyperplanes:
        """Return the hyperplanes of inputs x (n, D).

        >>> planes = Hyperplanes.from_inputs(np.array([[2.0, 0.0], [-1.0, 0.0], [0.0, 3.0]]))
        >>> planes.normals[planes.of].tolist(), planes.size.tolist()
        ([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [2.0, -1.0, 3.0])
        """
        length = np.linalg.norm(x, axis=1)
        unit = x / np.where(length > 0.0, length, 1.0)[:, None]
        # x and -x have the same hyperplane: choose the normal whose first coordinate is positive.
        first = np.argmax(np.abs(unit) > 1e-9, axis=1)
        turned = np.where(unit[np.arange(x.shape[0]), first] < 0.0, -1.0, 1.0)
        rounded = np.round(unit * turned[:, None], PARALLEL) + 0.0
        _, indices, plane_of = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
        normals = unit[indices] * turned[indices][:, None]
        return Hyperplanes(normals, plane_of.reshape(-1), length * turned)

    def sum_examples(self, values: Array) -> Array:
        """Return sums over the examples of each hyperplane.

        Parameters
        ----------
        values : array (n,)
            Value of each example.

        Returns
        -------
        array (h,)
            Sums.
        """
        return np.asarray(
            np.bincount(self.of, weights=values, minlength=self.normals.shape[0]), dtype=np.float64
        )

    def of_examples(self, sides: NDArray[np.int64]) -> Array:
        """Return the signs of all <u_j, x_i>.

        Parameters
        ----------
        sides : array of int (m, h)
            Each neuron's side of the hyperplanes, -1, 0 or 1.

        Returns
        -------
        array (n, m)
            Signs.
        """
        return np.asarray((sides[:, self.of] * np.sign(self.size)).T, dtype=np.float64)


def forces_at_kinks(Q: Array, b: Array, low: Array, high: Array) -> Array | None:
    """Return argmin of mu Q mu / 2 - b mu over low <= mu <= high.

    An active-set Newton method from mu = 0; where it cycles, bounded least squares.

    Parameters
    ----------
    Q : array (k, k)
        Gram matrix, perhaps singular.
    b : array (k,)
        Linear term.
    low, high : array (k,)
        Bounds.

    Returns
    -------
    array (k,) or None
        Minimiser; None where both methods fail.

    Examples
    --------
    >>> forces_at_kinks(np.eye(2), np.array([3.0, 0.5]), np.zeros(2), np.ones(2)).tolist()
    [1.0, 0.5]
    """
    if not (np.isfinite(Q).all() and np.isfinite(b).all()):
        return None
    mu = np.clip(np.zeros_like(b), low, high)
    diagonal = np.maximum(np.diag(Q), np.finfo(float).tiny)
    for _ in range(ROUNDS):
        target = mu + (b - Q @ mu) / diagonal
        now = (target > low) & (target < high)
        mu = np.where(now, 0.0, np.where(target <= low, low, high))
        if now.any():
            mu[now] = _solve_least_norm(Q[np.ix_(now, now)], (b - Q @ mu)[now])
        if _is_solution(Q, b, low, high, mu):
            return mu
    return _solve_bounded(Q, b, low, high)


def _solve_least_norm(block: Array, aim: Array) -> Array:
    """Return the least-norm solution of block mu = aim, for a possibly singular Gram matrix."""
    try:
        mu = np.linalg.solve(block, aim)
    except np.linalg.LinAlgError:
        mu = np.full_like(aim, np.inf)
    if np.abs(mu).max() * np.abs(block).max() < LARGE * np.abs(aim).max():
        return np.asarray(mu, dtype=np.float64)
    return np.asarray(np.linalg.lstsq(block, aim, rcond=NEGLIGIBLE)[0])


def _is_solution(Q: Array, b: Array, low: Array, high: Array, mu: Array) -> bool:
    """Return True if mu is allowed, and no allowed change gains more than rounding."""
    if (mu < low).any() or (mu > high).any():
        return False
    product = Q @ mu
    slope, noise = product - b, NOISE * max(np.abs(b).max(), np.abs(product).max())
    grows, falls = slope < -noise, slope > noise
    return not (grows & (mu < high)).any() and not (falls & (mu > low)).any()


def _solve_bounded(Q: Array, b: Array, low: Array, high: Array) -> Array | None:
    """Solve the program by bounded least squares on a root of Q."""
    from scipy.optimize import lsq_linear  # slow to load, and needed only when a run is stuck

    values, vectors = np.linalg.eigh(Q)
    mask = values > NEGLIGIBLE * values[-1]
    if not mask.any():
        return None
    root = np.sqrt(values[mask])
    factor, aim = root[:, None] * vectors[:, mask].T, (vectors[:, mask].T @ b) / root
    width = np.linalg.norm(factor, axis=0)
    # Columns of equal length: bvls chooses by slopes, which are incomparable between columns of
    # different units.
    width = np.where(width > 0.0, width, 1.0)
    solution = lsq_linear(
        factor / width, aim, (low * width, high * width), method="bvls", tol=1e-14
    )
    return np.clip(solution.x / width, low, high) if solution.success else None
