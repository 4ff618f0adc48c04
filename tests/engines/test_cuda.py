"""On a CUDA device: the numbers of the processor, however a run ends."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from core.dynamics.registry import make_integrator, prepare
from core.errors import InputError
from core.problem.problem import Problem, Start
from core.run_files.frame import Frame
from core.runs import Recorder, open_run
from core.tensors import stepper
from core.training.trajectory import chunks, run
from marginscope import record
from tests.frames_in_chunks import check_small_chunks, frames_of
from tests.networks import TWO_LAYER, Case, small_problem

pytestmark = pytest.mark.cuda
GD = {"kind": "gd", "step": 0.05, "until_log10_time": 1.0}


def on(problem: Problem, device: str) -> Problem:
    settings = problem.experiment.run.model_copy(update={"device": device})
    return replace(problem, experiment=problem.experiment.model_copy(update={"run": settings}))


def frames_on(problem: Problem, device: str) -> list[Frame]:
    dynamics = make_integrator(prepare(on(problem, device)))
    assert ("cuda" in dynamics.engine) == (device == "cuda")
    return frames_of(dynamics)


def assert_equal_on_both(problem: Problem, rtol: float = 1e-11, atol: float = 1e-13) -> None:
    there, here = frames_on(problem, "cuda"), frames_on(problem, "cpu")
    assert len(there) == len(here) > 1
    for one, other in zip(there, here, strict=True):
        assert (one.step, one.log10_time) == (other.step, other.log10_time)
        np.testing.assert_allclose(one.parameters, other.parameters, rtol=rtol, atol=atol)


@pytest.mark.parametrize("case", TWO_LAYER, ids=str)
@pytest.mark.parametrize("l2", [0.0, 0.02])
def test_every_network_moves_as_on_the_processor(case: Case, l2: float) -> None:
    assert_equal_on_both(small_problem(case, GD, loss={"l2": l2}))


@pytest.mark.parametrize("case", TWO_LAYER, ids=str)
def test_float32(case: Case) -> None:
    problem = small_problem(case, GD, run={"precision": "float32"})
    assert_equal_on_both(problem, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("case", [TWO_LAYER[0], TWO_LAYER[4], TWO_LAYER[-2]], ids=str)
def test_many_blocks_of_examples(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stepper, "BLOCK_BYTES", 64 * 300 * 8)
    assert_equal_on_both(small_problem(case, GD, d=11, n=500, m=300))


def test_a_large_problem_goes_there_by_itself() -> None:
    dynamics = {"kind": "gd", "step": 1e-3, "until_log10_time": -2.0}
    large = small_problem(TWO_LAYER[0], dynamics, n=1000, d=100, m=200, recording={"frames": 3})
    assert "cuda" in make_integrator(prepare(large)).engine
    assert "cuda" not in make_integrator(prepare(on(large, "cpu"))).engine
    assert_equal_on_both(large)


@pytest.mark.parametrize("case", [TWO_LAYER[1], TWO_LAYER[6], TWO_LAYER[-2]], ids=str)
def test_a_run_in_pieces_is_the_run_as_a_whole(case: Case) -> None:
    problem = on(small_problem(case, GD), "cuda")
    whole = frames_of(make_integrator(prepare(problem)))
    check_small_chunks(make_integrator(prepare(problem)), whole)


def ended(problem: Problem, device: str, folder: Path) -> tuple[Any, ...]:
    path = folder / f"{device}.msrun"
    run(on(problem, device), partial(Recorder, path, force=True))
    with open_run(path) as recorded:
        steps = recorded.steps[: recorded.frames].tolist()
        return recorded.frames, recorded.status, recorded.reason, steps


def test_divergence_is_found_at_the_same_step(tmp_path: Path) -> None:
    wild = {"kind": "gd", "step": 1e3, "until_log10_time": 6.0}
    problem = small_problem(Case("standard", "squared"), wild)
    there = ended(problem, "cuda", tmp_path)
    assert there == ended(problem, "cpu", tmp_path)
    assert "diverge" in there[2]


def test_dead_units_stay_where_they_are() -> None:
    at = on(small_problem(Case("standard"), {**GD, "until_log10_time": 3.0}), "cuda")
    flat = at.network.pack({"a": np.ones(9), "V": np.zeros((9, 7))})
    found = [*chunks(make_integrator(prepare(replace(at, start=Start(flat, flat)))))]
    assert found[-1].event is not None
    assert (found[-1].event[0], found[-1].event[1]["step"]) == ("stationary", 0)
    frames = [frame for chunk in found for frame in chunk.frames]
    assert len(frames) == 6
    assert all(np.array_equal(frame.parameters, flat) for frame in frames)


def test_a_full_device_is_one_sentence() -> None:
    problem = on(small_problem(TWO_LAYER[0], GD, d=100, n=4000, m=2000), "cuda")
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(1e-5)
    try:
        with pytest.raises(InputError, match="The memory of the CUDA device is full"):
            frames_of(make_integrator(prepare(problem)))
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


def recorded_loop(
    path: Path, device: str, dtype: torch.dtype
) -> tuple[list[int], list[np.ndarray]]:
    """Return the steps and the states that are recorded of a loop on corners of the cube."""
    torch.manual_seed(0)
    x = (torch.randint(0, 2, (48, 8)) * 2.0 - 1.0).to(dtype)
    inner, outer = torch.nn.Linear(8, 32, bias=False), torch.nn.Linear(32, 1, bias=False)
    net = torch.nn.Sequential(inner, torch.nn.ReLU(), outer).to(device, dtype)
    x, y = x.to(device), (x[:, 0] * x[:, 1]).to(device)
    criterion, optimizer = torch.nn.SoftMarginLoss(), torch.optim.SGD(net.parameters(), lr=0.5)
    options: dict[str, Any] = {"loss": criterion, "model": net, "optimizer": optimizer}
    with record(path, x, y, **options, until=100) as recording:
        for t in range(1, 101):
            optimizer.zero_grad()
            risk = criterion(net(x)[:, 0], y)
            risk.backward()
            optimizer.step()
            if recording.due(t):
                recording.frame(t, risk=risk)
    with open_run(path) as recorded:
        steps = recorded.steps[: recorded.frames].tolist()
        return steps, [recorded.parameters(index).copy() for index in range(recorded.frames)]


def test_a_loop_on_the_device_is_recorded_as_on_the_processor(tmp_path: Path) -> None:
    steps, there = recorded_loop(tmp_path / "there.msrun", "cuda", torch.float64)
    same_steps, here = recorded_loop(tmp_path / "here.msrun", "cpu", torch.float64)
    assert steps == same_steps
    np.testing.assert_allclose(there, here, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_a_loop_in_less_precision_is_recorded(dtype: torch.dtype, tmp_path: Path) -> None:
    steps, states = recorded_loop(tmp_path / "there.msrun", "cuda", dtype)
    assert len(steps) > 50
    assert np.isfinite(states).all()
