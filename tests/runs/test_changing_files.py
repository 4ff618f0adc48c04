"""Between two looks of a reader a writer may act: what it then sees is not believed by itself."""

from __future__ import annotations

import itertools
import shutil
import sqlite3
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from core.errors import InputError, RunFileError
from core.run_files.active_recorders import checksum, header_of
from core.runs import Recorder, changing_files, code_of, connection, open_run
from core.training.continuation import continue_problem
from tests.support.run_changes import SIZE, frame, meta
from tests.support.run_files import (
    connections,
    content,
    crash,
    frame_of,
    frames_of,
    record,
    recorder_at,
    refusal,
    small_problem,
    tamper,
)

# Files that a writer makes while a reader opens them: in `make test`, and in `make test-long`.
MOST_ROUNDS = 20_000
ROUNDS = (30, pytest.param(1000, marks=pytest.mark.slow))


def test_a_file_that_cannot_be_read_alone_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, closed = record(tmp_path / "a.msrun", small_problem(), 2), []
    close = connection.Connection.close

    def fail(*_: object) -> None:
        raise RunFileError("damaged")

    def close_it(one: connection.Connection) -> None:
        closed.append(one)
        close(one)

    monkeypatch.setattr(connection, "_texts", fail)
    monkeypatch.setattr(connection.Connection, "close", close_it)
    monkeypatch.setattr(connection, "is_left", {path: True}.get)
    monkeypatch.setattr(connection, "_names_others", fail)
    with pytest.raises(RunFileError, match="damaged"):
        connection._connected_without_locks(path, path)
    assert len(closed) == 1


@pytest.mark.parametrize(("age", "reads"), [(0.0, 2), (1.0, 1)])
def test_a_write_within_a_clock_tick_leaves_no_sign(
    age: float, reads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that was just written is read again after the tick, an older one is damaged."""
    path = tmp_path / "run.msrun"
    path.write_bytes(b"x")
    written = path.stat().st_mtime
    clock = itertools.count()
    monkeypatch.setattr(time, "time", lambda: written + age + next(clock) * changing_files.TICK_S)
    tries = []

    def read() -> None:
        tries.append(path)
        raise RunFileError("damaged")

    with pytest.raises(RunFileError, match="damaged"):
        changing_files.retry_while_changing(path, read)
    assert len(tries) == reads


# ----------------------------------------------------------------- a writer closes, many times


@pytest.mark.parametrize("rounds", ROUNDS)
def test_a_writer_closes_while_a_reader_opens(tmp_path: Path, rounds: int) -> None:
    """Many files that are made, written and closed while another thread opens them.

    More of them where the scheduler let the reader meet one of the two states too seldom.
    """
    problem = small_problem()
    frames = frames_of(problem, 3)
    number = 0
    at_work: list[Path] = []
    ended = threading.Event()
    troubles: list[str] = []
    seen: Counter[str] = Counter()

    def met() -> int:
        return min(seen["recording"], seen["finished"])

    def look() -> None:
        while not ended.wait(0.0005):  # the writer is not to wait for the interpreter's lock
            path = at_work[-1] if at_work else tmp_path / "none"
            try:
                with open_run(path) as run:
                    seen[run.status] += 1
                    for _ in range(3):
                        run.refresh()
                    if run.frames:
                        run.parameters(run.frames - 1)
                    assert run.bytes_on_disk > 0
            except RunFileError as error:
                if "does not exist" not in str(error):
                    troubles.append(str(error))

    reader = threading.Thread(target=look)
    reader.start()
    try:
        while number < rounds or (met() <= rounds // 20 and number < MOST_ROUNDS):
            path = tmp_path / f"{number}.msrun"
            number += 1
            recorder = recorder_at(path, problem)
            at_work.append(path)
            recorder.append(frames)
            recorder.finish("completed")
    finally:
        ended.set()
        reader.join()
    assert troubles == []
    assert met() > rounds // 20


def test_the_wal_may_go_between_any_two_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The recorder closes its file at the k-th look of the reader, for every k."""
    problem = small_problem()
    real = Path.stat
    for moment in range(12):
        path = tmp_path / f"{moment}.msrun"
        recorder = recorder_at(path, problem)
        recorder.append(frames_of(problem, 3))
        recorder.flush()
        count = 0

        def stat(self: Path, *, when: int = moment, writer: Recorder = recorder, **how: bool):
            nonlocal count
            count += 1
            if count == when + 1:
                writer.finish("completed")
            return real(self, **how)

        monkeypatch.setattr(Path, "stat", stat)
        with open_run(path) as run:
            monkeypatch.setattr(Path, "stat", real)
            run.refresh()
            assert (run.frames, run.path) == (3, path)
        recorder.finish("completed")


def test_an_error_is_believed_where_nothing_changed(tmp_path: Path) -> None:
    path = tmp_path / "a.msrun"
    path.write_bytes(b"nothing" * 100)
    refusal(path)
    calls = 0

    def damaged() -> None:
        nonlocal calls
        calls += 1
        raise RunFileError("damaged")

    with pytest.raises(RunFileError, match="damaged"):
        changing_files.retry_while_changing(path, damaged)
    assert calls == 1
    calls = 0

    def look() -> int:
        nonlocal calls
        calls += 1
        if calls < 4:
            path.write_bytes(b"x" * calls)  # somebody is at work
            raise RunFileError("half a file")
        return calls

    assert changing_files.retry_while_changing(path, look) == 4


def test_a_file_that_changes_for_ever_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changing_files, "PATIENCE_S", 0.05)
    path = tmp_path / "a.msrun"

    def look() -> None:
        with path.open("ab") as file:
            file.write(b"x")
        raise RunFileError("half a file")

    with pytest.raises(RunFileError, match="half a file"):
        changing_files.retry_while_changing(path, look)


