"""Kill -9, a full disk, a folder that cannot be written: what was committed stays readable."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.run_files.frame import Frame
from core.runs import connection as connection_module
from core.runs import open_run
from core.runs import run as run_module
from tests.support.run_files import (
    assert_frames,
    content,
    crash,
    frame_of,
    frames_of,
    record,
    recorder_at,
    small_problem,
)

ROOT = Path(__file__).resolve().parents[2]

# For each folder named: a process that records run after run, each of so many frames, is killed
# after the given time. It notes "r" when a recording begins, and every index that it has been told
# is committed.
RECORD_AND_KILL = """
import os, signal, sys, time
from pathlib import Path
from tests.support.run_files import frame_of, recorder_at, small_problem
problem = small_problem()

def record_for_ever(folder, frames):
    told = os.open(folder / "told", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    for number in range(1_000_000):
        recorder = recorder_at(folder / f"{number}.msrun", problem)
        os.write(told, b"r\\n")
        for index in range(frames):
            recorder.append([frame_of(problem, index)])
            os.write(told, b"%d\\n" % recorder.flush())
        recorder.finish("completed")

for argument in sys.argv[1:]:
    folder, frames, seconds = argument.rsplit("=", 2)
    child = os.fork()
    if not child:
        record_for_ever(Path(folder), int(frames))
    while not Path(folder, "told").exists() or not Path(folder, "told").stat().st_size:
        time.sleep(0.001)
    time.sleep(float(seconds))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
"""

# Records until the disk, that is a limit on the size of files, is full: a process for each limit.
FILL_THE_DISK = """
import json, os, resource, sys
from pathlib import Path
from core.errors import DiskError
from tests.support.run_files import frame_of, recorder_at, small_problem
problem = small_problem(8, 40, 6)

def fill(path, limit, force):
    recorder = recorder_at(path, problem, planned=2000, force=force)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    errors = []
    for index in range(2000):
        try:
            recorder.append([frame_of(problem, index)])
            recorder.flush()
        except DiskError as error:
            errors.append(str(error))
            break
    try:
        recorder.append([frame_of(problem, 0)])
    except DiskError as error:
        errors.append(str(error))
        window = error.sentence
    recorder.finish("disk_full")
    return [recorder.last_committed, *errors, window]

for path, limit, force in json.loads(sys.argv[1]):
    child = os.fork()
    if not child:
        print(json.dumps(fill(Path(path), limit, force)), flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""


def python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", code, *arguments]


def last_of(folder: Path) -> tuple[Path, int]:
    """Return the last file of a killed recording, and the last index reported as committed."""
    lines = (folder / "told").read_text().split("\n")[:-1]
    last = len(lines) - 1 - lines[::-1].index("r")
    told = [int(line) for line in lines[last + 1 :]]
    return folder / f"{lines.count('r') - 1}.msrun", max(told, default=-1)


@pytest.mark.parametrize("kills", [8, pytest.param(20, marks=pytest.mark.slow)])
def test_kill_loses_no_committed_frame(tmp_path: Path, kills: int) -> None:
    moments, problem = random.Random(0), small_problem()
    folders = [tmp_path / str(attempt) for attempt in range(kills)]
    for folder in folders:
        folder.mkdir()
    # Half of them are in the midst of a run, however fast the disk is; the others are anywhere.
    endless, short = 10**9, 10
    arguments = [
        f"{folder}={short if index % 2 else endless}={moments.uniform(0.0, 0.05)}"
        for index, folder in enumerate(folders)
    ]
    subprocess.run(python(RECORD_AND_KILL, *arguments), cwd=ROOT, check=True, timeout=60)
    cut_short, frames = 0, list[Frame]()
    for folder in folders:
        path, told = last_of(folder)
        before = content(folder)
        with open_run(path) as run:
            assert run.frames > told
            frames += [frame_of(problem, index) for index in range(len(frames), run.frames)]
            with run.batch():
                assert_frames(run, frames[: run.frames])
            assert run.status == "recording" or run.reason == "completed"
            cut_short += run.status == "recording"
        assert content(folder) == before
    assert cut_short >= len(folders) // 2


def test_a_full_disk_is_a_sentence(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Also where it is met while a run is to be replaced, which stays."""
    problem = small_problem(8, 40, 6)
    paths = {limit: tmp_path / f"{limit}.msrun" for limit in (100_000, 300_000)}
    old = record(tmp_path / "old.msrun", problem)
    before = old.read_bytes()
    told: list[tuple[str, int, bool]] = [(str(path), limit, False) for limit, path in paths.items()]
    told.append((str(old), 300_000, True))
    done = subprocess.run(
        python(FILL_THE_DISK, json.dumps(told)),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    *new, replacing = map(json.loads, done.stdout.splitlines())
    for path, (committed, first, second, window) in zip(paths.values(), new, strict=True):
        with subtests.test(path=path.name):
            assert committed >= 2
            assert first == second
            assert f"first {committed + 1} frames are safe" in first
            assert str(path) in first
            assert "`python -m core continue`" in first
            assert "--out" in first
            # A user of the window has neither options nor commands.
            assert window == first.partition("; free some disk space")[0] + (
                "; free some disk space, then continue the run."
            )
            with open_run(path) as run:
                assert_frames(run, frames_of(problem, committed + 1))
                assert (run.status, run.reason) == ("finished", "disk_full")
    assert "safe in " in replacing[1]
    assert "old.new.msrun" in replacing[1]
    assert old.read_bytes() == before


def test_what_a_crash_left_is_recovered(tmp_path: Path) -> None:
    path = crash(tmp_path / "a.msrun")
    before = content(tmp_path)
    with open_run(path) as run:
        assert_frames(run, frames_of(small_problem(), 6))
        assert run.status == "recording"
        assert run.bytes_on_disk == sum(map(len, before.values()))
    assert content(tmp_path) == before


def test_a_crash_at_the_very_end_leaves_nothing_behind(tmp_path: Path) -> None:
    path = record(tmp_path / "a.msrun")
    data = bytearray(path.read_bytes())
    data[18:20] = b"\x02\x02"  # still marked as WAL, while the -wal is already gone
    path.write_bytes(data)
    with open_run(path) as run:
        assert_frames(run, frames_of(small_problem(), 6))
    assert list(tmp_path.iterdir()) == [path]


def test_a_crashed_run_is_kept_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connected: list[Path] = []

    def connect(path: Path) -> connection_module.Connection:
        connected.append(path)
        return connection_module.connect(path)

    monkeypatch.setattr(run_module, "connect", connect)
    path = crash(tmp_path / "a.msrun")
    old = time.time() - 60.0
    os.utime(f"{path}-wal", (old, old))
    with open_run(path) as run:
        run.refresh()
        assert run.frames == 6
        assert connected == [path]


@contextmanager
def nobody_in(folder: Path) -> Iterator[None]:
    """Make a folder read-only, and be a user who is bound by that (root is not)."""
    mode = folder.stat().st_mode
    folder.chmod(0o555)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(mode)


@pytest.fixture
def open_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield a folder that any user may look into; those of pytest are private."""
    folder = Path(tempfile.mkdtemp(prefix="marginscope-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_recovery_in_a_folder_that_is_read_only(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = crash(open_folder / "a.msrun")
    before = content(open_folder)
    made: list[Path] = []
    make = tempfile.mkdtemp

    def noted(*arguments: str, **named: str) -> str:
        made.append(Path(make(*arguments, **named)))
        return str(made[-1])

    monkeypatch.setattr(tempfile, "mkdtemp", noted)
    with nobody_in(open_folder):
        with open_run(path) as run:
            assert_frames(run, frames_of(small_problem(), 6))
            assert run.refresh() == 6
            assert len(made) == 1
            assert made[0].is_dir()
        assert not made[0].exists()
    assert content(open_folder) == before


def test_a_finished_run_in_a_folder_that_is_read_only(open_folder: Path) -> None:
    path = record(open_folder / "a.msrun")
    with nobody_in(open_folder), open_run(path) as run:
        assert_frames(run, frames_of(small_problem(), 6))
    assert list(open_folder.iterdir()) == [path]


def test_a_batch_of_a_growing_run_takes_one_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = small_problem()
    recorder = recorder_at(tmp_path / "a.msrun", problem)
    recorder.append(frames_of(problem, 4))
    recorder.flush()
    opened: list[Path] = []

    def noted(path: Path) -> connection_module.Connection:
        opened.append(path)
        return connection_module.connect(path)

    monkeypatch.setattr("core.runs.run.connect", noted)
    with open_run(tmp_path / "a.msrun") as run:
        with run.batch():
            assert_frames(run, frames_of(problem, 4))
        assert len(opened) == 2
        recorder.finish("completed")
    assert [path.name for path in tmp_path.iterdir()] == ["a.msrun"]


def test_frames_written_after_a_pause_are_seen(tmp_path: Path) -> None:
    path = tmp_path / "a.msrun"
    problem = small_problem()
    recorder = recorder_at(path, problem)
    old = time.time() - 60.0
    with open_run(path) as run:
        os.utime(f"{path}-wal", (old, old))
        assert run.refresh() == 0
        recorder.append([frame_of(problem, 0)])
        recorder.flush()
        assert run.refresh() == 1
        recorder.finish("completed")
        assert run.refresh() == 1
    assert list(tmp_path.iterdir()) == [path]
