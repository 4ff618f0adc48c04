"""Forward and backward passes of the two-layer network for effective (alpha, U), compiled.

Shapes: alpha (m, k), U (m, d), XT (d, n) the transposed data, Z and C (m, n), F and G (k, n) the
outputs and their weights. Small products are done by tiles in registers (core.compiled.tiles),
large ones by BLAS (of SciPy, without the GIL), which is faster from about 32 coordinates on, and
those between by loops (core.compiled.kernel_loops). Tested against core.network.kernel.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from core.compiled.blas import gemm
from core.compiled.exponential import exp_minus, log_one_plus, twice_atanh
from core.compiled.jit import compile_kernel
from core.compiled.kernel_loops import inner_gradient_by_loops, preactivations_by_loops
from core.compiled.tiles import fits, product
from core.network.activation import LEAKY, RELU, SQUARE

Matrix = NDArray[Any]
Vector = NDArray[Any]

SLOPES = -1  # used like the code of an activation: Z holds phi'(z) instead of z
LN_2 = 0.6931471805599453
ROWS, CACHED = 16, 1024  # of `outputs_and_slopes`: neurons per block, and numbers per block
# Sizes from which BLAS was measured to be faster (docs/decisions/0007).
BLAS_NODES, BLAS_COORDINATES, BLAS_EXAMPLES = 64, 32, 32


@compile_kernel
def is_large(m: int, d: int, n: int) -> bool:
    """Return True if BLAS is faster than loops for the products of a network.

    Parameters
    ----------
    m, d, n : int
        Numbers of neurons, of coordinates and of examples.

    Returns
    -------
    bool
        True if each number reaches its measured limit.
    """
    return m >= BLAS_NODES and d >= BLAS_COORDINATES and n >= BLAS_EXAMPLES


@compile_kernel
def is_active(Z: Matrix) -> bool:
    """Return True if some element is above zero."""
    for j in range(Z.shape[0]):
        for i in range(Z.shape[1]):
            if Z[j, i] > 0:
                return True
    return False


@compile_kernel
def preactivations(U: Matrix, XT: Matrix, Z: Matrix) -> None:
    """Write Z = U XT, by tiles, BLAS or loops, whichever is fastest for these sizes.

    Parameters
    ----------
    U, XT : array (m, d), array (d, n)
        Inner weights, and the transposed data.
    Z : array (m, n)
        Preactivations, written in place.
    """
    if fits(U, XT):
        product(U, XT, Z)
    elif is_large(U.shape[0], U.shape[1], XT.shape[1]):
        gemm(U, XT, Z)
    else:
        preactivations_by_loops(U, XT, Z)


@compile_kernel
def activate(phi: int, slope: float, z: Vector, h: Vector) -> None:
    """Write phi(z) into h.

    Parameters
    ----------
    phi, slope : int, float
        Code of the activation, and its slope on the left.
    z, h : array (n,)
        Preactivations, and phi(z), written in place.
    """
    zero = z.dtype.type(0)
    if phi == RELU:
        for i in range(z.size):
            h[i] = max(z[i], zero)
    elif phi == LEAKY:
        for i in range(z.size):
            h[i] = max(z[i], slope * z[i])
    elif phi == SQUARE:
        for i in range(z.size):
            h[i] = z[i] * z[i]
    else:
        for i in range(z.size):
            softplus = max(z[i], zero) + log_one_plus(exp_minus(abs(z[i])))
            h[i] = slope * z[i] + (1 - slope) * (softplus - LN_2)


@compile_kernel
def times_slopes(phi: int, slope: float, z: Vector, c: Vector) -> None:
    """Multiply c in place by phi'(z).

    Parameters
    ----------
    phi, slope : int, float
        Code of the activation, or SLOPES where z holds phi'(z), and its slope on the left.
    z, c : array (n,)
        Preactivations, and factors, updated in place.
    """
    zero = z.dtype.type(0)
    if phi == RELU:
        for i in range(z.size):
            c[i] = c[i] if z[i] > zero else zero
    elif phi == LEAKY:
        for i in range(z.size):
            c[i] = c[i] if z[i] > zero else slope * c[i]
    elif phi == SLOPES:
        for i in range(z.size):
            c[i] *= z[i]
    elif phi == SQUARE:
        for i in range(z.size):
            c[i] *= 2 * z[i]
    else:
        for i in range(z.size):
            e = exp_minus(abs(z[i]))
            share = 1 / (1 + e)
            right = share if z[i] > zero else e * share
            c[i] *= slope + (1 - slope) * right


@compile_kernel
def outputs(phi: int, slope: float, alpha: Matrix, Z: Matrix, F: Matrix, h: Vector) -> None:
    """Write the outputs F_ci = sum_j alpha_jc phi(Z_ji).

    Parameters
    ----------
    phi, slope : int, float
        Code of the activation, and its slope on the left.
    alpha, Z : array (m, k), array (m, n)
        Outer weights and preactivations.
    F, h : array (k, n), array (n,)
        Outputs, written in place, and work.
    """
    m, n = Z.shape
    k = F.shape[0]
    zero = Z.dtype.type(0)
    F[:] = zero
    if phi == RELU and k == 1:  # in one pass
        f = F[0]
        for j in range(m):
            z, a = Z[j], alpha[j, 0]
            for i in range(n):
                f[i] += a * max(z[i], zero)
        return
    for j in range(m):
        activate(phi, slope, Z[j], h)
        for c in range(k):
            f, a = F[c], alpha[j, c]
            for i in range(n):
                f[i] += a * h[i]


@compile_kernel
def smooth_activation(slope: float, z: Vector, h: Vector) -> None:
    """Write phi(z) into h and phi'(z) into z, of the smoothed leaky ReLU, by one exponential.

    phi(z) = slope z + (1 - slope) (ln(1 + e^z) - ln 2), so that phi(0) = 0.

    Parameters
    ----------
    slope : float
        Slope of the activation on the left.
    z, h : array (n,)
        Preactivations, updated in place to phi'(z); and phi(z), written in place.
    """
    zero = z.dtype.type(0)
    for i in range(z.size):
        e = exp_minus(abs(z[i]))
        once = 1 / ((1 + e) * (2 + e))  # one division for 1/(1 + e) and e/(2 + e)
        share = (2 + e) * once
        right = share if z[i] > zero else e * share
        softplus = max(z[i], zero) + twice_atanh(e * (1 + e) * once)
        h[i] = slope * z[i] + (1 - slope) * (softplus - LN_2)
        z[i] = slope + (1 - slope) * right


@compile_kernel
def outputs_and_slopes(slope: float, alpha: Matrix, Z: Matrix, F: Matrix, H: Matrix) -> None:
    """Write the outputs of the smoothed leaky ReLU, and phi'(Z) into Z.

    A few neurons at a time, so that vectors do not end with every row, within the first cache.

    Parameters
    ----------
    slope, alpha : float, array (m, k)
        Slope of the activation on the left, and outer weights.
    Z, F, H : array (m, n), (k, n), (ROWS, n)
        Preactivations, updated in place to phi'; outputs, written in place; and work.
    """
    m, n = Z.shape
    F[:] = Z.dtype.type(0)
    count = max(1, min(ROWS, CACHED // n))
    first = 0
    while first < m:
        last = min(first + count, m)
        size = (last - first) * n
        smooth_activation(slope, Z[first:last].reshape(size), H[: last - first].reshape(size))
        for j in range(first, last):
            h = H[j - first]
            for c in range(F.shape[0]):
                f, a = F[c], alpha[j, c]
                for i in range(n):
                    f[i] += a * h[i]
        first = last


@compile_kernel
def spread(a: Vector, G: Matrix, c: Vector) -> None:
    """Write c_i = sum_o a_o G_oi.

    Parameters
    ----------
    a, G : array (k,), array (k, n)
        Outer weights of one neuron, and weights of the outputs.
    c : array (n,)
        Sums, written in place.
    """
    for i in range(c.size):
        c[i] = a[0] * G[0, i]
    for o in range(1, a.size):
        for i in range(c.size):
            c[i] += a[o] * G[o, i]


@compile_kernel
def backpropagate(
    phi: int,
    slope: float,
    alpha: Matrix,
    Z: Matrix,
    G: Matrix,
    C: Matrix,
    d_alpha: Matrix,
    h: Vector,
) -> None:
    """Write d_alpha_jc = sum_i G_ci phi(Z_ji) and C_ji = phi'(Z_ji) sum_c alpha_jc G_ci.

    Parameters
    ----------
    phi, slope : int, float
        Code of the activation, and its slope on the left.
    alpha, Z, G : array (m, k), (m, n), (k, n)
        Outer weights, preactivations, output weights.
    C, d_alpha, h : array (m, n), (m, k) or (m, 0), (n,)
        Written in place, h as work; without columns of d_alpha, as alpha is not trained, only C.
    """
    m, n = Z.shape
    k = G.shape[0]
    zero = Z.dtype.type(0)
    if d_alpha.shape[1] == 0:
        for j in range(m):
            spread(alpha[j], G, C[j])
            times_slopes(phi, slope, Z[j], C[j])
        return
    if phi == RELU and k == 1:  # in one pass
        g = G[0]
        for j in range(m):
            z, c, a = Z[j], C[j], alpha[j, 0]
            total = zero
            for i in range(n):
                total += g[i] * max(z[i], zero)
                c[i] = a * g[i] if z[i] > zero else zero
            d_alpha[j, 0] = total
        return
    for j in range(m):
        activate(phi, slope, Z[j], h)
        for o in range(k):
            g = G[o]
            total = zero
            for i in range(n):
                total += g[i] * h[i]
            d_alpha[j, o] = total
        spread(alpha[j], G, C[j])
        times_slopes(phi, slope, Z[j], C[j])


@compile_kernel
def derivative_along(
    phi: int,
    slope: float,
    alpha: Matrix,
    Z: Matrix,
    d_alpha: Matrix,
    dZ: Matrix,
    F: Matrix,
    h: Vector,
) -> None:
    """Write F_ci = sum_j (d_alpha_jc phi(Z_ji) + alpha_jc phi'(Z_ji) dZ_ji).

    Parameters
    ----------
    phi, slope : int, float
        Code of the activation, and its slope on the left.
    alpha, Z, d_alpha, dZ : array (m, k), (m, n), (m, k) or (m, 0), (m, n)
        Outer weights and preactivations, and directions of both; dZ is overwritten.
    F, h : array (k, n), array (n,)
        Derivatives, written in place, and work.
    """
    m, n = Z.shape
    k = F.shape[0]
    F[:] = Z.dtype.type(0)
    trained = d_alpha.shape[1] > 0
    for j in range(m):
        dz = dZ[j]
        times_slopes(phi, slope, Z[j], dz)
        for c in range(k):
            f, a = F[c], alpha[j, c]
            for i in range(n):
                f[i] += a * dz[i]
        if not trained:
            continue
        activate(phi, slope, Z[j], h)
        for c in range(k):
            f, b = F[c], d_alpha[j, c]
            for i in range(n):
                f[i] += b * h[i]


@compile_kernel
def inner_gradient(C: Matrix, XT: Matrix, X: Matrix, d_U: Matrix) -> None:
    """Write d_U = C X, by tiles, BLAS or loops, whichever is fastest for these sizes.

    Parameters
    ----------
    C : array (m, n)
        Derivatives in the preactivations.
    XT, X : array (d, n), array (n, d) or (0, d)
        Data by coordinates and by examples. Only tiles read X; without rows they are not used.
    d_U : array (m, d)
        Derivatives in the inner weights, written in place.
    """
    if X.shape[0] == C.shape[1] and fits(C, X):
        product(C, X, d_U)
    elif is_large(C.shape[0], XT.shape[0], C.shape[1]):
        gemm(C, XT.T, d_U)
    else:
        inner_gradient_by_loops(C, XT, d_U)
