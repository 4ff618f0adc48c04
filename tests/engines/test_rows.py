"""Row-space form against plain coordinates: parameters, what is seen of any point, run files."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from core.dynamics import rows
from core.dynamics.descent import Descent
from core.dynamics.flow import Flow
from core.dynamics.registry import make_integrator, prepare
from core.dynamics.step_size import default_step
from core.errors import InputError
from core.problem.problem import Problem, with_dynamics
from core.runs import Recorder, estimated_bytes, open_run
from core.study_file.descent import GradientDescent
from core.study_file.dynamics import GradientFlow
from core.training.trajectory import chunks, run
from tests.networks import HOMOGENEOUS, TWO_LAYER, Case, small_problem

D, N, M = 100, 20, 12
cases = pytest.mark.parametrize("case", TWO_LAYER, ids=str)


def wide(case: Case, l2: float = 0.0) -> Problem:
    return small_problem(case, d=D, n=N, m=M, loss={"l2": l2})


def full(reduced: Problem, flat: np.ndarray) -> dict[str, np.ndarray]:
    """Return all arrays of a flat vector in row-space form, in plain coordinates."""
    parts = reduced.network.unpack(flat)
    return {
        name: reduced.reduction.full(part) if name == "V" else part for name, part in parts.items()
    }


def descended(at: Problem, step: float, steps: int) -> np.ndarray:
    settings = GradientDescent(step=step, until_log10_time=float(np.log10(step * steps)))
    frames = [
        frame for chunk in chunks(Descent(with_dynamics(at, settings))) for frame in chunk.frames
    ]
    assert frames[-1].step == steps
    return frames[-1].parameters


@cases
@pytest.mark.parametrize("l2", [0.0, 0.01])
def test_equals_plain_coordinates_over_a_thousand_steps(case: Case, l2: float) -> None:
    at = wide(case, l2)
    low = rows.reduce_rows(at)
    assert low.inputs.shape[1] < at.inputs.shape[1]
    step = min(0.02, 0.25 * default_step(at))  # well inside what is stable: rounding must not grow
    assert default_step(low) == pytest.approx(default_step(at), rel=1e-9)
    direct, short = descended(at, step, 1000), descended(low, step, 1000)
    scale = np.abs(direct - at.start.parameters).max()
    assert scale > 1e-3
    found = full(low, short)
    for name, wanted in at.network.unpack(direct).items():
        assert np.abs(found[name] - wanted).max() < 1e-10 * max(scale, np.abs(wanted).max()), name
    points = np.random.default_rng(1).standard_normal((17, D)) / np.sqrt(D)
    inputs = low.network.inputs(low.reduction.training(points))
    f = low.network.outputs(short, inputs, low.reduction.perpendicular_products(points))
    wanted = at.network.outputs(direct, at.network.inputs(points))
    assert np.allclose(f, wanted, rtol=1e-9, atol=1e-10 * np.abs(wanted).max())


@pytest.mark.parametrize("case", HOMOGENEOUS, ids=str)
def test_flow_equals_plain_coordinates(case: Case) -> None:
    at = with_dynamics(wide(case), GradientFlow(until_log10_time=0.5))
    low = rows.reduce_rows(at)
    ends = [
        [frame for chunk in chunks(Flow(one)) for frame in chunk.frames][-1] for one in (at, low)
    ]
    assert ends[1].rho == pytest.approx(ends[0].rho, abs=1e-8)
    found, wanted = full(low, ends[1].parameters), at.network.unpack(ends[0].parameters)
    for name, part in wanted.items():
        assert np.allclose(found[name], part, atol=1e-7 * np.abs(part).max()), name


@cases
def test_there_and_back(case: Case) -> None:
    at = wide(case)
    low = rows.reduce_rows(at)
    again = rows.restore_rows(low)
    assert again.reduction is None
    assert np.allclose(again.start.parameters, at.start.parameters, rtol=0, atol=1e-13)
    for name, array in at.network.fixed.items():
        assert np.allclose(again.network.fixed[name], array, rtol=0, atol=1e-13)
    assert rows.reduce_rows(low) is low
    assert rows.restore_rows(at) is at


def test_when_it_is_used() -> None:
    standard = Case("standard", "exponential")
    assert rows.choose_coordinates(wide(standard)).reduction is None  # too small to be worth it
    large = small_problem(standard, d=700, n=40, m=40)
    low = prepare(large)
    assert low.reduction is not None
    assert low.inputs.shape == (40, 41)  # 40 rows of the data span 40 dimensions
    assert prepare(low) is low or prepare(low).reduction is low.reduction
    narrow = small_problem(standard, d=70, n=40, m=500)
    assert prepare(narrow).reduction is None  # d < 2 (n + 1)


def test_where_it_is_not_exact_it_is_refused_and_taken_back() -> None:
    large = small_problem(Case("standard", "exponential"), d=700, n=40, m=40)
    moved = replace(large.start, parameters=large.start.parameters + 0.1)
    with pytest.raises(InputError, match="not exact"):
        rows.reduce_rows(replace(large, start=moved))
    from core.study_file.descent import Adam

    adam = with_dynamics(rows.reduce_rows(large), Adam())
    assert rows.choose_coordinates(adam).reduction is None
    assert prepare(with_dynamics(large, Adam())).reduction is None


@pytest.mark.parametrize(
    "case", [Case("standard"), Case("scalar"), Case("batch_norm"), Case("bias")], ids=str
)
def test_a_run_file_keeps_the_coordinates(case: Case, tmp_path: Path) -> None:
    at = small_problem(case, d=700, n=40, m=40, recording={"frames": 60})
    low, path = prepare(at), tmp_path / "run.msrun"
    run(at, partial(Recorder, path))
    with open_run(path) as recorded:
        assert recorded.reduction is not None
        assert recorded.dataset.d == 700
        assert recorded.network.size == low.network.size
        if case.kind != "scalar":  # whose V is no parameter
            assert low.network.size < at.network.size / 5
        assert 0.9 * recorded.bytes_on_disk <= estimated_bytes(at, recorded.frames)
        assert estimated_bytes(at, recorded.frames) <= 1.5 * recorded.bytes_on_disk + 65536
        assert np.array_equal(recorded.origin, low.start.origin)
        assert np.allclose(recorded.inputs, low.inputs, rtol=0, atol=1e-15)
        inputs, offset = recorded.as_network_inputs(at.dataset.x)
        f = recorded.network.outputs(recorded.origin, inputs, offset)
        assert np.allclose(f, at.outputs(at.start.parameters), rtol=1e-10, atol=1e-12)
        points = np.random.default_rng(2).standard_normal((9, 700)) / 20.0
        last = recorded.parameters(recorded.frames - 1)
        plain = at.network.pack(full(low, last))
        wanted = at.network.outputs(plain, at.network.inputs(points))
        found = recorded.network.outputs(last, *recorded.as_network_inputs(points))
        assert np.allclose(found, wanted, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("batch", [1, 8])
def test_stochastic_descent_on_the_training_set_stays_in_the_row_space(batch: int) -> None:
    settings = {"kind": "sgd", "step": 0.02, "batch": batch, "until_log10_time": 0.5}
    at = small_problem(Case("standard"), settings, d=D, n=N, m=M)
    assert rows.can_reduce(at)
    low = rows.reduce_rows(at)
    ends = [
        [frame for chunk in chunks(make_integrator(one)) for frame in chunk.frames][-1]
        for one in (at, low)
    ]
    found, wanted = full(low, ends[1].parameters), at.network.unpack(ends[0].parameters)
    for name, part in wanted.items():
        assert np.abs(found[name] - part).max() < 1e-10 * np.abs(part).max(), name


def test_fresh_examples_leave_the_row_space() -> None:
    settings = {"kind": "sgd", "step": 0.02, "fresh": True, "until_log10_time": 0.5}
    assert not rows.can_reduce(small_problem(Case("standard"), settings, d=D, n=N, m=M))
