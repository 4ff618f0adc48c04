"""Many seeds at once: a batch of tensors against one run after another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.dynamics.batch_descent import Batch, LeftBatchError, batch_key
from core.dynamics.integrator import Outcome
from core.dynamics.registry import prepared
from core.problem.problem import Problem, with_dynamics
from marginscope._files.frame import Frame
from tests.chunked import trajectory
from tests.networks import TWO_LAYER, Case, small_problem

BATCHED = [case for case in TWO_LAYER if case.kind in ("standard", "normalised", "bias")]
GD = {"kind": "gd", "step": 0.05, "until_log10_time": 0.5}


def seeds(case: Case, count: int, l2: float = 0.0, **run: str) -> list[Problem]:
    return [
        small_problem(case, GD, seed=seed, loss={"l2": l2}, run=run | {"seed": seed})
        for seed in range(count)
    ]


def in_a_batch(problems: list[Problem]) -> list[Frame | None]:
    """The last frame of each; None of one that left the batch."""
    batch = Batch([prepared(problem) for problem in problems])
    going, last = set(range(len(problems))), list[Frame | None]([None] * len(problems))
    while going:
        for place in sorted(going):
            try:
                chunk = batch.runs[place].advance()
            except LeftBatchError:
                last[place] = None
                going.discard(place)
                continue
            last[place] = chunk.frames[-1] if chunk.frames else last[place]
            if chunk.outcome is not Outcome.GOING:
                going.discard(place)
    return last


def one_by_one(problems: list[Problem]) -> list[Frame]:
    return [list(trajectory(problem))[-1] for problem in problems]


def assert_same(problems: list[Problem]) -> None:
    for frame, wanted in zip(in_a_batch(problems), one_by_one(problems), strict=True):
        assert frame is not None
        assert np.allclose(frame.parameters, wanted.parameters, rtol=1e-11, atol=1e-12)
        assert (frame.step, frame.log10_time) == (wanted.step, wanted.log10_time)


@pytest.mark.parametrize("case", [*BATCHED, *TWO_LAYER[-2:]], ids=str)
@pytest.mark.parametrize("l2", [0.0, 0.02])
def test_a_batch_equals_single_runs(case: Case, l2: float) -> None:
    assert_same(seeds(case, 4, l2))


def test_steps_and_penalties_may_differ() -> None:
    one, other = seeds(Case("standard"), 2, 0.01)
    slow = other.experiment.dynamics.model_copy(update={"step": 0.049, "until_log10_time": 0.49})
    loss = other.experiment.loss.model_copy(update={"l2": 0.3})
    experiment = other.experiment.model_copy(update={"dynamics": slow, "loss": loss})
    assert_same([one, replace(other, experiment=experiment)])


def test_float32_batches_keep_q() -> None:
    problems = seeds(Case("standard"), 3, precision="float32")
    for frame, other in zip(in_a_batch(problems), one_by_one(problems), strict=True):
        assert frame is not None
        assert frame.parameters.dtype == np.float32
        assert frame.dual is not None
        assert np.abs(frame.parameters - other.parameters).max() < 1e-5


def test_what_diverges_leaves_the_others_alone() -> None:
    problems = seeds(Case("standard", "exponential"), 3)
    wild = problems[1].experiment.dynamics.model_copy(
        update={"step": 500.0, "until_log10_time": float(np.log10(500.0 * 64))}
    )
    problems[1] = with_dynamics(problems[1], wild)
    found = in_a_batch(problems)
    assert found[1] is None
    for place in (0, 2):
        frame, (wanted,) = found[place], one_by_one([problems[place]])
        assert frame is not None
        assert np.allclose(frame.parameters, wanted.parameters, rtol=1e-11, atol=1e-12)


def test_what_goes_together() -> None:
    """Full-batch descent of one shape, of networks that depend on their parameters alone."""
    (standard,) = (prepared(one) for one in seeds(Case("standard"), 1))
    key = batch_key(standard)
    assert key is not None
    assert batch_key(prepared(seeds(Case("standard"), 2)[1])) == key
    assert batch_key(prepared(seeds(Case("bias"), 1)[0])) not in (None, key)
    assert batch_key(prepared(seeds(Case("scalar"), 1)[0])) is None
    assert batch_key(prepared(small_problem(Case("standard"), {"kind": "flow"}))) is None
