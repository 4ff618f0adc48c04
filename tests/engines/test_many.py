"""Many seeds at once: threads and a batch of tensors against one run after another."""

from __future__ import annotations

import numpy as np
import pytest

from core.dynamics.many import run_many
from core.errors import InputError
from core.problem.problem import Problem
from core.training.trajectory import trajectory
from tests.networks import TWO_LAYER, Case, small_problem

BATCHED = [case for case in TWO_LAYER if case.kind in ("standard", "normalised", "bias")]
GD = {"kind": "gd", "step": 0.05, "until_log10_time": 0.5}


def seeds(case: Case, count: int, l2: float = 0.0, **run: str) -> list[Problem]:
    return [
        small_problem(case, GD, seed=seed, loss={"l2": l2}, run=run | {"seed": seed})
        for seed in range(count)
    ]


def one_by_one(problems: list[Problem]) -> list[np.ndarray]:
    return [list(trajectory(problem))[-1].parameters for problem in problems]


@pytest.mark.parametrize("case", TWO_LAYER, ids=str)
def test_threads_equal_single_runs(case: Case) -> None:
    problems = seeds(case, 5)
    found = run_many(problems, "threads", workers=3)
    for frame, wanted in zip(found, one_by_one(problems), strict=True):
        assert np.array_equal(frame.parameters, wanted)


@pytest.mark.parametrize("case", [*BATCHED, *TWO_LAYER[-2:]], ids=str)
@pytest.mark.parametrize("l2", [0.0, 0.02])
def test_a_batch_equals_single_runs(case: Case, l2: float) -> None:
    problems = seeds(case, 4, l2)
    found = run_many(problems, "batch")
    for frame, wanted in zip(found, one_by_one(problems), strict=True):
        assert np.allclose(frame.parameters, wanted, rtol=1e-11, atol=1e-12)
        assert frame.step == 64  # the first with .05 s >= 10^.5
        assert frame.log10_time == pytest.approx(np.log10(3.2))


def test_steps_and_penalties_may_differ() -> None:
    one, other = seeds(Case("standard"), 2, 0.01)
    slow = other.experiment.dynamics.model_copy(update={"step": 0.049, "until_log10_time": 0.49})
    loss = other.experiment.loss.model_copy(update={"l2": 0.3})
    experiment = other.experiment.model_copy(update={"dynamics": slow, "loss": loss})
    from dataclasses import replace

    problems = [one, replace(other, experiment=experiment)]
    found = run_many(problems, "batch")
    for frame, wanted in zip(found, one_by_one(problems), strict=True):
        assert np.allclose(frame.parameters, wanted, rtol=1e-11, atol=1e-12)


def test_float32_batches_keep_q() -> None:
    problems = seeds(Case("standard"), 3, precision="float32")
    for frame, other in zip(run_many(problems, "batch"), one_by_one(problems), strict=True):
        assert frame.parameters.dtype == np.float32
        assert frame.dual is not None
        assert np.abs(frame.parameters - other).max() < 1e-5


def test_what_diverges_ends_as_it_would_alone() -> None:
    problems = seeds(Case("standard", "exponential"), 3)
    wild = problems[1].experiment.dynamics.model_copy(
        update={"step": 500.0, "until_log10_time": float(np.log10(500.0 * 64))}
    )
    from core.problem.problem import with_dynamics

    problems[1] = with_dynamics(problems[1], wild)
    found = run_many(problems, "batch")
    for frame, wanted in zip(found, one_by_one(problems), strict=True):
        assert np.allclose(frame.parameters, wanted, rtol=1e-11, atol=1e-12)
        assert np.isfinite(frame.parameters).all()


def test_what_is_no_batch_is_refused_with_the_reason() -> None:
    standard = seeds(Case("standard"), 1)
    with pytest.raises(InputError, match="several shapes"):
        run_many([*standard, *seeds(Case("bias"), 1)], "batch")
    with pytest.raises(InputError, match="more than its trained parameters"):
        run_many(seeds(Case("scalar"), 2), "batch")
    with pytest.raises(InputError, match="not all full-batch"):
        run_many([small_problem(Case("standard"), {"kind": "flow"})], "batch")
    more = small_problem(Case("standard"), GD | {"until_log10_time": 0.7})
    with pytest.raises(InputError, match="different numbers of steps"):
        run_many([*standard, more], "batch")
    assert run_many([]) == []
