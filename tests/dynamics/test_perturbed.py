"""The perturbed Wasserstein flow against a plain loop and a convex program on a grid."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, takewhile
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from core.dynamics.perturbed_flow import PerturbedDescent, Replacements, perturbed_start
from core.dynamics.registry import prepare
from core.dynamics.step_size import default_step
from core.errors import InputError
from core.network.standard import draw_on_sphere
from core.problem.problem import Problem, Start, points_for_test
from core.study_file.validation import build_experiment
from tests.frames_in_chunks import check_small_chunks, trajectory
from tests.problems import problem

L2 = 2e-3
FLOW = ("dynamics.kind=perturbed", f"loss.l2={L2}", "loss.kind=logistic", "recording.frames=4")


def perturbed(*settings: str, m: int = 60) -> Problem:
    """Return Parity in the plane of four coordinates, unless settings say otherwise."""
    return prepare(problem(*FLOW, "data.d=4", "recording.log10_times=[]", *settings, m=m))


def objective(at: Problem, flat: np.ndarray) -> float:
    """Return R + lambda |W|^2."""
    return float(at.loss.value(at.margins(flat)).mean() + L2 * flat @ flat)


def least(at: Problem, nodes: np.ndarray) -> float:
    """inf L: min over alpha of mean l(y F alpha) + 2 lambda |alpha|_1 on many unit directions.

    A node (a, v) counts |a| |v| <= (a^2 + v^2)/2 there. The nodes' own directions are among them.
    """
    grid = draw_on_sphere(np.random.default_rng(9), 2000, at.dataset.d)
    V = nodes.reshape(at.network.m, -1)
    directions = np.concatenate([grid, V / np.linalg.norm(V, axis=1, keepdims=True)])
    F = at.dataset.y[:, None] * np.maximum(at.dataset.x @ directions.T, 0.0)
    Z = np.concatenate([F, -F], axis=1)

    def value(alpha: np.ndarray) -> tuple[float, np.ndarray]:
        p = Z @ alpha
        slope = Z.T @ at.loss.slope(p) / p.size + 2.0 * L2
        return float(at.loss.value(p).mean() + 2.0 * L2 * alpha.sum()), slope

    begin = np.full(Z.shape[1], 1e-3)
    bounds, options = [(0, None)] * begin.size, {"ftol": 1e-13, "maxiter": 3000, "maxfun": 4000}
    found = minimize(value, begin, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return float(found.fun)


def test_without_noise_it_is_descent() -> None:
    at = perturbed("dynamics.sigma=0", "dynamics.step=0.25", "dynamics.until_log10_time=1.5")
    flat = at.start.parameters.copy()
    frames = list(trajectory(at))
    for _ in range(frames[-1].step):
        g = at.loss.output_gradient(at.outputs(flat), at.dataset.y) / 64
        flat -= 0.25 * (at.network.gradient(flat, at.inputs, g) + 2 * L2 * flat)
    assert np.allclose(frames[-1].parameters, flat, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("particles", ["sphere", "atom", "network"])
def test_where_the_particles_start(particles: str) -> None:
    at = perturbed(f"dynamics.particles={particles}")
    a, V = at.network.effective(at.start.parameters)
    lengths = np.sqrt(60 * (a**2 + (V**2).sum(axis=1)))
    assert np.allclose(lengths, 1.0) == (particles != "network")
    assert (np.ptp(a) == 0.0) == (particles == "atom")
    assert np.array_equal(at.start.parameters, at.start.origin)
    assert np.array_equal(prepare(at).start.parameters, at.start.parameters)
    assert np.array_equal(next(trajectory(at)).parameters, at.start.parameters)


def test_the_default_step() -> None:
    at = perturbed()
    assert at.experiment.dynamics.step == pytest.approx(1.0)  # |x_i| = 1
    assert default_step(at) > 1.0
    steep = perturbed("dynamics.particles=network", m=4000)
    assert steep.experiment.dynamics.step == default_step(steep) < 1.0


def test_replacements_are_uniform_and_as_many_as_sigma_says() -> None:
    source = Replacements(np.random.default_rng(0), 50, 4, 0.002)
    found = list(
        takewhile(lambda item: item[0] <= 20_000, iter(lambda: source.find_next(20_000), None))
    )
    count = sum(which.size for _, which, _ in found)
    assert count == pytest.approx(50 * 20_000 * 0.002, abs=4 * np.sqrt(2000))
    steps = [step for step, _, _ in found]
    assert steps == sorted(set(steps))
    points = np.concatenate([points for _, _, points in found]) * np.sqrt(50)
    assert np.allclose(np.linalg.norm(points, axis=1), 1.0)
    assert np.allclose(points.mean(axis=0), 0.0, atol=4 / np.sqrt(5 * count))
    assert np.allclose(points.T @ points / count, np.eye(5) / 5, atol=0.02)
    everyone = np.concatenate([which for _, which, _ in found])
    assert np.bincount(everyone, minlength=50).min() > 10
    assert Replacements(np.random.default_rng(0), 50, 4, 0.0).find_next(10**6) is None


def test_replacements_are_drawn_no_further_than_the_run_goes() -> None:
    """At eta sigma = 1e-90 the search for the next one never ended, before the first step."""
    rare = Replacements(np.random.default_rng(0), 50, 4, 1e-90)
    assert rare.find_next(10**6) is None
    at = perturbed("dynamics.step=0.01", "dynamics.sigma=1e-90", "dynamics.until_log10_time=1")
    still = perturbed("dynamics.step=0.01", "dynamics.sigma=0", "dynamics.until_log10_time=1")
    frames, wanted = list(trajectory(at)), list(trajectory(still))
    assert len(frames) == len(wanted) == 4
    assert np.array_equal(frames[-1].parameters, wanted[-1].parameters)


def test_looking_ahead_in_pieces_changes_nothing() -> None:
    at_once = Replacements(np.random.default_rng(0), 50, 4, 1e-4)
    whole = list(islice(iter(lambda: at_once.find_next(10**6), None), 30))
    pieces, made, last = Replacements(np.random.default_rng(0), 50, 4, 1e-4), [], 0
    while len(made) < 30:
        last += 7
        while (found := pieces.find_next(last)) is not None:
            made.append(found)
    for one, other in zip(whole, made, strict=False):
        assert one[0] == other[0]
        assert np.array_equal(one[1], other[1])
        assert np.array_equal(one[2], other[2])


def test_noise_finds_the_global_optimum_from_one_atom() -> None:
    """wei19, Theorem 3.3: min L -> L*; without noise one atom stays one neuron."""
    settings = ("dynamics.step=0.25", "dynamics.until_log10_time=3.3", "dynamics.particles=atom")
    stuck = perturbed(*settings, "dynamics.sigma=0")
    noisy = perturbed(*settings, "dynamics.sigma=0.001", m=300)
    first, last = (list(trajectory(at))[-1].parameters for at in (stuck, noisy))
    best = least(noisy, last[300:])
    directions = first[60:].reshape(60, 4)
    assert np.allclose(directions, directions[0])
    assert objective(stuck, first) > 3.0 * best
    assert best * 0.9999 < objective(noisy, last) < 1.02 * best


def test_from_one_atom_in_the_plane() -> None:
    """docs/theory.md, 7.5: sigma = 0 sticks at .50-.54, sigma = 1e-3 reaches .082."""
    settings = ("data.d=2", "dynamics.particles=atom", "dynamics.step=0.5")
    until = f"dynamics.until_log10_time={np.log10(1500.0)}"
    stuck, reached = (
        [
            objective(at, list(trajectory(at))[-1].parameters)
            for at in (
                perturbed(*settings, until, f"dynamics.sigma={sigma}", f"run.seed={seed}", m=300)
                for seed in range(3)
            )
        ]
        for sigma in (0.0, 0.001)
    )
    assert 0.49 < min(stuck) < np.median(stuck) < 0.56
    assert np.allclose(reached, 0.082, atol=0.001)


def test_parity_is_learned_with_3_d_samples() -> None:
    """docs/theory.md, 7.5: 300 particles, 3000 steps; n* = 3.2 d (4.9 scales the settings)."""
    errors: dict[int, list[float]] = {44: [], 90: []}
    step = 20**-0.5
    for n, found in errors.items():
        for seed in range(3):
            settings = (f"data.n={n}", f"run.seed={seed}", f"dynamics.step={step}")
            until = f"dynamics.until_log10_time={np.log10(3000 * step)}"
            at = perturbed("data.d=20", *settings, until, f"loss.l2={L2 * step}", m=300)
            last, points = list(trajectory(at))[-1], points_for_test(at)
            assert last.step == 3000
            margins = at.network.margins(last.parameters, points.x[::4], points.y[::4])
            found.append(float(np.mean(~(margins > 0))))
    assert np.median(errors[90]) < 0.1 < np.median(errors[44])


def test_results_do_not_depend_on_the_chunks() -> None:
    at = perturbed("dynamics.sigma=0.5", "dynamics.until_log10_time=1.5", "run.precision=float32")
    check_small_chunks(PerturbedDescent(at), list(trajectory(at)))


def test_a_continued_run_is_the_same_run() -> None:
    at = perturbed("dynamics.sigma=0.2", "dynamics.step=0.25", "dynamics.until_log10_time=2")
    frames = list(trajectory(at))
    middle = frames[-2]
    start = Start(
        middle.parameters, at.start.origin, 0.0, middle.step, middle.log10_time, {"file": "x"}
    )
    last = list(trajectory(prepare(replace(at, start=start))))[-1]
    assert last.step == frames[-1].step
    assert np.array_equal(last.parameters, frames[-1].parameters)
    assert perturbed_start(replace(at, start=start)).start is start


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"network": {"kind": "scalar", "m": 4}}, "moves particles"),
        ({"dynamics": {"sigma": -1.0}}, "greater than or equal to 0"),
        ({"dynamics": {"particles": "atoms"}}, "'sphere', 'atom' or 'network'"),
    ],
)
def test_bad_settings_are_refused(tables: dict[str, Any], words: str) -> None:
    dynamics = {"kind": "perturbed", **tables.get("dynamics", {})}
    with pytest.raises(InputError, match=words):
        build_experiment({"network": {"m": 4}, **tables, "dynamics": dynamics}, "here")
