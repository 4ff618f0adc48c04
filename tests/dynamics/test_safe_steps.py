"""Default steps on data of any unit, and what a run says of its step, its data and its pace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from core.cli.main import main
from core.data.dataset import Array
from core.dynamics import step_size
from core.dynamics.integrator import Outcome
from core.dynamics.log_time_flow import LogTimeFlow
from core.dynamics.registry import make_integrator, prepare
from core.dynamics.step_size import ShortenedStep, default_step, lambda_0, objective
from core.problem.problem import Problem, resolve_problem
from core.runs import Recorder, open_run
from core.studies.study import parse_study
from core.training.control import Control
from core.training.trajectory import FIRST_CHECK_S, PaceWatch, chunks
from core.training.trajectory import run as train
from tests.data.measured_data import measured_data

STUDY = """
title = "Measured"
[data]
kind = "file"
path = "{path}"
scale = "{scale}"
[network]
kind = "standard"
m = {m}
[loss]
kind = "logistic"
[dynamics]
kind = "{kind}"
until_log10_time = {until}
[recording]
frames = 5
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    x, y = measured_data()
    path = tmp_path_factory.mktemp("measured") / "measured.npz"
    np.savez(path, x=x, y=y)
    return path


def study(file: Path, kind: str, m: int = 64, scale: str = "none", until: float = -3.5) -> str:
    return STUDY.format(path=file.as_posix(), kind=kind, m=m, scale=scale, until=until)


def problem_of(text: str) -> Problem:
    return resolve_problem(next(parse_study(text, "measured").iter_cells()).experiment)


def test_default_steps_are_safe_in_any_unit(file: Path, subtests: pytest.Subtests) -> None:
    """1/lambda_0 was up to 10^25 too long: l'' is 0 to rounding where all margins are large."""
    for kind in ("gd", "sgd"):
        for m in (16, 256):
            with subtests.test(kind=kind, m=m):
                at = prepare(problem_of(study(file, kind, m)))
                found = list(chunks(make_integrator(at)))
                assert found[-1].outcome is Outcome.COMPLETED
                end = found[-1].frames[-1].parameters
                assert objective(at, end) < objective(at, at.physical_start())


def test_the_default_step_changes_only_where_it_raises_the_risk(file: Path) -> None:
    scaled = problem_of(study(file, "gd", scale="standard"))
    assert default_step(scaled) == 1.0 / lambda_0(scaled)
    assert prepare(scaled).notes == ()
    at = problem_of(study(file, "gd"))
    step = default_step(at)
    assert isinstance(step, ShortenedStep)
    assert step < 1e-3 / lambda_0(at)
    made = prepare(at)
    assert made.experiment.dynamics.step == step
    assert type(made.experiment.dynamics.step) is float
    assert len(made.notes) == 1
    assert f"dynamics.step = {step:g} was chosen" in made.notes[0]


