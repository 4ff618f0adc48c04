"""Matrix products of `core.compiled.kernel` by loops, for sizes between those of tiles and of BLAS.

Loops are blocked by four neurons and four (two) coordinates, so that every value loaded serves
several multiply-adds. The inner loop runs over examples, which are contiguous.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from core.compiled.jit import compile_kernel

Matrix = NDArray[Any]


@compile_kernel
def preactivations_by_loops(U: Matrix, XT: Matrix, Z: Matrix) -> None:
    """Write Z = U XT, by four neurons and four coordinates.

    Parameters
    ----------
    U, XT : array (m, d), array (d, n)
        Inner weights, and the transposed data.
    Z : array (m, n)
        Preactivations, written in place.
    """
    m, d = U.shape
    n = XT.shape[1]
    whole_m, whole_d = m - m % 4, d - d % 4
    for j in range(0, whole_m, 4):
        z0, z1, z2, z3 = Z[j], Z[j + 1], Z[j + 2], Z[j + 3]
        for i in range(n):
            z0[i] = 0
            z1[i] = 0
            z2[i] = 0
            z3[i] = 0
        for k in range(0, whole_d, 4):
            x0, x1, x2, x3 = XT[k], XT[k + 1], XT[k + 2], XT[k + 3]
            a0, a1, a2, a3 = U[j, k], U[j, k + 1], U[j, k + 2], U[j, k + 3]
            b0, b1, b2, b3 = U[j + 1, k], U[j + 1, k + 1], U[j + 1, k + 2], U[j + 1, k + 3]
            c0, c1, c2, c3 = U[j + 2, k], U[j + 2, k + 1], U[j + 2, k + 2], U[j + 2, k + 3]
            e0, e1, e2, e3 = U[j + 3, k], U[j + 3, k + 1], U[j + 3, k + 2], U[j + 3, k + 3]
            for i in range(n):
                p0, p1, p2, p3 = x0[i], x1[i], x2[i], x3[i]
                z0[i] += a0 * p0 + a1 * p1 + a2 * p2 + a3 * p3
                z1[i] += b0 * p0 + b1 * p1 + b2 * p2 + b3 * p3
                z2[i] += c0 * p0 + c1 * p1 + c2 * p2 + c3 * p3
                z3[i] += e0 * p0 + e1 * p1 + e2 * p2 + e3 * p3
        for k in range(whole_d, d):
            x0 = XT[k]
            a0, b0, c0, e0 = U[j, k], U[j + 1, k], U[j + 2, k], U[j + 3, k]
            for i in range(n):
                p0 = x0[i]
                z0[i] += a0 * p0
                z1[i] += b0 * p0
                z2[i] += c0 * p0
                z3[i] += e0 * p0
    for j in range(whole_m, m):
        z0 = Z[j]
        for i in range(n):
            z0[i] = 0
        for k in range(d):
            x0 = XT[k]
            a0 = U[j, k]
            for i in range(n):
                z0[i] += a0 * x0[i]


@compile_kernel
def inner_gradient_by_loops(C: Matrix, XT: Matrix, d_U: Matrix) -> None:
    """Write d_U = C XT', by four neurons and two coordinates.

    Parameters
    ----------
    C, XT : array (m, n), array (d, n)
        Derivatives in the preactivations, and the transposed data.
    d_U : array (m, d)
        Derivatives in the inner weights, written in place.
    """
    m, n = C.shape
    d = XT.shape[0]
    whole_m, whole_d = m - m % 4, d - d % 2
    zero = C.dtype.type(0)
    for j in range(0, whole_m, 4):
        c0, c1, c2, c3 = C[j], C[j + 1], C[j + 2], C[j + 3]
        for k in range(0, whole_d, 2):
            x0, x1 = XT[k], XT[k + 1]
            s00 = s01 = s10 = s11 = s20 = s21 = s30 = s31 = zero
            for i in range(n):
                p, q = x0[i], x1[i]
                s00 += c0[i] * p
                s01 += c0[i] * q
                s10 += c1[i] * p
                s11 += c1[i] * q
                s20 += c2[i] * p
                s21 += c2[i] * q
                s30 += c3[i] * p
                s31 += c3[i] * q
            d_U[j, k], d_U[j, k + 1] = s00, s01
            d_U[j + 1, k], d_U[j + 1, k + 1] = s10, s11
            d_U[j + 2, k], d_U[j + 2, k + 1] = s20, s21
            d_U[j + 3, k], d_U[j + 3, k + 1] = s30, s31
        for k in range(whole_d, d):
            x0 = XT[k]
            s00 = s10 = s20 = s30 = zero
            for i in range(n):
                p = x0[i]
                s00 += c0[i] * p
                s10 += c1[i] * p
                s20 += c2[i] * p
                s30 += c3[i] * p
            d_U[j, k], d_U[j + 1, k], d_U[j + 2, k], d_U[j + 3, k] = s00, s10, s20, s30
    for j in range(whole_m, m):
        c0 = C[j]
        for k in range(d):
            x0 = XT[k]
            s00 = zero
            for i in range(n):
                s00 += c0[i] * x0[i]
            d_U[j, k] = s00
