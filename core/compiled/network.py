"""The compiled twins of core.network: effective weights, their linearisation and its transpose.

A network is handed to kernels as one tuple

    net = (spec, numbers, constants, alpha, U, d_alpha, d_U, scratch, rows)

of integers, two numbers (slope of phi, eps), the untrained array, and work: alpha and d_alpha
(m, k), U and d_U (m, D), scratch (m, D + 1), rows (ROWS, n); d_alpha is (m, 0) where alpha is not
trained. `core.dynamics.twin` makes it. Where the effective weights are the trained ones as they
are, no copies are made. Tested against core.network.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from core.compiled.jit import compiled
from core.compiled.kernel import (
    SLOPES,
    SMOOTH,
    along,
    backward,
    inner_gradient,
    outputs,
    outputs_and_slopes,
    preactivations,
)
from core.compiled.parametrisations import (
    across,
    batch_norm_pull,
    batch_norm_push,
    batch_norm_weights,
    bias_pull,
    bias_weights,
    normalised_weights,
    scalar_pull,
    scalar_weights,
)

Array = NDArray[Any]
Net = tuple[Array, ...]

# Places in spec: kind, activation, m, D, k, number of homogeneous parameters, degree, normalises.
CODE, PHI, M, D, K, SCALED, DEGREE, NORMALISES, SPEC = 0, 1, 2, 3, 4, 5, 6, 7, 8
SLOPE, EPS, NUMBERS = 0, 1, 2
PLAIN, SCALAR, NORMALISED, FIXED_OUTER, BATCH_NORM, WITH_BIAS = 0, 1, 2, 3, 4, 5


@compiled
def effective(spec: Array, flat: Array, alpha: Array, U: Array) -> tuple[Array, Array]:
    """alpha (m, k) and U (m, D) as they lie in flat, or the work arrays that `weights` fills."""
    m, k, d, code = spec[M], spec[K], spec[D], spec[CODE]
    if code == PLAIN:
        return flat[: m * k].reshape(m, k), flat[m * k :].reshape(m, d)
    if code == FIXED_OUTER:
        return alpha, flat.reshape(m, d)
    if code == WITH_BIAS:
        return flat[: m * k].reshape(m, k), U
    return alpha, U


@compiled
def node_rows(spec: Array, flat: Array) -> tuple[Array, Array, Array]:
    """The two (m,) blocks and V (m, D) of the networks laid out as (a, b, V) and (a, c, V)."""
    m = spec[M]
    return flat[:m], flat[m : 2 * m], flat[2 * m :].reshape(m, spec[D])


@compiled
def bias_rows(spec: Array, flat: Array) -> tuple[Array, Array]:
    """V (m, D - 1) and b (m,) of the networks laid out as (a, V, b)."""
    m, d = spec[M], spec[D] - 1
    first = m * spec[K]
    return flat[first : first + m * d].reshape(m, d), flat[first + m * d :]


@compiled
def weights(net: Net, flat: Array) -> None:
    """Fill the work arrays alpha and U, and what `pull` and `push` need of this point."""
    spec, numbers, constants, alpha, U, _, _, scratch, _ = net
    m, code = spec[M], spec[CODE]
    if code == SCALAR:
        scalar_weights(flat[:m], flat[m:], constants, alpha, U)
    elif code == FIXED_OUTER:
        for j in range(m):
            alpha[j, 0] = constants[0, j]
    elif code == WITH_BIAS:
        V, b = bias_rows(spec, flat)
        bias_weights(V, b, U)
    elif code == NORMALISED:
        a, b, V = node_rows(spec, flat)
        normalised_weights(a, b, V, alpha, U, scratch)
    elif code == BATCH_NORM:
        a, c, V = node_rows(spec, flat)
        on, eps = spec[NORMALISES], numbers[EPS]
        batch_norm_weights(a, c, V, constants, on, eps, alpha, U, scratch)


@compiled
def pull(net: Net, flat: Array, result: Array) -> None:
    """The gradient in the trained parameters from d_alpha, d_U, after `weights(net, flat)`."""
    spec, _, constants, _, U, d_alpha, d_U, scratch, _ = net
    m, code = spec[M], spec[CODE]
    if code == SCALAR:
        scalar_pull(constants, d_alpha, d_U, result[:m], result[m:])
    elif code == WITH_BIAS:
        gV, gb = bias_rows(spec, result)
        bias_pull(d_U, gV, gb)
    elif code == NORMALISED:
        ga, gb, gV = node_rows(spec, result)
        for j in range(m):
            ga[j], gb[j] = flat[m + j] * d_alpha[j, 0], flat[j] * d_alpha[j, 0]
        across(U, d_U, scratch, gV)
    elif code == BATCH_NORM:
        _, c, V = node_rows(spec, flat)
        ga, gc, gV = node_rows(spec, result)
        batch_norm_pull(c, V, scratch, d_alpha, d_U, ga, gc, gV)


@compiled
def push(net: Net, flat: Array, direction: Array) -> None:
    """Fill d_alpha, d_U with the derivative of alpha, U along a direction, after `weights`."""
    spec, _, constants, _, U, d_alpha, d_U, scratch, _ = net
    m, code = spec[M], spec[CODE]
    if code == SCALAR:
        scalar_weights(direction[:m], direction[m:], constants, d_alpha, d_U)
    elif code == FIXED_OUTER:
        d_alpha[:] = 0
    elif code == WITH_BIAS:
        dV, db = bias_rows(spec, direction)
        bias_weights(dV, db, d_U)
    elif code == NORMALISED:
        _, _, dV = node_rows(spec, direction)
        for j in range(m):
            d_alpha[j, 0] = flat[j] * direction[m + j] + flat[m + j] * direction[j]
        across(U, dV, scratch, d_U)
    elif code == BATCH_NORM:
        _, c, V = node_rows(spec, flat)
        da, dc, dV = node_rows(spec, direction)
        batch_norm_push(c, V, scratch, da, dc, dV, d_alpha, d_U)


@compiled
def forward(net: Net, flat: Array, XT: Array, Z: Array, F: Array) -> None:
    """The outputs F (k, n), with the preactivations left in Z, or phi' of them: see `left`."""
    spec, numbers, _, alpha, U, _, _, _, rows = net
    weights(net, flat)
    a, V = effective(spec, flat, alpha, U)
    preactivations(V, XT, Z)
    if left(spec) == SLOPES:
        outputs_and_slopes(numbers[SLOPE], a, Z, F, rows)
    else:
        outputs(spec[PHI], numbers[SLOPE], a, Z, F, rows[0])


