"""A cluster that is lost in mid-sweep: said in a sentence, and what is finished stays."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import final

import pytest

from app.study.options import words_of
from core.cli import sweeping
from core.cli.main import main
from core.cli.sweeping import NO_WORKERS
from core.errors import MarginscopeError
from core.studies.study import parse_study
from core.sweep.cell import Task
from core.sweep.control import SweepControl, SweepStatus
from core.sweep.loop import sweep
from core.sweep.plan import plan
from core.sweep.pools import Pool, Rows
from tests.separate_process import ran
from tests.support.small_studies import SLOW


@final
class Losing(Pool):
    """A pool whose batches wait for workers that are away."""

    workers = 1

    def __init__(self) -> None:
        self.future: Rows = Future()

    def submit(self, tasks: Sequence[Task]) -> Rows:
        return self.future

    def renew(self) -> None:
        pass

    def close(self, at_once: bool = False) -> None:
        pass

    def has_workers(self) -> bool:
        return False

    def lost_workers_error(self) -> MarginscopeError:
        return MarginscopeError("the Dask scheduler no longer answers", where="tcp://a:1")


def test_a_lost_scheduler_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.sweep.loop.missing_kernels", lambda tasks: ())
    control, pool = SweepControl(), Losing()
    statuses = sweep(plan(parse_study(SLOW, "slow"), tmp_path), pool, control)
    assert not next(statuses).lacks_workers  # before anything is handed out
    assert next(statuses).lacks_workers
    pool.future.cancel()
    pool.future.set_running_or_notify_cancel()
    with pytest.raises(MarginscopeError, match="tcp://a:1: the Dask scheduler no longer answers"):
        next(statuses)
    assert control.status.ended


def test_cells_that_wait_for_workers_are_said_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def statuses(*_: object) -> list[SweepStatus]:
        waiting = SweepStatus(total=3, running=1, lacks_workers=True)
        return [waiting, waiting, SweepStatus(total=3, done=3, ended=True)]

    monkeypatch.setattr(sweeping, "sweep", statuses)
    study = tmp_path / "a.toml"
    study.write_text("[network]\nm = 4\n[axes]\n'network.m' = [3, 4]\n")
    main(["run", str(study), "--out", str(tmp_path / "out"), "--jobs", "1"])
    assert capsys.readouterr().err.count(NO_WORKERS) == 1
    assert words_of(statuses()[0], False, False).endswith("waiting for a worker of the cluster")


@pytest.mark.slow
def test_a_cluster_without_workers_is_waited_for_and_one_without_scheduler_is_not(
    tmp_path: Path,
) -> None:
    told = json.loads(ran("tests.sweep.cluster_lost", str(tmp_path)).splitlines()[-1])
    assert (told["lacked"], told["returned"]) == (True, True)
    assert (
        "the Dask scheduler no longer answers; finished cells are kept; start it" in told["error"]
    )
    assert told["states"] == ["done"]
