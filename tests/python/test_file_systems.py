"""Network file systems: no locks, no shared memory. Recordings go on there, and are read."""

from __future__ import annotations

import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginscope as ms
from core.errors import RunFileError
from core.run_files import journal as names
from core.run_files.held_file import is_whole
from core.run_files.journal import JOURNALS, Journal, has_locks
from core.runs import connection, open_run
from tests.file_systems import file_system, without_locks, without_shared_memory
from tests.python.test_resume import rows
from tests.support.loops import loop
from tests.support.run_files import content, crash

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="file systems are made to fail as Linux does"
)
ONE = loop()
LACKING = ((True, False), (False, True), (False, False))


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let no test know what another one has found of the disk."""
    monkeypatch.setattr(connection, "_WITHOUT_LOCKS", set())
    monkeypatch.setattr(connection, "WAIT_S", 0.05)
    yield


def start(path: Path, **settings: Any) -> ms.Recording:
    own = {"loss": "logistic", "V0": ONE.V, "a0": ONE.a} | settings
    return ms.record(path, ONE.x, ONE.y, strict=True, **own)


def add(recording: ms.Recording, *times: int) -> None:
    """Record frames, and wait until they are on the disk."""
    for t in times:
        recording.frame(t, V=t * ONE.V, a=ONE.a, eta=1.0 / t)
    while recording._started.saver.committed < recording.frames - 1:
        time.sleep(0.001)


def usual(folder: Path, last: int = 5) -> Path:
    path = folder / "usual.msrun"
    with start(path) as r:
        add(r, *range(1, last + 1))
    return path


def test_a_recording_falls_back_and_leaves_the_same_file(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """It was "The disk refused to make the run file ... make room on it", on an empty disk."""
    expected = rows(usual(tmp_path))
    for locks, shared_memory in LACKING:
        folder = tmp_path / f"{locks}{shared_memory}"
        path = folder / "a.msrun"
        with (
            subtests.test(locks=locks, shared_memory=shared_memory),
            file_system(folder, locks=locks, shared_memory=shared_memory),
        ):
            with start(path) as r:
                add(r, *range(1, 6))
                assert sorted(one.name for one in folder.iterdir()) == [
                    "a.msrun",
                    "a.msrun-journal",
                ]
                with pytest.raises(ms.InputError, match="is being recorded"):
                    start(path, overwrite=True)
                with pytest.raises(ms.InputError, match="is being recorded"):
                    start(path, resume=True)
                with open_run(path) as run:  # as a copy of one moment
                    assert (run.frames, run.status) == (6, "recording")
            assert [one.name for one in folder.iterdir()] == ["a.msrun"]
            assert is_whole(path)
            with open_run(path) as run:
                assert (run.frames, run.status, run.reason) == (6, "finished", "completed")
            with start(path, resume=True) as r:
                add(r, 6)
                r.close("cancelled")
            with start(path, resume=True) as r:
                add(r, 7)
            assert [one.name for one in folder.iterdir()] == ["a.msrun"]
        assert rows(path)[:6] == expected[:6] and len(rows(path)) == 8 + 7
        with open_run(path) as run:
            assert (run.frames, run.status) == (8, "finished")


def test_a_growing_file_is_followed(tmp_path: Path) -> None:
    with file_system(tmp_path, locks=True, shared_memory=False), start(tmp_path / "a.msrun") as r:
        add(r, 1)
        with open_run(r.path) as run:
            assert run.frames == 2
            add(r, 2, 3)
            assert run.refresh() == 4
            r.close()
            assert run.refresh() == 4 and run.status == "finished"


def test_a_kill_loses_nothing_that_was_safe(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """The files between two writes are those that a kill leaves; the recording goes on."""
    for locks, shared_memory in LACKING:
        folder, left = tmp_path / f"{locks}{shared_memory}", tmp_path / f"left {locks}"
        with (
            subtests.test(locks=locks, shared_memory=shared_memory),
            file_system(left, locks=locks, shared_memory=shared_memory),
        ):
            with (
                file_system(folder, locks=locks, shared_memory=shared_memory),
                start(folder / "a.msrun") as r,
            ):
                add(r, *range(1, 6))
                shutil.copytree(folder, left, dirs_exist_ok=True)
            before = content(left)
            with open_run(left / "a.msrun") as run:
                assert (run.frames, run.status) == (6, "recording")
            assert content(left) == before
            with start(left / "a.msrun", resume=True) as r:
                assert r.frames == 6
                add(r, 6)
            assert [one.name for one in left.iterdir()] == ["a.msrun"]
            shutil.rmtree(left)


def test_a_transaction_that_a_kill_ended_is_rolled_back(tmp_path: Path) -> None:
    """In a private copy for readers, and in the file by the recording that goes on."""
    left = tmp_path / "left"
    path = left / "a.msrun"
    left.mkdir()
    with without_shared_memory(tmp_path / "work"), start(tmp_path / "work" / "a.msrun") as r:
        add(r, *range(1, 6))
        shutil.copy(r.path, path)
    whole = path.read_bytes()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode=PERSIST")
        other.execute("PRAGMA cache_size=1")
        other.execute("BEGIN")
        other.execute("UPDATE frame SET rho = rho + 1")
        other.execute("UPDATE array SET crc32 = 0")
        torn, journal = path.read_bytes(), Path(f"{path}-journal").read_bytes()
        other.execute("ROLLBACK")
    assert torn != whole and journal[:8] == connection.JOURNAL_MAGIC
    path.write_bytes(torn)
    Path(f"{path}-journal").write_bytes(journal)
    before = content(left)
    with open_run(path) as run:
        assert (run.frames, run.status) == (6, "recording")
        assert np.array_equal(run.index.rho, np.zeros(6))
    assert content(left) == before
    Path(f"{path}-journal").write_bytes(journal + connection.JOURNAL_MAGIC)  # of several files
    with pytest.raises(RunFileError, match="journal of another program"):
        open_run(path)
    Path(f"{path}-journal").write_bytes(journal)
    with start(path, resume=True) as r:
        add(r, 6)
    assert len(rows(path)) == 7 + 6
    assert list(left.iterdir()) == [path]


def test_what_was_recorded_elsewhere_is_read(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Finished, or left by a crash with its `-wal`, also in a folder that is read-only."""
    made = tmp_path / "made"
    made.mkdir()
    finished, crashed = usual(made), crash(made / "crashed.msrun")
    frames = {finished: 6, crashed: 6}
    before = content(made)
    for locks, shared_memory in LACKING:
        for path, count in frames.items():
            with (
                subtests.test(path.name, locks=locks, shared_memory=shared_memory),
                file_system(made, locks=locks, shared_memory=shared_memory),
            ):
                with open_run(path) as run:
                    assert run.frames == count
                with open_run(path) as run:
                    assert len(run.parameters(count - 1)) > 0
                assert path == crashed or is_whole(path)
    assert content(made) == before