@compiled
def left(spec: Array) -> int:
    """How to read the Z of `forward`: the activation, or SLOPES where phi is smooth.

    Then nothing but phi'(Z) is needed again, since such networks do not train alpha.
    """
    smooth = spec[PHI] == SMOOTH and spec[CODE] == FIXED_OUTER
    return SLOPES if smooth else spec[PHI]


@compiled
def adjoint(
    net: Net, flat: Array, XT: Array, X: Array, G: Array, Z: Array, C: Array, result: Array
) -> None:
    """result = sum_ci G_ci grad f_c(x_i), after `forward` at the same point; C is work.

    X (n, D), or no rows of it: the inputs also row by row, which makes small problems faster.
    """
    spec, numbers, _, alpha, U, d_alpha, d_U, _, rows = net
    a, _ = effective(spec, flat, alpha, U)
    to_outer, to_inner = effective(spec, result, d_alpha, d_U)
    backward(left(spec), numbers[SLOPE], a, Z, G, C, to_outer, rows[0])
    inner_gradient(C, XT, X, to_inner)
    pull(net, flat, result)


@compiled
def tangent(
    net: Net, flat: Array, XT: Array, direction: Array, Z: Array, C: Array, F: Array
) -> None:
    """F = the derivative of the outputs along `direction`, after `forward` at flat; C is work."""
    spec, numbers, _, alpha, U, d_alpha, d_U, _, rows = net
    push(net, flat, direction)
    a, _ = effective(spec, flat, alpha, U)
    b, d_V = effective(spec, direction, d_alpha, d_U)
    preactivations(d_V, XT, C)
    along(left(spec), numbers[SLOPE], a, Z, b, C, F, rows[0])
