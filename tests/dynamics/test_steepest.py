"""Steepest descent in a norm: directions, closed forms, the margins of each norm, and the flow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.compiled.polar import Polar, move_blocks
from core.data.parity import all_corners
from core.dynamics.dual_weights import output_weights
from core.dynamics.integrator import Outcome
from core.dynamics.registry import make_integrator, prepare
from core.dynamics.steepest import FLOOR, Steepest, find_direction, polar_factor
from core.errors import InputError
from core.losses import LOSSES
from core.network.parametrisation import Network
from core.problem.problem import Problem, Start, resolve_problem
from core.study_file.validation import build_experiment
from tests.networks import Case, small_problem

Array = np.ndarray
Range = tuple[float, float]
NORMS = ("sign", "l2", "spectral", "coordinate")


def steepest(norm: str, steps: int, **settings: Any) -> dict[str, Any]:
    """Return a dynamics of so many steps."""
    step = settings.get("step", 0.1)
    until = float(np.log10(step * steps))
    return {"kind": "steepest", "norm": norm, "until_log10_time": until, **settings}


def last_of(problem: Problem) -> Array:
    """Return the parameters at the end of a run."""
    one = make_integrator(problem)
    while True:
        chunk = one.advance()
        if chunk.outcome is not Outcome.GOING:
            assert chunk.outcome is Outcome.COMPLETED
            return np.asarray(chunk.frames[-1].parameters)


# ------------------------------------------------------------------------------------- directions


@pytest.mark.parametrize("shape", [(7, 3), (3, 7), (4, 4), (5, 1)])
def test_the_polar_factor_is_that_of_the_singular_vectors(shape: tuple[int, int]) -> None:
    M = np.random.default_rng(1).standard_normal(shape)
    left, _, right = np.linalg.svd(M, full_matrices=False)
    for scale in (1.0, 1e-100, 1e100):
        assert polar_factor(scale * M) == pytest.approx(left @ right, abs=1e-12)


def test_the_polar_factor_of_a_matrix_of_low_rank_is_no_longer_than_1() -> None:
    generator = np.random.default_rng(2)
    M = generator.standard_normal((9, 2)) @ generator.standard_normal((2, 5))
    for dtype, error in ((np.float64, 1e-9), (np.float32, 1e-6)):
        u = polar_factor(M.astype(dtype))
        singular = np.linalg.svd(u.astype(np.float64), compute_uv=False)
        assert u.dtype == dtype
        assert singular[:2] == pytest.approx(1.0, abs=error)
        assert singular[2:].max() < 0.1
    assert not polar_factor(np.zeros((3, 2))).any()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_compiled_steps_along_polar_factors_are_those_of_singular_vectors(dtype: Any) -> None:
    """Blocks of all shapes in a row; a block of zeros stays."""
    shapes = ((7, 3), (4, 0), (3, 7), (5, 5), (6, 1), (2, 3), (3, 0))
    generator, rows, first = np.random.default_rng(3), [], 0
    blocks = [generator.standard_normal((n, columns or 1)) for n, columns in shapes]
    blocks[5][:] = blocks[6][:] = 0.0
    for n, columns in shapes:
        rows.append((first, n, columns))
        first += n * max(columns, 1)
    work = [np.zeros(size) for size in (25, 25, 25, 25, 25, 5)]
    polar = Polar(np.array(rows), FLOOR, *work)
    g = np.concatenate([block.reshape(-1) for block in blocks]).astype(dtype)
    flat = generator.standard_normal(g.size).astype(dtype)
    before = flat.copy()
    assert move_blocks(flat, g, 0.25, polar)
    for (place, n, columns), block in zip(rows, blocks, strict=True):
        part = slice(place, place + n * max(columns, 1))
        left, values, right = np.linalg.svd(block, full_matrices=False)
        wanted = left @ right if values[0] > 0.0 else np.zeros_like(block)
        found = (flat[part].astype(np.float64) - before[part]) / 0.25
        assert found == pytest.approx(
            wanted.reshape(-1), abs=1e-11 if dtype is np.float64 else 2e-6
        )


def sizes(norm: str, network: Network, u: Array) -> tuple[float, float]:
    """Return a norm, and its dual norm, by singular values."""
    blocks = network.unpack(u).values()
    singular = [
        np.array([np.linalg.norm(b)]) if b.ndim == 1 else np.linalg.svd(b, compute_uv=False)
        for b in blocks
    ]
    largest, total = float(np.abs(u).max()), float(np.abs(u).sum())
    return {
        "sign": (largest, total),
        "l2": (float(np.linalg.norm(u)),) * 2,
        "spectral": (max(float(s.max()) for s in singular), sum(float(s.sum()) for s in singular)),
        "coordinate": (total, largest),
    }[norm]


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(
    "case", [Case("standard"), Case("multiclass", "cross_entropy", 4, {"biases": True})], ids=str
)
def test_a_direction_is_the_steepest_of_its_ball(norm: str, case: Case) -> None:
    """|u| = 1, and <u, g> is the dual norm of g, which no other vector of the ball exceeds."""
    network = small_problem(case).network
    g = np.random.default_rng(3).standard_normal(network.size)
    u = find_direction(norm, network, g)
    assert sizes(norm, network, u)[0] == pytest.approx(1.0, rel=1e-12)
    assert float(u @ g) == pytest.approx(sizes(norm, network, g)[1], rel=1e-12)
    assert not find_direction(norm, network, np.zeros(network.size)).any()


def test_weights_without_a_slope_stay() -> None:
    network = small_problem(Case("standard"), m=2, d=2).network
    g = np.array([0.0, 2.0, 0.0, 0.0, -3.0, 0.0])
    assert find_direction("sign", network, g).tolist() == [0.0, 1.0, 0.0, 0.0, -1.0, 0.0]
    assert find_direction("coordinate", network, g).tolist() == [0.0, 0.0, 0.0, 0.0, -1.0, 0.0]


@pytest.mark.parametrize("kind", ["exponential", "logistic", "cross_entropy"])
def test_weights_of_the_outputs_have_the_direction_of_the_risk(kind: str) -> None:
    """They are -dR/df over a positive number, and stay so where R itself has underflown."""
    generator, loss = np.random.default_rng(4), LOSSES[kind]
    several = kind == "cross_entropy"
    f = generator.standard_normal((6, 3) if several else 6)
    y = (np.arange(6) % 3).astype(float) if several else generator.choice([-1.0, 1.0], 6)
    slope, g = -loss.output_gradient(f, y), output_weights(loss, f, y)
    assert g / np.abs(g).max() == pytest.approx(slope / np.abs(slope).max(), rel=1e-9)
    own = g[np.arange(6), y.astype(int)] if several else y * g
    assert own.sum() == pytest.approx(1.0)
    # All margins larger by 5,000: the same weights as of the exponential loss there.
    up = np.eye(3)[y.astype(int)] if several else y
    late = [output_weights(loss, f + size * up, y) for size in (60.0, 5000.0)]
    assert late[0] == pytest.approx(late[1], rel=1e-9)


# ------------------------------------------------------------------------------- linear predictors


def dyadic(norm: str, steps: int, d: int, **settings: Any) -> tuple[float, Array]:
    """Return min p of a linear predictor on the dyadic points, and its weights, from nearly 0."""
    tables = {
        "data": {"kind": "dyadic", "d": d},
        "network": {"kind": "fixed_outer", "m": 1, "slope": 1.0, "init_multiple": 1e-9},
        "dynamics": steepest(norm, steps, **settings),
        "recording": {"frames": 2},
    }
    problem = prepare(resolve_problem(build_experiment(tables, "test")))
    w = last_of(problem)
    return float(problem.margins(w).min()), w


def test_sign_descent_has_the_largest_margin_of_the_dyadic_points_at_once() -> None:
    p, w = dyadic("sign", 1, 8)
    assert p / np.abs(w).max() == pytest.approx(2.0**-8, rel=1e-6)


def test_descents_reach_the_largest_margins_of_the_dyadic_points() -> None:
    """gamma_2 = sqrt(3/(4^(d+1) - 4)) and gamma_1 = 1/(2^(d+1) - 2), from below, like t^(-1/2)."""
    d, steps = 2, 1000
    p, w = dyadic("l2", steps, d, step=1.0)
    gamma = np.sqrt(3.0 / (4.0 ** (d + 1) - 4.0))
    assert 0.975 * gamma < p / np.linalg.norm(w) < gamma
    p, w = dyadic("coordinate", steps, d, step=1.0)
    gamma = 1.0 / (2.0 ** (d + 1) - 2.0)
    assert 0.975 * gamma < p / np.abs(w).sum() < gamma


# -------------------------------------------------------------------------- 2-parity, all corners


def parity(norm: str, steps: int, seed: int, m: int = 64, **settings: Any) -> Problem:
    """Return 2-parity on all corners of the cube, d = 4, from N(0, .1^2)."""
    corners = all_corners(4)
    labelled = np.column_stack([corners / 2.0, corners[:, 0] * corners[:, 1]])
    tables = {
        "data": {"kind": "points", "points": labelled.tolist()},
        "network": {"kind": "standard", "m": m},
        "loss": {"kind": "exponential"},
        "dynamics": steepest(norm, steps, **settings),
        "recording": {"frames": 2},
    }
    problem = prepare(resolve_problem(build_experiment(tables, "test")))
    flat = 0.1 * np.random.default_rng(seed).standard_normal(problem.network.size)
    return replace(problem, start=Start(flat, flat))


def margins(problem: Problem, flat: Array) -> tuple[float, float, float]:
    """Return min p over |W|_2^2, m |W|_inf^2 and the square of the spectral norm."""
    a, V = problem.network.unpack(flat).values()
    p = float(problem.margins(flat).min())
    spectral = max(float(np.linalg.norm(a)), float(np.linalg.norm(V, 2)))
    return p / float(flat @ flat), p / (a.size * np.abs(flat).max() ** 2), p / spectral**2


# Margins over |W|^2, m |W|_inf^2 and the squared spectral norm after 1000 steps: ranges of five
# starts after 3e4 steps, twice as wide; Muon with momentum is still on its way to .2494-.2498.
OPTIMISERS = (
    ("l2", {"step": 1.0}, (0.0882, 0.0884), (0.0045, 0.0385), (0.1764, 0.1772)),
    ("sign", {"step": 0.1}, (0.0795, 0.0884), (0.15, 0.238), (0.1915, 0.2295)),
    ("sign", {"step": 0.1, "momentum": 0.9}, (0.0735, 0.0875), (0.185, 0.245), (0.202, 0.25)),
    ("spectral", {"step": 0.3}, (0.0856, 0.0862), (0.008, 0.048), (0.222, 0.226)),
    ("spectral", {"step": 0.3, "momentum": 0.9}, (0.0825, 0.0836), (0.008, 0.048), (0.245, 0.25)),
)


@pytest.mark.parametrize(("norm", "settings", "l2", "linf", "spectral"), OPTIMISERS, ids=str)
def test_each_optimiser_raises_the_margin_of_its_own_norm(
    norm: str, settings: dict[str, float], l2: Range, linf: Range, spectral: Range
) -> None:
    """The largest margins of all networks are C/sqrt(2 d), C/sqrt d and C/sqrt d, C = 1/2."""
    problem = parity(norm, 1000, 0, **settings)
    for value, (low, high) in zip(
        margins(problem, last_of(problem)), (l2, linf, spectral), strict=True
    ):
        assert low < value < high + 1e-4


# -------------------------------------------------------------------------------- beside the flow


def frames_of(problem: Problem) -> Array:
    """Return the parameters of all frames, at their physical scale."""
    one, frames = make_integrator(problem), list[Array]()
    while True:
        chunk = one.advance()
        network = problem.network
        frames += [network.physical(frame.parameters, frame.rho) for frame in chunk.frames]
        if chunk.outcome is not Outcome.GOING:
            return np.array(frames)


def distance(curve: Array, point: Array) -> float:
    """Return the distance of a point from a curve through points."""
    first, along = curve[:-1], np.diff(curve, axis=0)
    places = ((point - first) * along).sum(axis=1) / (along**2).sum(axis=1)
    nearest = first + np.clip(places, 0.0, 1.0)[:, None] * along
    return float(np.linalg.norm(point - nearest, axis=1).min())


def test_short_normalised_steps_follow_the_curve_of_the_flow() -> None:
    """At half the step half the distance, as of Euler's method."""
    case, sizes = Case("standard", "exponential"), {"n": 6, "d": 4, "m": 5, "seed": 1}

    def curve(dynamics: dict[str, Any], frames: int) -> Array:
        made = small_problem(case, dynamics, recording={"frames": frames}, **sizes)
        return frames_of(prepare(made))

    flow = curve({"kind": "flow", "until_log10_time": 2.0}, 400)
    length = 1.5
    assert np.linalg.norm(np.diff(flow, axis=0), axis=1).sum() > 1.2 * length
    found = []
    for step in (0.01, 0.005):
        steps = round(length / step)
        path = curve(steepest("l2", steps, step=step, power=0.0), 20)
        found.append(max(distance(flow, point) for point in path))
    assert found[0] < 0.01
    assert found[1] == pytest.approx(found[0] / 2.0, rel=0.3)


