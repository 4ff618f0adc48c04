"""Exact risk of ReLU networks on inputs x ~ N(0, I) with a teacher, its gradient, and their ODE.

For rows u of inner weights and C = (<u, u'>) the risk (1/2) E (sum_l b_l relu(<u_l, x>))^2, b the
outer weights of the student and minus those of the teacher, is b' G b/2 with
G_lk = |u_l| |u_k| (sin t + (pi - t) cos t)/(2 pi), t the angle of u_l and u_k (Cho and Saul 2009).
The gradient stays in the span of all rows, so the flow of (a, C) is closed: no dimension is in it
(Saad and Solla 1995 for erf; docs/theory.md, 4.18). The ODE is solved in coordinates of the rows:
C loses half of the digits of short rows and of small angles.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def pair_means(C: Array, angles: Array) -> Array:
    """Return G_lk = E relu(<u_l, x>) relu(<u_k, x>), x ~ N(0, I).

    Parameters
    ----------
    C : array (N, N)
        Inner products <u_l, u_k>.
    angles : array (N, N)
        Angles of u_l and u_k.

    Returns
    -------
    array (N, N)

    Examples
    --------
    >>> G = pair_means(np.eye(2), np.pi / 2.0 * (1.0 - np.eye(2)))
    >>> (G * [[2.0, 2.0 * np.pi], [2.0 * np.pi, 2.0]]).round(12).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    lengths = _lengths(C)
    sizes = lengths[:, None] * lengths
    return np.asarray(sizes * (np.sin(angles) + (np.pi - angles) * np.cos(angles)) / (2.0 * np.pi))


def _lengths(C: Array) -> Array:
    """Return |u_l|; an ODE leaves tiny negative squares of neurons that vanish."""
    return np.asarray(np.sqrt(np.maximum(np.diagonal(C), 0.0)))


def angles_of_rows(U: Array) -> Array:
    """Return the angles between rows.

    By differences and sums of unit vectors: the arc cosine of nearly equal rows is good to 1e-8
    only.

    Parameters
    ----------
    U : array (N, D)
        Rows, of any lengths.

    Returns
    -------
    array (N, N)
        Angles in radians, 0 to pi. A row that is 0 has pi/2 to other rows, and 0 to rows of 0.
    """
    lengths = np.linalg.norm(U, axis=1)
    unit = U / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    differences = np.linalg.norm(unit[:, None] - unit, axis=2)
    sums = np.linalg.norm(unit[:, None] + unit, axis=2)
    return np.asarray(2.0 * np.arctan2(differences, sums))


def relu_slopes(a: Array, b: Array, C: Array, angles: Array) -> tuple[Array, Array]:
    """Return the gradient of the risk in a, and in W as coefficients on all rows.

    Parameters
    ----------
    a : array (K,)
        Outer weights of the student, whose rows come first.
    b : array (N,)
        a, and minus the teacher's.
    C, angles : array (N, N)
        Inner products and angles of all rows.

    Returns
    -------
    tuple of arrays
        dR/da (K,), and D (K, N) with dR/dW = D @ rows.
    """
    K = a.size
    lengths = _lengths(C)
    own = np.where(lengths[:K] > 0.0, lengths[:K], np.inf)
    D = a[:, None] * b * (np.pi - angles[:K]) / (2.0 * np.pi)
    along = (a[:, None] * b * lengths * np.sin(angles[:K])).sum(axis=1) / own / (2.0 * np.pi)
    D[np.arange(K), np.arange(K)] += along
    return np.asarray((pair_means(C, angles) @ b)[:K]), D


class FlowState(ABC):
    """State of the ODE of a student, beside a teacher that does not move."""

    @abstractmethod
    def pack(self) -> Array:
        """Return what moves in the state as one vector.

        Returns
        -------
        array (size,)
        """

    @abstractmethod
    def unpack(self, flat: Array) -> Self:
        """Return the state of a vector, with this teacher.

        Parameters
        ----------
        flat : array (size,)
            Vector in the order of `pack`.

        Returns
        -------
        FlowState
        """

    @abstractmethod
    def slope(self) -> Array:
        """Return the time derivative of the state: the ODE's right-hand side.

        Returns
        -------
        array (size,)
            In the order of `pack`.
        """

    @abstractmethod
    def risk(self) -> float:
        """Return (1/2) E (f(x) - f*(x))^2."""

    @abstractmethod
    def cosines(self) -> Array:
        """Return the cosines of all neurons and teacher units.

        Returns
        -------
        array (K, M)
            R_jn/sqrt(Q_jj T_nn); 0 for neurons with v_j = 0.
        """

    def overlap(self) -> float:
        """Return the mean over teacher units n of max_j R_jn/sqrt(Q_jj T_nn)."""
        return float(self.cosines().max(axis=0).mean())


