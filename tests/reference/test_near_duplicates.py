"""Margins of near-duplicates: never called 0 while they are not, and 0 only with a proof."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from mpmath import mp, mpf

from core.data.dataset import Array, Dataset
from core.network.kernel_predictor import arc_cosine
from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.global_margin import global_margin
from core.reference.hull import are_on_one_ray, explain_no_margin, pair_bound, separate_from_origin
from core.reference.linear import KernelMargin, LinearMargin, bracket_of
from core.reference.registry import REFERENCES, references_of
from tests.problems import problem

LABELS = np.array([1.0, -1.0])


def two(e: float) -> Array:
    """Return the points (1, 0) and (1, e)."""
    return np.array([[1.0, 0.0], [1.0, e]])


def of(x: Array, y: Array, *settings: str) -> Problem:
    base = problem("data.n=12", *settings)
    return replace(base, dataset=Dataset(x, y, classes=2))


# ----------------------------------------------------------------------------------------- gamma_gl


@pytest.mark.parametrize("e", [1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10])
def test_gamma_gl_of_two_near_duplicates(e: float) -> None:
    """At most e/2 (1-Lipschitz), and at least e/(2 sqrt(1 + e^2)).

    Nodes (e, -1)/sqrt(1 + e^2) and (0, 1), weights 1/2 and -1/2, see one point each.
    """
    bracket = global_margin(two(e), LABELS, CancelToken(20.0)).bracket
    assert bracket.certified
    assert bracket.lower <= 0.5 * e
    assert bracket.upper >= 0.5 * e / np.sqrt(1.0 + e * e)
    assert bracket.gap < 1e-3


@pytest.mark.parametrize("e", [1e-13, 1e-15])
def test_gamma_gl_below_rounding_is_not_resolved(e: float) -> None:
    bracket = global_margin(two(e), LABELS, CancelToken(2.0)).bracket
    assert bracket.is_unresolved
    assert not bracket.is_zero
    assert bracket.certified
    assert bracket.lower == 0.0
    assert 0.5 * e <= bracket.upper <= 0.5 * e + 1e-14
    assert bracket.method.startswith("Not resolved: between 0 and")


@pytest.mark.parametrize(("e", "d"), [(1e-6, 3), (1e-8, 6)])
def test_gamma_gl_with_a_near_duplicate_among_others(e: float, d: int) -> None:
    """Below half their distance, and where a network was found it has that margin."""
    rng = np.random.default_rng(d)
    x, y = rng.standard_normal((10, d)), np.sign(rng.standard_normal(10))
    x[1] = x[0] + e * rng.standard_normal(d)
    y[:2] = LABELS
    found = global_margin(x, y, CancelToken(10.0))
    bracket = found.bracket
    assert bracket.certified
    assert bracket.upper <= 0.5 * np.linalg.norm(x[0] - x[1]) + 1e-13
    assert bracket.upper > 0.0
    if bracket.exists:
        assert found.margins(x, y).min() >= bracket.lower > 0.0
    else:
        assert bracket.is_unresolved


def test_the_pair_bound_is_the_least_over_pairs() -> None:
    """By ternary search over the weight, for every pair."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((9, 3)), np.sign(rng.standard_normal(9))
    best = np.inf
    for i, k in product(np.flatnonzero(y > 0), np.flatnonzero(y < 0)):
        low, high = 0.0, 1.0
        for _ in range(200):
            t, u = low + (high - low) / 3.0, high - (high - low) / 3.0
            at_t = np.linalg.norm(t * x[i] - (1.0 - t) * x[k])
            at_u = np.linalg.norm(u * x[i] - (1.0 - u) * x[k])
            low, high = (low, u) if at_t < at_u else (t, high)
        best = min(best, float(np.linalg.norm(low * x[i] - (1.0 - low) * x[k])))
    assert pair_bound(x, y) == pytest.approx(best, rel=1e-9)
    assert pair_bound(x, np.ones(9)) == np.inf


def test_the_pair_bound_is_above_every_network() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        x, a, V = rng.standard_normal((4, 2)), rng.standard_normal(3), rng.standard_normal((3, 2))
        f = np.maximum(x @ V.T, 0.0) @ a / (np.abs(a) * np.linalg.norm(V, axis=1)).sum()
        y = np.where(f > 0.0, 1.0, -1.0)
        assert np.abs(f).min() <= pair_bound(x, y)


