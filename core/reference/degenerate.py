"""Data on the edge of having no margin: what proves that there is none, or that it is tiny.

All of it is about predictors f(x) = sum_j w_j s_j relu(<v_j, x>), |v_j| = 1, sum |w_j| <= 1, and
about their limits (gamma_gl, gamma_ntk and the tangent kernel's margin). Such an f is positively
homogeneous and 1-Lipschitz, f(0) = 0, and its odd part (f(x) - f(-x))/2 is linear, since
relu(z) - relu(-z) = z.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
EPS = float(np.finfo(np.float64).eps)
ALIKE = 12  # decimals to which directions agree that are compared exactly
BLOCK = 2**21  # pairs looked at at once
CLOSEST = 200  # pairs whose distance is taken without cancellation


def rounding(terms: int, size: float) -> float:
    """What a sum of products of so many terms, at most `size` in all, can be off by.

    (terms + 8) eps size: n eps is the usual bound of a dot product, and 8 is for what is done to it
    before and after.
    """
    return (terms + 8) * EPS * size


def why_not(x: Array, y: Array) -> str:
    """A sentence that proves that no such f has a positive margin, or "" where none is seen.

    Everything is compared exactly: a point at 0, two points on one ray with opposite labels, or
    antipodes of opposite labels whose sum of y_i x_i is 0.
    """
    lengths = np.linalg.norm(x, axis=1)
    if not lengths.all():
        index = int(np.argmin(lengths))
        return (
            f"point {index} is x = 0, where every network without biases is 0. Remove it, or use a "
            "network with biases."
        )
    # As rational numbers: "nothing" is only said with a proof, and near-duplicates have a margin.
    for i, k in _alike(x / lengths[:, None], y):
        if on_one_ray(x[i], x[k]):
            return (
                f"points {i} and {k} are equal up to a positive factor and have opposite labels, "
                "which no network without biases separates."
            )
    if _odd(x, y):
        return (
            "no network without biases separates these data: examples come with their antipodes "
            "and opposite labels, where a network acts as a linear function, and sum_i y_i x_i = 0 "
            "over them."
        )
    return ""


def _alike(unit: Array, y: Array) -> Iterator[tuple[int, int]]:
    """Pairs of opposite labels, y_i = 1, whose directions agree to some decimals."""
    rays = np.round(unit, ALIKE) + 0.0  # + 0.0 turns -0.0 into 0.0
    _, ray, count = np.unique(rays, axis=0, return_inverse=True, return_counts=True)
    ray = ray.ravel()
    for group in np.flatnonzero(count > 1):
        members = np.flatnonzero(ray == group)
        for i in members[y[members] > 0.0]:
            for k in members[y[members] < 0.0]:
                yield int(i), int(k)


def on_one_ray(a: Array, b: Array) -> bool:
    """Whether b = s a for some s > 0, exactly, for vectors that are not 0.

    >>> a = np.array([0.1, 0.3])
    >>> on_one_ray(a, 2.0 * a), on_one_ray(a, -a), on_one_ray(a, a + np.array([0.0, 1e-16]))
    (True, False, False)
    """
    pivot = int(np.abs(a).argmax())
    if a[pivot] * b[pivot] <= 0.0:
        return False
    left, right = a[pivot] * b, a * b[pivot]
    # In floating point first: rational numbers are slow, and most pairs are plainly not on one ray.
    near = np.abs(left - right) <= 4.0 * EPS * np.maximum(np.abs(left), np.abs(right))
    if not near.all():
        return False
    p, q = Fraction(float(a[pivot])), Fraction(float(b[pivot]))
    return all(p * Fraction(float(t)) == q * Fraction(float(s)) for s, t in zip(a, b, strict=True))


def _odd(x: Array, y: Array) -> bool:
    """Whether points with an antipode of the opposite label have sum_i y_i x_i = 0, exactly.

    With f odd on them up to its even part, sum_i y_i f(x_i) = 2 sum over pairs of a linear
    function of y_i x_i, and so 0: no f is positive on all.
    """
    places = {row.tobytes(): k for k, row in enumerate(x + 0.0)}
    # 0.0 - x and x + 0.0: their zeros are all +0.0, so that equal rows have equal bytes.
    antipodes = {i: places.get((0.0 - x[i]).tobytes(), i) for i in places.values()}
    used = [i for i, k in antipodes.items() if y[k] == -y[i]]
    if not used:
        return False
    signed = y[used, None] * x[used]
    # fsum rounds once, at the end: it is 0 only where the exact sum is.
    return all(math.fsum(column) == 0.0 for column in signed.T)


def pair_bound(x: Array, y: Array) -> float:
    """An upper bound of gamma_gl from the two nearest rays of opposite labels, x (n, d).

    With weights t and 1 - t on x_i and x_k the price is at most |t x_i - (1 - t) x_k|, because relu
    is 1-Lipschitz: half the distance of two near-duplicates. Infinite with one label only.

    >>> round(1e9 * pair_bound(np.array([[1.0, 0.0], [1.0, 1e-9]]), np.array([1.0, -1.0])), 4)
    0.5
    """
    plus, minus = x[y > 0.0], x[y < 0.0]
    if not len(plus) or not len(minus):
        return math.inf
    best = math.inf
    a, b = np.square(plus).sum(axis=1), np.square(minus).sum(axis=1)
    step = max(1, BLOCK // len(minus))
    for first in range(0, len(plus), step):
        part = slice(first, first + step)
        squares = _squares(a[part, None], b, plus[part] @ minus.T)
        few = min(CLOSEST, squares.size) - 1
        # Squares from products find near pairs but lose their distance: it is taken anew for those.
        closest = np.argpartition(squares, few, axis=None)[: few + 1]
        rows, columns = np.unravel_index(closest, squares.shape)
        best = min(best, float(_distances(plus[part][rows], minus[columns]).min()))
    slack = rounding(x.shape[1], math.sqrt(float(max(a.max(), b.max()))))
    return best + slack


def _squares(a: Array, b: Array, inner: Array) -> Array:
    """min over t of |t x_i - (1 - t) x_k|^2 from |x_i|^2, |x_k|^2 and <x_i, x_k>: cancels."""
    share = np.clip((b + inner) / np.maximum(a + b + 2.0 * inner, 1e-300), 0.0, 1.0)
    return np.asarray(share**2 * a - 2.0 * share * (1.0 - share) * inner + (1.0 - share) ** 2 * b)


def _distances(p: Array, r: Array) -> Array:
    """The same, not squared, for rows p and r (k, d): near-duplicates keep all their digits."""
    both = p + r
    squares = np.maximum((both * both).sum(axis=1), 1e-300)
    share = np.clip((r * both).sum(axis=1) / squares, 0.0, 1.0)[:, None]
    return np.asarray(np.linalg.norm(share * p - (1.0 - share) * r, axis=1))