@dataclass(frozen=True, slots=True, eq=False)
class OrderParameters(FlowState):
    """State of an ODE: a (K,), Q (K, K) and R (K, M), beside the teacher's c (M,) and T (M, M)."""

    a: Array
    Q: Array
    R: Array
    c: Array
    T: Array

    def pack(self) -> Array:
        """Return the trained part of the state as one vector.

        Returns
        -------
        array (K + K^2 + K M,)
            a, then Q and R row by row.
        """
        return np.concatenate([self.a, self.Q.ravel(), self.R.ravel()])

    def unpack(self, flat: Array) -> Self:
        K, M = self.R.shape
        a, Q, R = flat[:K], flat[K : K + K * K], flat[K + K * K :]
        return replace(self, a=a, Q=Q.reshape(K, K), R=R.reshape(K, M))

    def products(self) -> Array:
        """Return the inner products of all neurons, those of the student first.

        Returns
        -------
        array (K + M, K + M)
            C = [[Q, R], [R', T]].
        """
        return np.block([[self.Q, self.R], [self.R.T, self.T]])

    def cosines(self) -> Array:
        return _cosines(self.R, np.diagonal(self.Q), np.diagonal(self.T))


def _cosines(R: Array, squares: Array, teacher_squares: Array) -> Array:
    """Return R_jn over the lengths of both rows, 0 for rows that are 0."""
    sizes = np.sqrt(np.maximum(squares, 0.0))[:, None] * np.sqrt(teacher_squares)
    return np.asarray(np.divide(R, sizes, out=np.zeros_like(R), where=sizes > 0.0))


@final
@dataclass(frozen=True, slots=True, eq=False)
class ReluState(FlowState):
    """State of the ODE of ReLU neurons: a (K,) and W (K, r), in coordinates of all rows' span."""

    a: Array
    W: Array
    teacher: ReluTeacher

    def pack(self) -> Array:
        """Return what moves in the state as one vector.

        Returns
        -------
        array (K + K r,)
            a, then W row by row.
        """
        return np.concatenate([self.a, self.W.ravel()])

    def unpack(self, flat: Array) -> Self:
        K = self.a.size
        return replace(self, a=flat[:K], W=flat[K:].reshape(self.W.shape))

    def slope(self) -> Array:
        d_a, d_W = self.teacher.gradient(self.a, self.W)
        return -np.concatenate([d_a, d_W.ravel()])

    def risk(self) -> float:
        return self.teacher.risk(self.a, self.W)

    def cosines(self) -> Array:
        V = self.teacher.V
        return _cosines(self.W @ V.T, (self.W**2).sum(axis=1), (V**2).sum(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class Teacher(ABC):
    """Teacher on inputs x ~ N(0, I) of M neurons: outer weights c (M,), inner ones V (M, d)."""

    c: Array
    V: Array

    @abstractmethod
    def risk(self, a: Array, W: Array) -> float:
        """Return (1/2) E (f(x) - f*(x))^2.

        Parameters
        ----------
        a : array (K,)
            Outer weights of the student.
        W : array (K, d)
            Its inner weights.

        Returns
        -------
        float
        """

    @abstractmethod
    def gradient(self, a: Array, W: Array) -> tuple[Array, Array]:
        """Return the gradient of the risk in a (K,) and W (K, d).

        Parameters
        ----------
        a : array (K,)
            Outer weights of the student.
        W : array (K, d)
            Its inner weights.

        Returns
        -------
        tuple of arrays
        """

    @abstractmethod
    def order_parameters(
        self, a: Array, W: Array, rate: float = 0.0, noise: float = 0.0
    ) -> FlowState:
        """Return the state of the ODE at a student.

        Parameters
        ----------
        a : array (K,)
            Outer weights.
        W : array (K, d)
            Inner weights.
        rate : float
            Step times d over the batch of online descent, where its squares have a closed form; 0
            for the flow.
        noise : float
            Standard deviation of the noise of targets, which only such squares contain.

        Returns
        -------
        FlowState
        """

    def overlaps(self, W: Array) -> tuple[Array, Array]:
        """Return the order parameters of a student.

        Parameters
        ----------
        W : array (K, d)
            Inner weights.

        Returns
        -------
        tuple of array (K, K) and array (K, M)
            Q = W W' and R = W V', not divided by d.
        """
        return np.asarray(W @ W.T), np.asarray(W @ self.V.T)


@final
@dataclass(frozen=True, slots=True, eq=False)
class ReluTeacher(Teacher):
    """Teacher f*(x) = sum_n c_n relu(<v_n, x>)."""

    def risk(self, a: Array, W: Array) -> float:
        rows, b = np.concatenate([W, self.V]), np.concatenate([a, -self.c])
        G = pair_means(rows @ rows.T, angles_of_rows(rows))
        return max(0.5 * float(b @ G @ b), 0.0)

    def gradient(self, a: Array, W: Array) -> tuple[Array, Array]:
        rows, b = np.concatenate([W, self.V]), np.concatenate([a, -self.c])
        d_a, D = relu_slopes(a, b, rows @ rows.T, angles_of_rows(rows))
        return d_a, np.asarray(D @ rows)

    def order_parameters(
        self, a: Array, W: Array, rate: float = 0.0, noise: float = 0.0
    ) -> ReluState:
        rows = np.concatenate([W, self.V])
        if rows.shape[0] < rows.shape[1]:  # then the rows span less than all dimensions
            rows = np.linalg.qr(rows.T).R.T
        return ReluState(a, rows[: a.size], ReluTeacher(self.c, rows[a.size :]))