# ---------------------------------------------------------------------- the -wal of another run


def test_a_wal_of_another_run_is_not_taken(tmp_path: Path) -> None:
    """Same tables, same sizes, right checksums: only the recording that it belongs to differs."""
    mine = crash(tmp_path / "a.msrun", count=5)
    other = crash(tmp_path / "b.msrun", count=9)
    shutil.copy(f"{other}-wal", f"{mine}-wal")
    assert "a.msrun-wal next to it from another run" in refusal(mine)
    with pytest.raises(RunFileError, match="another run"):
        code_of(mine)
    finished = record(tmp_path / "c.msrun")
    shutil.copy(f"{other}-wal", f"{finished}-wal")
    assert "another run" in refusal(finished)
    Path(f"{finished}-wal").unlink()
    with open_run(finished) as run:
        assert run.frames == 6
    with open_run(other) as run:
        assert run.frames == 9


def checkpoint(connection: sqlite3.Connection) -> None:
    """Have a recorder move the frames in its -wal into the file, as SQLite does every so often."""
    assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0


@pytest.mark.parametrize("mine_rests", [False, True])
@pytest.mark.parametrize("other_rests", [False, True])
def test_a_wal_of_another_run_after_checkpoints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mine_rests: bool, other_rests: bool
) -> None:
    """Whether or not either run had moved frames out of its -wal before it was cut off."""
    made = connections(monkeypatch)
    problem = small_problem()
    paths = {}
    for name, rests in (("mine", mine_rests), ("other", other_rests)):
        (tmp_path / "work").mkdir()
        recorder = recorder_at(tmp_path / "work" / "a.msrun", problem)
        recorder.append(frames_of(problem, 4))
        recorder.flush()
        if rests:
            checkpoint(made[-1])
        recorder.append([frame_of(problem, 4)])
        recorder.flush()
        paths[name] = tmp_path / name / "a.msrun"
        shutil.copytree(tmp_path / "work", tmp_path / name)
        recorder.abandon()
        shutil.rmtree(tmp_path / "work")
    for path in paths.values():
        Path(f"{path}-shm").unlink()
        with open_run(path) as run:
            assert run.frames == 5
    shutil.copy(f"{paths['other']}-wal", f"{paths['mine']}-wal")
    assert "another run" in refusal(paths["mine"])