# ------------------------------------------------------------------------------- what is proved


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        ([[1.0, 0.0], [0.0, 0.0]], [1.0, -1.0], "x = 0"),
        ([[0.1, 0.3], [0.2, 0.6]], [1.0, -1.0], "positive factor"),
        ([[1.0], [-1.0], [2.0], [-2.0]], [1.0, -1.0, -1.0, 1.0], "positive factor"),
        ([[0.1, 0.3], [0.3, 0.9]], [1.0, -1.0], ""),  # .3 = .1 * 3 fails in binary
        ([[1.0, 0.0], [1.0, 1e-300]], [1.0, -1.0], ""),
        ([[1.0, 0.0], [-1.0, 0.0]], [1.0, -1.0], ""),
        ([[1.0, 0.0], [-1.0, 0.0], [-1.0, 0.0]], [1.0, 1.0, 1.0], ""),
    ],
)
def test_what_is_seen_at_once(x: list[list[float]], y: list[float], words: str) -> None:
    found = explain_no_margin(np.array(x), np.array(y))
    assert words in found
    assert bool(found) == bool(words)


def test_one_ray_in_rational_numbers() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        a = rng.standard_normal(3)
        b = a * 2.0 ** int(rng.integers(-3, 4)) if rng.random() < 0.3 else a * rng.uniform(0.5, 2.0)
        exact = [[Fraction(float(value)) for value in row] for row in (a, b)]
        parallel = all(
            exact[0][i] * exact[1][k] == exact[0][k] * exact[1][i]
            for i in range(3)
            for k in range(3)
        )
        assert are_on_one_ray(a, b) == parallel
        assert not are_on_one_ray(a, -b)


def test_odd_parity_is_proved_and_its_neighbours_are_not() -> None:
    x = np.array(list(product((-0.5, 0.5), repeat=4)))
    y = 8.0 * x[:, 0] * x[:, 1] * x[:, 2]
    for name in ("gamma_gl", "gamma_ntk", "rkhs"):
        assert REFERENCES[name].compute(of(x, y), CancelToken(5.0)).is_zero
    moved = x.copy()
    moved[0, 0] += 1e-9
    assert explain_no_margin(moved, y) == ""
    bracket = global_margin(moved, y, CancelToken(5.0)).bracket
    assert not bracket.is_zero
    assert 0.0 < bracket.upper < 1e-5


# --------------------------------------------------------------------------- linear hard margins


@pytest.mark.parametrize("e", [1e-4, 1e-7, 1e-9, 1e-12, 1e-14])
def test_linear_margin_of_two_near_duplicates(e: float) -> None:
    """The distance of 0 from the segment between (1, 0) and -(1, e): e/(2 sqrt(1 + e^2/4))."""
    bracket = LinearMargin().compute(of(two(e), LABELS), CancelToken())
    assert bracket.certified
    assert bracket.lower <= 0.5 * e / np.sqrt(1.0 + 0.25 * e * e) <= bracket.upper
    assert bracket.lower > 0.0


def in_rational_numbers(rows: Array) -> float:
    """Return 1/|w| of the w with <w, g_i> = 1 in the span of few rows, by exact arithmetic."""
    exact = [[Fraction(float(value)) for value in row] for row in rows]
    gram = [[sum(map(Fraction.__mul__, a, b), Fraction(0)) for b in exact] for a in exact]
    left = [[*row, Fraction(1)] for row in gram]
    for k in range(len(left)):
        left[k] = [value / left[k][k] for value in left[k]]
        for i, row in enumerate(left):
            if i != k:
                factor = row[k]
                left[i] = [a - factor * b for a, b in zip(row, left[k], strict=True)]
    return float(sum((row[-1] for row in left), Fraction(0))) ** -0.5


@pytest.mark.parametrize("e", [1e-6, 1e-9, 1e-12])
def test_linear_margin_with_a_near_duplicate_among_others(e: float) -> None:
    rng = np.random.default_rng(3)
    x, u = rng.standard_normal((12, 20)), rng.standard_normal(20)
    x[1] = x[0] + e * rng.standard_normal(20)
    y = np.sign(x @ u)
    y[:2] = LABELS
    G = y[:, None] * x
    found = separate_from_origin(G)
    bracket = bracket_of(found, "a hyperplane")
    exact = in_rational_numbers(G[found.q > 0.0])
    assert bracket.lower <= exact <= bracket.upper
    assert bracket.gap < 0.1


def test_farkas_weights_are_proved() -> None:
    """True where the hull holds 0 for certain, in floating point and in rational numbers."""
    rng = np.random.default_rng(4)
    assert separate_from_origin(rng.standard_normal((60, 4))).farkas
    corners = np.array(list(product((-1.0, 1.0), repeat=3)))
    assert separate_from_origin(corners).farkas
    assert separate_from_origin(np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])).farkas
    tilted = np.array([[1.0, 0.0], [-1.0, 1e-17]])
    assert not separate_from_origin(tilted).farkas
    assert bracket_of(separate_from_origin(tilted), "a hyperplane").is_unresolved
    thin = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    assert bracket_of(separate_from_origin(thin), "a hyperplane").is_zero


