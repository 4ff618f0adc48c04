"""Gradient flow in plain time: a closed form, another integrator, what is kept, where it ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from core.data.regression import SETS
from core.dynamics.integrator import Outcome
from core.dynamics.plain_flow import plain_flow_step
from core.dynamics.registry import make_integrator, prepare
from core.errors import InputError
from core.problem.problem import Problem, resolve_problem
from core.run_files.frame import Frame
from core.study_file.validation import build_experiment

Array = np.ndarray
# |beta*| of the least-squares line through the paper's points, and its L with 1/2n.
PAPER_LENGTH, PAPER_RISK = 0.6465, 0.0875214


def problem_of(**tables: dict[str, Any]) -> Problem:
    dynamics = {"kind": "plain_flow", **tables.get("dynamics", {})}
    loss = {"kind": "least_squares", **tables.get("loss", {})}
    whole = {"network": {"m": 4}, **tables, "dynamics": dynamics, "loss": loss}
    return prepare(resolve_problem(build_experiment(whole, "here")))


def frames_of(problem: Problem) -> list[Frame]:
    one, frames = make_integrator(problem), list[Frame]()
    while True:
        chunk = one.advance()
        frames += chunk.frames
        if chunk.outcome is not Outcome.GOING:
            assert chunk.outcome is Outcome.COMPLETED
            return frames


def parts(problem: Problem, frame: Frame) -> tuple[Array, Array]:
    a, V = problem.network.effective(frame.parameters)
    return np.asarray(a), np.asarray(V)


def risk(problem: Problem, frame: Frame) -> float:
    f = problem.outputs(frame.parameters)
    return float(((f - problem.dataset.y) ** 2).mean() / 2.0)


def positive_node(step: float) -> Iterator[tuple[float, float, float]]:
    """Yield (t, p, p exactly) of a node a = v > 0 on x = y = 1: dp/dt = 2 p (1 - p), p = a v."""
    for seed in range(20):
        problem = problem_of(
            data={"kind": "orthonormal", "y": [1.0]},
            network={"m": 1, "init": "balanced", "scale": 1e-3},
            dynamics={"step": step, "until_log10_time": 1.25},
            run={"seed": seed},
        )
        if (problem.start.parameters > 0.0).all():
            break
    p0 = float(np.prod(problem.start.parameters))
    for frame in frames_of(problem):
        t = 10.0**frame.log10_time
        a, v = frame.parameters
        yield t, float(a * v), 1.0 / (1.0 + (1.0 / p0 - 1.0) * np.exp(-2.0 * t))


def test_one_node_follows_the_logistic_curve() -> None:
    """The error is of second order in the step: a tenth of it makes a hundredth of the error."""
    worst = [max(abs(p - exact) for _, p, exact in positive_node(step)) for step in (2e-2, 2e-3)]
    assert worst[0] < 1e-3
    assert worst[0] / worst[1] == pytest.approx(100.0, rel=0.1)


@pytest.mark.parametrize("init", ["balanced", "dominated", "paper"])
def test_the_balance_is_kept_to_rounding(init: str) -> None:
    """c_j = a_j^2 - |v_j|^2, of either sign, while norms grow and fall by orders of magnitude."""
    problem = problem_of(
        data={"kind": "regression", "d": 3, "n": 6},
        network={"m": 32, "init": init, "scale": 0.1},
        dynamics={"until_log10_time": 1.5},
    )
    frames = frames_of(problem)
    (a, V), sizes = parts(problem, frames[0]), []
    c = a**2 - (V**2).sum(axis=1)
    for frame in frames:
        a_t, V_t = parts(problem, frame)
        total = a_t**2 + (V_t**2).sum(axis=1)
        assert np.all(np.abs(a_t**2 - (V_t**2).sum(axis=1) - c) <= 1e-14 * (total + np.abs(c)))
        assert np.all(np.sign(a_t)[c >= 0.0] == np.sign(a)[c >= 0.0])
        sizes.append(total)
    assert np.ptp(np.log10(np.array(sizes)), axis=0).max() > 0.1


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_another_integrator_ends_at_the_same_weights(alpha: float) -> None:
    """An adaptive Runge-Kutta method of fifth order on a and V freely, to 1e-9."""
    problem = problem_of(
        data={"kind": "regression", "d": 3, "n": 6},
        network={"m": 6, "slope": alpha},
        dynamics={"until_log10_time": 0.5},
    )
    network, inputs, y = problem.network, problem.inputs, problem.dataset.y

    def slope(_: float, flat: Array) -> Array:
        f = network.outputs(flat, inputs)
        return -np.asarray(network.gradient(flat, inputs, (f - y) / y.size))

    last = frames_of(problem)[-1]
    found = solve_ivp(
        slope, (0.0, 10.0**last.log10_time), problem.physical_start(), rtol=1e-9, atol=1e-12
    )
    assert np.abs(found.y[:, -1] - last.parameters).max() < 2e-4
    assert np.abs(last.parameters - problem.physical_start()).max() > 0.1


def test_directions_do_not_depend_on_the_scale_of_a_small_start() -> None:
    """While f is small nodes turn by an equation without lambda."""
    ends = []
    for scale in (1e-6, 1e-9):
        problem = problem_of(
            data={"kind": "regression", "d": 3, "n": 6},
            network={"m": 16, "init": "balanced", "scale": scale},
            dynamics={"until_log10_time": 0.5},
        )
        a, V = parts(problem, frames_of(problem)[-1])
        ends.append(np.column_stack([a, V]) / scale)
    # f is 1e-10 of y by then, and which part of a step has a kink in it may depend on that.
    assert np.abs(ends[0] - ends[1]).max() < 1e-6 * np.abs(ends[1]).max()


@pytest.mark.parametrize("init", ["balanced", "dominated"])
@pytest.mark.parametrize("points", SETS)
def test_small_starts_end_at_the_least_squares_line(points: str, init: str) -> None:
    """Boursier and Flammarion 2025: a stationary point that is no minimum, at every width."""
    for m, scale in ((16, 1e-3), (64, 1e-6)):
        problem = problem_of(
            data={"kind": "spurious", "points": points},
            network={"m": m, "init": init, "scale": scale},
            dynamics={"until_log10_time": 2.48},
        )
        x, y = problem.dataset.x, problem.dataset.y
        beta, *_ = np.linalg.lstsq(x, y, rcond=None)
        last = frames_of(problem)[-1]
        assert risk(problem, last) == pytest.approx(((x @ beta - y) ** 2).mean() / 2.0, rel=1e-9)
        a, V = parts(problem, last)
        length = float((np.abs(a) * np.linalg.norm(V, axis=1)).sum())
        assert length == pytest.approx(float(np.linalg.norm(beta)), rel=1e-3)
        if points == "paper":
            assert risk(problem, last) == pytest.approx(PAPER_RISK, abs=1e-7)
            assert length == pytest.approx(PAPER_LENGTH, abs=1e-3)


def test_larger_starts_fit_the_points() -> None:
    """What the test above shows is the small start's doing."""
    problem = problem_of(
        data={"kind": "spurious", "points": "symmetric"},
        network={"m": 64, "init": "balanced", "scale": 1.0},
        dynamics={"until_log10_time": 2.48},
    )
    assert risk(problem, frames_of(problem)[-1]) < 1e-6


