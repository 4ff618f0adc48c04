"""The tangent kernel's observables: dense Jacobians, corners of the cube, laws of the start."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from core.network.kernel_predictor import arc_cosine, mean_squares, tangent_kernel
from core.observables.registry import OBSERVABLES
from core.observables.tangent_kernel import (
    alignment_of,
    centre,
    distance_of,
    effective_rank_of,
    kernel_limit,
)
from core.runs import Recorder, Run, open_run
from core.training.trajectory import run as train
from tests.networks import TWO_LAYER, UNCOMPILED, Case, small_problem

DESCENT = {"kind": "gd", "step": 0.05, "until_log10_time": 0.5}
NAMES = ("kernel_alignment", "centred_alignment", "kernel_rank", "kernel_distance")
STANDARD = "paper", "normal", "small", "balanced"


def recorded(problem: object, path: Path) -> Run:
    train(problem, lambda problem, **facts: Recorder(path, problem, **facts))
    return open_run(path)


def dense(run: Run, flat: np.ndarray) -> np.ndarray:
    J = np.array(list(run.network.output_slopes(flat, run.inputs)))
    return np.asarray(J @ J.T)


@pytest.mark.parametrize("case", (*TWO_LAYER, *UNCOMPILED), ids=str)
def test_every_network_has_them_from_its_dense_jacobian(case: Case, tmp_path: Path) -> None:
    problem = small_problem(case, DESCENT, recording={"frames": 3})
    with recorded(problem, tmp_path / "a.msrun") as run:
        last, n, k = run.frames - 1, run.dataset.n, run.network.k
        K, K0 = (dense(run, flat) for flat in (run.physical_parameters(last), run.origin))
        y = run.dataset.y if k == 1 else np.eye(k)[run.dataset.y.astype(int)].reshape(-1) - 1.0 / k
        H = np.eye(n * k) - 1.0 / (n * k)
        expected = [
            y @ K @ y / (np.sqrt(np.trace(K @ K)) * (y @ y)),
            y @ H @ K @ H @ y / (np.linalg.norm(H @ K @ H) * (y @ H @ y)),
            np.linalg.eigvalsh(K).sum() ** 2 / (np.linalg.eigvalsh(K) ** 2).sum(),
            1.0 - np.sum(K * K0) / (np.linalg.norm(K) * np.linalg.norm(K0)),
        ]
        found = [float(OBSERVABLES[name].value_at(run, last)) for name in NAMES]
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-13)
        assert OBSERVABLES["kernel_distance"].value_at(run, 0) == 0.0


@pytest.mark.parametrize(
    ("d", "k", "plain", "centred"),
    [
        *((4, 2, 0.168436, 0.192066), (6, 2, 0.090483, 0.099617), (8, 2, 0.056617, 0.061153)),
        *((10, 2, 0.039609, 0.042252), (8, 4, 0.005807, 0.006272)),
    ],
)
def test_parities_on_all_corners(d: int, k: int, plain: float, centred: float) -> None:
    """chi_k is an eigenvector of every kernel of distances; eigenvalues by Krawtchouk numbers."""
    x = np.array(list(itertools.product([-1.0, 1.0], repeat=d))) / np.sqrt(d)
    y = np.prod(np.sign(x[:, :k]), axis=1)
    K = tangent_kernel(x, x)
    assert alignment_of(K, y) == pytest.approx(plain, abs=6e-7)
    assert alignment_of(centre(K), y) == pytest.approx(centred, abs=6e-7)
    assert np.abs(K @ y - (K @ y)[0] * y[0] * y).max() < 1e-12


def test_means_of_squares_by_quadrature() -> None:
    """v in the plane of x and x': r^4 has the mean 8, and the angle is uniform."""
    generator = np.random.default_rng(4)
    x, other = generator.normal(size=(5, 2)), generator.normal(size=(4, 2))
    other[0], other[1] = x[0], -x[1]
    angle = 2.0 * np.pi * (np.arange(200_000) + 0.5) / 200_000
    u = np.stack([np.cos(angle), np.sin(angle)])
    first, second = np.maximum(x @ u, 0.0) ** 2, np.maximum(other @ u, 0.0) ** 2
    assert mean_squares(x, other) == pytest.approx(8.0 * first @ second.T / angle.size, abs=1e-9)


