"""Exact risk and online dynamics of erf neurons on inputs x ~ N(0, I) with a teacher.

For rows u of inner weights, C = (<u, u'>) and g(z) = erf(z/sqrt(2)),
G_lk = E g(<u_l, x>) g(<u_k, x>) = (2/pi) arcsin(C_lk/sqrt((1 + C_ll)(1 + C_kk))). A step eta/d on
one fresh example adds (eta/d)^2 |x|^2 delta_i delta_k to Q: a term that does not vanish with d. Its
mean is closed, since g'(z) is a Gaussian: it tilts the law of all preactivations (Saad and Solla
1995, whose integrals I3 and I4 these are; docs/theory.md, 4.19).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from core.network.gaussian_inputs import Array, OrderParameters, Teacher


def erf_means(C: Array) -> Array:
    """Return G_lk = E g(z_l) g(z_k) for z ~ N(0, C).

    Parameters
    ----------
    C : array (..., N, N)
        Covariance of the preactivations.

    Returns
    -------
    array (..., N, N)

    Examples
    --------
    >>> (6.0 * erf_means(np.eye(2))).round(12).tolist()  # E erf^2 = 1/3 at unit length
    [[2.0, 0.0], [0.0, 2.0]]
    """
    spread = np.sqrt(1.0 + np.diagonal(C, axis1=-2, axis2=-1))
    ratio = C / (spread[..., :, None] * spread[..., None, :])
    return np.asarray(2.0 / np.pi * np.arcsin(np.clip(ratio, -1.0, 1.0)))


def erf_slopes(b: Array, C: Array, K: int) -> Array:
    """Return the gradient of the risk in the first K rows as coefficients on all rows.

    Parameters
    ----------
    b : array (N,)
        Outer weights of the student, and minus those of the teacher.
    C : array (N, N)
        Inner products of all rows.
    K : int
        Rows of the student.

    Returns
    -------
    array (K, N)
        D with dR/dW = D @ rows.
    """
    spread = 1.0 + np.diagonal(C)
    roots = np.sqrt(spread[:K, None] * spread - C[:K] ** 2)
    D = 2.0 / np.pi * b[:K, None] * b / roots
    D[np.arange(K), np.arange(K)] -= (D * C[:K]).sum(axis=1) / spread[:K]
    return np.asarray(D)


def erf_squares(b: Array, C: Array, K: int, noise: float = 0.0) -> Array:
    """Return M_ik = E delta_i delta_k, delta_i = b_i g'(z_i) (sum_l b_l g(z_l) + noise).

    g'(z_i) g'(z_k) is 2/pi times a Gaussian of the precision e_i e_i' + e_k e_k'. Times N(0, C) it
    is a multiple of another Gaussian law, under which the square has a closed mean.

    Parameters
    ----------
    b, C : array (N,), array (N, N)
        Outer weights and covariance as in `erf_slopes`.
    K : int
        Rows of the student.
    noise : float
        Standard deviation of independent noise of the targets.

    Returns
    -------
    array (K, K)
        Symmetric matrix.

    Examples
    --------
    >>> C = np.array([[0.0]])  # a neuron at 0 and noise alone: g'(0)^2 = 2/pi
    >>> (erf_squares(np.ones(1), C, 1, noise=2.0) * np.pi / 2.0).round(12).tolist()
    [[4.0]]
    """
    Q = C[:K, :K]
    diagonal = 1.0 + np.diagonal(Q)
    determinants = diagonal[:, None] * diagonal - Q**2  # for i = k too: e_i e_i' counts twice
    rows = C[:K]
    first = (diagonal[None, :] / determinants)[..., None, None]  # of row i, with spread of row k
    second = (diagonal[:, None] / determinants)[..., None, None]
    mixed = (-Q / determinants)[..., None, None]
    own, other = rows[:, None, :], rows[None, :, :]
    tilted = (
        C
        - first * own[..., :, None] * own[..., None, :]
        - second * other[..., :, None] * other[..., None, :]
        - mixed
        * (own[..., :, None] * other[..., None, :] + other[..., :, None] * own[..., None, :])
    )
    squares = np.einsum("l,iklm,m->ik", b, erf_means(tilted), b) + noise**2
    return np.asarray(2.0 / np.pi * np.outer(b[:K], b[:K]) * squares / np.sqrt(determinants))


@final
@dataclass(frozen=True, slots=True, eq=False)
class ErfOrderParameters(OrderParameters):
    """State of the ODE of erf neurons, whose outer weights are not trained.

    `rate` is the step times d over the batch, 0 for the flow; `noise` that of the targets.
    """

    rate: float = 0.0
    noise: float = 0.0

    def risk(self) -> float:
        b = np.concatenate([self.a, -self.c])
        return max(0.5 * float(b @ erf_means(self.products()) @ b), 0.0)

    def slope(self) -> Array:
        K, C = self.a.size, self.products()
        products = erf_slopes(np.concatenate([self.a, -self.c]), C, K) @ C  # dR/dW times all rows
        dQ = products[:, :K] + products[:, :K].T - self._squares()
        return -np.concatenate([np.zeros(K), dQ.ravel(), products[:, K:].ravel()])

    def _squares(self) -> Array:
        """Return what the squares of steps add to dQ/dt, (K, K): nothing for a flow."""
        K = self.a.size
        if not self.rate:
            return np.zeros((K, K))
        b = np.concatenate([self.a, -self.c])
        return self.rate * erf_squares(b, self.products(), K, self.noise)


@final
@dataclass(frozen=True, slots=True, eq=False)
class ErfTeacher(Teacher):
    """Teacher f*(x) = sum_n c_n erf(<v_n, x>/sqrt(2)) on x ~ N(0, I): c (M,), V (M, d)."""

    def risk(self, a: Array, W: Array) -> float:
        rows, b = np.concatenate([W, self.V]), np.concatenate([a, -self.c])
        return max(0.5 * float(b @ erf_means(rows @ rows.T) @ b), 0.0)

    def gradient(self, a: Array, W: Array) -> tuple[Array, Array]:
        rows, b = np.concatenate([W, self.V]), np.concatenate([a, -self.c])
        C = rows @ rows.T
        slopes = (erf_means(C) @ b)[: a.size]
        return slopes, np.asarray(erf_slopes(b, C, a.size) @ rows)

    def order_parameters(
        self, a: Array, W: Array, rate: float = 0.0, noise: float = 0.0
    ) -> ErfOrderParameters:
        Q, R = self.overlaps(W)
        return ErfOrderParameters(a, Q, R, self.c, self.V @ self.V.T, rate, noise)
