"""SGD and Adam against plain loops, torch's optimisers, and the order that the seed fixes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.dynamics.batch_engine import ArrayEngine, CompiledEngine, padded_length
from core.dynamics.integrator import Outcome
from core.dynamics.registry import make_integrator, prepare
from core.dynamics.step_size import largest_curvature, stochastic_step
from core.dynamics.stochastic import Stochastic
from core.dynamics.stream import FreshStream, ReshuffledStream
from core.dynamics.update_rule import Rule
from core.errors import InputError
from core.problem.problem import Problem, points_for_test, resolve_problem
from core.run_files.frame import Frame
from core.runs import open_run
from core.study_file.validation import build_experiment
from core.training.continuation import continue_problem
from core.training.trajectory import chunks
from tests.frames_in_chunks import check_small_chunks, trajectory
from tests.networks import HEADS, TWO_LAYER, UNCOMPILED, Case, small_problem
from tests.problems import problem
from tests.recording import recorded

SGD = "dynamics.kind=sgd"


def loop(at: Problem, steps: int, batches: list[tuple[Any, Any]]) -> np.ndarray:
    """Return the textbook step for each batch, in NumPy and float64."""
    flat, l2 = at.start.parameters.copy(), at.experiment.loss.l2
    eta = Stochastic(at).step_size
    for x, y in batches[:steps]:
        f = at.network.outputs(flat, x)
        slope = at.network.gradient(flat, x, at.loss.output_gradient(f, y) / y.size)
        flat = flat - eta * (slope + 2 * l2 * flat)
    return flat


def passes(at: Problem, batch: int, steps: int) -> list[tuple[Any, Any]]:
    """Return the batches that default_rng([seed, 2]) orders, made a second time."""
    generator = np.random.default_rng([at.experiment.run.seed, 2])
    n, order = at.dataset.n, list[int]()
    while len(order) < batch * steps:
        order.extend(generator.permutation(n).tolist())
    parts = [order[s * batch : (s + 1) * batch] for s in range(steps)]
    return [(at.inputs[part], at.dataset.y[part]) for part in parts]


@pytest.mark.parametrize("case", (*TWO_LAYER, *UNCOMPILED), ids=str)
@pytest.mark.parametrize("batch", [1, 5])
def test_sgd_equals_a_plain_loop(case: Case, batch: int) -> None:
    dynamics = {"kind": "sgd", "step": 0.02, "batch": batch, "until_log10_time": 0.5}
    at = small_problem(case, dynamics, loss={"l2": 0.03})
    frames = list(trajectory(at))
    assert frames[-1].step == 159  # the first with .02 s >= 10^.5
    wanted = loop(at, 159, passes(at, batch, 159))
    assert np.allclose(frames[-1].parameters, wanted, rtol=1e-9, atol=1e-11)
    assert not np.allclose(frames[-1].parameters, frames[0].parameters, atol=1e-3)


def test_a_deep_head_goes_through_arrays() -> None:
    at = small_problem(
        Case("head"), {"kind": "sgd", "step": 0.05, "batch": 3, "until_log10_time": 1.0}
    )
    running = Stochastic(at)
    assert running.engine == "NumPy float64"
    last = [frame for chunk in chunks(running) for frame in chunk.frames][-1]
    wanted = loop(at, last.step, passes(at, 3, last.step))
    assert np.allclose(last.parameters, wanted, rtol=1e-8, atol=1e-10)


def test_every_pass_holds_every_example_once() -> None:
    at = problem(SGD)
    stream = ReshuffledStream(at, 5, np.float64)
    seen: list[float] = []
    while len(seen) < 64 * 20:
        xs, _, batches = stream.next_batches(7)
        assert xs.shape[0] == 5 * batches
        seen.extend(xs @ np.arange(1.0, 21.0) ** 2)
    everything = np.sort(at.inputs @ np.arange(1.0, 21.0) ** 2)
    for begin in range(0, 64 * 20, 64):
        assert np.allclose(np.sort(seen[begin : begin + 64]), everything)
    assert seen[:64] != seen[64:128]


def test_fresh_examples_follow_the_distribution_and_the_seed() -> None:
    at = problem(SGD, "dynamics.fresh=true")
    xs, ys, batches = FreshStream(at, 1, np.float64).next_batches(10**6)
    assert batches == ys.size > 1000
    generator = np.random.default_rng([0, 2])
    wanted = generator.choice([-1, 1], xs.shape) / np.sqrt(20)
    assert np.array_equal(xs, wanted)
    assert np.allclose(ys, 20 * wanted[:, 0] * wanted[:, 1])


def test_one_pass_equals_a_plain_loop_over_two_blocks() -> None:
    settings = ("dynamics.fresh=true", "dynamics.step=0.01", "loss.kind=logistic")
    at = problem(SGD, *settings, "dynamics.until_log10_time=1.7", m=5)
    last = list(trajectory(at))[-1]
    block = FreshStream(at, 1, np.float64).block_size
    assert last.step == 5012 > block
    generator = np.random.default_rng([0, 2])
    xs = np.concatenate([generator.choice([-1, 1], (block, 20)) for _ in range(2)]) / np.sqrt(20)
    batches = [(x[None], np.sign(x[:1] * x[1:2])) for x in xs]
    assert np.allclose(last.parameters, loop(at, last.step, batches), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("d", [7, 20, 23])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_rows_of_any_length(d: int, precision: str) -> None:
    """Added zero columns and odd lengths change nothing."""
    settings = (f"data.d={d}", "dynamics.step=0.05", "dynamics.until_log10_time=1")
    at = problem(SGD, *settings, f"run.precision={precision}", "loss.kind=logistic", m=7)
    last = list(trajectory(at))[-1]
    wanted = loop(at, last.step, passes(at, 1, last.step))
    bound = 1e-11 if precision == "float64" else 2e-4
    assert np.allclose(last.parameters, wanted, rtol=bound, atol=bound)
    assert padded_length(d, 8) % 16 <= 4


@pytest.mark.parametrize(
    "settings",
    [(), ("dynamics.batch=3",), ("dynamics.fresh=true",), ("run.precision=float32",)],
)
def test_results_do_not_depend_on_the_chunks(settings: tuple[str, ...]) -> None:
    at = problem(SGD, "dynamics.step=0.1", "dynamics.until_log10_time=1.5", *settings)
    check_small_chunks(Stochastic(at), list(trajectory(at)))


def test_engines_agree() -> None:
    at = small_problem(Case("bias"), {"kind": "sgd", "batch": 4, "step": 0.1})
    xs, ys, batches = ReshuffledStream(at, 4, np.float64).next_batches(50)
    for rule in (Rule(0.05), Rule(0.01, adam=True)):
        engines = [kind(at, rule, np.float64, 1e6, 4) for kind in (CompiledEngine, ArrayEngine)]
        for engine in engines:
            assert engine.take_steps(xs, ys, batches) == batches
        one, other = (engine.flat() for engine in engines)
        assert np.allclose(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("l2", [0.0, 0.02])
@pytest.mark.parametrize("batch", [0, 6])
def test_adam_equals_torch(l2: float, batch: int) -> None:
    import torch

    section = {"kind": "adam", "step": 0.01, "beta1": 0.8, "batch": batch}
    at = small_problem(Case("standard"), {**section, "until_log10_time": 0.3}, loss={"l2": l2})
    last = list(trajectory(at))[-1]
    batches = passes(at, batch, last.step)
    if batch == 0:
        batches = [(at.inputs, at.dataset.y)] * last.step
    a, V = (
        torch.tensor(part, requires_grad=True)
        for part in at.network.unpack(at.start.parameters).values()
    )
    adam = torch.optim.Adam([a, V], lr=0.01, betas=(0.8, 0.999), eps=1e-8, weight_decay=2 * l2)
    for x, y in batches:
        adam.zero_grad()
        p = torch.tensor(y) * (torch.relu(torch.tensor(x) @ V.T) @ a)
        torch.nn.functional.softplus(-p).mean().backward()
        adam.step()
    wanted = torch.cat([a.detach(), V.detach().reshape(-1)]).numpy()
    assert np.abs(last.parameters - wanted).max() < 1e-12 * last.step
    assert np.abs(wanted - at.start.parameters).max() > 0.1


def test_adam_in_float32_follows_float64() -> None:
    settings = ("dynamics.kind=adam", "dynamics.until_log10_time=-1")
    double, single = (
        list(trajectory(problem(*settings, f"run.precision={name}")))[-1]
        for name in ("float64", "float32")
    )
    assert single.parameters.dtype == np.float32
    assert np.allclose(single.parameters, double.parameters, atol=1e-4)
    assert single.dual.shape == (64,)


@pytest.mark.parametrize("adam", [True, False])
def test_a_gradient_beyond_float32_ends_the_run(adam: bool) -> None:
    """exp(1000) in the loss: Adam divided infinity by infinity, with a warning."""
    at = small_problem(HEADS[0], {"kind": "adam", "step": 0.1, "until_log10_time": 0.0})
    engine = ArrayEngine(at, Rule(0.1, adam=adam), np.float32, 1e30, at.dataset.n, full=True)
    nothing = np.zeros((0, 1), np.float32), np.zeros(0, np.float32)
    assert engine.take_steps(*nothing, 2) == 2
    engine.current[: at.network.m] *= 1e5
    before = engine.flat()
    assert np.abs(at.network.outputs(before, at.inputs)).max() > 1e3
    assert engine.take_steps(*nothing, 2) == 0
    assert np.array_equal(engine.flat(), before)


def test_the_default_step_of_sgd() -> None:
    """docs/theory.md, 4.7: for the logistic loss an example's edge at the start is 16 d/(m + d)."""
    at = prepare(problem(SGD, "loss.kind=logistic", m=1024))
    edge = 2.0 / largest_curvature(at)
    assert edge == pytest.approx(16 * 20 / (1024 + 20), rel=0.3)
    assert at.experiment.dynamics.step == pytest.approx(edge / 10.0)
    flat, J = at.start.parameters, np.zeros((64, at.network.size))
    for i in range(64):
        J[i] = at.network.gradient(flat, at.inputs[i : i + 1], np.ones(1))
    weights = at.loss.output_curvature(at.outputs(flat), at.dataset.y, np.ones(64))
    curvature = weights * (J**2).sum(axis=1)
    assert largest_curvature(at) == pytest.approx(curvature.max(), rel=1e-10)