@pytest.mark.parametrize("init", STANDARD)
def test_the_kernel_at_the_start_has_this_mean_and_deviation(init: str, tmp_path: Path) -> None:
    """Mean over 40,000 nodes' kernels, drawn here as the start's law says; and the mean square."""
    problem = small_problem(Case("standard", settings={"init": init}), DESCENT)
    with recorded(problem, tmp_path / "a.msrun") as run:
        limit = kernel_limit(run)
        assert limit is not None
        m, (n, d), x = run.network.m, run.dataset.x.shape, run.dataset.x
        generator, count = np.random.default_rng(5), 40_000
        a, V = generator.standard_normal(count), generator.standard_normal((count, d))
        if init == "paper":
            a, V = a / np.sqrt(m), V / np.sqrt(d)
        elif init == "small":
            a, V = 0.01 * a, 0.01 * V
        elif init == "balanced":
            V = V * 1e-3 / np.sqrt(m)
            a = np.linalg.norm(V, axis=1)
        h = np.maximum(V @ x.T, 0.0)
        nodes = np.einsum("j,ji,jk->jik", a**2, (h > 0.0) * 1.0, (h > 0.0) * 1.0) * (x @ x.T)
        nodes += np.einsum("ji,jk->jik", h, h)
        mean = m * nodes.mean(axis=0)
        assert np.linalg.norm(limit.mean - mean) < 0.03 * np.linalg.norm(mean)
        spread = np.sum((m * nodes - mean) ** 2, axis=(1, 2)).mean() / m
        assert limit.deviation == pytest.approx(np.sqrt(spread) / np.linalg.norm(mean), rel=0.05)
        assert n == mean.shape[0]


def test_the_deviation_falls_with_the_root_of_the_width(tmp_path: Path) -> None:
    """One start at each width: within a factor of two of the root mean square."""
    found = []
    for m in (64, 1024):
        problem = small_problem(Case("standard", settings={"init": "normal"}), DESCENT, m=m)
        with recorded(problem, tmp_path / f"{m}.msrun") as run:
            mark = OBSERVABLES["kernel_deviation"].landmark
            assert mark is not None
            expected = mark(run)
            assert expected is not None
            value = float(OBSERVABLES["kernel_deviation"].value_at(run, 0))
            assert 0.5 * expected.value < value < 2.0 * expected.value
            found.append(expected.value)
    assert found[0] == pytest.approx(4.0 * found[1], rel=1e-9)


def test_a_factor_changes_none_of_them() -> None:
    generator = np.random.default_rng(0)
    root, y = generator.normal(size=(6, 9)), generator.choice([-1.0, 1.0], 6)
    K = root @ root.T
    assert distance_of(K, 7.0 * K) < 1e-30
    assert alignment_of(7.0 * K, y) == pytest.approx(alignment_of(K, y), rel=1e-12)
    for scale in (1e200, 1e-200):  # whose squares are beyond float64
        assert alignment_of(scale * K, y) == pytest.approx(alignment_of(K, y), rel=1e-12)
        assert effective_rank_of(scale * K) == pytest.approx(effective_rank_of(K), rel=1e-12)
        assert distance_of(scale * K, K) < 1e-30
    assert effective_rank_of(np.eye(5)) == pytest.approx(5.0)
    assert effective_rank_of(np.outer(y, y)) == pytest.approx(1.0)
    assert np.abs(centre(K).sum(axis=0)).max() < 1e-12


def test_small_distances_keep_their_digits() -> None:
    K = np.eye(4)
    other = K.copy()
    other[0, 1] = other[1, 0] = 1e-9
    assert distance_of(K, other) == pytest.approx(0.25e-18, rel=1e-6)


def test_zero_kernels_and_targets_have_no_angle() -> None:
    zero = np.zeros((3, 3))
    assert np.isnan(alignment_of(zero, np.ones(3)))
    assert np.isnan(alignment_of(np.eye(3), np.zeros(3)))
    assert np.isnan(distance_of(zero, np.eye(3)))
    assert np.isnan(effective_rank_of(zero))


def test_without_an_exact_mean_there_is_no_deviation(tmp_path: Path) -> None:
    problem = small_problem(Case("standard", settings={"slope": 0.3}), DESCENT)
    with recorded(problem, tmp_path / "a.msrun") as run:
        assert not OBSERVABLES["kernel_deviation"].applies(run)
        assert np.isnan(OBSERVABLES["kernel_deviation"].value_at(run, 0))
        landmark = OBSERVABLES["kernel_alignment"].landmark
        assert landmark is not None
        assert landmark(run) is None


def test_the_kernel_of_the_first_layer_is_known() -> None:
    x = np.eye(2)
    first, second = arc_cosine(x, x)
    assert first[0, 0] == second[0, 0] == 0.5
