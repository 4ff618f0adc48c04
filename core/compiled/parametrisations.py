"""Effective weights of the parametrisations that are not plain, with push and pull, compiled.

Each takes the pieces of flat that it needs: a, b, c (m,), V (m, d); work: alpha, d_alpha (m, k), U,
d_U (m, D), scratch (m, D + 1), whose last column keeps |v_j| or N(v_j) and whose others keep
V Sigma between `*_weights` and the two others. Formulas: core.network, the reference for the tests.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from numpy.typing import NDArray

from core.compiled.jit import compile_kernel

Array = NDArray[Any]

# ------------------------------------------------------------- scalar: alpha = a, u_j = b_j v_j


@compile_kernel
def scalar_weights(a: Array, b: Array, V: Array, alpha: Array, U: Array) -> None:
    """Write alpha = a, u_j = b_j v_j; also its own linearisation.

    Parameters
    ----------
    a, b : array (m,)
        Trained parameters.
    V : array (m, d)
        Fixed directions.
    alpha, U : array (m, 1), array (m, d)
        Written in place.
    """
    for j in range(a.size):
        alpha[j, 0] = a[j]
        for i in range(V.shape[1]):
            U[j, i] = b[j] * V[j, i]


@compile_kernel
def scalar_pull(V: Array, d_alpha: Array, d_U: Array, ga: Array, gb: Array) -> None:
    """Write ga = d alpha, gb_j = <v_j, d u_j>.

    Parameters
    ----------
    V : array (m, d)
        Fixed directions.
    d_alpha, d_U : array (m, 1), array (m, d)
        Gradient in (alpha, U).
    ga, gb : array (m,)
        Written in place.
    """
    for j in range(ga.size):
        total = V.dtype.type(0)
        for i in range(V.shape[1]):
            total += V[j, i] * d_U[j, i]
        ga[j], gb[j] = d_alpha[j, 0], total


# ----------------------------------------------------------------- biases: u_j = (v_j, b_j)


@compile_kernel
def bias_weights(V: Array, b: Array, U: Array) -> None:
    """Write u_j = (v_j, b_j); also its own linearisation.

    Parameters
    ----------
    V, b : array (m, d), array (m,)
        Trained parameters.
    U : array (m, d + 1)
        Written in place.
    """
    m, d = V.shape
    for j in range(m):
        for i in range(d):
            U[j, i] = V[j, i]
        U[j, d] = b[j]


@compile_kernel
def bias_pull(d_U: Array, gV: Array, gb: Array) -> None:
    """Split d_U (m, d + 1) into gV (m, d) and gb (m,), written in place.

    Parameters
    ----------
    d_U : array (m, d + 1)
        Gradient in U.
    gV, gb : array (m, d), array (m,)
        Written in place.
    """
    m, d = gV.shape
    for j in range(m):
        for i in range(d):
            gV[j, i] = d_U[j, i]
        gb[j] = d_U[j, d]


# ------------------------------------------------ normalised: alpha = a b, u_j = v_j/|v_j|


@compile_kernel
def normalised_weights(
    a: Array, b: Array, V: Array, alpha: Array, U: Array, scratch: Array
) -> None:
    """Write alpha_j = a_j b_j, u_j = v_j/|v_j|.

    Parameters
    ----------
    a, b, V : array (m,), (m,), (m, d)
        Trained parameters.
    alpha, U : array (m, 1), array (m, d)
        Written in place.
    scratch : array (m, d + 1)
        Work; its last column becomes |v_j|.
    """
    m, d = V.shape
    for j in range(m):
        total = V.dtype.type(0)
        for i in range(d):
            total += V[j, i] * V[j, i]
        scratch[j, d] = sqrt(total)
        alpha[j, 0] = a[j] * b[j]
        for i in range(d):
            U[j, i] = V[j, i] / scratch[j, d]


@compile_kernel
def project_tangent(U: Array, D: Array, scratch: Array, result: Array) -> None:
    """Write (I - u_j u_j') D_j/|v_j|, the derivative of v/|v| and its transpose.

    Parameters
    ----------
    U : array (m, d)
        Unit rows u_j.
    D : array (m, d)
        Direction, or gradient in U.
    scratch : array (m, d + 1)
        |v_j| in the last column.
    result : array (m, d)
        Written in place.
    """
    m, d = U.shape
    for j in range(m):
        total = U.dtype.type(0)
        for i in range(d):
            total += U[j, i] * D[j, i]
        for i in range(d):
            result[j, i] = (D[j, i] - total * U[j, i]) / scratch[j, d]


# --------------------------------------------- batch norm: alpha = a, u_j = c_j v_j/N(v_j)


@compile_kernel
def batch_norm_weights(
    a: Array,
    c: Array,
    V: Array,
    sigma: Array,
    normalises: int,
    eps: float,
    alpha: Array,
    U: Array,
    scratch: Array,
) -> None:
    """Write alpha = a, u_j = c_j v_j/N(v_j), N(v) = sqrt(v' Sigma v + eps); N = sqrt(eps) without.

    Parameters
    ----------
    a, c, V : array (m,), (m,), (m, d)
        Trained parameters.
    sigma : array (d, d)
        Covariance of the inputs.
    normalises : int
        0 to leave Sigma out.
    eps : float
        eps in N.
    alpha, U : array (m, 1), array (m, d)
        Written in place.
    scratch : array (m, d + 1)
        Written in place: V Sigma, and N(v_j) in the last column.
    """
    # Sigma may be singular, and is never inverted (docs/theory.md, 9).
    m, d = V.shape
    for j in range(m):
        total = V.dtype.type(eps)
        row = scratch[j]
        for i in range(d):
            row[i] = 0
        if normalises == 1:
            for i in range(d):
                v, column = V[j, i], sigma[i]
                for o in range(d):
                    row[o] += v * column[o]
            for i in range(d):
                total += V[j, i] * row[i]
        row[d] = sqrt(total)
        alpha[j, 0] = a[j]
        for i in range(d):
            U[j, i] = c[j] * V[j, i] / row[d]


@compile_kernel
def batch_norm_pull(
    c: Array, V: Array, scratch: Array, d_alpha: Array, d_U: Array, ga: Array, gc: Array, gV: Array
) -> None:
    """Write ga = d alpha, gc_j = s_j/N_j, gV_j = (c_j/N_j)(d u_j - Sigma v_j s_j/N_j^2).

    s_j = <v_j, d u_j>. Source: batchnorm, section 1.3, with d u_j = a_j T_j.

    Parameters
    ----------
    c, V : array (m,), array (m, d)
        Trained parameters.
    scratch : array (m, d + 1)
        Result of `batch_norm_weights`.
    d_alpha, d_U : array (m, 1), array (m, d)
        Gradient in (alpha, U).
    ga, gc, gV : array (m,), (m,), (m, d)
        Written in place.
    """
    m, d = V.shape
    for j in range(m):
        size, total = scratch[j, d], V.dtype.type(0)
        for i in range(d):
            total += V[j, i] * d_U[j, i]
        ga[j], gc[j] = d_alpha[j, 0], total / size
        back = total / (size * size)
        for i in range(d):
            gV[j, i] = c[j] / size * (d_U[j, i] - back * scratch[j, i])


@compile_kernel
def batch_norm_push(
    c: Array, V: Array, scratch: Array, da: Array, dc: Array, dV: Array, d_alpha: Array, d_U: Array
) -> None:
    """Write the derivative of alpha and U along (da, dc, dV).

    Parameters
    ----------
    c, V : array (m,), array (m, d)
        Trained parameters.
    scratch : array (m, d + 1)
        Result of `batch_norm_weights`.
    da, dc, dV : array (m,), (m,), (m, d)
        Direction.
    d_alpha, d_U : array (m, 1), array (m, d)
        Written in place.
    """
    m, d = V.shape
    for j in range(m):
        size, total = scratch[j, d], V.dtype.type(0)
        for i in range(d):
            total += scratch[j, i] * dV[j, i]
        d_alpha[j, 0] = da[j]
        back = (dc[j] - c[j] * total / (size * size)) / size
        for i in range(d):
            d_U[j, i] = back * V[j, i] + c[j] / size * dV[j, i]
