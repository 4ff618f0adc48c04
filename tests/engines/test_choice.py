"""Which engine a problem gets, what it is called, and devices that are not there."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from core.dynamics import engines
from core.dynamics.registry import make_integrator, prepare
from core.errors import InputError
from core.problem.problem import Problem
from core.runs import Recorder, open_run
from core.tensors import stepper as found_device
from core.training.trajectory import run
from tests.networks import Case, small_problem

STANDARD = Case("standard", "exponential")


def sized(n: int, d: int, m: int, case: Case = STANDARD, **settings: str) -> Problem:
    """Return a problem of these sizes that has made few steps to take."""
    dynamics = {"kind": "gd", "step": 1e-3, "until_log10_time": -2.0}
    return prepare(
        small_problem(case, dynamics, n=n, d=d, m=m, recording={"frames": 3}, run=settings)
    )


def no_gpu(monkeypatch: pytest.MonkeyPatch, present: bool = False) -> None:
    monkeypatch.setattr(found_device, "cuda_is_present", lambda: present)


@pytest.mark.parametrize(
    ("n", "d", "m", "case", "engine"),
    [
        (64, 20, 16, STANDARD, "compiled float64"),
        (20, 30, 16, STANDARD, "compiled float64, examples' coordinates"),
        (20, 30, 16, Case("bias"), "compiled float64, examples' coordinates"),
        (20, 30, 16, Case("fixed_outer"), "compiled float64, examples' coordinates"),
        (20, 30, 16, Case("normalised"), "compiled float64"),
        (30, 700, 60, Case("normalised"), "compiled float64, row space"),
        (30, 700, 60, STANDARD, "compiled float64, examples' coordinates, row space"),
        (10_000, 3, 401, STANDARD, "compiled float64"),
        (64, 20, 16, Case("tanh"), "NumPy float64"),
        (20, 30, 16, Case("tanh"), "NumPy float64"),  # whose phi no kernel knows
        (30, 700, 60, Case("tanh"), "NumPy float64, row space"),
    ],
)
def test_by_size(
    n: int, d: int, m: int, case: Case, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_gpu(monkeypatch)
    assert make_integrator(sized(n, d, m, case)).engine == engine


def test_the_run_names_its_engine(tmp_path: Path) -> None:
    path = tmp_path / "run.msrun"
    run(sized(100, 2, 401, precision="float32"), partial(Recorder, path))
    with open_run(path) as recorded:
        assert recorded.engine == "compiled float32"
        assert recorded.frames == 3


def test_cuda_is_refused_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    no_gpu(monkeypatch)
    with pytest.raises(InputError, match="no CUDA device"):
        make_integrator(sized(64, 20, 16, device="cuda"))
    at = sized(64, 20, 16, device="cuda")
    flow = small_problem(STANDARD, {"kind": "flow"}, run={"device": "cuda"})
    with pytest.raises(InputError, match=r'not network\.kind = "standard" by "flow"'):
        make_integrator(flow)
    cpu = at.experiment.run.model_copy(update={"device": "cpu"})
    there = replace(at, experiment=at.experiment.model_copy(update={"run": cpu}))
    assert make_integrator(there).engine == "compiled float64"


def test_a_gpu_is_looked_for_only_by_large_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    made: list[str] = []

    def present() -> bool:
        asked.append("asked")
        return True

    def on(problem: Problem, device: str) -> str:
        made.append(device)
        return device

    monkeypatch.setattr(found_device, "cuda_is_present", present)
    monkeypatch.setattr(engines, "TensorDescent", on)
    make_integrator(sized(64, 20, 16))
    assert not asked
    make_integrator(sized(1000, 100, 200))
    assert made == ["cuda"]
    make_integrator(sized(1000, 100, 200, device="cpu"))
    assert made == ["cuda"]
    assert asked == ["asked"]


# Measured on an H200 beside one and sixteen cores (decision 0053): what a step gains on the device.
@pytest.mark.parametrize(
    ("n", "d", "m", "precision", "gains"),
    [
        (300, 20, 300, "float64", False),  # .54 times as fast, at best
        (500, 20, 500, "float64", True),  # 1.8
        (500, 20, 500, "float32", False),  # .77
        (700, 2, 500, "float64", False),  # .77 to 1.2: few operations an example, many examples
        (1000, 100, 200, "float64", True),  # 1.2 to 3.3
        (500, 100, 800, "float32", True),  # 1.1 to 2.9
        (200, 1000, 100, "float64", False),  # .34 to .55: no more than 200 coordinates count
    ],
)
def test_a_gpu_is_taken_where_it_gains(
    n: int, d: int, m: int, precision: str, gains: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_gpu(monkeypatch, present=True)
    monkeypatch.setattr(engines, "TensorDescent", lambda problem, device: device)
    at = sized(n, d, m, precision=precision)
    assert (make_integrator(at) == "cuda") == gains
