"""Level lines of piecewise linear functions: against dense grids, and in special positions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.observables.piecewise import (
    SIDES,
    PlaneFunction,
    level_segments,
    lines_of,
    plane_function,
)
from core.observables.predictor_values import grid_values
from core.runs import open_run
from tests.recording import recorded

ENDS = (-2.0, 2.0)
SMALL = (
    "data.d=3",
    "data.n=12",
    "network.m=6",
    "recording.frames=6",
    "dynamics.until_log10_time=1",
)


def made(
    jumps: list[float], slopes: list[tuple[float, float]], offsets: list[float]
) -> PlaneFunction:
    return PlaneFunction(np.array(slopes), np.array(offsets), np.array(jumps), np.zeros(2), 0.0)


def random_function(seed: int, m: int, biases: bool) -> PlaneFunction:
    """Return a function with a zero at a random point, so that its zero set is not empty."""
    g = np.random.default_rng(seed)
    slopes, offsets = g.normal(size=(m, 2)), biases * g.normal(size=m)
    f = PlaneFunction(slopes, offsets, g.normal(size=m), 0.1 * g.normal(size=2), 0.0)
    value = float(f(g.uniform(-1.0, 1.0, 2))) if biases else 0.0
    return PlaneFunction(f.slopes, f.offsets, f.jumps, f.linear, -value)


def gap(points: np.ndarray, segments: np.ndarray) -> np.ndarray:
    """Return distances of points (k, 2) from the nearest of segments (s, 2, 2)."""
    a, way = segments[:, 0], segments[:, 1] - segments[:, 0]
    share = ((points[:, None] - a) * way).sum(axis=2) / np.square(way).sum(axis=1)
    nearest = a + np.clip(share, 0.0, 1.0)[..., None] * way
    return np.linalg.norm(points[:, None] - nearest, axis=2).min(axis=1)


def dense_crossings(f: PlaneFunction, count: int) -> np.ndarray:
    """Return places between neighbours of a dense grid at which the sign of f changes."""
    places = np.linspace(*ENDS, count)
    points = np.stack(np.meshgrid(places, places), axis=-1)
    positive = f(points) > 0.0
    step = places[1] - places[0]
    across = points[:, :-1][positive[:, :-1] != positive[:, 1:]] + (0.5 * step, 0.0)
    up = points[:-1][positive[:-1] != positive[1:]] + (0.0, 0.5 * step)
    return np.concatenate([across, up])


@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize(("seed", "m"), [(0, 1), (1, 3), (2, 8), (3, 30), (4, 100)])
def test_zeros_are_those_of_a_dense_grid(seed: int, m: int, biases: bool) -> None:
    f = random_function(seed, m, biases)
    segments = level_segments(f, ENDS, ENDS)
    wanted = dense_crossings(f, 300)  # whose points leave out the origin, a lone zero
    step = (ENDS[1] - ENDS[0]) / 299
    if wanted.size:
        assert gap(wanted, segments).max() <= step  # none is missing
    if not segments.size:
        return
    # And none is wrong: a step of a millionth of the plot along the gradient changes f by more.
    inside = segments[:, :1] + np.linspace(0.0, 1.0, 5)[:, None] * (
        segments[:, 1:] - segments[:, :1]
    )
    points = inside.reshape(-1, 2)
    slope = np.abs(f.jumps) @ np.linalg.norm(f.slopes, axis=1)
    assert np.abs(f(points)).max() <= 1e-3 * slope * (ENDS[1] - ENDS[0]) / SIDES
    assert_closed(segments)


def assert_closed(segments: np.ndarray) -> None:
    """Assert that no line ends inside the plot."""
    ends = segments.reshape(-1, 2)
    inside = (np.abs(ends) < ENDS[1] - 1e-9).all(axis=1)
    apart = np.linalg.norm(ends[:, None] - ends, axis=2)
    np.fill_diagonal(apart, np.inf)
    apart[np.arange(len(ends)), np.arange(len(ends)) ^ 1] = np.inf  # its own segment
    assert apart.min(axis=1)[inside].max(initial=0.0) <= 2e-3 * (ENDS[1] - ENDS[0]) / SIDES


def test_a_kink_makes_a_corner_and_no_stairs() -> None:
    f = made([1.0, -3.0, 1.0], [(1.0, 0.2), (0.3, 1.0), (-1.0, 0.1)], [0.1, 0.05, 0.03])
    segments = level_segments(f, ENDS, ENDS)
    assert np.abs(f(segments.reshape(-1, 2))).max() < 1e-12
    assert np.abs(f(segments.mean(axis=1))).max() < 1e-12


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("offset", [0.0, 0.3])
def test_an_area_of_zeros_has_its_border(sign: float, offset: float) -> None:
    segments = level_segments(made([sign], [(1.0, 0.0)], [-offset]), ENDS, ENDS)
    np.testing.assert_allclose(segments[..., 0], offset, atol=1e-12)
    assert np.ptp(segments[..., 1]) == pytest.approx(4.0)


@pytest.mark.parametrize("offset", [0.0, 0.1])
def test_a_valley_of_zeros_is_found(offset: float) -> None:
    valley = made([1.0, 1.0], [(1.0, 1.0), (-1.0, -1.0)], [-offset, offset])
    segments = level_segments(valley, ENDS, ENDS)
    np.testing.assert_allclose(segments.sum(axis=2), offset, atol=1e-9)
    assert np.ptp(segments[..., 1]) > 3.5


def test_an_island_within_a_triangle_of_the_grid_is_found() -> None:
    height = 0.01
    cone = made(
        [1.0, 1.0, 1.0, 1.0], [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)], [0.07] * 4
    )
    shifted = PlaneFunction(
        cone.slopes, np.array([-0.06, 0.06, -0.11, 0.11]), cone.jumps, cone.linear, -height
    )
    segments = level_segments(shifted, ENDS, ENDS)
    points = segments.reshape(-1, 2) - (0.06, 0.11)
    np.testing.assert_allclose(np.abs(points).sum(axis=1), height, atol=1e-12)


def test_nothing_and_a_level_that_is_not_met_have_no_line() -> None:
    assert level_segments(made([0.0], [(1.0, 0.0)], [0.0]), ENDS, ENDS).shape == (0, 2, 2)
    f = made([1.0], [(1.0, 0.0)], [0.0])
    assert level_segments(f, ENDS, ENDS, 5.0).shape == (0, 2, 2)
    np.testing.assert_allclose(level_segments(f, ENDS, ENDS, 0.77)[..., 0], 0.77)


@pytest.mark.parametrize(("seed", "m"), [(1, 3), (2, 8), (4, 100)])
def test_segments_are_joined_and_none_is_lost(seed: int, m: int) -> None:
    segments = level_segments(random_function(seed, m, True), ENDS, ENDS)
    lines = lines_of(segments)
    way = np.linalg.norm(np.diff(lines, axis=0), axis=1)
    wanted = np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1).sum()
    assert np.nansum(way) == pytest.approx(wanted, rel=1e-6)
    assert np.isnan(lines).any(axis=1).sum() < 0.3 * len(segments)


@pytest.mark.parametrize("factor", [1e-150, 1e-9, 1e9, 1e150])
def test_lines_do_not_depend_on_the_size_of_f(factor: float) -> None:
    f = random_function(2, 8, True)
    large = PlaneFunction(
        f.slopes, f.offsets, factor * f.jumps, factor * f.linear, factor * f.constant
    )
    one, other = level_segments(f, ENDS, ENDS), level_segments(large, ENDS, ENDS)
    assert gap(one.reshape(-1, 2), other).max() < 1e-9


NETWORKS = {
    "standard": (),
    "scalar": ("network.kind=scalar",),
    "normalised": ("network.kind=normalised",),
    "leaky": ("network.kind=fixed_outer",),
    "bias": ("network.kind=bias",),
    "batch norm": ("network.kind=batch_norm", "dynamics.kind=gd"),
}


@pytest.mark.parametrize("kind", list(NETWORKS))
def test_a_plane_of_a_network_is_the_network(tmp_path: Path, kind: str) -> None:
    recorded(tmp_path / "run.msrun", *SMALL, *NETWORKS[kind])
    with open_run(tmp_path / "run.msrun") as run:
        for axes in ((0, 1), (2, 0)):
            f = plane_function(run, run.frames - 1, axes)
            assert f is not None
            first, second = (-1.0, 2.0, 7), (-3.0, 1.0, 5)
            wanted, _ = grid_values(run, run.frames - 1, axes, first, second)
            points = np.stack(np.meshgrid(np.linspace(*first), np.linspace(*second)), axis=-1)
            np.testing.assert_allclose(f(points), wanted, rtol=1e-9, atol=1e-12)


def test_a_smooth_network_has_no_kinks(tmp_path: Path) -> None:
    recorded(
        tmp_path / "run.msrun",
        *SMALL,
        "network.kind=fixed_outer",
        "network.smooth=true",
        "dynamics.kind=gd",
    )
    with open_run(tmp_path / "run.msrun") as run:
        assert plane_function(run, 0, (0, 1)) is None
