"""Every engine of descent against the plain float64 loop, and against each other's rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from core.dynamics.descent import Descent, GramDescent
from core.dynamics.full_batch import FullBatch
from core.dynamics.integrator import Outcome
from core.dynamics.step_size import default_step
from core.dynamics.tensor_descent import TensorDescent
from core.network.registry import NETWORKS
from core.problem.problem import Problem, Start, with_dynamics
from core.study_file.descent import GradientDescent
from core.tensors import stepper
from core.tensors.stepper import SLOPES
from core.training.trajectory import chunks
from tests.frames_in_chunks import check_small_chunks, frames_of
from tests.networks import TWO_LAYER, UNCOMPILED, Case, at_a_random_point, small_problem
from tests.problems import problem

Engine = Callable[[Problem], FullBatch]


def tensor_descent(at: Problem) -> TensorDescent:
    """Return the steps of a CUDA device, taken by this processor."""
    return TensorDescent(at, "cpu")


cases = pytest.mark.parametrize("case", TWO_LAYER, ids=str)
PLAIN = [case for case in TWO_LAYER if NETWORKS[case.kind].direct]
BOTH = [(case, tensor_descent) for case in (*TWO_LAYER, *UNCOMPILED)]
BOTH += [(case, GramDescent) for case in PLAIN]
both = pytest.mark.parametrize(
    ("case", "engine"), BOTH, ids=[f"{case}-{engine.__name__}" for case, engine in BOTH]
)
TWO = pytest.mark.parametrize("engine", [tensor_descent, GramDescent])
STANDARD = Case("standard", "exponential")


def settings(at: Problem, steps: int, share: float = 0.25) -> Problem:
    """Return the problem with a step well inside what is stable, and so many of them."""
    step = min(0.02, share * default_step(at))
    last = float(np.log10(step * steps))
    return with_dynamics(at, GradientDescent(step=step, until_log10_time=last))


def plain_loop(at: Problem, steps: int) -> np.ndarray:
    """Return the textbook loop through core.network, in NumPy and float64."""
    flat, y = at.start.parameters.copy(), at.dataset.y
    step, l2 = at.experiment.dynamics.step, at.experiment.loss.l2
    for _ in range(steps):
        g = at.loss.output_gradient(at.outputs(flat), y) / at.dataset.n
        flat = flat - step * (at.network.gradient(flat, at.inputs, g) + 2.0 * l2 * flat)
    return flat


def last_of(engine: FullBatch) -> np.ndarray:
    frames = [frame for chunk in chunks(engine) for frame in chunk.frames]
    assert len(frames) == engine.planned
    return frames[-1].parameters


@both
@pytest.mark.parametrize("l2", [0.0, 0.02])
def test_one_step_equals_the_plain_loop(case: Case, engine: Engine, l2: float) -> None:
    at, _ = at_a_random_point(small_problem(case, loss={"l2": l2}))
    at = settings(at, 1)
    wanted = plain_loop(at, 1)
    found = last_of(engine(at))
    change = np.abs(wanted - at.start.parameters).max()
    assert np.abs(found - wanted).max() < 1e-12 * max(change, np.abs(wanted).max())


@both
def test_a_hundred_steps_equal_the_plain_loop(case: Case, engine: Engine) -> None:
    at, _ = at_a_random_point(small_problem(case, loss={"l2": 0.01}))
    at = settings(at, 100)
    wanted = plain_loop(at, 100)
    assert np.allclose(last_of(engine(at)), wanted, rtol=1e-10, atol=1e-11)


@both
def test_float32_follows_float64(case: Case, engine: Engine) -> None:
    at, _ = at_a_random_point(small_problem(case, run={"precision": "float32"}))
    at = settings(at, 50)
    found = last_of(engine(at))
    assert found.dtype == np.float32
    wanted = plain_loop(at, 50)
    assert np.abs(found - wanted).max() < 1e-4 * np.abs(wanted).max()


@cases
def test_blocks_of_examples_do_not_matter(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    at = settings(at_a_random_point(small_problem(case, n=13))[0], 20)
    whole = last_of(tensor_descent(at))
    monkeypatch.setattr(stepper, "BLOCK_BYTES", 5 * 8 * at.network.m)
    assert np.allclose(last_of(tensor_descent(at)), whole, rtol=1e-12, atol=1e-13)


@TWO
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_results_do_not_depend_on_the_chunks(engine: Engine, precision: str) -> None:
    at = settings(small_problem(STANDARD, n=30, run={"precision": precision}), 300)
    check_small_chunks(engine(at), frames_of(engine(at)))


@TWO
@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_divergence_is_the_compiled_engines(engine: Engine, precision: str, loss: str) -> None:
    case = Case("standard", loss)
    at = small_problem(case, n=30, m=40, run={"precision": precision})
    at = with_dynamics(at, GradientDescent(step=1000 * default_step(at), until_log10_time=6.0))
    ends = [list(chunks(kind(at)))[-1] for kind in (Descent, engine)]
    assert ends[0].outcome is ends[1].outcome
    assert ends[0].event is not None
    assert ends[1].event is not None
    if ends[0].outcome is Outcome.DIVERGED:
        assert ends[1].event[1]["step"] == ends[0].event[1]["step"]
        assert ends[1].event[1]["suggested_step"] == ends[0].event[1]["suggested_step"]


@TWO
def test_divergence_is_found_in_the_middle_of_a_stretch(engine: Engine) -> None:
    """docs/theory.md, 7.2: Figure 1 at m = 256 diverges at a step of 2."""
    few = ("recording.frames=2", "recording.log10_times=[]", "dynamics.until_log10_time=4")
    at = problem("dynamics.kind=gd", "dynamics.step=2", *few, m=256)
    wanted = list(chunks(Descent(at)))[-1]
    found = list(chunks(engine(at)))[-1]
    assert wanted.outcome is found.outcome is Outcome.DIVERGED
    assert wanted.step > 1
    assert abs(found.step - wanted.step) <= 1  # the loss grows a hundredfold a step there
    assert found.frames == ()


@TWO
def test_dead_units_stay_where_they_are(engine: Engine) -> None:
    at = settings(small_problem(STANDARD), 50)
    flat = at.network.pack({"a": np.ones(9), "V": np.zeros((9, 7))})
    still = replace(at, start=Start(flat, flat))
    found = list(chunks(engine(still)))
    assert found[-1].outcome is Outcome.COMPLETED
    assert found[-1].event is not None
    assert found[-1].event[0] == "stationary"
    assert found[-1].event[1]["step"] == 0
    frames = [frame for chunk in found for frame in chunk.frames]
    assert len(frames) == engine(still).planned
    assert all(np.array_equal(frame.parameters, flat) for frame in frames)


@pytest.mark.parametrize("kind", list(SLOPES))
def test_slopes_equal_autograd_and_the_losses(kind: str) -> None:
    case = next(case for case in TWO_LAYER if case.loss == kind)
    at = small_problem(case)
    rng, y = np.random.default_rng(0), at.dataset.y
    f = 3.0 * rng.standard_normal(at.outputs(at.start.parameters).shape)
    leaf = torch.tensor(f, requires_grad=True)
    g, measure = SLOPES[kind](leaf.detach(), torch.tensor(y), 0.7)
    assert np.allclose(g.numpy(), 0.7 * at.loss.output_gradient(f, y), rtol=1e-12, atol=1e-14)
    if kind == "cross_entropy":
        value = torch.nn.functional.cross_entropy(leaf, torch.tensor(y).long(), reduction="sum")
        value.backward()
        assert np.allclose(0.7 * leaf.grad.numpy(), g.numpy(), rtol=1e-11, atol=1e-13)
    assert measure.ndim == 0
    assert float(measure) >= 0.0
    bad = SLOPES[kind](torch.full_like(leaf.detach(), torch.inf), torch.tensor(y), 1.0)[1]
    assert not np.isfinite(float(bad))
