"""Statements where numbers leave float64, and where a network vanishes: only rounding is left."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.dynamics.integrator import Chunk, Integrator, Outcome
from core.observables.features import kl
from core.observables.registry import OBSERVABLES
from core.problem.problem import Problem
from core.reference.registry import REFERENCES
from core.run_files.frame import Frame
from core.runs import Recorder, open_run
from core.theorems.statement import Verdict
from core.training.control import Control
from core.training.trajectory import record
from tests.support.judged_runs import (
    exactly,
    judge,
    problem_of,
    recorded_run,
    violated_statements,
    without_numbers,
)

FLOW = {"kind": "flow", "until_log10_time": 1.0}
GD = {"kind": "gd", "step": 0.1, "until_log10_time": 0.5}
SGD = {"kind": "sgd", "step": 0.1, "until_log10_time": 0.5}
CONES = {"kind": "cones", "d": 3, "n": 9, "r": 3}
RUNS: tuple[tuple[dict[str, Any], dict[str, Any], str, dict[str, Any] | None], ...] = (
    ({"m": 4}, FLOW, "logistic", None),
    ({"m": 4}, FLOW, "exponential", CONES),
    ({"m": 4}, SGD | {"fresh": True}, "logistic", None),
    ({"m": 4}, FLOW, "exponential", {"kind": "two_cones"}),
    ({"kind": "scalar", "m": 4}, FLOW, "exponential", None),
    ({"kind": "normalised", "m": 4}, GD, "logistic", None),
    ({"kind": "batch_norm", "m": 4}, GD, "logistic", None),
    ({"kind": "batch_norm", "m": 4}, SGD, "logistic", {"kind": "dyadic", "d": 3}),
    ({"kind": "fixed_outer", "m": 4}, GD, "logistic", None),
    ({"kind": "fixed_outer", "m": 4, "smooth": True}, GD, "logistic", None),
)


@pytest.mark.parametrize("case", RUNS, ids=str)
def test_margins_of_any_size_are_judged(
    case: Any, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """(640 ln(n/delta)/gamma)^2 is beyond float64 for gamma = 1e-160, and Python's ** raised."""
    network, dynamics, loss, data = case
    with recorded_run(tmp_path / "run", problem_of(network, dynamics, loss, data)) as run:
        for size in (1e-300, 1e-160, 1e-20, 1e160):
            with subtests.test(size=size):
                found = judge(run, exactly(**dict.fromkeys(REFERENCES, size)))
                assert found
                assert without_numbers(found) == []
                for one in found.values():
                    assert all(hypothesis.needed for hypothesis in one.hypotheses)


class Made(Integrator):
    """Hands on frames that were made by hand."""

    engine, temperature_cap = "made", None

    def __init__(self, frames: list[Frame]) -> None:
        self.frames, self.planned = frames, len(frames)

    def advance(self) -> Chunk:
        last = self.frames[-1]
        return Chunk(tuple(self.frames), Outcome.COMPLETED, last.step, last.log10_time)


def unbalanced(problem: Problem, size: float, drift: float) -> Integrator:
    """Return a flow that ends with a^2 - b^2 = drift |W|^2, at |W| `size` times its start."""
    start = problem.start.parameters
    first = Frame(0, -np.inf, 0.0, start, None)
    m = problem.network.m
    a, b = start[:m], start[m : 2 * m]
    squared = float(start @ start)
    moved = np.concatenate([np.sign(a) * np.sqrt(a**2 + drift * squared / m), b])
    return Made([first, Frame(1, 0.0, math.log(size), moved, None)])


@pytest.mark.parametrize(
    ("size", "verdict"),
    [(1.0, Verdict.VIOLATED), (0.5, Verdict.VIOLATED), (1e-7, Verdict.HOLDS)],
)
def test_the_balance_of_a_network_that_vanishes(
    size: float, verdict: Verdict, tmp_path: Path
) -> None:
    """a^2 - b^2 = 0 up to the rounding of |W(0)|^2, of which 1e-14 |W(0)|^2 is all that is left."""
    problem = problem_of({"kind": "scalar", "m": 1}, FLOW, "exponential")
    with np.errstate(under="ignore"):
        control = Control()
        made = unbalanced(problem, size, 0.02)
        list(record(problem, partial(Recorder, tmp_path / "run"), control, made))
    with open_run(tmp_path / "run") as run:
        found = judge(run, {})
    balance = found["telgarsky22", "Theorem 3.3 (balance)"]
    assert balance.verdict is verdict
    wanted = 0.02 * size**2 / max(1.0, 1.02 * size**2)
    assert balance.comparison.measured == pytest.approx(wanted, rel=1e-6)
    others = [line for line in violated_statements(found) if "balance" not in line]
    assert others == [] or verdict is Verdict.VIOLATED


@pytest.mark.parametrize(("balanced", "wanted"), [(True, 0.02 / 1.02), (False, math.nan)])
def test_the_drift_of_what_has_vanished(balanced: bool, wanted: float, tmp_path: Path) -> None:
    """e^(-2 rho) overflowed at rho = -900; only a start that is not balanced needs it."""
    kind = "scalar" if balanced else "standard"
    problem = problem_of({"kind": kind, "m": 1}, FLOW, "exponential")
    parts = problem.network.unpack(problem.start.parameters)
    squared = sum(float(np.sum(part**2)) for part in parts.values())
    moved = dict(parts)
    if balanced:
        moved["a"] = np.sign(parts["a"]) * np.sqrt(parts["a"] ** 2 + 0.02 * squared)
    first = Frame(0, -np.inf, 0.0, problem.start.parameters, None)
    second = Frame(1, 0.0, -900.0, problem.network.pack(moved), None)
    made = Made([first, second])
    list(record(problem, partial(Recorder, tmp_path / "run"), Control(), made))
    with open_run(tmp_path / "run") as run:
        drift = OBSERVABLES["balance_drift"].trace(run)
    assert drift[0] == 0.0
    assert drift[1] == pytest.approx(wanted, rel=1e-9, nan_ok=True)


def test_inner_weights_that_vanish(tmp_path: Path) -> None:
    """C_1 = |x|^2/|v|^2 is beyond float64 at |v| = 1e-200: no number, and no warning."""
    problem = problem_of({"kind": "normalised", "m": 3}, FLOW, "logistic")
    start = problem.start.parameters
    small = np.concatenate([start[:6], 1e-200 * start[6:]])
    frames = [Frame(0, -np.inf, 0.0, small, None), Frame(1, 0.0, 0.0, small, None)]
    list(record(problem, partial(Recorder, tmp_path / "run"), Control(), Made(frames)))
    with open_run(tmp_path / "run") as run:
        assert np.isnan(OBSERVABLES["c_1"].trace(run)).all()
        assert (OBSERVABLES["c_2"].trace(run) == 0.0).all()
        found = judge(run, {})
    theorem = found["homogeneity", "Theorem 3.1 (margin)"]
    assert [one.met for one in theorem.hypotheses if "C_1" in one.text] == [None]


def test_kl_of_weights_beyond_the_range_of_quotients() -> None:
    """KL(v, u) = sum v ln(v/u) + sum u - sum v, and v/u = 1e320 has a logarithm."""
    v, u = np.array([0.25, 0.75]), np.array([1e-320, 1.0])
    wanted = 0.25 * (math.log(0.25) - math.log(1e-320)) + 0.75 * math.log(0.75)
    assert kl(v, u) == pytest.approx(wanted, rel=1e-12)