# ------------------------------------------------------------------------------- runs and refusals


def test_a_run_depends_on_its_settings_alone() -> None:
    """Steps of power 0 from t = 0 have one length; a first step has the same whatever the power."""
    problem = parity("l2", 1, 0, step=0.25)
    for power in (0.0, 0.5, 1.0):
        one = prepare(replace(parity("l2", 1, 0, step=0.25, power=power), start=problem.start))
        moved = last_of(one) - problem.start.parameters
        assert np.linalg.norm(moved) == pytest.approx(0.25, rel=1e-12)
    lengths = []
    for steps in (8, 9):
        one = parity("sign", steps, 0, step=0.25, power=1.0)
        lengths.append(last_of(one))
    assert np.abs(lengths[1] - lengths[0]).max() == pytest.approx(0.25 / 9.0, rel=1e-9)


def test_weights_that_overflow_end_the_run_as_diverged() -> None:
    problem = prepare(
        small_problem(
            Case("quadratic", "cross_entropy", 3),
            steepest("sign", 10, step=1e14),
            run={"precision": "float32"},
        )
    )
    one = make_integrator(problem)
    while (chunk := one.advance()).outcome is Outcome.GOING:
        pass
    assert chunk.outcome is Outcome.DIVERGED
    assert chunk.event is not None and chunk.event[1]["suggested_step"] < 1e14