def test_a_wal_goes_on_being_its_own_after_checkpoints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each checkpoint gives the -wal another salt and count; what is compared stays the same."""
    made = connections(monkeypatch)
    problem, path = small_problem(), tmp_path / "a.msrun"
    recorder = recorder_at(path, problem)
    seen = set()
    for index in range(6):
        recorder.append([frame_of(problem, index)])
        recorder.flush()
        seen.add(Path(f"{path}-wal").read_bytes()[:32])
        with open_run(path) as run:
            assert run.frames == index + 1
        checkpoint(made[0])
    recorder.finish("completed")
    assert len(seen) == 6
    headers = [header_of(head) for head in seen]
    assert len({header.recording for header in headers}) == 1
    assert {header.checkpoints for header in headers} == set(range(6))


def test_files_of_earlier_versions_open_with_their_wal(tmp_path: Path) -> None:
    path = record(tmp_path / "a.msrun")
    tamper(
        path,
        "DELETE FROM meta WHERE key IN ('wal', 'counts', 'name')",
        "DELETE FROM frame WHERE idx=5",
    )
    with open_run(path) as run:
        assert run.frames == 5
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("UPDATE meta SET value = value WHERE key = 'status'")
    with open_run(path) as run:
        assert run.frames == 5
    connection.close()


def test_the_checksum_of_a_header_is_that_of_sqlite(tmp_path: Path) -> None:
    crash(tmp_path / "a.msrun")
    header = (tmp_path / "a.msrun-wal").read_bytes()[:32]
    assert header_of(header) is not None
    for place in range(32):
        changed = bytearray(header)
        changed[place] ^= 1
        assert header_of(bytes(changed)) is None
    assert checksum((1, 2)) == (1, 3)


# ------------------------------------------------------------------------- rows that are missing


def test_pages_that_were_exchanged(tmp_path: Path) -> None:
    """Every swap of two pages is refused, or loses nothing."""
    problem = small_problem(8, 40, 6)
    path = record(tmp_path / "a.msrun", problem, count=24)
    data = path.read_bytes()
    pages = len(data) // 8192
    wanted = [frame.parameters.tobytes() for frame in frames_of(problem, 24)]
    for first in range(1, pages):
        for second in range(first + 1, pages):
            changed = bytearray(data)
            one, two = (
                slice(first * 8192, first * 8192 + 8192),
                slice(second * 8192, (second + 1) * 8192),
            )
            changed[one], changed[two] = data[two], data[one]
            path.write_bytes(changed)
            try:
                with open_run(path) as run:
                    found = [run.parameters(index).tobytes() for index in range(run.frames)]
                    metrics = [len(run.diagnostics(index)) for index in range(run.frames)]
                    assert len(run.events()) == 1
            except RunFileError:
                continue
            assert found == wanted, (first, second)
            assert metrics == [2] * 24, (first, second)


@pytest.mark.parametrize("table", ["frame", "metric", "event"])
def test_rows_that_are_missing_are_told(tmp_path: Path, table: str) -> None:
    path = record(tmp_path / "a.msrun")
    where = {"frame": "idx = 5", "metric": "idx = 2", "event": "1"}[table]
    tamper(path, f"DELETE FROM {table} WHERE {where}")
    wanted = {
        "frame": "it holds 5 of its 6 frames",
        "metric": "it holds 10 of its 12 diagnostics",
        "event": "it holds 0 of its 1 events",
    }
    assert wanted[table] in refusal(path)


def test_the_count_of_a_run_that_ends_while_it_is_open(tmp_path: Path) -> None:
    problem, path = small_problem(), tmp_path / "a.msrun"
    recorder = recorder_at(path, problem)
    recorder.append(frames_of(problem, 4))
    recorder.flush()
    with open_run(path) as run:
        recorder.finish("completed")
        tamper(path, "DELETE FROM frame WHERE idx = 3", "DELETE FROM metric WHERE idx = 3")
        with pytest.raises(RunFileError, match="3 of its 4 frames"):
            run.refresh()


# ---------------------------------------------------------------------- numbers beyond all bounds


@pytest.mark.parametrize(
    "change",
    [
        "log10_time = 1e308",
        "log10_time = 1.1e200",
        "log10_time = -1e308",
        "rho = 1e308",
        "rho = -1e308",
        "rho = -1001.0",
        "log10_time = -325.0",
    ],
)
def test_times_and_norms_that_no_run_has(tmp_path: Path, change: str) -> None:
    path = record(tmp_path / "a.msrun", count=1 if "-" in change else 6)
    last = 0 if "-" in change else 5
    tamper(path, f"UPDATE frame SET {change} WHERE idx = {last}")
    assert "is not allowed" in refusal(path)


@pytest.mark.parametrize("value", [1e308, -1e308])
@pytest.mark.parametrize("key", ["rho", "log10_time"])
def test_starts_that_no_run_has(tmp_path: Path, key: str, value: float) -> None:
    path = record(tmp_path / "a.msrun")
    start = {"rho": 0.0, "step": 0, "log10_time": None} | {key: value}
    assert key in refusal(tamper(path, meta("start", start)))


def test_a_look_leaves_nothing_behind(tmp_path: Path) -> None:
    path = crash(tmp_path / "a.msrun")
    before = content(tmp_path)
    with open_run(path) as run:
        assert run.frames == 6
    assert content(tmp_path) == before


@pytest.mark.parametrize("rho", [1000.0, -1000.0])
def test_no_run_goes_on_from_a_norm_beyond_all_bounds(tmp_path: Path, rho: float) -> None:
    path = record(tmp_path / "a.msrun")
    tamper(path, frame(5, np.ones(SIZE), rho=rho))
    with (
        open_run(path) as run,
        pytest.raises(InputError, match="beyond the range in which a run can continue"),
    ):
        continue_problem(run, None, ())
