"""The training thread: many runs in one, and failures that stay with their run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.training.recipes import ContinuedRun, FromExperiment, FromRun, Recipe
from app.training.run_worker import RunWorker, TrainingJob
from core.problem.problem import Problem
from core.runs import open_run
from core.studies.study import load_study
from core.training.control import Control, FinishReason, RunState


@pytest.fixture
def worker(qtbot: QtBot) -> Iterator[RunWorker]:
    made = RunWorker()
    with qtbot.waitSignal(made.ready):
        made.start()
    yield made
    assert made.close()


def job(key: int, folder: Path, recipe: Recipe) -> TrainingJob:
    return TrainingJob(key, folder / f"{key}.msrun", Control(), recipe)


@dataclass(frozen=True)
class Broken(Recipe):
    def problem(self) -> Problem:
        raise ZeroDivisionError("a mistake")

    def groups(self) -> tuple[str, ...]:
        return ()


def test_runs_take_turns_and_each_ends(
    worker: RunWorker, study: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    cells = load_study(str(study)).cells()
    jobs = [job(key, tmp_path, FromExperiment(c.experiment)) for key, c in enumerate(cells)]
    events: list[tuple[str, int]] = []
    worker.run_started.connect(lambda key: events.append(("begun", key)))
    worker.progress.connect(lambda key, index: events.append(("grew", key)))
    worker.finished.connect(lambda key: events.append(("ended", key)))
    worker.submit(*jobs)
    qtbot.waitUntil(lambda: sum(name == "ended" for name, _ in events) == 2)
    for one in jobs:
        mine = [name for name, key in events if key == one.key]
        assert mine[:2] == ["begun", "grew"]
        assert mine[-1] == "ended"
        with open_run(one.path) as run:
            assert run.reason == "completed"


def test_a_failure_is_a_sentence_and_the_other_run_goes_on(
    worker: RunWorker, study: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    good = job(1, tmp_path, FromExperiment(load_study(str(study)).cells()[0].experiment))
    missing = job(2, tmp_path, ContinuedRun(tmp_path / "gone.msrun"))
    broken = job(3, tmp_path, Broken())
    told: dict[int, str] = {}
    worker.error.connect(told.__setitem__)
    with qtbot.waitSignal(worker.finished):
        worker.submit(missing, broken, good)
    qtbot.waitUntil(lambda: len(told) == 2)
    assert "gone.msrun" in told[2]
    assert "internal error" in told[3]
    assert "ZeroDivision" not in told[3]
    assert broken.control.status.state is RunState.FINISHED
    assert broken.control.status.reason is FinishReason.FAILED


def test_a_run_is_made_from_another_one(
    worker: RunWorker, study: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    experiment = load_study(str(study)).cells()[0].experiment
    first = job(1, tmp_path, FromExperiment(experiment))
    with qtbot.waitSignal(worker.finished):
        worker.submit(first)
    second = job(2, tmp_path, FromRun(first.path, experiment))
    third = job(3, tmp_path, ContinuedRun(first.path))
    with qtbot.waitSignals([worker.finished, worker.finished]):
        worker.submit(second, third)
    with open_run(first.path) as one, open_run(second.path) as two, open_run(third.path) as three:
        assert (one.origin == two.origin).all()
        assert (one.parameters(one.frames - 1) == two.parameters(two.frames - 1)).all()
        assert three.start.log10_time == one.log10_time[-1]


def test_closing_finishes_the_file_of_a_paused_run(
    worker: RunWorker,
    slow_study: Path,
    tmp_path: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits, wait = list[float](), Control.wait_while_paused

    def noted(self: Control, seconds: float) -> None:
        waits.append(seconds)
        wait(self, seconds)

    monkeypatch.setattr(Control, "wait_while_paused", noted)
    one = job(1, tmp_path, FromExperiment(load_study(str(slow_study)).cells()[0].experiment))
    with qtbot.waitSignal(worker.progress):
        worker.submit(one)
    one.control.pause()
    qtbot.waitUntil(lambda: one.control.status.state is RunState.PAUSED)
    committed = one.control.status.committed
    del waits[:]
    qtbot.wait(300)
    assert len(waits) < 10  # a paused thread sleeps
    assert worker.close()
    with open_run(one.path) as run:
        assert run.reason == "cancelled"
        assert run.frames == committed + 1
