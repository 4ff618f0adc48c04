"""Steps of stochastic gradient descent and of Adam, K steps a call, compiled.

Two kernels. `row_steps` is for the standard network and few examples a step: a row of V is read and
written once a step, since the update by one batch and the inner products with the next are done
while the row is in the cache. There are no branches in its inner loop: whether a node is active is
as good as random, and a processor that guesses wrong loses more than the skipped row saves.
`batch_steps` is for every two-layer network, through core.compiled.network.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from numpy.typing import NDArray

from core.compiled.descent import slopes
from core.compiled.jit import compiled
from core.compiled.network import Net, adjoint, forward

Array = NDArray[Any]

DESCENT, ADAM = 0, 1  # rules by which a gradient becomes a step
# Places in the rule's numbers: eta, lambda, beta_1, beta_2, eps, beta_1^t, beta_2^t.
ETA, PENALTY, BETA_1, BETA_2, EPSILON, POWER_1, POWER_2, NUMBERS = 0, 1, 2, 3, 4, 5, 6, 7


@compiled
def one_pass(
    a: Array, V: Array, z: Array, g: float, shrink: float, x: Array, following: Array
) -> Any:
    """Move (a, V) by the example x, whose weight is g; z and the output returned are the next's."""
    m, d = V.shape
    zero = V.dtype.type(0)
    f = zero
    for j in range(m):
        row = V[j]
        c = a[j] * g if z[j] > zero else zero
        a[j] = shrink * a[j] - g * max(z[j], zero)
        t = zero
        for i in range(d):
            v = shrink * row[i] - c * x[i]
            row[i] = v
            t += v * following[i]
        z[j] = t
        f += a[j] * max(t, zero)
    return f


@compiled
def row_steps(
    a: Array,
    V: Array,
    xs: Array,
    ys: Array,
    count: int,
    loss: int,
    step_size: float,
    shrink: float,
    limit: float,
    z: Array,
    F: Array,
    G: Array,
) -> int:
    """`count` steps (a, V) <- shrink (a, V) - eta grad l(p_s) on consecutive rows of xs, ys.

    xs (N, d), N >= count; z (m,), F and G (1, 1) are work. Returns the number of steps done: fewer
    than `count` once an example's loss is above `limit` or not a number. Columns of V and xs that
    are zero stay so: they may be added to make d a good length for the processor.
    """
    kept, weight = V.dtype.type(1), V.dtype.type(0)
    z[:] = weight
    for s in range(-1, count):  # the first pass moves nothing: it takes the first products
        if s >= 0:
            if not slopes(loss, F, ys[s : s + 1], step_size, G) <= limit:
                return s
            kept, weight = V.dtype.type(shrink), G[0, 0]
        F[0, 0] = one_pass(a, V, z, weight, kept, xs[max(s, 0)], xs[min(s + 1, count - 1)])
    return count


@compiled
def descend(flat: Array, gradient: Array, numbers: Array) -> None:
    """W <- W - eta (g + 2 lambda W)."""
    eta, shrink = numbers[ETA], 1 - 2 * numbers[ETA] * numbers[PENALTY]
    for k in range(flat.size):
        flat[k] = shrink * flat[k] - eta * gradient[k]


@compiled
def adapt(flat: Array, gradient: Array, numbers: Array, first: Array, second: Array) -> None:
    """One step of Adam on g + 2 lambda W with the moments `first` and `second` (m,)."""
    numbers[POWER_1] *= numbers[BETA_1]
    numbers[POWER_2] *= numbers[BETA_2]
    beta_1, beta_2, penalty = numbers[BETA_1], numbers[BETA_2], 2 * numbers[PENALTY]
    size = numbers[ETA] / (1 - numbers[POWER_1])
    root = sqrt(1 - numbers[POWER_2])
    for k in range(flat.size):
        g = gradient[k] + penalty * flat[k]
        first[k] = beta_1 * first[k] + (1 - beta_1) * g
        second[k] = beta_2 * second[k] + (1 - beta_2) * g * g
        flat[k] -= size * first[k] / (sqrt(second[k]) / root + numbers[EPSILON])


@compiled
def batch_steps(
    net: Net,
    flat: Array,
    xs: Array,
    ys: Array,
    count: int,
    loss: int,
    limit: float,
    rule: int,
    numbers: Array,
    first: Array,
    second: Array,
    XT: Array,
    Z: Array,
    C: Array,
    F: Array,
    G: Array,
    gradient: Array,
) -> int:
    """`count` steps on consecutive batches of rows of xs (N, D), or all on the same full batch.

    The batch has as many examples as XT (D, batch) has columns. Where xs has no rows XT itself is
    the full batch and ys (batch,) its labels. Returns the number of steps done: fewer than `count`
    once a batch's mean loss is above `limit` or not a number.
    """
    D, batch = XT.shape
    full = xs.shape[0] == 0
    for s in range(count):
        y = ys
        if not full:
            y = ys[s * batch : (s + 1) * batch]
            for b in range(batch):
                x = xs[s * batch + b]
                for i in range(D):
                    XT[i, b] = x[i]
        forward(net, flat, XT, Z, F)
        total = slopes(loss, F, y, 1 / batch, G)
        if not total <= limit * batch:
            return s
        adjoint(net, flat, XT, xs[s * batch : (s + 1) * batch], G, Z, C, gradient)
        if rule == ADAM:
            adapt(flat, gradient, numbers, first, second)
        else:
            descend(flat, gradient, numbers)
    return count