def test_a_network_that_cannot_move_stays() -> None:
    problem = parity("spectral", 5, 0)
    dead = replace(problem, start=Start(np.zeros(problem.network.size), problem.start.origin))
    assert not last_of(dead).any()


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"loss": {"kind": "squared"}}, 'loss.kind = "squared"'),
        ({"loss": {"kind": "logistic", "l2": 0.1}}, "loss.l2 = 0"),
        ({"loss": {"kind": "logistic", "l23": 0.1}}, "loss.l23"),
        ({"dynamics": {"kind": "steepest", "norm": "coordinate"}}, 'norm = "coordinate"'),
        (
            {
                "dynamics": {"kind": "steepest", "norm": "coordinate"},
                "network": {"kind": "fixed_outer", "m": 4, "slope": 0.5},
            },
            "with slope = 1",
        ),
    ],
    ids=str,
)
def test_what_does_not_go_with_it_is_refused(tables: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        build_experiment({"network": {"m": 4}, "dynamics": {"kind": "steepest"}, **tables}, "test")
    assert words in caught.value.sentence


@pytest.mark.parametrize("norm", ["sign", "l2", "spectral"])
@pytest.mark.parametrize(
    "case",
    [
        Case("standard", "exponential"),
        Case("bias", "logistic"),
        Case("multiclass", "cross_entropy", 3),
        Case("quadratic", "cross_entropy", 4),
    ],
    ids=str,
)
@pytest.mark.parametrize("size", [1.0, -30.0])
def test_compiled_steps_are_those_of_arrays(norm: str, case: Case, size: float) -> None:
    """Also from weights with margins of hundreds of both signs."""
    problem = small_problem(case, steepest(norm, 10, momentum=0.5))
    flat = size * np.abs(problem.start.parameters)
    started = prepare(replace(problem, start=Start(flat, flat)))
    ends = []
    for compiled in (True, False):
        one = make_integrator(started)
        assert isinstance(one, Steepest)
        if not compiled:
            one._work = None
        assert one._advance(8) == 8
        ends.append(one._flat())
    # A polar factor multiplies rounding by up to 1/sqrt(FLOOR) = 1e6.
    assert ends[0] == pytest.approx(ends[1], abs=1e-7 if norm == "spectral" else 1e-10)
    assert np.abs(ends[0] - flat).max() > 1e-3
