"""Cells trained as one batch of tensors: the files of single runs, whatever becomes of some."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.dynamics.batch_descent import Batch, LeftBatchError, batch_key
from core.dynamics.integrator import Outcome
from core.dynamics.registry import prepared
from core.problem.problem import Problem
from core.runs import open_run
from core.studies.study import Study, parse_study
from core.sweep import pools
from core.sweep.cell import Task
from core.sweep.control import SweepControl
from core.sweep.loop import sweep
from core.sweep.plan import plan
from core.sweep.pools import HerePool, pool_for
from core.sweep.together import TOGETHER, batchable, run_together
from core.training.control import Control
from tests.chunked import trajectory
from tests.sweep.studies import QUICK

MORE = QUICK.replace('"run.seed" = [0, 1]', '"run.seed" = [0, 1, 2, 3]')
WILD = ["loss.kind=exponential", "data.n=16", "dynamics.until_log10_time=4.0"]


def in_a_batch(study: Study, folder: Path) -> list[str]:
    """Sweep a study on a batch of tensors on this processor; the engines of its rows."""
    made = plan(study, folder)
    control = SweepControl()
    last = [*sweep(made, HerePool(control.cell, "cpu"), control)][-1]
    assert (last.failed, last.total) == (0, len(made.paths))
    assert last.done == last.total
    return [entry.row.engine for entry in made.ledger.entries.values()]


def alone(study: Study, folder: Path) -> None:
    """Sweep a study one cell after another."""
    control = SweepControl()
    for _ in sweep(plan(study, folder), HerePool(control.cell), control):
        pass


@pytest.mark.parametrize(
    "changes",
    [
        [],
        ["dynamics.step=[0.25, 0.125]", "run.seed=[0, 1]"],
        ["network.kind=normalised"],
        ["network.kind=bias", "loss.l2=0.01"],
        ["data.d=30"],  # the row space
        ["run.precision=float32"],
    ],
    ids=["seeds", "steps", "normalised", "bias", "row-space", "float32"],
)
def test_run_files_are_those_of_single_runs(tmp_path: Path, changes: list[str]) -> None:
    study = parse_study(MORE, "more").with_settings(changes)
    engines = in_a_batch(study, tmp_path / "together")
    assert all("batch of 4" in engine for engine in engines)  # for each n one
    alone(study, tmp_path / "alone")
    exact = "run.precision=float32" not in changes
    for path in sorted((tmp_path / "alone").glob("*.msrun")):
        with open_run(path) as one, open_run(tmp_path / "together" / path.name) as other:
            assert (other.frames, other.status, other.reason) == (
                one.frames,
                one.status,
                one.reason,
            )
            np.testing.assert_array_equal(other.steps[: other.frames], one.steps[: one.frames])
            np.testing.assert_array_equal(
                other.log10_time[: other.frames], one.log10_time[: one.frames]
            )
            for frame in range(one.frames):
                np.testing.assert_allclose(
                    other.parameters(frame),
                    one.parameters(frame),
                    **({"rtol": 1e-10, "atol": 1e-12} if exact else {"rtol": 1e-3, "atol": 2e-5}),
                )


def test_each_run_of_a_batch_is_an_integrator_of_its_own() -> None:
    study = parse_study(MORE, "more").with_settings(["data.n=16"])
    problems = [prepared(_problem(study, k)) for k in range(4)]
    assert len({batch_key(problem) for problem in problems}) == 1
    batch = Batch(problems)
    for run, problem in zip(reversed(batch.runs), reversed(problems), strict=True):  # not in turn
        wanted = list(trajectory(problem))
        found, outcome = [], Outcome.GOING
        while outcome is Outcome.GOING:
            chunk = run.advance()
            outcome = chunk.outcome
            found += chunk.frames
        assert outcome is Outcome.COMPLETED
        assert [frame.step for frame in found] == [frame.step for frame in wanted]
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one.parameters, other.parameters, rtol=1e-10, atol=1e-12)


def _problem(study: Study, place: int) -> Problem:
    task = plan(study, Path("nowhere")).tasks[place]
    return task.problem()


def test_what_diverges_is_trained_by_itself(tmp_path: Path) -> None:
    # Some of these diverge by a step of 5 too: 200 steps show all that 40,000 of .25 do.
    short = ["dynamics.until_log10_time=3.0", "dynamics.step=[5.0, 300.0]"]
    study = parse_study(MORE, "wild").with_settings([*WILD, *short])
    engines = in_a_batch(study, tmp_path / "together")
    alone(study, tmp_path / "alone")
    reasons = []
    for path in sorted((tmp_path / "alone").glob("*.msrun")):
        with open_run(path) as one, open_run(tmp_path / "together" / path.name) as other:
            assert (other.reason, other.frames) == (one.reason, one.frames)
            reasons.append(other.reason)
    assert sum("batch of 8" in engine for engine in engines) == reasons.count("completed")
    assert "diverged" in reasons
    assert "completed" in reasons


def test_a_run_that_leaves_says_so() -> None:
    study = parse_study(MORE, "wild").with_settings([*WILD, "dynamics.step=3000.0"])
    run = Batch([prepared(_problem(study, k)) for k in range(2)]).runs[0]
    run.advance()
    with pytest.raises(LeftBatchError):
        for _ in range(100):
            run.advance()


def test_cells_that_cannot_be_made_are_rows(tmp_path: Path) -> None:
    study = parse_study(MORE, "more").with_settings(["data.n=[1, 16]"])
    made = plan(study, tmp_path)
    rows = run_together(made.tasks, Control(), "cpu")
    assert [row.state for row in rows] == ["failed"] * 4 + ["done"] * 4
    assert "both classes are needed" in rows[0].reason
    assert [row.name for row in rows] == [task.name for task in made.tasks]


def test_a_batch_that_fails_is_trained_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_memory(self: Batch, place: int) -> None:
        raise RuntimeError("CUDA out of memory")

    study = parse_study(MORE, "more").with_settings(["data.n=16"])
    monkeypatch.setattr(Batch, "next_row", no_memory)
    rows = run_together(plan(study, tmp_path).tasks, Control(), "cpu")
    assert [(row.state, row.engine) for row in rows] == [("done", "compiled float64")] * 4


def test_a_cell_with_an_error_of_its_own_does_not_stop_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = parse_study(MORE, "more").with_settings(["data.n=16"])
    made = Task.problem

    def problem(self: Task) -> Problem:
        if self.name.endswith("seed=1"):
            raise ZeroDivisionError("a user's own code")
        return made(self)

    monkeypatch.setattr(Task, "problem", problem)
    rows = run_together(plan(study, tmp_path).tasks, Control(), "cpu")
    assert [row.state for row in rows] == ["done", "failed", "done", "done"]
    assert "a user's own code" in rows[1].reason
    assert "batch of 3" in rows[0].engine


def test_a_stop_leaves_files_that_are_run_again(tmp_path: Path) -> None:
    study = parse_study(MORE, "more").with_settings(["data.n=16"])
    control = Control()
    control.stop()
    rows = run_together(plan(study, tmp_path).tasks, control, "cpu")
    assert {row.state for row in rows} == {"cancelled"}
    assert len(plan(study, tmp_path).tasks) == 4


def test_a_stop_in_the_middle_keeps_the_frames(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = parse_study(MORE, "more").with_settings(["data.n=16"])
    control, asked = Control(), iter(range(100))

    def wait(seconds: float) -> None:
        if next(asked) == 2:
            control.stop()

    monkeypatch.setattr(control, "wait_while_paused", wait)
    tasks = plan(study, tmp_path).tasks
    rows = run_together(tasks, control, "cpu")
    assert {row.state for row in rows} == {"cancelled"}
    for task in tasks:
        with open_run(task.path) as run:
            assert (run.status, run.reason) == ("finished", "cancelled")
            assert run.frames >= 2


@pytest.fixture
def with_a_device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A computer that says it has a CUDA device."""
    monkeypatch.setattr(pools, "cuda_is_present", lambda: True)
    yield


@pytest.mark.usefixtures("with_a_device")
def test_a_device_is_used_where_all_cells_can_go_in_batches(tmp_path: Path) -> None:
    tasks = plan(parse_study(QUICK, "quick"), tmp_path).tasks
    control = Control()
    assert all(map(batchable, tasks))
    pool = pool_for(tasks, None, None, control)
    assert isinstance(pool, HerePool)
    assert pool.together == TOGETHER
    assert pool_for(tasks, 1, None, control).together == 0
    each_another = plan(parse_study(QUICK, "quick").with_settings(["run.seed=[0]"]), tmp_path).tasks
    assert not isinstance(pool_for(each_another, None, None, control), HerePool)
    flow = replace(
        tasks[0],
        experiment=plan(parse_study(QUICK, "quick").with_settings(["dynamics.kind=flow"]), tmp_path)
        .tasks[0]
        .experiment,
    )
    assert pool_for([flow], None, None, control).together == 0
    assert batch_key(prepared(flow.problem())) is None
