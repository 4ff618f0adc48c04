"""The error that a flow prints for each frame bounds the true one, in 99 % of all frames."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.dynamics import companion
from core.dynamics.log_time_flow import LogTimeFlow
from core.dynamics.registry import make_integrator, prepare
from core.errors import InputError
from core.observables.registry import OBSERVABLES
from core.problem.problem import Problem, resolve_problem, with_dynamics
from core.runs import open_run
from core.study_file.dynamics import GradientFlow
from core.study_file.validation import build_experiment
from tests.frames_in_chunks import frames_of
from tests.support.continued_runs import recorded_at

Array = NDArray[np.float64]
KINDS = ("standard", "scalar", "normalised", "bias", "quadratic", "multiclass")
FINER = 8.0
ROUNDING = 1e-12


def random_flow(seed: int, largest: int = 24, until: float = 3.0) -> Problem:
    """Return a flow on parity, Gaussian mixtures, or modular addition."""
    generator = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    d, n = int(generator.integers(3, 8)), int(generator.integers(6, 20))
    data: dict[str, Any] = {"kind": "parity", "d": d, "k": 2, "n": min(n, 2**d)}
    loss = ("exponential", "logistic")[seed // len(KINDS) % 2]
    if generator.random() < 1 / 3:
        data = {"kind": "gaussian_mixture", "d": d, "n": n}
    if kind in ("quadratic", "multiclass"):
        data, loss = {"kind": "modular", "p": 3}, "cross_entropy"
    tables = {
        "data": data,
        "network": {"kind": kind, "m": int(generator.integers(4, largest))},
        "loss": {"kind": loss},
        "dynamics": {"kind": "flow", "until_log10_time": until},
        "recording": {"frames": int(generator.choice([8, 20, 60, 400]))},
        "run": {"seed": int(generator.integers(1000))},
    }
    return resolve_problem(build_experiment(tables, "a test"))


def true_margins(problem: Problem) -> Array:
    """Return hard margin of each frame, by steps of an eighth."""
    flow = make_integrator(problem)
    assert isinstance(flow, LogTimeFlow)
    s = flow.kernel_state
    for name in ("tau_early", "h_early", "h"):
        setattr(s, name, getattr(s, name) / FINER)
    s.growth **= 1.0 / FINER
    network = problem.network
    return np.array(
        [
            problem.scores(frame.parameters).min() / network.norm_power(frame.parameters)
            for frame in frames_of(flow)
        ]
    )


def gaps(problem: Problem, path: Path) -> tuple[Array, Array]:
    """Return the true and the printed error of each later frame's hard margin."""
    problem = prepare(problem)
    recorded_at(path, problem)
    true = true_margins(problem)
    with open_run(path) as run:
        frames = range(1, run.frames)
        found = np.array([OBSERVABLES["hard_margin"].value_at(run, k) for k in frames])
        printed = np.array([OBSERVABLES["integration_error"].value_at(run, k) for k in frames])
    return np.abs(found - true[1:]), printed


def share_that_holds(seeds: range, folder: Path, **sizes: Any) -> float:
    holds = []
    for seed in seeds:
        true, printed = gaps(random_flow(seed, **sizes), folder / f"{seed}.msrun")
        holds.append(true <= printed + ROUNDING)
    return float(np.concatenate(holds).mean())


def test_the_printed_error_holds(tmp_path: Path) -> None:
    assert share_that_holds(range(6), tmp_path, largest=8, until=1.0) >= 0.99


def test_halves_of_steps_do_not_see_errors_that_add_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counter-run: without the companion few errors hold before t = 10^3."""
    monkeypatch.setattr(companion, "UNTIL_LOG10_TIME", -np.inf)
    assert share_that_holds(range(2), tmp_path, largest=8, until=1.0) < 0.6


@pytest.mark.slow
def test_the_printed_error_holds_in_random_runs(tmp_path: Path) -> None:
    assert share_that_holds(range(100, 300), tmp_path) >= 0.99


@pytest.mark.parametrize(
    ("part", "place", "value"),
    [("counts", 0, 3.0), ("counts", 14, 1.0), ("floats", 0, np.inf), ("floats", 2, np.inf)],
    ids=["a phase within a step", "a half step", "rho", "h"],
)
def test_a_damaged_state_of_the_companion_is_refused(part: str, place: int, value: float) -> None:
    problem = prepare(random_flow(0, largest=8, until=1.0))
    first = make_integrator(problem)
    frame = frames_of(first)[-1]
    state = dict(first.state() or {})
    start = replace(
        problem.start,
        parameters=frame.parameters,
        rho=frame.rho,
        step=frame.step,
        log10_time=frame.log10_time,
    )
    later = with_dynamics(problem, GradientFlow(until_log10_time=1.2))

    def advance(kept: dict[str, Array]) -> None:
        make_integrator(replace(later, start=replace(start, state=kept))).advance()

    advance(state)
    damaged = state["companion" + part].copy()
    damaged[place] = value
    with pytest.raises(InputError, match="damaged"):
        advance({**state, "companion" + part: damaged})


def test_many_frames_do_not_give_the_companion_the_steps_of_the_run() -> None:
    marks = np.linspace(-2.0, 4.0, 601)
    compared = companion.select_compared(marks, -np.inf)
    assert compared[0] == marks[0]
    assert compared.max() <= companion.UNTIL_LOG10_TIME
    assert np.diff(compared).min() > 0.9 / companion.PER_DECADE
    # A run that starts between two comparisons has the same later ones.
    later = companion.select_compared(marks[marks > compared[4] + 0.02], compared[4] + 0.02)
    assert np.array_equal(later, compared[5:])
