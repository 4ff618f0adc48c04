"""The headless program as a process: interrupted, killed, on a full disk, without a terminal."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from core.cli.main import main
from core.errors import InputError, RunFileError
from core.runs import open_run
from core.study_file.size import size_of
from core.study_file.weight import Room, check_room
from marginscope._files.new_file import claim
from tests.problems import FIGURE_1, figure_1

M16 = "network.m=16"
LONG = ("--set", M16, "--set", "dynamics.until_log10_time=1e12")
SLOW = ("--set", "dynamics.scheme=euler", "--set", "recording.frames=2000")


def start(*arguments: object, **options: object) -> subprocess.Popen[str]:
    """The program in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "core", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def wait_for_frames(path: Path, count: int, process: subprocess.Popen[str]) -> None:
    """Until a live file shows so many frames."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if path.exists():
            try:
                with open_run(path) as run:
                    if run.frames >= count:
                        return
            except RunFileError:
                pass  # not yet whole: its tables are being made
        time.sleep(0.02)
    raise AssertionError(f"no {count} frames: {process.communicate()}")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupting_keeps_what_is_recorded(tmp_path: Path, number: signal.Signals) -> None:
    process = start("run", FIGURE_1, *LONG, *SLOW, "--out", tmp_path)
    path = tmp_path / f"{FIGURE_1}.msrun"
    wait_for_frames(path, 3, process)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in err
    assert str(path) in out
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    with open_run(path) as run:
        assert run.reason == "cancelled"
        assert run.frames >= 3


def small_files() -> None:
    """No file of this process may grow beyond 2 MB: to a program, a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def test_a_full_disk_is_status_1_and_loses_nothing(tmp_path: Path) -> None:
    settings = ("--set", "network.m=256", "--set", "recording.frames=400")
    process = start("run", FIGURE_1, *settings, "--out", tmp_path, preexec_fn=small_files)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    assert err.count("\n") == 1
    assert "Traceback" not in err
    with open_run(tmp_path / f"{FIGURE_1}.msrun") as run:
        assert run.frames >= 1
        for index in range(run.frames):
            assert np.isfinite(run.parameters(index)).all()


def test_an_unwritable_folder_is_bad_input(tmp_path: Path) -> None:
    """Status 2 is that of InputError; root, who may write everywhere, becomes nobody for it."""
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        with pytest.raises(InputError, match="cannot be written"):
            claim(folder / "run.msrun", force=False)
    finally:
        os.seteuid(user)
    assert list(folder.iterdir()) == []


def test_no_progress_bar_without_a_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", FIGURE_1, "--set", "network.m=16", "--out", str(tmp_path)]) == 0
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("more", [(), ("--jobs", "2")])
def test_what_this_machine_cannot_hold_is_refused_with_its_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...]
) -> None:
    """Before anything is made; also as a cell of a sweep, and where a run goes on."""
    large = ("--set", "network.m=1000000", "--set", "data.n=1000000")
    out = tmp_path / "out"
    assert main(["run", FIGURE_1, *large, "--out", str(out), *more]) == 2
    said = capsys.readouterr().err
    assert "network.m = 1000000 and data.n = 1000000 take about 32.0 TB of memory" in said
    assert "choose a smaller network.m or data.n." in said
    assert not out.exists()


def test_files_that_the_disk_has_no_room_for_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them would fit, and all of them do not; a cluster's memory is not this machine's."""
    one, *others = [cell.experiment for cell in figure_1("run.seed=[0, 1, 2, 3]", M16).cells()]
    room = Room(memory=1.0, disk=2.0 * size_of(one).file)
    monkeypatch.setattr("core.study_file.weight.room_at", lambda _folder: room)
    check_room([one], tmp_path, memory=False)
    check_room([], tmp_path)
    with pytest.raises(InputError, match="on disk, and"):
        check_room([one, *others], tmp_path, memory=False)
    with pytest.raises(InputError, match="of memory, and this machine has"):
        check_room([one], tmp_path)
