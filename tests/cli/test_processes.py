"""The headless program as a process: interrupted, killed, on a full disk, without a terminal."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from core.errors import InputError, RunFileError
from core.runs import open_run
from marginscope._files.new_file import claim
from tests.problems import FIGURE_1

LONG = ("--set", "network.m=256", "--set", "dynamics.until_log10_time=1e12")
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


@pytest.mark.parametrize("seed", range(4))
def test_killed_at_random_moments(tmp_path: Path, seed: int) -> None:
    """kill -9: what the file showed before the kill is all there after it."""
    process = start("run", FIGURE_1, *LONG, *SLOW, "--out", tmp_path)
    path = tmp_path / f"{FIGURE_1}.msrun"
    wait_for_frames(path, 2, process)
    time.sleep(random.Random(seed).uniform(0.0, 0.4))
    with open_run(path) as run:
        seen = run.frames
        last = run.parameters(seen - 1).copy()
    process.kill()
    process.communicate()
    with open_run(path) as run:
        assert run.frames >= seen
        assert run.status == "recording"
        assert np.array_equal(run.parameters(seen - 1), last)
        for index in range(run.frames):
            assert np.isfinite(run.parameters(index)).all()


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


def test_no_progress_bar_without_a_terminal(tmp_path: Path) -> None:
    process = start("run", FIGURE_1, "--set", "network.m=16", "--out", tmp_path)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")


def test_a_closed_pipe_is_no_error() -> None:
    process = start("describe", "observables")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    err = process.stderr.read()
    process.stderr.close()
    process.wait(timeout=60)
    assert "Traceback" not in err
