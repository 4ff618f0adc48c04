"""Extremal vectors of points in special position, against rational arithmetic and samples."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from core.reference.extremal import MAXIMUM, MINIMUM, SADDLE, extremal_vectors, growth_rate

Vector = tuple[Fraction, ...]
KINDS = {(True, False): MINIMUM, (False, True): MAXIMUM, (True, True): SADDLE}
CORNERS = [list(product((-1, 1), repeat=d)) for d in range(5)]


def inner(x: Vector, z: Vector) -> Fraction:
    return sum((a * b for a, b in zip(x, z, strict=True)), Fraction(0))


def plus(x: Vector, factor: Fraction, z: Vector) -> Vector:
    return tuple(a + factor * b for a, b in zip(x, z, strict=True))


def projected(v: Vector, rows: list[Vector]) -> Vector:
    """Return v less its projection on the span of the rows, by Gram-Schmidt."""
    basis: list[Vector] = []
    for x in [*rows, v]:
        for e in basis:
            x = plus(x, -inner(x, e) / inner(e, e), e)
        if any(x):
            basis.append(x)
    return x


def is_cancelled(rest: Vector, columns: list[Vector], slope: Fraction) -> bool:
    """Return True if rest + sum_k eta_k columns_k = 0 for some eta in [slope, 1].

    By the corners of the polytope of solutions, at which all but independent columns are at an end.
    """
    for free in range(len(columns) + 1):
        for chosen in combinations(range(len(columns)), free):
            others = [k for k in range(len(columns)) if k not in chosen]
            for ends in product((slope, Fraction(1)), repeat=len(others)):
                left = rest
                for end, k in zip(ends, others, strict=True):
                    left = plus(left, end, columns[k])
                eta = solved([columns[k] for k in chosen], left)
                if eta is not None and all(slope <= one <= 1 for one in eta):
                    return True
    return False


def solved(columns: list[Vector], left: Vector) -> list[Fraction] | None:
    """Return eta of left + sum_k eta_k columns_k = 0, of independent columns; None without one."""
    rows = [[*(c[i] for c in columns), -left[i]] for i in range(len(left))]
    done = 0
    for k in range(len(columns)):
        pivot = next((i for i in range(done, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[done], rows[pivot] = rows[pivot], rows[done]
        rows[done] = [one / rows[done][k] for one in rows[done]]
        for i in range(len(rows)):
            if i != done:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[done], strict=True)]
        done += 1
    return None if any(row[-1] for row in rows[done:]) else [row[-1] for row in rows[:done]]


def rational(points: list, labels: list, slope: Fraction) -> list[tuple[Vector, Fraction]]:
    """Return all n D and the signs of their values, without rounding.

    From all sign vectors of five points, or those that integer directions have.
    """
    X = [tuple(map(Fraction, x)) for x in points]
    patterns = list(map(list, product((-1, 0, 1), repeat=len(X))))
    if len(X) > 5:
        grid = np.array(list(product(range(-4, 5), repeat=len(X[0]))))
        patterns = np.unique(np.sign(grid @ np.array(points).T), axis=0).tolist()
    found = []
    for signs in patterns:
        kinks = [k for k, sign in enumerate(signs) if sign == 0]
        D0 = (Fraction(0),) * len(X[0])
        for x, y, sign in zip(X, labels, signs, strict=True):
            factor = {1: Fraction(1), 0: Fraction(0), -1: slope}[sign]
            D0 = plus(D0, factor * y, x)
        g = projected(D0, [X[k] for k in kinks])
        along = [inner(g, x) for x in X]
        now = [(one > 0) - (one < 0) for one in along]
        if not any(g) or (now != signs and [-one for one in now] != signs):
            continue
        columns = [tuple(labels[k] * one for one in X[k]) for k in kinks]
        if is_cancelled(plus(D0, Fraction(-1), g), columns, slope):
            found.append((g, Fraction(1) if now == signs else Fraction(-1)))
    return found


def sampled_kind(u: np.ndarray, X: np.ndarray, y: np.ndarray, slope: float) -> str:
    """Return what G does around u, from points near it at which kinks stay kinks, or not."""
    generator = np.random.default_rng(0)
    kinks = np.flatnonzero(np.abs(X @ u) < 1e-9)
    _, first = np.unique(np.round(X[kinks], 9), axis=0, return_index=True)
    kinks = kinks[first]
    ways = []
    for size in range(min(len(kinks), len(u)) + 1):
        for chosen in combinations(kinks, size):
            fixed = np.vstack([X[list(chosen)], u])
            _, singular, Vt = np.linalg.svd(fixed)
            free = Vt[(singular > 1e-9).sum() :]
            ways += [free, -free, generator.standard_normal((20, len(free))) @ free]
    near = u + 1e-4 * np.vstack(ways)
    near = near / np.linalg.norm(near, axis=1)[:, None]
    change = growth_rate(near, X, y, slope) - growth_rate(u, X, y, slope)
    return KINDS[bool((change > 1e-13).any()), bool((change < -1e-13).any())]


def compare(points: list, labels: list, slope: float) -> str:
    """Return what differs between the vectors and these; empty where nothing does."""
    X, y = np.array(points, dtype=float), np.array(labels, dtype=float)
    known = rational(points, labels, Fraction(slope))
    found = extremal_vectors(X, y, slope)
    D = np.array([[float(one) for one in g] for g, _ in known]).reshape(-1, X.shape[1]) / len(y)
    U = D * np.array([float(sign) for _, sign in known])[:, None]
    U = U / np.linalg.norm(U, axis=1)[:, None]
    if len(known) != len(found):
        return f"{len(found)} of {len(known)}"
    for one in found:
        at = np.argmin(np.abs(D - one.D).max(axis=1) + np.abs(U - one.u).max(axis=1))
        if np.abs(U[at] - one.u).max() > 1e-9 or np.abs(D[at] - one.D).max() > 1e-9:
            return f"{one.u}"
        if X.shape[1] > 1 and one.kind != (kind := sampled_kind(one.u, X, y, slope)):
            return f"{one.kind} {kind} at {one.u}"
    return ""


def special(seed: int) -> tuple[list, list, float]:
    """Return small integer data, with duplicates, antipodes, lines, planes, and a slope."""
    g = np.random.default_rng(seed)
    d, n = int(g.integers(2, 4)), int(g.integers(2, 6))
    x = g.integers(-2, 3, (n, d))
    way = seed % 5
    if way == 1:
        x[n // 2 :] = x[: n - n // 2]
    elif way == 2:
        x[n // 2 :] = -x[: n - n // 2]
    elif way == 3:
        x[:, -1] = x[:, 0]
    elif way == 4:
        x = np.sign(x) + (x == 0)
    x[~x.any(axis=1)] = 1
    y = g.choice([-2, -1, 1, 2], n)
    return x.tolist(), y.tolist(), float(g.choice([0.0, 0.0, 0.5]))


@pytest.mark.parametrize(
    ("points", "labels"),
    [
        ([[1, 0], [1, 0], [1, 1]], [-2, 1, -1]),  # eta of the copies: 0 and 1, at the border
        ([[1, 0, 0], [0, 1, 0]], [1, -1]),  # a plane in space
        ([[1, 0], [-1, 0], [0, 1]], [1, -1, 2]),  # antipodes, whose kinks cancel
        ([[1, 1], [2, 2], [-1, -1]], [1, -2, 1]),  # a line in the plane
        (CORNERS[2], [1, -1, -1, 1]),
        (CORNERS[2], [2, 1, -1, 1]),
    ],
    ids=str,
)
@pytest.mark.parametrize("slope", [0.0, 0.5])
def test_special_positions_are_those_of_rational_arithmetic(
    points: list, labels: list, slope: float
) -> None:
    assert not compare(points, labels, slope)


def test_the_direction_at_a_border_is_found() -> None:
    """At u = (0, 1) D(u) is -(1, 1)/3 + [0, 1] (-2, 0)/3 + [0, 1] (1, 0)/3, with end (0, -1)/3."""
    X, y = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0]]), np.array([-2.0, 1.0, -1.0])
    found = {one.u.round(9).tolist()[1]: one for one in extremal_vectors(X, y)}
    assert pytest.approx([0.0, -1.0 / 3.0], abs=1e-12) == found[1.0].D
    # h is -2/3 along (1, 0), and 1/3 along (-1, 0).
    assert found[1.0].kind == SADDLE


def test_a_maximum_below_zero_is_a_saddle_in_a_space_with_more_dimensions() -> None:
    """G(u) cos t rises out of the points' plane: nodes move in all of R^d."""
    X, y = np.array([[1.0, 0.0], [-0.5, 1.0]]), np.array([-1.0, -1.0])
    for d, kind in ((2, MAXIMUM), (3, SADDLE)):
        (one,) = [
            one
            for one in extremal_vectors(np.hstack([X, np.zeros((2, d - 2))]), y)
            if one.u[1] == pytest.approx(1.0)
        ]
        assert one.value == pytest.approx(-0.5) and one.kind == kind


# Seeds whose vectors were incomplete, and whose kinds were wrong, when they were least squares.
@pytest.mark.parametrize("seed", [83, 86, 186, 181, 7, 1, 4, 12])
def test_known_seeds(seed: int) -> None:
    assert not compare(*special(seed))


@pytest.mark.slow
def test_many_special_positions() -> None:
    wrong = {seed: found for seed in range(1000, 1200) if (found := compare(*special(seed)))}
    assert not wrong
