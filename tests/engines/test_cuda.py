"""On a CUDA device: the numbers of the processor, alone and in batches, however a run ends."""

from __future__ import annotations

import gc
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from core.dynamics.batch_descent import Batch, LeftBatchError
from core.dynamics.integrator import Outcome
from core.dynamics.registry import integrator, prepared
from core.errors import InputError
from core.problem.problem import Problem, Start
from core.runs import Recorder, open_run
from core.studies.study import parse_study
from core.sweep.control import SweepControl
from core.sweep.loop import sweep
from core.sweep.plan import plan
from core.sweep.pools import HerePool, pool_for
from core.sweep.together import TOGETHER
from core.tensors import row_blocks
from core.training.control import Control
from core.training.trajectory import chunks, run
from marginscope._files.frame import Frame
from tests.chunked import check_small_chunks, frames_of
from tests.networks import TWO_LAYER, Case, small_problem
from tests.sweep.studies import QUICK

pytestmark = pytest.mark.cuda
GD = {"kind": "gd", "step": 0.05, "until_log10_time": 1.0}


def on(problem: Problem, device: str) -> Problem:
    """The problem trained on a device."""
    settings = problem.experiment.run.model_copy(update={"device": device})
    return replace(problem, experiment=problem.experiment.model_copy(update={"run": settings}))


def frames_on(problem: Problem, device: str) -> list[Frame]:
    dynamics = integrator(prepared(on(problem, device)))
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
    monkeypatch.setattr(row_blocks, "BLOCK_BYTES_CUDA", 64 * 300 * 8)
    assert_equal_on_both(small_problem(case, GD, d=11, n=500, m=300))


def test_a_large_problem_goes_there_by_itself() -> None:
    dynamics = {"kind": "gd", "step": 1e-3, "until_log10_time": -2.0}
    large = small_problem(TWO_LAYER[0], dynamics, n=1000, d=100, m=200, recording={"frames": 3})
    assert "cuda" in integrator(prepared(large)).engine
    assert "cuda" not in integrator(prepared(on(large, "cpu"))).engine
    assert_equal_on_both(large)


@pytest.mark.parametrize("case", [TWO_LAYER[1], TWO_LAYER[6], TWO_LAYER[-2]], ids=str)
def test_a_run_in_pieces_is_the_run_as_a_whole(case: Case) -> None:
    problem = on(small_problem(case, GD), "cuda")
    whole = frames_of(integrator(prepared(problem)))
    check_small_chunks(integrator(prepared(problem)), whole)


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
    found = [*chunks(integrator(prepared(replace(at, start=Start(flat, flat)))))]
    assert found[-1].event is not None
    assert (found[-1].event[0], found[-1].event[1]["step"]) == ("stationary", 0)
    frames = [frame for chunk in found for frame in chunk.frames]
    assert len(frames) == 6
    assert all(np.array_equal(frame.parameters, flat) for frame in frames)


@pytest.mark.parametrize("kind", ["standard", "normalised", "bias", "multiclass"])
def test_a_batch_moves_as_single_runs(kind: str) -> None:
    case = next(case for case in TWO_LAYER if case.kind == kind)
    problems = [
        small_problem(case, GD, seed=seed, loss={"l2": l2}, run={"seed": seed})
        for seed, l2 in enumerate((0.0, 0.02, 0.1))
    ]
    batch = Batch([prepared(problem) for problem in problems], "cuda")
    for problem, member in zip(problems, batch.runs, strict=True):
        assert "cuda, batch of 3" in member.engine
        last = frames_of(member)[-1]
        wanted = frames_on(problem, "cpu")[-1]
        assert (last.step, last.log10_time) == (wanted.step, wanted.log10_time)
        np.testing.assert_allclose(last.parameters, wanted.parameters, rtol=1e-11, atol=1e-13)


def test_what_diverges_leaves_a_batch() -> None:
    calm = small_problem(Case("standard", "squared"), GD)
    wild = small_problem(Case("standard", "squared"), {**GD, "step": 1e3, "until_log10_time": 6.0})
    batch = Batch([prepared(calm), prepared(wild)], "cuda")
    with pytest.raises(LeftBatchError):
        while batch.runs[1].advance().outcome is Outcome.GOING:
            pass
    np.testing.assert_allclose(
        frames_of(batch.runs[0])[-1].parameters,
        frames_on(calm, "cpu")[-1].parameters,
        rtol=1e-11,
        atol=1e-13,
    )


def test_a_study_is_swept_in_batches(tmp_path: Path) -> None:
    study = parse_study(QUICK.replace("[0, 1]", "[0, 1, 2, 3]"), "more")
    made, control = plan(study, tmp_path / "there"), SweepControl()
    last = [*sweep(made, HerePool(control.cell, "cuda"), control)][-1]
    assert (last.failed, last.done) == (0, last.total)
    assert all("cuda, batch of 4" in entry.row.engine for entry in made.ledger.entries.values())
    alone, control = plan(study, tmp_path / "here"), SweepControl()
    [*sweep(alone, HerePool(control.cell), control)]
    for path in sorted((tmp_path / "here").glob("*.msrun")):
        with open_run(path) as one, open_run(tmp_path / "there" / path.name) as other:
            ends = [(run.frames, run.status, run.reason) for run in (one, other)]
            assert ends[0] == ends[1]
            for frame in range(one.frames):
                np.testing.assert_allclose(
                    other.parameters(frame), one.parameters(frame), rtol=1e-10, atol=1e-12
                )


def test_a_sweep_chooses_the_device(tmp_path: Path) -> None:
    tasks = plan(parse_study(QUICK, "quick"), tmp_path).tasks
    assert pool_for(tasks, None, None, Control()).together == TOGETHER


def test_a_full_device_is_one_sentence() -> None:
    problem = on(small_problem(TWO_LAYER[0], GD, d=100, n=4000, m=2000), "cuda")
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(1e-5)
    try:
        with pytest.raises(InputError, match="The memory of the CUDA device is full"):
            frames_of(integrator(prepared(problem)))
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


def test_graphs_of_earlier_runs_are_freed_at_any_time() -> None:
    """The collector at work between any two objects that are made."""
    problem = on(small_problem(TWO_LAYER[0], GD), "cuda")
    before, was_on = gc.get_threshold(), gc.isenabled()
    gc.enable()
    gc.set_threshold(1, 1, 1)
    try:
        first, *others = (frames_of(integrator(prepared(problem))) for _ in range(6))
    finally:
        gc.set_threshold(*before)
        if not was_on:
            gc.disable()
    assert all(np.array_equal(first[-1].parameters, more[-1].parameters) for more in others)