def test_a_wild_step_is_noticed_and_the_suggested_one_holds() -> None:
    at = problem(SGD, "dynamics.step=40", m=64)
    last = list(chunks(make_integrator(at)))[-1]
    assert last.outcome is Outcome.DIVERGED
    assert last.event is not None
    step = last.event[1]["suggested_step"]
    assert 0 < step <= stochastic_step(at)
    again = problem(SGD, f"dynamics.step={step}", "dynamics.until_log10_time=2", m=64)
    assert list(chunks(make_integrator(again)))[-1].outcome is Outcome.COMPLETED


def test_a_continued_run_is_the_same_run(tmp_path: Any) -> None:
    settings = (SGD, "dynamics.step=0.125", "loss.kind=logistic", "recording.frames=9")
    recorded(tmp_path / "short.msrun", *settings, "dynamics.until_log10_time=1")
    recorded(tmp_path / "long.msrun", *settings, "dynamics.until_log10_time=2")
    with open_run(tmp_path / "short.msrun") as run, open_run(tmp_path / "long.msrun") as long:
        further, _ = continue_problem(run, None, ["dynamics.until_log10_time=2"])
        last = list(trajectory(further))[-1]
        assert last.step == long.steps[-1]
        assert np.array_equal(last.parameters, long.parameters(long.frames - 1))


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"data": {"n": 8}, "dynamics": {"kind": "sgd", "batch": 9}}, "larger than n = 8"),
        ({"data": {"n": 8}, "dynamics": {"kind": "adam", "batch": 9}}, "larger than n = 8"),
        (
            {"data": {"kind": "file"}, "dynamics": {"kind": "sgd", "fresh": True}},
            "needs a distribution",
        ),
        ({"dynamics": {"kind": "sgd", "batch": 0}}, "greater than or equal to 1"),
        ({"dynamics": {"kind": "adam", "beta2": 1.0}}, "less than 1"),
    ],
)
def test_bad_settings_are_refused(tables: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        build_experiment({"network": {"m": 4}, **tables}, "here")


def test_data_without_a_distribution_have_no_fresh_examples() -> None:
    tables = {"data": {"kind": "digits"}, "network": {"m": 4}}
    experiment = build_experiment({**tables, "dynamics": {"kind": "sgd", "fresh": True}}, "here")
    with pytest.raises(InputError, match="no distribution"):
        make_integrator(prepare(resolve_problem(experiment)))


def test_a_batch_larger_than_the_file_is_refused(tmp_path: Any) -> None:
    np.savez(tmp_path / "few.npz", x=np.eye(3), y=np.array([1.0, -1.0, 1.0]))
    tables = {
        "data": {"kind": "file", "path": "few.npz"},
        "network": {"m": 4},
        "dynamics": {"kind": "sgd", "batch": 4},
    }
    at = resolve_problem(build_experiment(tables, "here"), tmp_path)
    with pytest.raises(InputError, match="larger than n = 3"):
        make_integrator(prepare(at))


def test_one_pass_sgd_learns_parity_with_13_to_18_d_samples() -> None:
    """docs/theory.md, 7.5, d = 20, m = 64, eta = .3: test error .1 is reached between these."""
    before, after = [], []
    for seed in range(7):
        settings = ("dynamics.fresh=true", "dynamics.step=0.3", "loss.kind=logistic")
        marks = np.log10(0.3 * 20 * np.array([8.0, 26.0]))
        times = f"recording.log10_times=[{marks[0]}, {marks[1]}]"
        until = f"dynamics.until_log10_time={marks[1]}"
        at = problem(SGD, *settings, times, until, f"run.seed={seed}", "recording.frames=4", m=64)
        points = points_for_test(at)
        assert points is not None

        def error(frame: Frame, at: Problem = at, x: Any = points.x, y: Any = points.y) -> float:
            return float(np.mean(~(at.network.margins(frame.parameters, x, y) > 0)))

        frames = {frame.step: error(frame) for frame in trajectory(at)}
        before.append(frames[160])
        after.append(frames[520])
    assert np.median(before) > 0.1 > np.median(after)


def test_a_last_step_that_is_too_long_is_told(tmp_path: Path) -> None:
    """A step of 1e270 from a start near 1e-68: its parameters are finite, and no output is."""
    small = 1e-68 * np.array([1.0, -0.5])
    V = 1e-68 * np.cos(np.arange(14.0)).reshape(2, 7)
    np.savez(tmp_path / "start.npz", a=small, c=small, V=V)
    tables = {
        "data": {"kind": "xor", "d": 7, "n": 6},
        "network": {
            "kind": "batch_norm",
            "m": 2,
            "normalise": False,
            "init": "file",
            "init_path": str(tmp_path / "start.npz"),
        },
        "loss": {"kind": "logistic"},
        "dynamics": {"kind": "sgd", "batch": 6, "step": 1.5e270, "until_log10_time": 2.0},
    }
    found = list(
        chunks(make_integrator(prepare(resolve_problem(build_experiment(tables, "test")))))
    )
    assert found[-1].outcome is Outcome.DIVERGED
    frames = [frame for chunk in found for frame in chunk.frames]
    assert [frame.step for frame in frames] == [0]
