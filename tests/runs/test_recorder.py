"""The recorder's own promises: names it refuses, when it commits, what it rejects."""

from __future__ import annotations

import sqlite3
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.errors import DiskError, InputError
from core.run_files import writer as recorder_module
from core.runs import open_run
from tests.support.run_files import (
    FLOAT32,
    assert_frames,
    connections,
    content,
    crash,
    frame_of,
    frames_of,
    record,
    recorder_at,
    small_problem,
)


def test_an_existing_file_is_kept(tmp_path: Path) -> None:
    path = record(tmp_path / "a.msrun")
    before = content(tmp_path)
    with pytest.raises(InputError, match=r"a\.msrun already exists; overwrite it with --force"):
        recorder_at(path, small_problem())
    assert content(tmp_path) == before


def test_force_records_over_a_crashed_run(tmp_path: Path) -> None:
    path = crash(tmp_path / "a.msrun")
    assert (tmp_path / "a.msrun-wal").stat().st_size > 0
    recorder = recorder_at(path, small_problem(), force=True)
    recorder.finish("cancelled")
    with open_run(path) as run:
        assert (run.frames, run.reason) == (0, "cancelled")
    assert [path.name for path in tmp_path.iterdir()] == ["a.msrun"]


def test_the_last_frames_of_a_moved_run_are_not_written_over(tmp_path: Path) -> None:
    path = crash(tmp_path / "a.msrun")
    path.rename(tmp_path / "b.msrun")
    with pytest.raises(InputError, match=r"a\.msrun-wal .* --force"):
        recorder_at(path, small_problem())
    assert not path.exists()


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "folder", tmp_path / "file" / "a.msrun", tmp_path / ("x" * 300)):
        for force in (False, True):
            with pytest.raises(InputError, match=path.name[:20]):
                recorder_at(path, small_problem(), force=force)


def test_missing_folders_are_made(tmp_path: Path) -> None:
    path = record(tmp_path / "one" / "two" / "a #?%41.msrun")
    with open_run(path) as run:
        assert run.frames == 6


def test_the_first_frame_is_one_commit_and_then_each_sixty_four(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_module, "SECONDS_PER_COMMIT", 1e9)
    problem = small_problem()
    recorder = recorder_at(tmp_path / "a.msrun", problem)
    frames = frames_of(problem, 205)
    assert recorder.last_committed == -1
    assert recorder.append(frames[:1]) == 0
    assert recorder.append(frames[1:64]) == 0
    assert recorder.append(frames[64:65]) == 64
    assert recorder.append(frames[65:201]) == 192  # what comes at once goes by 64 frames
    assert recorder.append(frames[201:205]) == 192
    assert recorder.flush() == 204
    assert recorder.flush() == recorder.last_committed == 204
    recorder.abandon()


def test_sixteen_mebibytes_are_a_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "SECONDS_PER_COMMIT", 1e9)
    problem = small_problem()
    monkeypatch.setattr(recorder_module, "BYTES_PER_COMMIT", 3 * 8 * problem.network.size)
    recorder = recorder_at(tmp_path / "a.msrun", problem)
    frames = frames_of(problem, 8)
    assert recorder.append(frames[:1]) == 0
    assert recorder.append(frames[1:3]) == 0
    assert recorder.append(frames[3:8]) == 5
    recorder.abandon()


def test_what_is_pending_is_written_in_few_statements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each statement lets go of the GIL, which a thread that paints is slow to give back; and each
    # wait for the disk delays the run. One of these at the start, three at the end.
    monkeypatch.setattr(recorder_module, "SECONDS_PER_COMMIT", 1e9)
    problem, said = small_problem(), list[str]()
    made = connections(monkeypatch)
    recorder = recorder_at(tmp_path / "a.msrun", problem)
    made[0].set_trace_callback(said.append)
    frames = frames_of(problem, 401)
    recorder.append(frames[:1])
    for index in range(1, 401):
        recorder.append(frames[index : index + 1])
    written = [sql for sql in said if sql.startswith("INSERT")]
    assert sum(sql == "COMMIT" for sql in said) == 7
    assert len(written) < 401 / 4  # one to sixteen frames, and one to sixteen of two metrics each
    del said[:]
    recorder.finish("completed")
    waits, waiting = [], True
    for sql in said:
        waiting = waiting if not sql.startswith("PRAGMA sync") else sql.endswith("NORMAL")
        waits += [sql] if waiting and sql.startswith("PRAGMA") and "sync" not in sql else []
    assert [sql for sql in waits if "timeout" not in sql] == ["PRAGMA wal_checkpoint(TRUNCATE)"]
    with open_run(tmp_path / "a.msrun") as run:
        assert_frames(run, frames)