# -------------------------------------------------------------------------------- tangent kernel


def kernels(x: Array) -> tuple[mpf, mpf]:
    """Return (K1, K2) of two points, in 50 digits."""
    with mp.workdps(50):
        a, b = ([mpf(float(value)) for value in row] for row in x)
        inner = sum(p * q for p, q in zip(a, b, strict=True))
        one, two_ = (mp.sqrt(sum(p * p for p in v)) for v in (a, b))
        cross = mp.sqrt(max(one**2 * two_**2 - inner**2, mpf(0)))
        angle = mp.atan2(cross, inner)
        rest = (mp.pi - angle) / (2 * mp.pi)
        K2 = one * two_ * (mp.sin(angle) / (2 * mp.pi) + rest * mp.cos(angle))
        return inner * rest, K2


@pytest.mark.parametrize("e", [0.0, 1e-2, 1e-3, 1e-5, 1e-8, 1e-11, 1e-15])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_arc_cosine_kernels_of_small_angles(e: float, sign: float) -> None:
    """To 1e-14 of the points' size, also where arccos is flat."""
    x = two(e)
    x[1] *= sign
    K1, K2 = arc_cosine(x, x)
    for found, exact in zip((K1[0, 1], K2[0, 1]), kernels(x), strict=True):
        assert float(abs(mpf(float(found)) - exact)) < 1e-14
    assert K1[0, 0] == K2[0, 0] == 0.5


@pytest.mark.parametrize("e", [1e-3, 1e-6, 1e-9])
def test_rkhs_margin_of_two_near_duplicates(e: float) -> None:
    """min over q of q^2 k_11 + (1 - q)^2 k_22 - 2 q (1 - q) k_12, in 50 digits."""
    x = two(e)
    bracket = KernelMargin().compute(of(x, LABELS), CancelToken())
    with mp.workdps(50):
        k = [K1 + K2 / 2 for K1, K2 in (kernels(x[[i, j]]) for i, j in ((0, 0), (1, 1), (0, 1)))]
        q = (k[1] + k[2]) / (k[0] + k[1] + 2 * k[2])
        exact = float(mp.sqrt(q**2 * k[0] + (1 - q) ** 2 * k[1] - 2 * q * (1 - q) * k[2]))
    assert bracket.certified
    assert bracket.lower <= exact <= bracket.upper
    assert bracket.gap < 0.05


# -------------------------------------------------------------------------------------- all of them


KINDS = (
    (),
    ("network.kind=fixed_outer",),
    ("network.kind=batch_norm", "network.m=40"),
)


@pytest.mark.parametrize("settings", KINDS)
@pytest.mark.parametrize("e", [1e-8, 1e-11, 3e-16])
def test_no_margin_of_near_duplicates_is_called_nothing(
    settings: tuple[str, ...], e: float
) -> None:
    """Examples that differ: every margin has a positive upper end, or is not defined."""
    base = problem("data.n=12", "data.d=3", *settings)
    x, y = base.dataset.x.copy(), base.dataset.y.copy()
    x[1], y[:2] = x[0], LABELS
    x[1, 0] += e if x[0, 0] > 0 else -e
    assert (x[0] != x[1]).any()
    changed = replace(base, dataset=Dataset(x, y, classes=2))
    for reference in references_of(changed):
        if reference.name in ("parity_population", "gamma_linear"):
            continue  # the law's; and parity has no linear margin, which is proved
        bracket = reference.compute(changed, CancelToken(2.0))
        assert not bracket.is_zero, bracket
        assert not bracket.certified or bracket.upper > 0.0


@pytest.mark.parametrize("e", [1e-9, 1e-12, 1e-16])
def test_the_margin_on_the_line(e: float) -> None:
    """The points (0, 1) and (e, 1) of the plane: the same two bounds."""
    line = of(np.array([[0.0], [e]]), LABELS, "data.kind=intervals", "network.kind=bias")
    bracket = REFERENCES["gamma_l1"].compute(line, CancelToken())
    assert bracket.certified
    assert bracket.upper >= 0.5 * e / np.sqrt(1.0 + e * e)
    assert not bracket.exists or 0.0 < bracket.lower <= 0.5 * e
    assert bracket.exists or bracket.is_unresolved