def test_a_run_says_what_is_special_about_its_data_and_step(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    control, path = Control(), tmp_path / "a.msrun"
    status = train(problem_of(study(file, "gd")), partial(Recorder, path), control)
    unit, step = status.notes
    assert "The columns of the data reach 4254" in unit
    assert 'set data.scale = "standard"' in unit
    assert "was chosen" in step
    with open_run(path) as run:  # the data say their sizes themselves, what was chosen is kept
        assert [(frame, kind) for frame, kind, _ in run.events()] == [(0, "note")]
    (tmp_path / "s.toml").write_text(study(file, "gd"), encoding="utf-8")
    assert main(["run", str(tmp_path / "s.toml"), "--out", str(tmp_path), "--quiet"]) == 0
    told = capsys.readouterr().err.splitlines()
    assert [line for line in told if "s.msrun: " in line] == [
        f"s.msrun: {unit}",
        f"s.msrun: {step}",
    ]
    scaled = train(problem_of(study(file, "gd", scale="unit")), partial(Recorder, tmp_path / "b"))
    assert scaled.notes == ()


# --------------------------------------------------------------------------------------- pace


def said_by(log10_time: Callable[[float], float], end: float, log_time: bool, within: float) -> str:
    """Return sentences on a run at log10_time(seconds), checked every 10 ms for 13 s."""
    now = [0.0]
    watch = PaceWatch(end, log_time, "choose less", clock=lambda: now[0])
    found = []
    for tick in range(1300):
        now[0] = 0.01 * tick
        if note := watch.note(log10_time(now[0])):
            assert now[0] <= within
            found.append(note)
    assert len(found) <= 1
    return "".join(found)


def test_a_run_of_hours_says_so_within_two_seconds(subtests: pytest.Subtests) -> None:
    def steps(rate: float) -> Callable[[float], float]:
        return lambda seconds: float(np.log10(rate * (seconds + 1e-3)))

    def decades(rate: float) -> Callable[[float], float]:
        return lambda seconds: rate * seconds - 1.0

    def hindered(seconds: float) -> float:
        return steps(1e-3)(0.1 * seconds if seconds < 1.0 else seconds - 0.9)

    def late(seconds: float) -> float:
        return -np.inf if seconds < 0.4 else steps(1e-4)(seconds - 0.4)

    cases: Sequence[tuple[str, Callable[[float], float], float, bool, str]] = (
        ("steps, 3 h", steps(1e-4), 0.0, False, "about 2 h 47 min to reach log10 t = 0"),
        ("steps, 10 s", steps(1e-1), 0.0, False, ""),
        (
            "flow in t",
            steps(1e-3),
            4.0,
            True,
            "about 11 days or more to reach log10 t = 3",
        ),
        ("flow in t, quick", steps(10.0), 4.0, True, ""),
        ("flow in log t", decades(0.5), 1e4, True, ""),
        ("flow at rest", lambda _: -2.0, 4.0, True, ""),
        ("flow in t, beside others at first", hindered, 4.0, True, " or more to reach log10 t = 3"),
        ("nothing yet", lambda _: -np.inf, 4.0, True, ""),
        ("kernels are late", late, 0.0, False, "2 h 47 min"),
    )
    for name, curve, end, log_time, words in cases:
        with subtests.test(name):
            said = said_by(curve, end, log_time, within=13.0 if curve is hindered else 2.0)
            assert words in said
            assert bool(said) == bool(words)


def test_a_pause_is_no_slow_pace() -> None:
    now = [0.0]
    watch = PaceWatch(0.0, False, "choose less", clock=lambda: now[0])
    watch.note(-3.0)
    watch.restart()
    now[0] = 1e5
    assert watch.note(-2.9) == ""
    now[0] += 4.0 * FIRST_CHECK_S
    assert watch.note(-1.0) == ""


def test_the_companion_counts_as_progress(file: Path) -> None:
    """A flow that follows its companion first was at t = 0 for minutes, by what it said."""
    flow = make_integrator(prepare(problem_of(study(file, "flow", m=16, until=4.0))))
    assert isinstance(flow, LogTimeFlow)
    found: list[Array | float] = []
    for _ in range(4):
        chunk = flow.advance()
        found.append(flow.log10_progress(chunk.log10_time))
    assert chunk.log10_time == -np.inf
    assert found[0] == -np.inf
    assert -np.inf < found[-2] < found[-1]


def test_a_run_solves_for_lambda_0_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solved = []

    def solve(*given: Problem | Array) -> float:
        solved.append(given)
        return real(*given)

    real = step_size._solve
    monkeypatch.setattr(step_size, "_solve", solve)
    at = prepare(problem_of(study(file, "gd", m=8)))
    make_integrator(at)  # the first frame's time follows from it, too
    assert len(solved) == 1
    start = at.physical_start()
    assert lambda_0(at) == real(at, start)
    assert lambda_0(at, 2.0 * start) == real(at, 2.0 * start)
    other = replace(at, dataset=replace(at.dataset, y=-at.dataset.y))
    assert lambda_0(other) == real(other, start)
