"""Constant-step gradient descent against a plain loop, its edge of stability, and its schedule."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.dynamics.descent import Descent
from core.dynamics.integrator import Outcome
from core.dynamics.registry import make_integrator, prepare
from core.dynamics.step_size import (
    default_step,
    jacobian,
    lambda_0,
    round_down,
    solve_by_lanczos,
    stochastic_step,
)
from core.problem.problem import Problem, Start, resolve_problem
from core.studies.study import parse_study
from core.training.trajectory import chunks
from tests.frames_in_chunks import check_small_chunks, trajectory
from tests.networks import Case, small_problem
from tests.problems import margin_of, problem

GD = "dynamics.kind=gd"


def plain_descent(at: Problem, step: float, steps: int) -> np.ndarray:
    """Return the textbook loop, in NumPy and float64."""
    flat = at.start.parameters.copy()
    y = at.dataset.y
    for _ in range(steps):
        g = at.loss.output_gradient(at.outputs(flat), y) / y.size
        slope = at.network.gradient(flat, at.inputs, g)
        flat = flat - step * (slope + 2 * at.experiment.loss.l2 * flat)
    return flat


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize("m", [3, 16])
@pytest.mark.parametrize("l2", [0.0, 0.01])
def test_equals_a_plain_loop(loss: str, m: int, l2: float) -> None:
    settings = (GD, "dynamics.step=0.25", "dynamics.until_log10_time=1.5", f"loss.kind={loss}")
    at = problem(*settings, f"loss.l2={l2}", "recording.frames=5", "recording.log10_times=[]", m=m)
    last = list(trajectory(at))[-1]
    assert last.step == 127  # the first step with 0.25 s >= 10^1.5
    wanted = plain_descent(at, 0.25, last.step)
    assert np.allclose(last.parameters, wanted, rtol=1e-10, atol=1e-12)


def test_figure_1_at_t_1000() -> None:
    """docs/theory.md, 7.2: seed 0, step .25, within 1 %."""
    for m, hard, norm in ((16, 0.022884, 211.94), (256, 0.012545, 427.74)):
        at = problem(GD, "dynamics.step=0.25", "dynamics.until_log10_time=3", m=m)
        last = list(trajectory(at))[-1]
        assert (last.step, last.log10_time) == (4000, 3.0)
        assert margin_of(at, last) == pytest.approx(hard, rel=0.01)
        assert np.dot(last.parameters, last.parameters) == pytest.approx(norm, rel=0.002)


def test_float32_follows_float64() -> None:
    settings = (GD, "dynamics.step=0.25", "dynamics.until_log10_time=2")
    double = list(trajectory(problem(*settings)))
    single = list(trajectory(problem(*settings, "run.precision=float32")))
    assert [frame.step for frame in single] == [frame.step for frame in double]
    assert single[-1].parameters.dtype == np.float32
    assert np.allclose(single[-1].parameters, double[-1].parameters, atol=2e-3)
    dual = single[-1].dual
    assert dual.sum() == pytest.approx(1.0)
    assert double[-1].dual is None


def test_lambda_0_is_the_largest_curvature() -> None:
    at = problem(m=5)
    flat = at.start.parameters
    J = jacobian(at.network, flat, at.inputs)
    weights = at.loss.curvature(at.margins(flat))
    gauss_newton = J.T @ (weights[:, None] * J) / 64
    assert lambda_0(at) == pytest.approx(np.linalg.eigvalsh(gauss_newton)[-1], rel=1e-10)
    assert np.allclose(at.network.gram(flat, at.inputs), J @ J.T, rtol=1e-11, atol=1e-12)
    lanczos = solve_by_lanczos(at, flat, at.outputs(flat)) / 64
    assert lanczos == pytest.approx(lambda_0(at), rel=1e-7)


SMALL = """
title = "A small start"
[data]
{data}
[network]
m = 16
init = "{init}"
scale = {scale}
[loss]
kind = "least_squares"
[dynamics]
kind = "{kind}"
until_log10_time = 2.5
[recording]
frames = 30
"""
REGRESSION = 'kind = "regression"\nd = {d}\nn = {n}'


@pytest.mark.parametrize("kind", ["gd", "sgd"])
@pytest.mark.parametrize("init", ["balanced", "dominated"])
@pytest.mark.parametrize(
    "data", ['kind = "spurious"', 'kind = "orthonormal"', REGRESSION.format(d=10, n=40)]
)
def test_from_a_small_start_the_default_step_fits(data: str, init: str, kind: str) -> None:
    """1/lambda_0 is 5e5 and more there: one such step ends at 1e200."""
    study = parse_study(SMALL.format(data=data, init=init, scale=1e-3, kind=kind), "small")
    at = resolve_problem(study.cells()[0].experiment, None)
    assert lambda_0(at) < 1e-4
    weights = np.abs(at.dataset.y) * np.linalg.norm(at.inputs, axis=1)
    step = {"gd": 0.1 / weights.mean(), "sgd": 0.02 / weights.max()}[kind]
    chosen = {"gd": default_step, "sgd": stochastic_step}[kind](at)
    assert chosen == pytest.approx(step, rel=1e-12)
    pieces = list(chunks(make_integrator(prepare(at))))
    assert pieces[-1].outcome is Outcome.COMPLETED
    frames = [frame for piece in pieces for frame in piece.frames]
    assert frames[1].log10_time <= 0.0  # before anything turns
    left = [at.outputs(frame.parameters) - at.dataset.y for frame in (frames[0], frames[-1])]
    assert (left[1] @ left[1]) < 0.7 * (left[0] @ left[0])


def test_lambda_0_on_figure_1() -> None:
    """docs/theory.md, 7.2: about m/115 for the exponential loss, a quarter for the logistic."""
    for m in (256, 1024):
        exponential = lambda_0(problem(m=m))
        assert exponential == pytest.approx(m / 115, rel=0.1)
        assert lambda_0(problem("loss.kind=logistic", m=m)) == pytest.approx(
            exponential / 4, rel=0.05
        )


@pytest.mark.parametrize(
    ("m", "step", "outcome"),
    [
        (256, 1.0, Outcome.COMPLETED),
        (256, 2.0, Outcome.DIVERGED),
        (4096, 0.0625, Outcome.COMPLETED),
        (4096, 0.125, Outcome.DIVERGED),
    ],
)
def test_the_edge_of_stability(m: int, step: float, outcome: Outcome) -> None:
    """docs/theory.md, 7.2."""
    at = problem(GD, f"dynamics.step={step}", "dynamics.until_log10_time=1.3", m=m)
    last = list(chunks(Descent(at)))[-1]
    assert last.outcome is outcome
    if outcome is Outcome.DIVERGED:
        assert last.event is not None
        kind, payload = last.event
        assert kind == "diverged"
        assert 0 < payload["suggested_step"] <= default_step(at)
        again = problem(
            GD, f"dynamics.step={payload['suggested_step']}", "dynamics.until_log10_time=1", m=m
        )
        assert list(chunks(Descent(again)))[-1].outcome is Outcome.COMPLETED


def test_a_wild_logistic_step_is_noticed() -> None:
    at = problem(GD, "dynamics.step=1000", "loss.kind=logistic", m=16)
    assert list(chunks(Descent(at)))[-1].outcome is Outcome.DIVERGED


def test_a_penalised_run_comes_to_rest_at_a_stationary_point() -> None:
    """There grad R = -2 lambda W, whose radial part says sum_i l'(p_i) p_i/n = -lambda |W|^2."""
    settings = ("loss.l2=0.003", "loss.kind=logistic", "dynamics.until_log10_time=3.5")
    at = problem(GD, "dynamics.step=0.5", *settings, m=8)
    W = list(trajectory(at))[-1].parameters
    p = at.margins(W)
    radial = 2 * np.mean(at.loss.slope(p) * p)
    assert radial == pytest.approx(-2 * 0.003 * (W @ W), rel=2e-3)


