"""Signals at any moment, files of killed programs, and names that two programs want."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.places import Places
from core import files
from core.files import open_beside, temporary_folder, write_whole
from core.program.stopping import INTERRUPTED, TERMINATED

ROOT = Path(__file__).resolve().parents[2]
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


def started(*arguments: str, python: tuple[str, ...] = (), **more: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, *python, "-m", "core", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        **more,
    )


# ------------------------------------------------------------------------------------ signals


@posix
@pytest.mark.parametrize(
    ("module", "number", "status"),
    [
        ("core.cli", signal.SIGINT, INTERRUPTED),
        ("core.cli", signal.SIGTERM, TERMINATED),
        ("numpy._core", signal.SIGINT, INTERRUPTED),
        ("llvmlite", signal.SIGTERM, TERMINATED),
        ("numba.core.ir", signal.SIGINT, INTERRUPTED),
    ],
)
def test_a_signal_while_libraries_are_imported(
    module: str, number: signal.Signals, status: int, tmp_path: Path
) -> None:
    """-X importtime tells what has just been imported; parts are told before their package."""
    words: list[str] = []
    sent = False
    with started("check", str(tmp_path), python=("-X", "importtime")) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if not line.startswith("import time:"):
                words.append(line)
            elif line.rpartition("|")[2].strip() == module:
                process.send_signal(number)
                sent = True
    assert sent
    assert process.returncode == status, words
    assert words == (["marginscope: interrupted.\n"] if number == signal.SIGINT else [])


@posix
def test_a_signal_in_compiled_code_is_answered_by_the_watch() -> None:
    """A main thread that comes back to no byte code, as while LLVM optimises a kernel."""
    code = (
        "import ctypes, sys\n"
        "from core.program.stopping import answer_signals\n"
        "answer_signals()\n"
        "sleep = ctypes.CDLL(None).sleep\n"
        "print('asleep', flush=True)\n"
        "while sleep(60): pass\n"
    )
    retry = "import signal\nsignal.siginterrupt(signal.SIGTERM, False)\n"
    process = subprocess.Popen(
        [sys.executable, "-c", code.replace("print", retry + "print", 1)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert process.stdout.readline() == "asleep\n"
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=30)[1] == ""
    assert process.returncode == TERMINATED


def children(parent: int) -> set[int]:
    found: set[int] = set()
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[1]) == parent:
            found |= {int(place.parent.name)} | children(int(place.parent.name))
    return found


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def is_worker(pid: int) -> bool:
    """Return True if a process of a sweep records; False if it watches over resources."""
    try:
        return b"LokyProcess" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are read from /proc")
@pytest.mark.parametrize("working", [True, False], ids=["at work", "starting"])
def test_a_killed_sweep_leaves_no_workers(tmp_path: Path, working: bool) -> None:
    long = ("--set", "dynamics.kind=gd", "--set", "dynamics.until_log10_time=7")
    process = started(
        "run",
        "telgarsky22-figure-1",
        *long,
        "--set",
        "run.seed=[1,2,3,4]",
        "--jobs",
        "2",
        "--out",
        str(tmp_path),
        "--quiet",
    )
    try:
        end = time.monotonic() + 100
        workers: list[int] = []
        while time.monotonic() < end and len(workers) < 2:
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
            if not working or len(list(tmp_path.glob("*.msrun"))) == 2:
                workers = [pid for pid in children(process.pid) if is_worker(pid)]
        assert len(workers) == 2
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):  # which workers hold as well
            if pipe is not None:
                pipe.close()
    end = time.monotonic() + 30
    while time.monotonic() < end and any(map(is_running, workers)):
        time.sleep(0.1)
    assert not [pid for pid in workers if is_running(pid)]


# -------------------------------------------------------------------------------------- files


def dead() -> int:
    process = subprocess.Popen([sys.executable, "-S", "-c", ""])
    process.wait()
    return process.pid


def test_what_a_killed_export_left_goes_with_the_next_one(tmp_path: Path) -> None:
    with open_beside(tmp_path / "figure.pdf") as (ours, descriptor):
        os.close(descriptor)
        left = tmp_path / re.sub(rf"-{os.getpid()}-", f"-{dead()}-", ours.name)
        left.touch()
        foreign = tmp_path / ".figure.pdf.0a1b2c3d.part"
        foreign.touch()
        write_whole(tmp_path / "table.csv", b"1")
        assert ours.exists()  # this program is still at it
        assert foreign.exists()  # not by a name of ours
        assert not left.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == [foreign.name, "table.csv"]


def test_folders_of_killed_commands_go_with_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files.tempfile, "tempdir", str(tmp_path))
    with temporary_folder("check") as ours:
        left = tmp_path / ours.name.replace(f"-{os.getpid()}-", f"-{dead()}-")
        left.mkdir()
        (left / "run.msrun").touch()
        with temporary_folder("figure"):
            assert ours.is_dir()
            assert not left.exists()
    assert list(tmp_path.iterdir()) == []


def test_the_mask_of_the_process_is_never_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It belongs to all threads, and a file made meanwhile would be open to everybody."""
    usual = tmp_path / "usual"
    usual.touch()

    def refused(mask: int) -> int:
        raise AssertionError("os.umask was called")

    monkeypatch.setattr(os, "umask", refused)
    write_whole(tmp_path / "table.csv", b"1")
    mode = stat.S_IMODE((tmp_path / "table.csv").stat().st_mode)
    assert mode == stat.S_IMODE(usual.stat().st_mode)


def test_a_name_as_long_as_may_be_is_written(tmp_path: Path) -> None:
    path = tmp_path / ("a" * 250 + ".csv")
    write_whole(path, b"1")
    assert path.read_bytes() == b"1"


def test_two_windows_in_one_second_get_two_names(tmp_path: Path) -> None:
    """Neither has made its run file yet."""
    one, other = Places.in_folder(tmp_path), Places.in_folder(tmp_path)
    names = {place.new_run("figure").name for place in (one, other) for _ in range(3)}
    assert len(names) == 6
    for claim in (tmp_path / "runs").glob(".*.claim"):
        os.utime(claim, (0, 0))
    assert one.new_run("figure").parent == tmp_path / "runs"
    assert len(list((tmp_path / "runs").glob(".*.claim"))) == 1


# --------------------------------------------------------------------------------- matplotlib


@posix
def test_drawing_is_silent_without_a_folder_of_settings() -> None:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "MPL"))
    }
    environment |= {"HOME": "/dev/null", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", "import core.figures.draw"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
