"""Outputs and gradients of nodes that square, phi(z) = z^2, as matrix products.

Of one output a node's pass over the examples is all there is; of p outputs, as on addition modulo
p, the products with the outer weights are most of the work, and BLAS does them at ten times the
rate of the loops of core.compiled.kernel, which they are tested against.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from core.compiled.blas import gemm
from core.compiled.jit import compiled

Matrix = NDArray[Any]


@compiled
def squares(Z: Matrix, H: Matrix) -> None:
    """H = Z^2, elementwise."""
    for j in range(Z.shape[0]):
        z, h = Z[j], H[j]
        for i in range(z.size):
            h[i] = z[i] * z[i]


@compiled
def square_outputs(alpha: Matrix, Z: Matrix, F: Matrix, H: Matrix) -> None:
    """F_ci = sum_j alpha_jc Z_ji^2; H (m, n) is work."""
    squares(Z, H)
    gemm(alpha.T, H, F)


@compiled
def square_backward(alpha: Matrix, Z: Matrix, G: Matrix, C: Matrix, d_alpha: Matrix) -> None:
    """d_alpha_jc = sum_i G_ci Z_ji^2 and C_ji = 2 Z_ji sum_c alpha_jc G_ci."""
    squares(Z, C)
    gemm(C, G.T, d_alpha)
    gemm(alpha, G, C)
    for j in range(Z.shape[0]):
        z, c = Z[j], C[j]
        for i in range(z.size):
            c[i] *= 2 * z[i]
