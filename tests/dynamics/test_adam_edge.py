"""Stability of Adam: the dense preconditioned Hessian, the edge of a quadratic, its moments."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh

from core.dynamics.batch_engine import ArrayEngine, CompiledEngine
from core.dynamics.curvature import Curvature
from core.dynamics.preconditioning import preconditioned_sharpness, preconditioner
from core.dynamics.update_rule import Rule
from core.observables.edges import find_preconditioned, has_moments
from core.observables.registry import OBSERVABLES
from core.observables.solver_state import state_at
from core.problem.problem import Problem
from core.runs import Recorder, Run, open_run
from core.training.trajectory import run as train
from tests.frames_in_chunks import trajectory
from tests.networks import Case, small_problem
from tests.support.continued_runs import continued_at, recorded_at

Array = np.ndarray
NAMES = ("stability", "preconditioned_sharpness")


def adam(**settings: Any) -> dict[str, Any]:
    return {"kind": "adam", "step": 0.02, "until_log10_time": 0.3, **settings}


def recorded(problem: Problem, path: Path) -> Run:
    train(problem, partial(Recorder, path))
    return open_run(path)


def gradient(problem: Problem, flat: Array) -> Array:
    f, y = problem.outputs(flat), problem.dataset.y
    g = problem.loss.output_gradient(f, y) / y.size
    slope = problem.network.gradient(flat, problem.inputs, g)
    return np.asarray(slope + 2.0 * problem.experiment.loss.l2 * flat)


def hessian(problem: Problem, flat: Array) -> Array:
    """Return the Hessian by central differences of the gradient."""
    h, rows = 1e-5, []
    for unit in np.eye(flat.size):
        ahead, back = gradient(problem, flat + h * unit), gradient(problem, flat - h * unit)
        rows.append((ahead - back) / (2.0 * h))
    return np.asarray(0.5 * (np.array(rows) + np.array(rows).T))


@pytest.mark.parametrize("decay", [0.0, 0.5])
def test_values_are_those_of_the_dense_matrices(tmp_path: Path, decay: float) -> None:
    """With the moments of Adam as published, in a loop of its own, at every frame."""
    case = Case("fixed_outer", "logistic", settings={"smooth": True})
    b1, b2, eps, eta = 0.8, 0.99, 1e-3, 0.02
    dynamics = adam(beta1=b1, beta2=b2, eps=eps, weight_decay=decay)
    problem = small_problem(case, dynamics, d=4, n=8, m=5, loss={"l2": 0.01})
    W = problem.start.parameters.copy()
    first, second = np.zeros_like(W), np.zeros_like(W)
    with closing(recorded(problem, tmp_path / "a.msrun")) as run:
        steps = run.steps.tolist()
        assert len(steps) >= 5
        for t in range(1, steps[-1] + 1):
            g = gradient(problem, W)
            first, second = b1 * first + (1 - b1) * g, b2 * second + (1 - b2) * g * g
            root = np.sqrt(second / (1 - b2**t)) + eps
            W = W - eta * decay * W - eta * first / (1 - b1**t) / root
            if t in steps:
                index = steps.index(t)
                assert run.parameters(index) == pytest.approx(W, rel=1e-9)
                P = (1 - b1**t) * root
                wanted = eigh(hessian(problem, W), np.diag(P), eigvals_only=True)[-1]
                found = [OBSERVABLES[name].value_at(run, index) for name in NAMES]
                edge = (2 - eta * decay) * (1 + b1) / ((1 - b1) * eta)
                assert found == pytest.approx([wanted / edge, wanted], rel=1e-4)
        assert all(np.isnan(OBSERVABLES[name].value_at(run, 0)) for name in NAMES)
        landmark = OBSERVABLES["preconditioned_sharpness"].landmark
        assert landmark is not None
        line = landmark(run)
        assert line is not None and line.value == pytest.approx(edge)


def test_lanczos_agrees_with_the_whole_matrix() -> None:
    """Where some weights do not move."""
    problem = small_problem(Case("standard", "logistic"), d=40, n=30, m=40)
    flat = problem.start.parameters
    P = np.random.default_rng(3).uniform(0.01, 2.0, flat.size)
    P[:7] = 0.0
    top = preconditioned_sharpness(problem, flat, P, 1e-7)
    kept = P > 0.0
    H = Curvature(problem, flat).dense()[np.ix_(kept, kept)]
    wanted = eigh(H, np.diag(P[kept]), eigvals_only=True)[-1]
    assert top.largest == pytest.approx(wanted, rel=1e-6)


def test_the_diagonal_where_the_loss_underflows() -> None:
    """Roots times 2^k are those of the plain moments."""
    dynamics = small_problem(Case("standard"), adam(eps=1e-8)).experiment.dynamics
    v = np.array([1e-4, 4e-6, 0.0])
    powers, k = np.array([0.5, 0.9]), 40
    plain = {"second": v, "powers": powers, "scale": np.zeros(1)}
    late = {"second": np.sqrt(v) * 2.0**k, "powers": powers, "scale": np.array([float(k)])}
    wanted = 0.5 * (np.sqrt(v / 0.1) + 1e-8)
    for state in (plain, late):
        assert preconditioner(dynamics, state) == pytest.approx(wanted, rel=1e-14)


@pytest.mark.parametrize("make", [CompiledEngine, ArrayEngine])
@pytest.mark.parametrize(("beta", "decay"), [(0.0, 0.0), (0.5, 0.1), (0.9, 0.0)])
def test_a_quadratic_diverges_above_the_edge_alone(make: Any, beta: float, decay: float) -> None:
    """A linear predictor with targets 0, whose v is held fixed (beta_2 = 1) late in the run."""
    case = Case("fixed_outer", "least_squares", settings={"slope": 1.0})
    problem = small_problem(case, d=5, n=12, m=2)
    problem = replace(problem, dataset=replace(problem.dataset, y=np.zeros(12)))
    v = np.random.default_rng(1).uniform(0.1, 2.0, problem.network.size)
    P = np.sqrt(v) + 0.1
    S = preconditioned_sharpness(problem, problem.start.parameters, P, 1e-12).largest
    for factor in (0.97, 1.03):
        # S = factor (2 - eta decay)(1 + beta)/((1 - beta) eta), solved for eta.
        ratio = factor * (1.0 + beta) / ((1.0 - beta) * S)
        eta = 2.0 * ratio / (1.0 + decay * ratio)
        rule = Rule(eta, True, beta, 1.0, 0.1, decay)
        engine = make(problem, rule, np.float64, 1e300, 12, full=True)
        engine.parts()["powers"][:] = 0.0
        engine.parts()["second"][:] = v
        engine.current[:] = 1e-6 * np.arange(1.0, P.size + 1.0)
        before = float(np.abs(problem.outputs(engine.flat())).max())
        assert engine.take_steps(np.zeros((0, 1)), np.zeros(0), 100) == 100
        away = float(np.abs(problem.outputs(engine.flat())).max()) / before
        assert (away < 0.5) if factor < 1.0 else (away > 20.0)


def test_decay_lowers_the_edge() -> None:
    """Roots of z = 1 - eta decay - eta S (1 - b)z/(z - b): -1 exactly at the edge."""
    beta, eta, decay = 0.9, 3.0, 0.2
    S = (2.0 - eta * decay) * (1.0 + beta) / ((1.0 - beta) * eta)
    step = np.array(
        [[1.0 - eta * decay - eta * S * (1.0 - beta), -eta * beta], [(1.0 - beta) * S, beta]]
    )
    values = np.linalg.eigvals(step)
    assert np.abs(values + 1.0).min() < 1e-12
    assert np.abs(values).max() == pytest.approx(1.0, abs=1e-12)


def test_a_frame_has_one_value_in_any_order_and_after_a_continuation(tmp_path: Path) -> None:
    problem = small_problem(Case("standard"), adam(until_log10_time=0.6))
    path, further = tmp_path / "a.msrun", tmp_path / "b.msrun"
    recorded_at(path, problem)
    values = []
    for order in (1, -1):
        with closing(open_run(path)) as run:
            at = {i: find_preconditioned(run, i).tolist() for i in range(1, run.frames)[::order]}
            values.append([at[index] for index in sorted(at)])
            state = state_at(run, run.frames - 1)
            stored = run.state(run.frames - 1)
            assert state is not None and stored is not None
            assert all(np.array_equal(state[name], stored[name]) for name in stored)
            whole = {int(step): at[i] for i, step in enumerate(run.steps) if i}
    assert values[0] == values[1]
    assert np.isfinite(values[0]).all()
    continued_at(further, path, frame=3)
    with closing(open_run(further)) as run:
        found = {int(run.steps[i]): find_preconditioned(run, i).tolist() for i in range(run.frames)}
        assert found == {step: whole[step] for step in found}
        both = run.whole_run
        assert both.frames > run.frames
        for i in range(1, both.frames):
            assert find_preconditioned(both, i).tolist() == whole[int(both.steps[i])]


def test_moments_that_cannot_be_repeated_are_unknown(tmp_path: Path) -> None:
    for key, value in (("batch", 5), ("schedule", "linear")):
        problem = small_problem(Case("standard"), adam(**{key: value}))
        with closing(recorded(problem, tmp_path / f"{key}.msrun")) as run:
            assert not has_moments(run)
            assert not any(OBSERVABLES[name].applies(run) for name in NAMES)
            assert np.isnan(OBSERVABLES["stability"].value_at(run, 2))


def test_steps_that_end_elsewhere_do_not_count(tmp_path: Path) -> None:
    """A file whose frames are not those of its settings: no value is invented."""
    problem = small_problem(Case("standard"), adam(step=0.03))
    frames = list(trajectory(small_problem(Case("standard"), adam(step=0.031))))
    path = tmp_path / "a.msrun"
    recorder = Recorder(path, problem, engine="test", planned=len(frames), temperature_cap=None)
    recorder.append(frames)
    recorder.finish("completed")
    with closing(open_run(path)) as run:
        assert run.frames == len(frames)
        assert np.isnan(find_preconditioned(run, 2)).all()
