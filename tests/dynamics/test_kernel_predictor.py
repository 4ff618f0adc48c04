"""Kernel predictors against sampled networks, scikit-learn, certificates, and figures."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from core.data.dataset import Dataset
from core.dynamics.kernel_fit import hard_margin, kernel_start, ridge_coefficients
from core.dynamics.registry import make_integrator, prepare
from core.errors import InputError
from core.network.kernel_predictor import KernelNetwork, arc_cosine, tangent_kernel
from core.network.parametrisation import Shape
from core.problem.problem import Problem, points_for_test
from core.runs import Recorder, open_run
from core.study_file.validation import build_experiment
from core.training.continuation import continue_problem
from core.training.trajectory import run
from tests.frames_in_chunks import trajectory
from tests.problems import problem

KERNEL = ("dynamics.kind=kernel", "loss.kind=logistic")


def kernel(*settings: str) -> Problem:
    return prepare(problem(*KERNEL, *settings))


def fitted(at: Problem) -> np.ndarray:
    return np.asarray(list(trajectory(at))[-1].parameters)


def test_error(at: Problem) -> float:
    points = points_for_test(at)
    return float(np.mean(~(at.network.margins(fitted(at), points.x[::4], points.y[::4]) > 0)))


test_error.__test__ = False


def test_arc_cosine_kernels_are_means_over_gaussian_nodes() -> None:
    generator = np.random.default_rng(3)
    x, other = generator.standard_normal((3, 4)), generator.standard_normal((2, 4))
    w = generator.standard_normal((400_000, 4))
    z, z_other = w @ x.T, w @ other.T
    K1, K2 = arc_cosine(x, other)
    second = np.maximum(z, 0).T @ np.maximum(z_other, 0) / w.shape[0]
    first = (x @ other.T) * (((z > 0) * 1.0).T @ ((z_other > 0) * 1.0)) / w.shape[0]
    assert np.allclose(K2, second, atol=0.02)
    assert np.allclose(K1, first, atol=0.01)


def test_it_is_the_limit_of_the_network_s_tangent_kernel() -> None:
    """m -> infinity with a ~ N(0, 1), v ~ N(0, I/d): the mean of node gradients' products."""
    at = problem(m=40_000)
    flat = at.start.parameters.copy()
    flat[:40_000] *= 200.0  # a ~ N(0, 1)
    J = np.array([at.network.gradient(flat, at.inputs[i : i + 1], np.ones(1)) for i in range(6)])
    for weights, part in (("second", J[:, :40_000]), ("first", J[:, 40_000:]), ("both", J)):
        wanted = tangent_kernel(at.inputs[:6], at.inputs[:6], weights)
        assert np.allclose(part @ part.T / 40_000, wanted, atol=0.02 * wanted.max())


@pytest.mark.parametrize("weights", ["both", "first", "second"])
def test_ridge_equals_scikit_learn(weights: str) -> None:
    at = kernel(f"dynamics.weights={weights}", "dynamics.ridge=0.003", "dynamics.variance=0.4")
    x, points = at.dataset.x, points_for_test(at)

    def matrix(rows: np.ndarray) -> np.ndarray:
        first, second = arc_cosine(rows, x)
        return {"both": first + 0.4 * second, "first": first, "second": 0.4 * second}[weights]

    theirs = KernelRidge(alpha=0.003, kernel="precomputed").fit(matrix(x), at.dataset.y)
    wanted = theirs.predict(matrix(points.x[:50]))
    assert np.allclose(at.network.outputs(fitted(at), points.x[:50]), wanted, atol=1e-8)


def test_the_hard_margin_is_optimal() -> None:
    """docs/theory.md, 7.3: the arc-cosine margin is .081 at d = 20, n = 64, seed 0."""
    at = kernel("dynamics.hard=true")
    frames = list(trajectory(at))
    c, K, y = frames[-1].parameters, at.network.matrix, at.dataset.y
    margins = at.margins(c)
    assert margins.min() == pytest.approx(1.0, abs=1e-9)
    # Optimality: all coefficients push, and only on examples of margin 1.
    assert (y * c).min() >= 0.0
    assert np.abs((y * c) @ (margins - 1.0)) < 1e-8 * np.abs(c).sum()
    margin = 1.0 / np.sqrt(c @ K @ c)
    assert margin == pytest.approx(0.081, abs=0.0006)
    assert frames[-1].diagnostics["kernel_margin"] == pytest.approx(margin, rel=1e-9)
    assert frames[-1].diagnostics["gap"] < 1e-9
    assert at.network.norm_power(c) == pytest.approx(1.0 / margin, rel=1e-9)


def test_parity_needs_about_half_of_d_squared() -> None:
    """docs/theory.md, 7.5: d = 20, ridge 1e-8: n* = 188, .42-.55 d^2 over seeds and d."""
    errors = {
        n: [test_error(kernel(f"data.n={n}", f"run.seed={seed}")) for seed in range(3)]
        for n in (150, 230)
    }
    assert np.median(errors[150]) > 0.1 > np.median(errors[230])


