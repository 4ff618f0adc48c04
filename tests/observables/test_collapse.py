"""Neural collapse: nets that are collapsed exactly, the law of noise, and dense matrices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.observables.collapse import Collapse, measure_collapse
from core.observables.registry import OBSERVABLES
from core.runs import Recorder, open_run
from core.training.trajectory import run as train
from tests.networks import Case, small_problem

DESCENT = {"kind": "gd", "step": 0.05, "until_log10_time": 0.5}
NAMES = ("nc1", "nc2_angles", "nc2_lengths", "nc3", "nc4")


def values(one: Collapse) -> list[float]:
    return [one.within, one.angles, one.lengths, one.duality, one.nearest]


@pytest.mark.parametrize("k", [3, 5])
def test_a_collapsed_network_has_none_left(k: int) -> None:
    """h = e_c and W = I - 1/k, in any rotation of the features."""
    y = np.repeat(np.arange(k), 4)
    rotation = np.linalg.qr(np.random.default_rng(k).normal(size=(k + 2, k)))[0]
    h, W = np.eye(k)[y] @ rotation.T, (np.eye(k) - 1.0 / k) @ rotation.T
    assert values(measure_collapse(h, W, y, h @ W.T)) == pytest.approx([0.0] * 5, abs=1e-14)


def test_noise_within_classes_has_its_law() -> None:
    """h = e_c + N(0, s^2 I_k): NC1 is s^2 (k - 1)(1 - 1/n_c) in the mean; here .0390."""
    k, each, s = 5, 40, 0.1
    y = np.repeat(np.arange(k), each)
    generator = np.random.default_rng(0)
    found = []
    for _ in range(60):
        h = np.eye(k)[y] + s * generator.normal(size=(y.size, k))
        found.append(measure_collapse(h, np.eye(k), y, h).within)
    assert np.mean(found) == pytest.approx(s**2 * (k - 1) * (1.0 - 1.0 / each), rel=0.03)


def test_dense_matrices_give_the_same() -> None:
    generator = np.random.default_rng(2)
    n, m, k = 30, 7, 4
    y = np.arange(n) % k
    h, W = np.maximum(generator.normal(size=(n, m)), 0.0), generator.normal(size=(k, m))
    means = np.array([h[y == c].mean(axis=0) for c in range(k)])
    M, D = means - means.mean(axis=0), h - means[y]
    between = np.linalg.pinv(M.T @ M / k, rcond=1e-10, hermitian=True)
    found = measure_collapse(h, W, y, h @ W.T)
    assert found.within == pytest.approx(np.trace(D.T @ D / n @ between) / k, rel=1e-9)
    pairs = [
        M[b] @ M[c] / (np.linalg.norm(M[b]) * np.linalg.norm(M[c]))
        for b in range(k)
        for c in range(k)
        if b != c
    ]
    assert found.angles == pytest.approx(np.mean([abs(one + 1.0 / (k - 1)) for one in pairs]))
    distances = np.linalg.norm(h[:, None] - means[None], axis=2)
    wrong = np.mean(distances.argmin(axis=1) != (h @ W.T).argmax(axis=1))
    assert found.nearest == pytest.approx(wrong)


def test_tiny_features_collapse_as_others() -> None:
    """Squares of features of 1e-180 are below float64; a power of two changes no digit."""
    generator, y = np.random.default_rng(4), np.arange(12) % 3
    h, W = generator.standard_normal((12, 5)), generator.standard_normal((3, 5))
    wanted = values(measure_collapse(h, W, y, h @ W.T))
    assert values(measure_collapse(h * 2.0**-600, W * 2.0**-700, y, h @ W.T)) == wanted


def test_equal_means_have_no_angle_and_no_warning() -> None:
    y = np.arange(6) % 3
    found = measure_collapse(np.ones((6, 4)), np.ones((3, 4)), y, np.ones((6, 3)))
    assert np.isnan([found.within, found.angles, found.lengths, found.duality]).all()


@pytest.mark.parametrize("biases", [False, True])
def test_a_run_of_several_classes_has_them(biases: bool, tmp_path: Path) -> None:
    case = Case("multiclass", "cross_entropy", 3, {"biases": biases})
    path = tmp_path / "a.msrun"
    problem = small_problem(case, DESCENT)
    train(problem, lambda problem, **facts: Recorder(path, problem, **facts))
    with open_run(path) as run:
        flat, last = run.physical_parameters(run.frames - 1), run.frames - 1
        parts = run.network.unpack(flat)
        x = run.inputs
        V = np.c_[parts["V"], parts["b"]] if biases else parts["V"]
        h = np.maximum(x @ V.T, 0.0)
        expected = measure_collapse(h, parts["A"].T, run.dataset.y, h @ parts["A"])
        found = [float(OBSERVABLES[name].value_at(run, last)) for name in NAMES]
        assert found == pytest.approx(values(expected), rel=1e-9, abs=1e-14)


def test_a_class_without_examples_has_no_mean(tmp_path: Path) -> None:
    problem = small_problem(Case("multiclass", "cross_entropy", 4), DESCENT, n=3)
    path = tmp_path / "a.msrun"
    train(problem, lambda problem, **facts: Recorder(path, problem, **facts))
    with open_run(path) as run:
        assert not OBSERVABLES["nc1"].applies(run)
        assert np.isnan(OBSERVABLES["nc1"].value_at(run, 0))


def test_two_classes_have_none(tmp_path: Path) -> None:
    path = tmp_path / "a.msrun"
    train(
        small_problem(Case("standard"), DESCENT),
        lambda problem, **facts: Recorder(path, problem, **facts),
    )
    with open_run(path) as run:
        assert not OBSERVABLES["nc1"].applies(run)
        assert np.isnan(OBSERVABLES["nc1"].value_at(run, 0))