def test_default_step_is_filled_in_and_stable() -> None:
    at = prepare(problem(GD, "dynamics.until_log10_time=2"))
    assert at.experiment.dynamics.step == pytest.approx(1 / lambda_0(at))
    assert list(chunks(Descent(at)))[-1].outcome is Outcome.COMPLETED


def test_dead_units_stay_where_they_are() -> None:
    at = problem(GD, "dynamics.step=0.1", "dynamics.until_log10_time=1", m=2)
    dead = at.network.pack({"a": np.ones(2), "V": np.zeros((2, 20))})
    still = Problem(at.experiment, at.dataset, at.network, Start(dead, dead))
    found = list(chunks(Descent(still)))
    assert found[-1].outcome is Outcome.COMPLETED
    assert found[-1].event is not None
    assert found[-1].event[0] == "stationary"
    frames = [frame for chunk in found for frame in chunk.frames]
    assert len(frames) == Descent(still).planned
    assert all(np.array_equal(frame.parameters, dead) for frame in frames)


def test_dead_nodes_of_several_classes_have_no_curvature() -> None:
    """Lanczos on the zero matrix ended in ARPACK's error: no start of such a network could run."""
    at = small_problem(Case("multiclass", "cross_entropy", 3))
    shapes = {block.name: block.shape for block in at.network.layout}
    dead = at.network.pack({name: np.zeros(shape) for name, shape in shapes.items()})
    assert lambda_0(replace(at, start=Start(dead, dead))) == 0.0
    alive = at.start.parameters
    J = jacobian(at.network, alive, at.inputs)
    f = at.outputs(alive)
    units = [np.tile(row, (at.dataset.n, 1)) for row in np.eye(3)]
    H = np.zeros((at.dataset.n * 3, at.dataset.n * 3))
    for c, unit in enumerate(units):
        column = at.loss.output_curvature(f, at.dataset.y, unit)
        for i in range(at.dataset.n):
            H[3 * i : 3 * i + 3, 3 * i + c] = column[i]
    wanted = np.linalg.eigvalsh(J.T @ H @ J)[-1] / at.dataset.n
    assert lambda_0(at) == pytest.approx(wanted, rel=1e-7)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_results_do_not_depend_on_the_chunks(precision: str) -> None:
    settings = (
        GD,
        "dynamics.step=0.25",
        "dynamics.until_log10_time=2",
        f"run.precision={precision}",
    )
    at = problem(*settings)
    check_small_chunks(Descent(at), list(trajectory(at)))


def test_marks_are_the_first_step_not_before_the_time() -> None:
    at = problem(GD, "dynamics.step=0.3", "dynamics.until_log10_time=2", "recording.frames=20")
    frames = list(trajectory(at))
    steps = {frame.step for frame in frames}
    assert {34, 334} <= steps  # .3 * 34 = 10.2 and .3 * 334 = 100.2
    assert frames[-1].step == 334
    for frame in frames[1:]:
        assert frame.log10_time == pytest.approx(np.log10(0.3 * frame.step), abs=1e-14)
    assert frames[0].log10_time == -np.inf


def test_rounded_down_never_rounds_up() -> None:
    for value in np.random.default_rng(0).lognormal(0, 5, 200):
        assert 0.9 * value <= round_down(value) <= value * (1 + 1e-12)
