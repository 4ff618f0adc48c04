"""Hessian of the risk in the span of its examples' gradients, where its top can be proved.

Of one output, with weights that are parameters and an activation without curvature (ReLUs), at
n examples: Hessian = J' C J + S, with C the loss's curvature over n and S acting on each neuron's
(alpha_j, u_j) alone, S (1, 0) = (0, q_j) and S (0, u) = (q_j' u, 0), q_j = sum_i g_i phi'_ij x_i.
All eigenvectors to eigenvalues that are not 0 are J' C^1/2 w + (c_j, e_j q_j)_j, w (n,), c and e
(m,): n + 2m numbers instead of the parameters' (d + 1) m, and S^2 = |q_j|^2 there. With

    A = phi(z) C^1/2,  B_ji = alpha_j phi'_ij q_j' x_i C_i^1/2,
    R_il = C_i^1/2 C_l^1/2 x_i' x_l sum_j alpha_j^2 phi'_ij phi'_lj,

C^1/2 J J' C^1/2 = R + A' A, and the Hessian of such a vector and its inner products take one
product with

    G = [[R + A' A, A', B'], [A, 1, 0], [B, 0, |q|^2]]: (w, c, e) -> (r, s, t), then (r, t, s).

By Schur complements (Haynsworth) mu - Hessian has as many negative eigenvalues as there are neurons
with |q_j| > mu, and of the n x n matrix

    1 - (R + sum_j (mu A_j + B_j)(mu A_j + B_j)' / (mu^2 - |q_j|^2)) / mu:

if a Cholesky factor of it exists, and no |q_j| is above mu, no eigenvalue is. Lanczos alone
knows only that some eigenvalue is near its Ritz value (core.dynamics.lanczos).
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.linalg.blas import dsymv, dsyrk
from scipy.linalg.lapack import dpotrf

from core.dynamics.eigenvalues import Top
from core.dynamics.lanczos import top_eigenvalues
from core.network.parametrisation import TwoLayer
from core.problem.problem import Problem

Array = NDArray[np.float64]

FEW, MOST = 512, 2048  # examples: memory n^2, and m n^2 multiplications
# Of Lanczos: the proof shows whether a residual was small enough; mostly the first is.
RESIDUALS = (1e-3, 1e-5, 1e-8)
# Tolerance of products with the vectors, computed twice; rounding alone is 1e-10 or less.
SAME = 1e-6


def has_span(problem: Problem) -> bool:
    """Return True if this form of the Hessian exists, and is smaller than the parameters' own."""
    network, n = problem.network, problem.dataset.n
    if not (isinstance(network, TwoLayer) and network.direct and network.k == 1):
        return False
    plain = network.plain_sum and not network.activation.bent and not problem.experiment.loss.l23
    return plain and n <= min(max(FEW, 8 * network.d), MOST)


@final
class ProvedSharpness:
    """Largest eigenvalues of the Hessian of a problem's risk, with a proof.

    Raises ValueError if `has_span` is False.
    """

    def __init__(self, problem: Problem) -> None:
        if not has_span(problem):
            raise ValueError("the Hessian of this problem has no form in its examples' span")
        self._problem = problem
        self._inner: Array = problem.inputs @ problem.inputs.T

    def prove_at(self, flat: Array, count: int, slack: float, full: bool = True) -> Array | None:
        """Return the largest eigenvalues at flat parameters, proved.

        Parameters
        ----------
        flat : array (size,)
            Physical parameters.
        count : int
            Number of eigenvalues.
        slack : float
            Each value is below the true one by at most `slack` of the largest, and above it by
            rounding alone.
        full : bool
            False for the Gauss-Newton part alone.

        Returns
        -------
        array (count,) or None
            Decreasing. None where the proof fails (of equal eigenvalues Lanczos finds one), or
            no number is positive or finite.
        """
        with np.errstate(all="ignore"):
            span = _ExampleSpan(self._problem, self._inner, np.asarray(flat, np.float64), full)
            return span.prove_eigenvalues(count, slack) if span.is_finite else None


