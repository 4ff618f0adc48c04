"""--force writes beside an old file and replaces it at the end; a run cut off replaces nothing."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import DiskError
from core.runs import Recorder, open_run
from core.sweep.cell import run_cell
from core.sweep.plan import plan
from core.training.control import Control
from core.training.trajectory import run as train
from tests.problems import FIGURE_1
from tests.recording import recorded
from tests.runs.test_crash import ROOT
from tests.support.run_files import (
    assert_frames,
    crash,
    frames_of,
    record,
    recorder_at,
    small_problem,
)


def test_the_old_run_is_there_until_the_new_one_is(tmp_path: Path) -> None:
    path = record(tmp_path / "a.msrun")
    before = path.read_bytes()
    recorder = recorder_at(path, small_problem(), force=True)
    recorder.append(frames_of(small_problem(), 20))
    recorder.flush()
    assert path.read_bytes() == before
    with open_run(tmp_path / "a.new.msrun") as run:
        assert (run.frames, run.status) == (20, "recording")
    recorder.finish("completed")
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.msrun"]
    assert recorder.path == path
    with open_run(path) as run:
        assert_frames(run, frames_of(small_problem(), 20))


@pytest.mark.parametrize("reason", ["cancelled", "failed"])
def test_a_run_that_was_cut_off_replaces_no_finished_one(tmp_path: Path, reason: str) -> None:
    path = record(tmp_path / "a.msrun")
    before = path.read_bytes()
    recorder = recorder_at(path, small_problem(), force=True)
    recorder.append(frames_of(small_problem(), 2))
    recorder.finish(reason)
    assert path.read_bytes() == before
    assert recorder.path == tmp_path / "a.new.msrun"
    with open_run(recorder.path) as run:
        assert (run.frames, run.reason) == (2, reason)
    recorder_at(path, small_problem(), force=True).finish("completed")  # over both of them
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.msrun"]


def test_a_diverged_run_replaces_and_a_cut_off_one_is_replaced(tmp_path: Path) -> None:
    path = record(tmp_path / "a.msrun")
    recorder_at(path, small_problem(), force=True).finish("diverged")
    with open_run(path) as run:
        assert run.reason == "diverged"
    other = crash(tmp_path / "b.msrun")
    recorder_at(other, small_problem(), force=True).finish("cancelled")
    with open_run(other) as run:
        assert (run.frames, run.reason) == (0, "cancelled")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.msrun", "b.msrun"]


def test_the_old_run_survives_a_kill(tmp_path: Path) -> None:
    path = record(tmp_path / "a.msrun")
    before = path.read_bytes()
    code = (
        "import os, signal, sys\nfrom pathlib import Path\n"
        "from tests.support.run_files import frames_of, recorder_at, small_problem\n"
        "recorder = recorder_at(Path(sys.argv[1]), small_problem(), force=True)\n"
        "recorder.append(frames_of(small_problem(), 9))\nrecorder.flush()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], cwd=ROOT, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == before
    with open_run(tmp_path / "a.new.msrun") as run:
        assert_frames(run, frames_of(small_problem(), 9))


def test_a_disk_that_refuses_at_the_start_leaves_the_old_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = record(tmp_path / "a.msrun")
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("core.run_files.writer.create_run_file", full)
    with pytest.raises(DiskError):
        recorder_at(path, small_problem(), force=True)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.msrun"]


def test_a_cell_that_is_cancelled_leaves_its_finished_run(tmp_path: Path) -> None:
    from core.studies.study import load_study

    study = load_study(FIGURE_1).with_settings(["network.m=16", "recording.frames=6"])
    first = plan(study, tmp_path).tasks[0]
    assert run_cell(first).state == "done"
    before = Path(first.path).read_bytes()
    control = Control()
    control.stop()
    assert run_cell(plan(study, tmp_path, force=True).tasks[0], control).state == "cancelled"
    assert Path(first.path).read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [Path(first.path).name]


def test_training_that_is_stopped_keeps_the_finished_run(tmp_path: Path) -> None:
    path = tmp_path / "a.msrun"
    recorded(path, "recording.frames=6")
    before = path.read_bytes()
    control = Control()

    def sink(problem, **facts):
        control.stop()
        return Recorder(path, problem, force=True, **facts)

    with open_run(path) as run:
        problem = run.problem
    train(problem, sink, control)
    assert path.read_bytes() == before
    with open_run(tmp_path / "a.new.msrun") as run:
        assert run.reason == "cancelled"
