"""Commands where no kernel is compiled: they say so, and nothing outlives them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from core.compiled import kernel_groups

ROOT = Path(__file__).resolve().parents[2]
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
ONE_RUN = ("run", "telgarsky22-figure-1", "--set", "network.m=16")
# A run, which waits for its kernels, and a sweep, which waits before its workers.
COMMANDS = {
    "run": ONE_RUN,
    "sweep": (*ONE_RUN, "--set", "run.seed=[0, 1, 2, 3, 4, 5]", "--jobs", "2"),
}


def begun(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "kernels")}
    return subprocess.Popen(
        [sys.executable, "-m", "core", *arguments, "--out", str(folder / "runs")],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@posix
@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_ctrl_c_while_kernels_are_compiled_ends_all_at_once(tmp_path: Path, name: str) -> None:
    process = begun(tmp_path, *COMMANDS[name])
    first = process.stderr.readline()
    assert first.startswith("Compiling kernels (flow), once for this machine.")
    own = psutil.Process(process.pid)
    while not (compilers := own.children(recursive=True)):
        time.sleep(0.01)
    time.sleep(1.0)  # in the middle of numba, or of its import
    compilers = own.children(recursive=True) or compilers
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert len(err.splitlines()) <= 1, err
    assert "nterrupted" in err
    gone, alive = psutil.wait_procs(compilers, timeout=30)
    assert not alive
    assert gone


@pytest.mark.slow
def test_a_run_waits_for_its_kernels(tmp_path: Path) -> None:
    process = begun(tmp_path, *ONE_RUN, "--set", "dynamics.until_log10_time=0")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert err.splitlines()[0] == (
        "Compiling kernels (flow), once for this machine. Training starts automatically."
    )
    assert Path(out.strip()).is_file()


def test_what_is_there_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from core.compiled.headless_process import compiling

    monkeypatch.setattr(
        "core.compiled.headless_process.start_compiling", lambda groups: pytest.fail("it was begun")
    )
    with compiling(()) as work:
        assert work.is_finished()
    assert kernel_groups.missing_groups(()) == ()


@pytest.mark.slow
def test_a_device_that_is_not_there_is_refused_before_kernels_are_compiled(tmp_path: Path) -> None:
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "kernels"), "CUDA_VISIBLE_DEVICES": ""}
    there = ("--set", "dynamics.kind=gd", "--set", "run.device=cuda", "--out", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-m", "core", *ONE_RUN, *there],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 2
    assert done.stderr.startswith('marginscope: run.device = "cuda", but torch finds no')
    assert len(done.stderr.splitlines()) == 1