@final
class _ExampleSpan:
    """Metric G at flat parameters, and the proof of the eigenvalues (module docstring).

    C and g, the loss's curvature and slopes over n, are divided by the largest of their numbers:
    late in a run these are 1e-50, and their squares underflow.
    """

    def __init__(self, problem: Problem, inner: Array, flat: Array, full: bool) -> None:
        network, X, y = problem.network, problem.inputs, problem.dataset.y
        assert isinstance(network, TwoLayer)
        alpha, U = network.effective(flat)
        z = U @ X.T
        self._A, slopes = network.activation(z), network.activation.slopes(z)
        f, n = alpha @ self._A, y.size
        g = np.asarray(problem.loss.output_gradient(f, y)) / n
        curved = np.asarray(problem.loss.output_curvature(f, y, np.ones_like(f))) / n
        self._scale = max(float(np.abs(g).max()), float(curved.max()))
        root = np.sqrt(curved / self._scale)
        self._penalty = 2.0 * problem.experiment.loss.l2 if full else 0.0
        if not network.push(flat, np.ones_like(flat))[0].any():  # outer weights are untrained
            self._A, full = np.zeros_like(self._A), False
        q = (slopes * (g / self._scale)) @ X if full else np.zeros_like(U)
        self._squares = (q * q).sum(axis=1)
        slopes *= alpha[:, None]
        slopes *= root
        self._A *= root
        self._B = (q @ X.T if full else np.zeros_like(slopes)) * slopes
        self._R = np.asarray(dsyrk(1.0, slopes.T))  # its upper triangle
        self._R *= inner.T  # the same, and in the same order

    @property
    def is_finite(self) -> bool:
        return 0.0 < self._scale < np.inf and bool(np.isfinite(self._R).all())

    def _metric(self, v: Array) -> Array:
        """Return G (w, c, e)."""
        n, m = len(self._R), self._squares.size
        w, c, e = v[:n], v[n : n + m], v[n + m :]
        out = np.empty_like(v)
        out[n : n + m] = s = self._A @ w + c
        out[n + m :] = self._B @ w + self._squares * e
        out[:n] = dsymv(1.0, self._R, w) + s @ self._A + e @ self._B
        return out

    def _product(self, lowered: Array) -> Array:
        """Return the Hessian times a vector v, from G v (`lowered`)."""
        n, m = len(self._R), self._squares.size
        return np.concatenate([lowered[:n], lowered[n + m :], lowered[n : n + m]])

    def prove_eigenvalues(self, count: int, slack: float) -> Array | None:
        """Return the proved eigenvalues; see `ProvedSharpness.prove_at`."""
        n, m = len(self._R), self._squares.size
        start = np.zeros(n + 2 * m)
        start[:n] = np.random.default_rng(0).standard_normal(n)
        for residual in RESIDUALS:
            top = top_eigenvalues(
                self._product, n + 2 * m, count, residual, start, metric=self._metric
            )
            values = top.values
            if len(values) < count or not values.min() > 0.0:
                return None
            if not self._are_ritz_values(top):
                return None
            bounds = values + slack * values[0]
            if all(self._count_above(mu) <= rank for rank, mu in enumerate(bounds.tolist())):
                return np.asarray(self._scale * values) + self._penalty
            start = top.vectors.sum(axis=0) + self._find_missed(float(bounds[0]))
        return None

    def _are_ritz_values(self, top: Top) -> bool:
        """Return True if the values are the Rayleigh quotients of G-orthonormal vectors.

        Then no value exceeds the eigenvalue of its rank (Cauchy). Fresh products check this, not
        Lanczos's recurrence: once the space of its start is exhausted, vectors are of rounding's
        size in G, and their values mean nothing (.210 instead of .131 was measured).
        """
        lowered = np.stack([self._metric(v) for v in top.vectors])
        images = np.stack([self._product(v) for v in lowered])
        lengths, values = top.vectors @ lowered.T, lowered @ images.T / top.largest
        largest_error = np.abs(lengths - np.eye(len(lengths))).max()
        largest_change = np.abs(values - np.diag(top.values / top.largest)).max()
        return bool(max(largest_error, largest_change) <= SAME)

    def _complement(self, mu: float) -> Array:
        """Return the Schur complement at mu (module docstring), (n, n); only its upper triangle."""
        gaps = mu * mu - self._squares
        F = mu * self._A
        F += self._B
        F *= np.sqrt(1.0 / np.abs(gaps))[:, None]
        out = self._R * (-1.0 / mu)
        for sign, nodes in ((-1.0, gaps > 0.0), (1.0, gaps <= 0.0)):
            if nodes.any():
                part = F if nodes.all() else F[nodes]
                out = dsyrk(sign / mu, part.T, beta=1.0, c=out, overwrite_c=1)
        out[np.diag_indices(len(out))] += 1.0
        return np.asarray(out)

    def _count_above(self, mu: float) -> int:
        """Return the number of eigenvalues above mu; n^2, more than any, if it is not finite."""
        nodes = int((self._squares > mu * mu).sum())
        complement = self._complement(mu)
        if not nodes and dpotrf(complement, clean=0)[1] == 0:
            return 0
        if not np.isfinite(complement).all():
            return complement.size
        return nodes + int((eigh(complement, lower=False, eigvals_only=True) < 0.0).sum())

    def _find_missed(self, mu: float) -> Array:
        """Return a vector (n + 2m,) with a Rayleigh quotient above mu, if an eigenvalue is above.

        (mu - S)^-1 J' C^1/2 w with the least eigenvector w of the complement. Zeros if that is not
        finite.
        """
        complement = self._complement(mu)
        if not np.isfinite(complement).all():
            return np.zeros(len(complement) + 2 * self._squares.size)
        w = eigh(complement, lower=False, subset_by_index=[0, 0])[1][:, 0]
        u, v = self._A @ w, self._B @ w
        weights = 1.0 / (mu * mu - self._squares)
        c = weights * (mu * v + self._squares * u)
        return np.concatenate([w, c, weights * (mu * u + v)])