def test_wei19_s_distribution_needs_d_squared() -> None:
    """docs/theory.md, 7.8: on (2.1) the error is .40-.44 at n = d^2/4 and .10 at n = d^2."""
    d = 20

    def draw(generator: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        x = generator.choice([-1.0, 1.0], (n, d))
        y = generator.choice([-1.0, 1.0], n)
        x[y > 0, 1] = 0.0
        x[y < 0, 0] = 0.0
        return x, y

    found = {}
    for n in (100, 400):
        errors = []
        for seed in range(3):
            generator = np.random.default_rng(seed)
            (x, y), (x_test, y_test) = draw(generator, n), draw(generator, 3000)
            c = ridge_coefficients(tangent_kernel(x, x, variance=1.0), y, 1e-8)
            f = tangent_kernel(x_test, x, variance=1.0) @ c
            errors.append(np.mean(~(y_test * f > 0)))
        found[n] = float(np.mean(errors))
    assert 0.39 < found[100] < 0.45
    assert found[400] == pytest.approx(0.10, abs=0.03)


def test_a_run_file_holds_the_predictor(tmp_path: Path) -> None:
    path = tmp_path / "kernel.msrun"
    status = run(problem(*KERNEL, "dynamics.hard=true"), partial(Recorder, path))
    assert status.reason.value == "completed"
    with open_run(path) as found:
        assert (found.frames, found.planned_frames) == (2, 2)
        assert found.network.kind == "kernel_predictor"
        assert found.log10_time.tolist() == [-np.inf, 0.0]
        assert np.all(found.parameters(0) == 0.0)
        again = kernel("dynamics.hard=true")
        assert np.array_equal(found.parameters(1), fitted(again))
        x = np.random.default_rng(0).standard_normal((5, 20))
        mine = found.network.outputs(found.parameters(1), found.as_network_inputs(x)[0])
        assert np.allclose(mine, again.network.outputs(fitted(again), x))
        assert prepare(found.problem).network is found.network
        with pytest.raises(InputError, match="cannot be continued"):
            continue_problem(found, None, [])


def test_the_network_s_derivatives() -> None:
    at = kernel()
    assert isinstance(at.network, KernelNetwork)
    generator = np.random.default_rng(0)
    c, direction = generator.standard_normal((2, 64))
    g, x = generator.standard_normal(5), generator.standard_normal((5, 20))
    along = at.network.derivative(c, x, direction)
    assert np.allclose(at.network.outputs(c + direction, x) - at.network.outputs(c, x), along)
    assert g @ along == pytest.approx(at.network.gradient(c, x, g) @ direction)
    assert np.isnan(at.network.nodes(c)[0]).all()
    assert at.network.norm(np.zeros(64)) == 0.0


def with_data(x: np.ndarray, y: np.ndarray, **settings: Any) -> Problem:
    tables = {"data": {"d": 2, "n": 3, "k": 1}, "network": {"m": 2}}
    at = problem()
    experiment = build_experiment({**tables, "dynamics": {"kind": "kernel", **settings}}, "here")
    network = at.network
    network = type(network)(experiment.network, Shape(2, x), {})
    return replace(at, experiment=experiment, dataset=Dataset(x, y), network=network)


def test_what_cannot_be_fitted_is_refused() -> None:
    x = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    same, opposed = np.array([1.0, 1.0, -1.0]), np.array([1.0, -1.0, -1.0])
    with pytest.raises(InputError, match="choose a larger ridge"):
        make_integrator(prepare(with_data(x, same, ridge=0.0)))
    with pytest.raises(InputError, match="classifies all examples"):
        make_integrator(prepare(with_data(x, opposed, hard=True)))
    c, margin, gap = hard_margin(tangent_kernel(x, x), same)
    assert margin > 0.1
    assert gap < 1e-12
    assert np.all(c * same >= 0)
    many = with_data(np.ones((2001, 2)), np.ones(2001), hard=True)
    with pytest.raises(InputError, match="choose at most 2000"):
        kernel_start(many)


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"network": {"kind": "bias", "m": 4}}, "infinite width of the standard network"),
        (
            {"network": {"kind": "multiclass", "m": 4}, "loss": {"kind": "cross_entropy"}},
            "standard",
        ),
        ({"loss": {"l2": 0.1}}, "ridge of its own"),
        ({"run": {"precision": "float32"}}, "float64"),
        ({"dynamics": {"hard": True, "ridge": 0.1}}, "has no ridge"),
        ({"dynamics": {"weights": "third"}}, "'both', 'first' or 'second'"),
    ],
)
def test_bad_settings_are_refused(tables: dict[str, Any], words: str) -> None:
    dynamics = {"kind": "kernel", **tables.get("dynamics", {})}
    with pytest.raises(InputError, match=words):
        build_experiment({"network": {"m": 4}, **tables, "dynamics": dynamics}, "here")