def test_the_usual_step_is_a_hundredth_of_the_time_of_turning() -> None:
    y = np.array([1.1, 0.1, 0.8])
    lengths = np.sqrt(np.array([0.75, 0.5, 0.125]) ** 2 + 1.0)
    rate = float((y * lengths).mean())
    step = plain_flow_step(problem_of(data={"kind": "spurious"}))
    assert 0.9 * 0.01 / rate <= step <= 0.01 / rate


def test_stiff_problems_are_followed_by_shorter_parts() -> None:
    """Steps far beyond 2/sharpness: without parts the flow would blow up."""
    problem = problem_of(
        data={"kind": "orthonormal", "y": [30.0]},
        network={"m": 1, "init": "balanced", "scale": 1.0},
        dynamics={"step": 0.5, "until_log10_time": 1.0},
        run={"seed": 3},
    )
    a, V = parts(problem, frames_of(problem)[-1])
    # a positive node ends at f = y, where the sharpness is 2 |y| = 60 > 2/.5; one that sees
    # nothing, or is negative, does not move up
    ends = float(a[0] * max(V[0, 0], 0.0))
    assert ends == pytest.approx(30.0, rel=1e-6) or ends <= 0.0


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"network": {"kind": "scalar", "m": 4}}, "networks and for those without activation"),
        ({"run": {"precision": "float32"}}, "float64"),
        ({"loss": {"l2": 0.1}}, "use loss.l2 = 0"),
        ({"dynamics": {"step": 0.0}}, "greater than 0"),
        ({"network": {"m": 4, "init": "balanced", "scale": 0.0}}, "greater than 0"),
        ({"network": {"m": 4, "slope": 1.0}}, "less than 1"),
    ],
)
def test_bad_settings_are_refused(tables: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        problem_of(**{"data": {"kind": "regression"}, **tables})