def test_pending_frames_are_those_that_were_given(tmp_path: Path) -> None:
    problem = small_problem()
    recorder = recorder_at(tmp_path / "a.msrun", problem)
    frames = frames_of(problem, 2)
    recorder.append(frames[:1])
    mine = replace(frames[1], parameters=frames[1].parameters.copy())
    recorder.append([mine])
    mine.parameters[:] = 0.0  # an array that its owner goes on to use
    recorder.finish("completed")
    with open_run(tmp_path / "a.msrun") as run:
        assert_frames(run, frames)


def test_fifty_milliseconds_are_a_commit(tmp_path: Path) -> None:
    problem = small_problem()
    recorder = recorder_at(tmp_path / "a.msrun", problem)
    time.sleep(0.06)
    assert recorder.append(frames_of(problem, 1)) == 0
    recorder.abandon()


def test_what_is_not_a_frame_of_the_run(tmp_path: Path) -> None:
    problem = small_problem()
    frame = frame_of(problem, 1)
    broken = frame.parameters.copy()
    broken[2] = np.nan
    wrong = [
        replace(frame, parameters=broken),
        replace(frame, rho=np.inf),
        replace(frame, log10_time=np.nan),
        replace(frame, log10_time=np.inf),
        replace(frame, step=-1),
        replace(frame, parameters=frame.parameters[:-1]),
        replace(frame, parameters=frame.parameters.astype(np.float32)),
        replace(frame, dual=np.zeros(problem.dataset.n)),
        replace(frame, diagnostics={"x" * 65: 1.0}),
        replace(frame, diagnostics={str(i): 1.0 for i in range(65)}),
    ]
    recorder = recorder_at(tmp_path / "a.msrun", problem)
    for bad in wrong:
        with pytest.raises(ValueError, match="frame 0"):
            recorder.append([bad])
    assert recorder.append([replace(frame, log10_time=5.0)]) <= 0
    for later in (5.0, 4.0, -np.inf):
        with pytest.raises(ValueError, match="schedule"):
            recorder.append([replace(frame, log10_time=later)])
    recorder.finish("failed")
    with open_run(tmp_path / "a.msrun") as run:
        assert (run.frames, run.reason) == (1, "failed")


def test_q_must_fit_float32_frames(tmp_path: Path) -> None:
    problem = small_problem(settings=FLOAT32)
    frame = frame_of(problem, 0)
    recorder = recorder_at(tmp_path / "a.msrun", problem)
    for dual in (np.zeros(problem.dataset.n + 1), np.full(problem.dataset.n, np.nan)):
        with pytest.raises(ValueError, match="q of frame 0"):
            recorder.append([replace(frame, dual=dual)])
    recorder.append([replace(frame, dual=None)])
    recorder.finish("completed")
    with open_run(tmp_path / "a.msrun") as run:
        assert run.dual(0) is None


def test_the_limit_of_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "MAX_FRAMES", 3)
    problem = small_problem()
    recorder = recorder_at(tmp_path / "a.msrun", problem)
    with pytest.raises(ValueError, match="frame 3"):
        recorder.append(frames_of(problem, 4))
    recorder.abandon()


def test_finishing_twice_is_harmless(tmp_path: Path) -> None:
    recorder = recorder_at(tmp_path / "a.msrun", small_problem())
    with pytest.raises(ValueError, match="completed"):
        recorder.finish("bored")
    recorder.finish("completed")
    recorder.finish("failed")
    recorder.abandon()
    with pytest.raises(ValueError, match="closed"):
        recorder.append(frames_of(small_problem(), 1))
    with open_run(tmp_path / "a.msrun") as run:
        assert run.reason == "completed"


def test_a_recorder_belongs_to_its_thread(tmp_path: Path) -> None:
    recorder = recorder_at(tmp_path / "a.msrun", small_problem())
    caught: list[str] = []

    def misuse() -> None:
        try:
            recorder.append(frames_of(small_problem(), 1))
        except sqlite3.ProgrammingError as error:
            caught.append(str(error))

    thread = threading.Thread(target=misuse)
    thread.start()
    thread.join()
    recorder.abandon()
    assert len(caught) == 1


def test_a_reader_of_another_program_does_not_block_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.run_files.journal.CLOSING_PATIENCE_S", 0.05)
    path = tmp_path / "a.msrun"
    problem = small_problem()
    recorder = recorder_at(path, problem)
    recorder.append(frames_of(problem, 3))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN")
    other.execute("SELECT * FROM frame").fetchone()
    recorder.finish("completed")
    other.close()
    with open_run(path) as run:
        assert (run.frames, run.status) == (3, "finished")


def test_the_disk_refuses_at_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(recorder_module, "create_run_file", full)
    with pytest.raises(DiskError, match=r"a\.msrun .*full.* --out"):
        recorder_at(tmp_path / "a.msrun", small_problem())
    assert list(tmp_path.iterdir()) == []
