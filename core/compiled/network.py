"""Compiled twins of core.network: effective weights, their linearisation and its transpose.

`core.dynamics.kernel_arrays` makes the Net that describes a network to kernels. If the effective
weights are the trained ones, no copies are made. Tested against core.network.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from core.compiled.blas import gemm
from core.compiled.jit import compile_kernel
from core.compiled.kernel import (
    SLOPES,
    backpropagate,
    derivative_along,
    inner_gradient,
    outputs,
    outputs_and_slopes,
    preactivations,
)
from core.compiled.numba_compat import as_matrix
from core.compiled.parametrisations import (
    batch_norm_pull,
    batch_norm_push,
    batch_norm_weights,
    bias_pull,
    bias_weights,
    normalised_weights,
    project_tangent,
    scalar_pull,
    scalar_weights,
)
from core.network.activation import (
    BATCH_NORM,
    FIXED_OUTER,
    NORMALISED,
    PLAIN,
    SCALAR,
    SMOOTH,
    SQUARE,
    WITH_BIAS,
)

# Outputs and gradients of neurons that square, phi(z) = z^2, as matrix products.
#
# With one output each neuron passes over the examples once. With p outputs, as on addition modulo
# p, products with the outer weights dominate, and BLAS computes them ten times as fast as the loops
# of core.compiled.kernel, which serve as their test.

Matrix = NDArray[Any]


@compile_kernel
def squares(Z: Matrix, H: Matrix) -> None:
    """Write Z^2, elementwise, into H."""
    for j in range(Z.shape[0]):
        z, h = Z[j], H[j]
        for i in range(z.size):
            h[i] = z[i] * z[i]


@compile_kernel
def square_outputs(alpha: Matrix, Z: Matrix, F: Matrix, H: Matrix) -> None:
    """Write F_ci = sum_j alpha_jc Z_ji^2.

    Parameters
    ----------
    alpha, Z : array (m, k), array (m, n)
        Outer weights and preactivations.
    F : array (k, n)
        Outputs, written in place.
    H : array (m, n)
        Work.
    """
    squares(Z, H)
    gemm(alpha.T, H, F)


@compile_kernel
def square_backward(alpha: Matrix, Z: Matrix, G: Matrix, C: Matrix, d_alpha: Matrix) -> None:
    """Write d_alpha_jc = sum_i G_ci Z_ji^2 and C_ji = 2 Z_ji sum_c alpha_jc G_ci.

    Parameters
    ----------
    alpha, Z, G : array (m, k), (m, n), (k, n)
        Outer weights, preactivations, output weights.
    C, d_alpha : array (m, n), array (m, k)
        Written in place.
    """
    squares(Z, C)
    gemm(C, G.T, d_alpha)
    gemm(alpha, G, C)
    for j in range(Z.shape[0]):
        z, c = Z[j], C[j]
        for i in range(z.size):
            c[i] *= 2 * z[i]


Array = NDArray[Any]


class Net(NamedTuple):
    """Network with m neurons, D coordinates and k outputs, its constants and work for n inputs."""

    code: int  # code of the parametrisation, see core.network.activation
    phi: int  # code of the activation, see core.network.activation
    m: int
    D: int
    k: int
    scaled: int  # the number of parameters in which f is homogeneous
    degree: int  # degree L of that homogeneity
    normalises: int  # 0 for batch norm without statistics
    slope: float  # slope of phi on the left, in the precision of the run, as eps and all arrays
    eps: float  # of batch norm
    constants: Array  # untrained array: V, a, or Sigma
    alpha: Array  # (m, k) and U (m, D): the effective weights
    U: Array
    d_alpha: Array  # (m, k) and d_U (m, D): derivatives; d_alpha is (m, 0) if alpha is not trained
    d_U: Array
    scratch: Array  # (m, D + 1)
    rows: Array  # (ROWS, n), or (m, n) for squares


@compile_kernel
def effective(net: Net, flat: Array, alpha: Array, U: Array) -> tuple[Array, Array]:
    """Return alpha (m, k) and U (m, D) as views of flat, or the arrays that `weights` fills.

    Parameters
    ----------
    net : Net
        Network.
    flat : array (size,)
        Trained parameters.
    alpha, U : array (m, k), array (m, D)
        Arrays to return where weights are not parameters.

    Returns
    -------
    tuple of array (m, k), array (m, D)
        alpha and U. Plain networks view both, fixed outer weights U, networks with biases alpha.
    """
    # Selected by a number: a function passed to kernels would be a separate type, and every network
    # would compile all kernels again (docs/decisions/0004).
    m, k, d, code = net.m, net.k, net.D, net.code
    if code == PLAIN:
        return as_matrix(flat[: m * k], m, k), as_matrix(flat[m * k :], m, d)
    if code == FIXED_OUTER:
        return alpha, as_matrix(flat, m, d)
    if code == WITH_BIAS:
        return as_matrix(flat[: m * k], m, k), U
    return alpha, U


@compile_kernel
def node_rows(net: Net, flat: Array) -> tuple[Array, Array, Array]:
    """Return the blocks of networks laid out as (a, b, V) and (a, c, V).

    Parameters
    ----------
    net : Net
        Normalised or batch-norm network.
    flat : array (2 m + m D,)
        Parameters, a gradient or a direction.

    Returns
    -------
    tuple of array (m,), array (m,), array (m, D)
        a, then b or c, then V, as views of flat.
    """
    m = net.m
    return flat[:m], flat[m : 2 * m], as_matrix(flat[2 * m :], m, net.D)


@compile_kernel
def bias_rows(net: Net, flat: Array) -> tuple[Array, Array]:
    """Return V and b of networks laid out as (a, V, b).

    Parameters
    ----------
    net : Net
        Network with biases.
    flat : array (m k + m D,)
        Parameters, a gradient or a direction.

    Returns
    -------
    tuple of array (m, D - 1), array (m,)
        V without biases, and the biases b, as views of flat.
    """
    m, d = net.m, net.D - 1
    first = m * net.k
    return as_matrix(flat[first : first + m * d], m, d), flat[first + m * d :]


@compile_kernel
def weights(net: Net, flat: Array) -> None:
    """Fill the work arrays alpha and U, and what `pull` and `push` need at this point."""
    constants, alpha, U, scratch = net.constants, net.alpha, net.U, net.scratch
    m, code = net.m, net.code
    if code == SCALAR:
        scalar_weights(flat[:m], flat[m:], constants, alpha, U)
    elif code == FIXED_OUTER:
        for j in range(m):
            alpha[j, 0] = constants[0, j]
    elif code == WITH_BIAS:
        V, b = bias_rows(net, flat)
        bias_weights(V, b, U)
    elif code == NORMALISED:
        a, b, V = node_rows(net, flat)
        normalised_weights(a, b, V, alpha, U, scratch)
    elif code == BATCH_NORM:
        a, c, V = node_rows(net, flat)
        normalises, eps = net.normalises, net.eps
        batch_norm_weights(a, c, V, constants, normalises, eps, alpha, U, scratch)


@compile_kernel
def pull(net: Net, flat: Array, result: Array) -> None:
    """Write the gradient in the trained parameters from d_alpha, d_U, after `weights`.

    Parameters
    ----------
    net : Net
        Network, with d_alpha and d_U; its work arrays are those of `flat`.
    flat : array (size,)
        Trained parameters.
    result : array (size,)
        Gradient, written in place, except blocks that `effective` views.
    """
    constants, U, scratch = net.constants, net.U, net.scratch
    m, code, d_alpha, d_U = net.m, net.code, net.d_alpha, net.d_U
    if code == SCALAR:
        scalar_pull(constants, d_alpha, d_U, result[:m], result[m:])
    elif code == WITH_BIAS:
        gV, gb = bias_rows(net, result)
        bias_pull(d_U, gV, gb)
    elif code == NORMALISED:
        ga, gb, gV = node_rows(net, result)
        for j in range(m):
            ga[j], gb[j] = flat[m + j] * d_alpha[j, 0], flat[j] * d_alpha[j, 0]
        project_tangent(U, d_U, scratch, gV)
    elif code == BATCH_NORM:
        _, c, V = node_rows(net, flat)
        ga, gc, gV = node_rows(net, result)
        batch_norm_pull(c, V, scratch, d_alpha, d_U, ga, gc, gV)


@compile_kernel
def push(net: Net, flat: Array, direction: Array) -> None:
    """Fill d_alpha, d_U with the derivative of alpha, U along a direction, after `weights`.

    Parameters
    ----------
    net : Net
        Network; d_alpha and d_U are written in place.
    flat : array (size,)
        Trained parameters.
    direction : array (size,)
        Direction.
    """
    constants, U, scratch = net.constants, net.U, net.scratch
    m, code, d_alpha, d_U = net.m, net.code, net.d_alpha, net.d_U
    if code == SCALAR:
        scalar_weights(direction[:m], direction[m:], constants, d_alpha, d_U)
    elif code == FIXED_OUTER:
        d_alpha[:] = 0
    elif code == WITH_BIAS:
        dV, db = bias_rows(net, direction)
        bias_weights(dV, db, d_U)
    elif code == NORMALISED:
        _, _, dV = node_rows(net, direction)
        for j in range(m):
            d_alpha[j, 0] = flat[j] * direction[m + j] + flat[m + j] * direction[j]
        project_tangent(U, dV, scratch, d_U)
    elif code == BATCH_NORM:
        _, c, V = node_rows(net, flat)
        da, dc, dV = node_rows(net, direction)
        batch_norm_push(c, V, scratch, da, dc, dV, d_alpha, d_U)


@compile_kernel
def evaluate_outputs(net: Net, flat: Array, XT: Array, Z: Array, F: Array) -> None:
    """Write the outputs, and the preactivations or phi' of them: see `slope_mode`.

    Parameters
    ----------
    net : Net
        Network; its work arrays are overwritten.
    flat : array (size,)
        Trained parameters.
    XT : array (D, n)
        Inputs x~, one column each.
    Z, F : array (m, n), array (k, n)
        Preactivations and outputs, written in place.
    """
    if net.code != PLAIN:  # passing a Net costs 2 % of a small network's step
        weights(net, flat)
    a, V = effective(net, flat, net.alpha, net.U)
    preactivations(V, XT, Z)
    if slope_mode(net) == SLOPES:
        outputs_and_slopes(net.slope, a, Z, F, net.rows)
    elif net.phi == SQUARE:
        square_outputs(a, Z, F, net.rows)
    else:
        outputs(net.phi, net.slope, a, Z, F, net.rows[0])


@compile_kernel
def slope_mode(net: Net) -> int:
    """Return how to read the Z of `evaluate_outputs`: the activation, or SLOPES if phi is smooth.

    Then nothing but phi'(Z) is needed again, since such networks do not train alpha.
    """
    smooth = net.phi == SMOOTH and net.code == FIXED_OUTER
    return SLOPES if smooth else net.phi


@compile_kernel
def vjp(
    net: Net, flat: Array, XT: Array, X: Array, G: Array, Z: Array, C: Array, result: Array
) -> None:
    """Write sum_ci G_ci grad f_c(x_i), after `evaluate_outputs` at the same point.

    Parameters
    ----------
    net : Net
        Network; its work arrays are overwritten.
    flat : array (size,)
        Trained parameters.
    XT : array (D, n)
        Inputs x~, one column each.
    X : array (n, D) or (0, D)
        Inputs also row by row, which makes small problems faster.
    G, Z : array (k, n), array (m, n)
        Weights of the outputs, and the Z of `evaluate_outputs`.
    C : array (m, n)
        Work.
    result : array (size,)
        Gradient, written in place.
    """
    a, _ = effective(net, flat, net.alpha, net.U)
    to_outer, to_inner = effective(net, result, net.d_alpha, net.d_U)
    if net.phi == SQUARE:
        square_backward(a, Z, G, C, to_outer)
    else:
        backpropagate(slope_mode(net), net.slope, a, Z, G, C, to_outer, net.rows[0])
    inner_gradient(C, XT, X, to_inner)
    if net.code != PLAIN:
        pull(net, flat, result)


@compile_kernel
def jvp(net: Net, flat: Array, XT: Array, direction: Array, Z: Array, C: Array, F: Array) -> None:
    """Write the derivative of the outputs along a direction, after `evaluate_outputs` at flat.

    Parameters
    ----------
    net : Net
        Network; its work arrays are overwritten.
    flat, direction : array (size,)
        Trained parameters and direction.
    XT : array (D, n)
        Inputs x~, one column each.
    Z, C : array (m, n)
        The Z of `evaluate_outputs`, and work.
    F : array (k, n)
        Derivatives, written in place.
    """
    push(net, flat, direction)
    a, _ = effective(net, flat, net.alpha, net.U)
    b, d_V = effective(net, direction, net.d_alpha, net.d_U)
    preactivations(d_V, XT, C)
    derivative_along(slope_mode(net), net.slope, a, Z, b, C, F, net.rows[0])
