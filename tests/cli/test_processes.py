"""The headless program as a process: interrupted, killed, on a full disk, without a terminal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from core.cli.main import main
from core.errors import InputError
from core.run_files.new_file import claim
from core.runs import open_run
from core.study_file.weight import MachineLimits, check_room, size_of
from tests.problems import FIGURE_1, figure_1
from tests.support.commands import wait_for_frames

M16 = "network.m=16"
LONG = ("--set", M16, "--set", "dynamics.until_log10_time=1e12")
OUTPUTS = ("out", "err")
SLOW = ("--set", "dynamics.scheme=euler", "--set", "recording.frames=2000")


# The program, started once for several commands: each is a process of its own from there on, whose
# files may grow to so many bytes: to a program, a full disk. Prints the number of each process, and
# at the end the status of each.
COMMANDS = """
import json, os, resource, signal, sys
import core.cli.training, core.training.trajectory
from core.__main__ import main

children = []
for words, most, said in json.loads(sys.argv[1]):
    child = os.fork()
    if not child:
        os.dup2(os.open(f"{said}.out", os.O_CREAT | os.O_WRONLY), 1)
        os.dup2(os.open(f"{said}.err", os.O_CREAT | os.O_WRONLY), 2)
        if most:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        sys.argv[1:] = words
        sys.exit(main())
    children.append(child)
    print(child, flush=True)
print(*(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))
"""


@contextmanager
def started(*commands: tuple[tuple[str, ...], int, Path]) -> Iterator[subprocess.Popen[str]]:
    """Yield a process of the program's commands, each with a file limit and an output."""
    told = json.dumps(commands, default=str)
    words = [sys.executable, "-c", COMMANDS, told]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:  # a test that failed: its commands would go on
                os.killpg(process.pid, signal.SIGKILL)


def test_interrupted_or_on_a_full_disk_it_keeps_what_is_recorded(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """Ctrl-C and SIGTERM in the middle of a run, and files that cannot grow."""
    signals = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM}
    folders = {name: tmp_path / name for name in (*signals, "full")}
    wide = ("--set", "network.m=256", "--set", "recording.frames=400")
    commands = [
        (("run", FIGURE_1, *(LONG + SLOW if name in signals else wide), "--out", str(folder)),
         0 if name in signals else 2_000_000, folder)
        for name, folder in folders.items()
    ]  # fmt: skip
    with started(*commands) as process:
        numbers = {name: int(process.stdout.readline()) for name in folders}
        for name, number in signals.items():
            wait_for_frames(folders[name] / f"{FIGURE_1}.msrun", 3, process)
            os.kill(numbers[name], number)
        statuses = [int(status) for status in process.stdout.readline().split()]
        assert process.wait() == 0
    for (name, folder), status in zip(folders.items(), statuses, strict=True):
        with subtests.test(name=name):
            out, err = (folder.with_name(f"{name}.{stream}").read_text() for stream in OUTPUTS)
            path = folder / f"{FIGURE_1}.msrun"
            assert status == (130 if name in signals else 1), err
            assert "Traceback" not in err
            if name in signals:
                assert "interrupted" in err
                assert str(path) in out
                assert [entry.name for entry in folder.iterdir()] == [path.name]
            else:
                assert err.count("\n") == 1
            with open_run(path) as run:
                assert run.frames >= (3 if name in signals else 1)
                assert name not in signals or run.reason == "cancelled"
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
    room = MachineLimits(memory=1.0, disk=2.0 * size_of(one).file)
    monkeypatch.setattr("core.study_file.weight.room_at", lambda _folder: room)
    check_room([one], tmp_path, memory=False)
    check_room([], tmp_path)
    with pytest.raises(InputError, match="on disk, but"):
        check_room([one, *others], tmp_path, memory=False)
    with pytest.raises(InputError, match="of memory, but this machine has"):
        check_room([one], tmp_path)
