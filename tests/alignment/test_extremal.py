"""Extremal vectors: two enumerations, ascent, samples, and cases that are known in closed form."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import InputError
from core.reference.cancel_token import CancelledError, CancelToken
from core.reference.extremal import (
    MAXIMUM,
    MINIMUM,
    SADDLE,
    Extremal,
    extremal_vectors,
    growth_rate,
)

SIZES = ((5, 2), (6, 3), (8, 3), (8, 4))


def gaussian(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    g = np.random.default_rng(seed)
    return g.standard_normal((n, d)), g.standard_normal(n)


@pytest.mark.parametrize(
    ("slope", "known"),
    [
        (
            0.0,
            [(-0.175937, MINIMUM), (-0.037673, MINIMUM), (-0.032461, SADDLE), (0.344489, MAXIMUM)],
        ),
        (
            0.3,
            [(-0.220169, MINIMUM), (-0.135258, MINIMUM), (-0.135190, SADDLE), (0.353991, MAXIMUM)],
        ),
    ],
)
def test_the_values_of_six_points_in_space(slope: float, known: list[tuple[float, str]]) -> None:
    """Values found by ascent and descent of G, to six digits.

    The third looks like a maximum to samples around it: across its kink G falls at once, and along
    the kink it rises with the square.
    """
    X, y = gaussian(6, 3, 0)
    found = extremal_vectors(X, y, slope)
    assert [one.kind for one in found] == [kind for _, kind in known]
    assert [one.value for one in found] == pytest.approx([value for value, _ in known], abs=1e-6)


@pytest.mark.parametrize("slope", [0.0, 0.3])
@pytest.mark.parametrize(("n", "d"), [(4, 2), (5, 2), (6, 3), (5, 4), (3, 5)])
def test_both_enumerations_agree(n: int, d: int, slope: float) -> None:
    for seed in range(3):
        X, y = gaussian(n, d, seed)
        near = extremal_vectors(X, y, slope)
        every = extremal_vectors(X, y, slope, every_pattern=True)
        assert len(near) == len(every) > 0
        for one, other in zip(near, every, strict=True):
            assert one.value == pytest.approx(other.value, rel=1e-12)
            assert one.u @ other.u == pytest.approx(1.0, abs=1e-12)
            assert (one.signs == other.signs).all() and one.kind == other.kind


@pytest.mark.parametrize("slope", [0.0, 0.3])
@pytest.mark.parametrize(("n", "d"), SIZES)
def test_they_are_extremal_by_definition(n: int, d: int, slope: float) -> None:
    """D = G(u) u is a member of D(u): off the kinks it is fixed, and at them solved for."""
    from scipy.optimize import lsq_linear

    X, y = gaussian(n, d, 1)
    for one in extremal_vectors(X, y, slope):
        z = X @ one.u
        at = np.abs(z) < 1e-9 * np.linalg.norm(X, axis=1)
        assert (at == (one.signs == 0)).all()
        fixed = (np.where(z > 0, 1.0, slope) * ~at * y) @ X / n
        kinks = (y[at, None] * X[at]).T / n
        rest = one.D - fixed
        if at.any():
            rest = lsq_linear(kinks, rest, bounds=(slope - 1e-9, 1 + 1e-9), tol=1e-15).fun
        assert np.abs(rest).max() < 1e-8
        assert one.value == pytest.approx(float(growth_rate(one.u, X, y, slope)), rel=1e-12)


@pytest.mark.parametrize("slope", [0.0, 0.3])
@pytest.mark.parametrize(("n", "d"), [*SIZES, (30, 2)])
def test_ascent_and_descent_end_at_them(n: int, d: int, slope: float) -> None:
    """Projected steps along D from random starts, shorter and shorter; a leaky G has no flat cell,
    and of a ReLU's some end where G = 0, which is no extremal vector."""
    X, y = gaussian(n, d, 2)
    vectors = extremal_vectors(X, y, slope)
    u = np.random.default_rng(3).standard_normal((60, d))
    way = np.where(np.arange(60) % 2, 1.0, -1.0)
    for step in np.geomspace(0.5, 1e-7, 1000):
        u /= np.linalg.norm(u, axis=1)[:, None]
        z = u @ X.T
        field = (np.where(z > 0, 1.0, slope) * y) @ X / n
        size = np.linalg.norm(field, axis=1)[:, None]
        u = u + step * way[:, None] * field / np.where(size > 0, size, 1.0)
    u /= np.linalg.norm(u, axis=1)[:, None]
    near = (u @ np.array([one.u for one in vectors]).T).max(axis=1)
    ended = near > 1 - 1e-5
    flat = np.abs(growth_rate(u, X, y, slope)) < 1e-5
    assert (ended | (flat if slope == 0.0 else False)).all()
    assert ended.mean() > 0.7  # none but the flat ones are left out


