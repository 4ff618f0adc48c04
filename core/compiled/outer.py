"""Gradient descent on the outer weights alone, K steps a call, compiled."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from core.compiled.descent import slopes
from core.compiled.jit import compile_kernel

Array = NDArray[Any]


@compile_kernel
def outer_steps(
    a: Array,
    H: Array,
    y: Array,
    count: int,
    loss: int,
    step_size: float,
    shrink: float,
    limit: float,
    F: Array,
    G: Array,
) -> int:
    """Take steps a <- shrink a - eta grad (1/n) sum_i l(y_i <a, h_i>), h_i the rows of H.

    Parameters
    ----------
    a : array (m,)
        Outer weights, updated in place.
    H : array (n, m)
        Hidden features.
    y : array (n,)
        Labels.
    count : int
        Number of steps.
    loss : int
        Code of core.losses.
    step_size, shrink : float
        eta, and 1 - 2 eta lambda.
    limit : float
        Divergence limit of the loss measure.
    F, G : array (1, n)
        Work.

    Returns
    -------
    int
        Number of steps taken; below `count` once the measure exceeds `limit` or is NaN.
    """
    n, m = H.shape
    for s in range(count):
        for i in range(n):
            h, total = H[i], 0.0
            for j in range(m):
                total += h[j] * a[j]
            F[0, i] = total
        # Written so that a NaN has diverged too.
        if not slopes(loss, F, y, step_size / n, G) <= limit:
            return s
        for j in range(m):
            a[j] *= shrink
        for i in range(n):
            h, g = H[i], G[0, i]
            for j in range(m):
                a[j] -= g * h[j]
    return count