def test_refusals_name_the_file_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """Not the room on the disk, which would send people to empty it."""
    mounts = tmp_path / "mounts"
    folder = tmp_path / "home of mine" / "runs"
    place = str(folder.parent).replace(" ", "\\040")
    mounts.write_text(f"rootfs / ext4 rw 0 0\nserver:/runs {place} nfs4 rw 0 0\nbroken\n")
    monkeypatch.setattr(names, "MOUNTS", mounts)
    assert names.name_file_system(folder / "a.msrun") == f"nfs4 file system at {folder.parent}"
    assert names.name_file_system(Path("/elsewhere")) == "ext4 file system at /"
    monkeypatch.setattr(names, "MOUNTS", tmp_path / "none")
    assert names.name_file_system(folder) == "file system"
    monkeypatch.setattr(names, "MOUNTS", mounts)
    monkeypatch.setattr("core.run_files.journal.JOURNALS", (Journal.WAL,))
    assert len(JOURNALS) == 3
    with without_shared_memory(folder), pytest.raises(ms.DiskError) as caught:
        start(folder / "a.msrun")
    said = str(caught.value)
    assert f"The nfs4 file system at {folder.parent} refused to create the run file" in said
    assert "locks or shared memory fail there" in said and "record on a local disk" in said
    assert "room" not in said
    assert list(folder.iterdir()) == []


def test_locks_are_tried_on_a_file_of_its_own(tmp_path: Path) -> None:
    assert has_locks(tmp_path) and has_locks(tmp_path / "none")
    with without_locks(tmp_path):
        assert not has_locks(tmp_path)
        assert has_locks(Path(tempfile.gettempdir()))
    assert list(tmp_path.iterdir()) == []