@pytest.mark.parametrize("slope", [0.0, 0.3])
def test_no_point_of_the_sphere_is_beyond_them_and_kinds_are_what_is_around(slope: float) -> None:
    generator = np.random.default_rng(5)
    for n, d in SIZES:
        X, y = gaussian(n, d, 4)
        vectors = extremal_vectors(X, y, slope)
        u = generator.standard_normal((20_000, d))
        u /= np.linalg.norm(u, axis=1)[:, None]
        values = growth_rate(u, X, y, slope)
        assert values.max() <= max(0.0, vectors[-1].value)
        assert values.min() >= min(0.0, vectors[0].value)
        for one in vectors:
            change = around(one, X, y, slope, generator)
            above, below = (change > 1e-13).any(), (change < -1e-13).any()
            told = {MAXIMUM: (False, True), MINIMUM: (True, False), SADDLE: (True, True)}
            assert (above, below) == told[one.kind]


def around(one: Extremal, X: np.ndarray, y: np.ndarray, slope: float, generator) -> np.ndarray:
    """Return G - G(u) at points near u, those among them at which the kinks of u stay kinks."""
    fixed = np.vstack([X[one.signs == 0], one.u])
    free = np.linalg.svd(fixed)[2][len(fixed) :]
    along = np.vstack([free, -free, generator.standard_normal((2_000, len(one.u)))])
    near = one.u + 1e-4 * along
    return growth_rate(near / np.linalg.norm(near, axis=1)[:, None], X, y, slope) - one.value


def test_orthonormal_points_have_one_for_each_set_of_one_sign() -> None:
    """u ~ sum_K y_k x_k for nonempty K of one sign, G = +-|y_K|/n; the extrema have all of them."""
    y = np.array([1.0, 0.5, -0.8, -0.4])
    found = extremal_vectors(np.eye(4), y)
    sets = [(0,), (1,), (0, 1), (2,), (3,), (2, 3)]
    known = sorted(float(np.sign(y[k[0]]) * np.linalg.norm(y[list(k)]) / 4) for k in sets)
    assert [one.value for one in found] == pytest.approx(known, rel=1e-12)
    assert [one.kind for one in found] == [MINIMUM, SADDLE, SADDLE, SADDLE, SADDLE, MAXIMUM]
    assert known[0] == pytest.approx(-0.223607, abs=1e-6)
    assert known[-1] == pytest.approx(0.279508, abs=1e-6)


@pytest.mark.parametrize(
    ("x", "y", "D"),
    [
        ((-0.75, -0.5, 0.125), (1.1, 0.1, 0.8), (-0.258333, 0.666667)),
        ((-0.95, 0.0, 0.95), (1.0, 0.1, 1.0), (0.0, 0.7)),
    ],
)
def test_one_vector_with_all_points_active(x: tuple, y: tuple, D: tuple) -> None:
    """(1/n) sum_k y_k x_k, where every point is on its positive side."""
    X = np.column_stack([x, np.ones(3)])
    (only,) = extremal_vectors(X, np.array(y))
    assert pytest.approx(np.array(D), abs=1e-6) == only.D
    assert pytest.approx(np.array(y) @ X / 3, rel=1e-12) == only.D
    assert (only.signs == 1).all()
    assert only.kind == MAXIMUM


def test_points_in_a_subspace_points_without_weight_and_copies() -> None:
    X, y = gaussian(5, 2, 0)
    plain = extremal_vectors(X, y)
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((6, 6)))[0][:, :2]
    lifted = extremal_vectors(X @ turn.T, y)
    assert [one.value for one in lifted] == pytest.approx([one.value for one in plain], rel=1e-10)
    for one, other in zip(plain, lifted, strict=True):
        assert turn @ one.u == pytest.approx(other.u, abs=1e-10)
    # n counts what has no weight, too.
    more = extremal_vectors(np.vstack([X, [[1.0, 2.0], [0.0, 0.0]]]), np.r_[y, 0.0, 3.0])
    values = [7 / 5 * one.value for one in more]
    assert values == pytest.approx([one.value for one in plain], rel=1e-10)
    twice = extremal_vectors(np.vstack([X, X]), np.r_[y, y])
    assert [one.value for one in twice] == pytest.approx([one.value for one in plain], rel=1e-10)
    assert not extremal_vectors(X, np.zeros(5))


def test_on_a_line_there_are_two_ways() -> None:
    X, y = np.array([[1.0], [2.0], [-1.0]]), np.array([1.0, -1.0, 3.0])
    found = extremal_vectors(X, y, 0.5)
    # At +1: (1 - 2 - 3/2)/3; at -1: (-1/2 + 1 + 3)/3.
    assert [one.value for one in found] == pytest.approx([-5 / 6, 7 / 6], rel=1e-12)
    assert [one.u.tolist() for one in found] == [[1.0], [-1.0]]


def test_too_many_and_slopes_that_are_none_are_refused() -> None:
    X, y = gaussian(64, 20, 0)
    with pytest.raises(InputError, match=r"64 points in 20 dimensions.*fewer points"):
        extremal_vectors(X, y)
    with pytest.raises(InputError, match="from 0 to below 1"):
        extremal_vectors(X[:3, :2], y[:3], 1.0)


def test_a_long_enumeration_ends_with_its_time_and_with_its_user() -> None:
    X, y = gaussian(60, 4, 0)  # a minute
    with pytest.raises(InputError, match="within the time limit; allow more time"):
        extremal_vectors(X, y, watch=CancelToken(0.1))
    watch = CancelToken()
    watch.cancel()
    with pytest.raises(CancelledError):
        extremal_vectors(X, y, watch=watch)
