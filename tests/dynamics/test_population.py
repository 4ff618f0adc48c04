"""The population flow, the exact risk as an observable, and its ODE beside other runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import erf

from core.dynamics.registry import prepare
from core.errors import InputError
from core.network.gaussian_inputs import ReluTeacher
from core.network.hermite_inputs import overlap_time
from core.observables.registry import OBSERVABLES, predict
from core.problem.problem import Problem, resolve_problem
from core.problem.teacher import teacher_of
from core.runs import Recorder, Run, open_run
from core.study_file.validation import build_experiment
from core.training.trajectory import run as train
from tests.observables.columns import scalar_columns

DATA = {"kind": "regression", "d": 6, "n": 40, "units": 2}
ERF = {"data": {"neurons": "erf", "teacher": "orthonormal"}}
COMMITTEE = {"kind": "committee", "m": 2, "init": "overlap", "overlap": 0.1}
HERMITE = {
    "data": {"neurons": "hermite", "units": 1, "degree": 3},
    "network": {"kind": "single_index", "m": 1, "init": "overlap"},
}
FLOW = {"kind": "population", "step": 0.05, "until_log10_time": 0.7}


def problem(**tables: dict[str, Any]) -> Problem:
    made = {
        "data": {**DATA, **tables.pop("data", {})},
        "network": {"kind": "standard", "m": 3, **tables.pop("network", {})},
        "loss": {"kind": "least_squares"},
        "dynamics": FLOW,
        "recording": {"frames": 20},
        **tables,
    }
    return prepare(resolve_problem(build_experiment(made, "test")))


def recorded(folder: Path, **tables: Any) -> Run:
    path = folder / "run.msrun"
    train(problem(**tables), lambda made, **facts: Recorder(path, made, **facts))
    return open_run(path)


def test_the_flow_is_that_of_another_integrator(tmp_path: Path) -> None:
    with recorded(tmp_path) as run:
        teacher, size = teacher_of(run.problem), run.network.m

        def slope(_: float, flat: np.ndarray) -> np.ndarray:
            d_a, d_W = teacher.gradient(flat[:size], flat[size:].reshape(size, -1))
            return -np.concatenate([d_a, d_W.ravel()])

        t = np.asarray(run.t)
        found = solve_ivp(
            slope,
            (0.0, t[-1] + 1e-9),
            run.origin,
            t_eval=t,
            method="DOP853",
            rtol=1e-11,
            atol=1e-13,
        )
        for index in range(run.frames):
            assert np.abs(run.physical_parameters(index) - found.y[:, index]).max() <= 1e-6
        risk = OBSERVABLES["population_risk"].trace(run)
        assert (np.diff(risk) < 0.0).all()
        curve = predict(run, "population_risk_ode")
        assert curve.largest <= 1e-6
        assert predict(run, "log10_population_risk_ode").largest <= 1e-4


def test_the_flow_of_erf_neurons_lies_on_its_ode(tmp_path: Path) -> None:
    flow = {"kind": "population", "step": 0.1, "until_log10_time": 1.7}
    with recorded(tmp_path, **ERF, network=COMMITTEE, dynamics=flow) as run:
        curve = predict(run, "population_risk_ode")
        assert curve.largest <= 1e-6
        measured = curve.values + curve.residual
        assert measured[0] == pytest.approx(0.380941, abs=1e-6)
        assert (np.diff(measured) < 0.0).all()
        assert measured[-1] < 0.05
        x = np.random.default_rng(3).standard_normal((200_000, 6))
        f = run.network.outputs(run.physical_parameters(9), x)
        losses = 0.5 * (f - erf(x[:, :2] / np.sqrt(2.0)).sum(axis=1)) ** 2
        assert abs(losses.mean() - measured[9]) <= 5.0 * losses.std() / np.sqrt(losses.size)


@pytest.mark.parametrize(("d", "batch", "noise"), [(100, 1, 0.0), (400, 1, 0.0), (100, 2, 0.5)])
def test_online_steps_of_erf_neurons_lie_on_the_ode_of_their_length(
    d: int, batch: int, noise: float, tmp_path: Path
) -> None:
    """Up to t = 5 eta a run differs by its fluctuations, of the order d^(-1/2), alone."""
    online = {"kind": "sgd", "step": 1.5 / d, "fresh": True, "batch": batch}
    online["until_log10_time"] = np.log10(7.5)
    data = {**ERF["data"], "d": d, "noise": noise}
    network = {"kind": "committee", "m": 2}
    with recorded(tmp_path, data=data, network=network, dynamics=online) as run:
        curve = predict(run, "population_risk_ode")
        assert curve.largest <= 0.6 / np.sqrt(d)
        measured = curve.values + curve.residual
        flow = teacher_of(run.problem).order_parameters(
            np.ones(2), run.network.unpack(run.origin)["V"]
        )
        found = solve_ivp(
            lambda _, flat: flow.unpack(flat).slope(),
            (0.0, 7.51),
            flow.pack(),
            t_eval=np.asarray(run.t),
            rtol=1e-8,
        )
        risks = np.array([flow.unpack(one).risk() for one in found.y.T])
        # Without the squares of the steps the curve is another one.
        assert np.abs(measured - risks).max() >= 2.0 * curve.largest


@pytest.mark.parametrize(("k", "start"), [(1, 0.1), (2, 0.1), (3, 0.3)])
def test_the_flow_of_a_hermite_neuron_takes_the_exact_time(
    k: int, start: float, tmp_path: Path
) -> None:
    network = {"kind": "single_index", "degree": k, "init": "overlap", "overlap": start, "m": 1}
    flow = {"kind": "population", "step": 0.01}
    flow["until_log10_time"] = np.log10(overlap_time(k, start, 0.5))
    data = {"neurons": "hermite", "teacher": "orthonormal", "units": 1, "degree": k}
    with recorded(tmp_path, data=data, network=network, dynamics=flow) as run:
        assert predict(run, "population_risk_ode").largest <= 1e-6
        assert predict(run, "teacher_overlap_ode").largest <= 1e-6
        last = run.frames - 1
        wanted = overlap_time(k, start, float(OBSERVABLES["teacher_overlap"].value_at(run, last)))
        assert run.t[last] == pytest.approx(wanted, rel=1e-6)
        assert run.t[last] == pytest.approx(overlap_time(k, start, 0.5), abs=0.02)


@pytest.mark.parametrize(("k", "most"), [(1, 0.1), (2, 0.35)])
def test_online_steps_of_a_hermite_neuron(k: int, most: float, tmp_path: Path) -> None:
    """The squares of steps lengthen v: by 5 and 50 % here, which slows it down."""
    d = 400
    network = {"kind": "single_index", "degree": k, "init": "overlap", "overlap": 0.3, "m": 1}
    online = {"kind": "sgd", "step": 0.1 / d, "fresh": True, "until_log10_time": 0.2}
    data = {"neurons": "hermite", "teacher": "orthonormal", "units": 1, "degree": k, "d": d}
    with recorded(tmp_path, data=data, network=network, dynamics=online) as run:
        assert predict(run, "teacher_overlap_ode").largest <= most
        Q = OBSERVABLES["length_overlap"].trace(run)
        assert Q[0] == pytest.approx(1.0, abs=1e-12)
        rise = {1: (1.05, 1.2), 2: (1.5, 3.0)}[k]
        assert rise[0] <= Q[-1] <= rise[1]


def test_the_exact_risk_is_the_mean_over_fresh_inputs(tmp_path: Path) -> None:
    with recorded(tmp_path) as run:
        x = np.random.default_rng(3).standard_normal((200_000, 6))
        teacher = teacher_of(run.problem)
        wanted = np.maximum(x @ teacher.V.T, 0.0) @ teacher.c
        index = run.frames // 2
        f = run.network.outputs(run.physical_parameters(index), x)
        losses = 0.5 * (f - wanted) ** 2
        risk = float(OBSERVABLES["population_risk"].value_at(run, index))
        assert abs(losses.mean() - risk) <= 5.0 * losses.std() / np.sqrt(losses.size)
        assert OBSERVABLES["log10_population_risk"].value_at(run, index) == pytest.approx(
            np.log10(risk)
        )


def test_the_teacher_of_a_run_file_gives_its_targets(tmp_path: Path) -> None:
    """It is drawn again from the seed, and the file has the targets."""
    kinds: tuple[dict[str, Any], ...] = (
        {},
        {"teacher": "orthonormal"},
        {"seed": 7, "units": 5},
        {"neurons": "erf"},
        {"neurons": "erf", "teacher": "orthonormal"},
    )
    for place, data in enumerate(kinds):
        folder = tmp_path / str(place)
        folder.mkdir()
        descent = {"kind": "gd", "step": 0.01, "until_log10_time": -1.0}
        with recorded(folder, data=data, dynamics=descent) as run:
            teacher = teacher_of(run.problem)
            phi = {"relu": lambda z: np.maximum(z, 0.0), "erf": lambda z: erf(z / np.sqrt(2.0))}
            f = phi[data.get("neurons", "relu")](run.dataset.x @ teacher.V.T) @ teacher.c
            assert np.allclose(f, run.dataset.y, rtol=1e-12, atol=1e-12)
            if "teacher" in data:
                assert np.array_equal(teacher.V, np.eye(2, 6))


def test_overlaps(tmp_path: Path) -> None:
    one = ReluTeacher(np.ones(2), np.eye(2, 4))
    W = np.array([(1.0, 1.0, 0.0, 0.0), (0.0, 3.0, 0.0, 4.0)])
    Q, R = one.overlaps(W)
    assert Q.tolist() == [[2.0, 3.0], [3.0, 25.0]]
    assert R.tolist() == [[1.0, 1.0], [0.0, 3.0]]
    with recorded(tmp_path, data={"teacher": "orthonormal"}) as run:
        V = run.network.unpack(run.physical_parameters(4))["V"]
        cosines = V[:, :2] / np.linalg.norm(V, axis=1, keepdims=True)
        assert OBSERVABLES["teacher_overlap"].value_at(run, 4) == pytest.approx(
            cosines.max(axis=0).mean(), rel=1e-12
        )
        assert np.allclose(
            OBSERVABLES["teacher_cosine"].value_at(run, 4), cosines.max(axis=1), rtol=1e-12
        )


@pytest.mark.parametrize(("n", "most"), [(300, 0.5), (20_000, 0.02)])
def test_descent_on_more_examples_is_nearer_to_the_ode(n: int, most: float, tmp_path: Path) -> None:
    descent = {"kind": "gd", "step": 0.02, "until_log10_time": 0.5}
    data = {"n": n, "teacher": "orthonormal"}
    with recorded(tmp_path, data=data, dynamics=descent) as run:
        apart = predict(run, "population_risk_ode").largest
        assert apart <= most
        assert apart >= 1e-4  # no run on examples is the flow itself


def test_online_steps_follow_the_ode_where_they_are_short(tmp_path: Path) -> None:
    largest = []
    for step in (0.1, 0.005):
        folder = tmp_path / str(step)
        folder.mkdir()
        online = {"kind": "sgd", "step": step, "fresh": True, "until_log10_time": 0.5}
        with recorded(folder, data={"teacher": "orthonormal"}, dynamics=online) as run:
            largest.append(predict(run, "population_risk_ode").largest)
    assert largest[1] <= 0.05
    assert largest[1] < largest[0]


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        ({"data": {"kind": "regression", "units": 0}}, "data.units of at least 1"),
        ({"network": {"kind": "linear", "m": 3}}, "closed formulas for plain ReLU"),
        ({"network": {"kind": "committee", "m": 3}}, 'use data.neurons = "erf"'),
        ({"data": {"neurons": "erf"}}, 'use data.neurons = "relu"'),
        ({"data": {"neurons": "erf", "units": 0}}, "give at least 1 unit"),
        ({"data": {"neurons": "hermite"}}, "use units = 1"),
        (HERMITE, "the same for network.degree and data.degree"),
        ({**HERMITE, "network": {"kind": "single_index", "m": 3}}, "use m = 1"),
        (
            {**HERMITE, "data": {**HERMITE["data"], "degree": 2, "d": 1}},
            "choose data.d of at least 2",
        ),
        ({**ERF, "network": {"kind": "committee", "m": 4, "init": "overlap"}}, "at most 3, or"),
        (
            {**ERF, "network": {"kind": "committee", "m": 2, "init": "overlap", "overlap": 0.7}},
            "network.scale = 0.5; choose an overlap",
        ),
        ({"network": {"kind": "standard", "m": 3, "slope": 0.2}}, "network.slope = 0"),
        ({"run": {"precision": "float32"}}, "float64"),
        ({"loss": {"kind": "least_squares", "l2": 0.1}}, "loss.l2 = 0"),
        ({"data": {"kind": "regression", "units": 9, "teacher": "orthonormal"}}, "give 1 to 6"),
        ({"data": {"kind": "regression", "units": 0, "teacher": "orthonormal"}}, "give 1 to 6"),
    ],
)
def test_wrong_settings_get_one_sentence(tables: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        problem(**tables)


def test_only_runs_with_a_teacher_have_an_exact_risk(tmp_path: Path) -> None:
    descent = {"kind": "gd", "step": 0.02, "until_log10_time": 0.3}
    with recorded(tmp_path, data={"units": 0}, dynamics=descent) as run:
        assert "population_risk" not in scalar_columns(run)
        assert np.isnan(OBSERVABLES["population_risk"].value_at(run, 0))
        with pytest.raises(InputError, match="with a teacher"):
            predict(run, "population_risk_ode")


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        ({"dynamics": {"kind": "adam", "until_log10_time": -1.0}}, "approach"),
        ({"dynamics": {"kind": "sgd", "step": 0.01, "until_log10_time": 0.0}}, "approach"),
        ({"network": {"m": 39}}, "at most 40"),
        (
            {
                "loss": {"kind": "least_squares", "l2": 0.1},
                "dynamics": {"kind": "gd", "step": 0.01, "until_log10_time": 0.0},
            },
            "without a penalty",
        ),
    ],
)
def test_where_the_ode_does_not_apply_one_sentence_says_so(
    tables: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    with recorded(tmp_path, **tables) as run:
        with pytest.raises(InputError, match=sentence) as caught:
            predict(run, "population_risk_ode")
        assert str(caught.value).count(". ") == 0
        assert np.isfinite(OBSERVABLES["population_risk"].value_at(run, 0))
