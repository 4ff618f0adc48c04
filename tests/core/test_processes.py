"""Functions in a process of their own, and every way in which a call may end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from core import processes
from core.errors import InputError, MarginscopeError
from core.processes import KillableProcess, run_in_process
from tests.processes import die, fail, is_worker, never, posix, sleep_long, workers

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def process() -> Iterator[KillableProcess]:
    process = KillableProcess("It was not done")
    yield process
    process.stop()
    assert not workers()


def refuse(text: str) -> None:
    raise InputError(text, where="here", remedy="do better")


def test_without_a_thread_for_the_prestart_a_call_starts_the_process(
    process: KillableProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        process.prestart(os.getpid)
    assert process.run(never, os.getpid) != os.getpid()


def test_one_process_answers_until_it_is_stopped(process: KillableProcess) -> None:
    """Also after errors of the functions, which arrive as they were raised, and prestarted."""
    process.prestart(os.getpid)
    first = process.run(never, os.getpid)
    assert first not in (None, os.getpid())
    with pytest.raises(InputError) as wrong:
        process.run(never, refuse, "this is wrong")
    assert wrong.value.sentence == "here: this is wrong; do better."
    with pytest.raises(ZeroDivisionError, match="there") as ours:
        process.run(never, fail)
    assert "in fail" in str(ours.value.__cause__)  # where it happened
    names = [f"{one}_NUM_THREADS" for one in ("OMP", "OPENBLAS", "MKL", "NUMBA")]
    assert [process.run(never, os.getenv, name) for name in names] == ["1"] * 4
    assert process.run(never, os.getpid) == first
    process.stop()
    assert not workers()


@posix
def test_a_process_that_dies_is_a_sentence_and_the_next_call_starts_another(
    process: KillableProcess,
) -> None:
    with pytest.raises(MarginscopeError) as died:
        process.run(never, die)
    assert died.value.sentence == (
        "It was not done: its worker process was killed; close other programs, or reduce the "
        "task, and try again."
    )
    first = process.run(never, os.getpid)
    assert first is not None
    os.kill(first, signal.SIGKILL)  # while it is idle: known a moment later
    while workers():
        time.sleep(0.01)
    with suppress(MarginscopeError):
        process.run(never, os.getpid)
    assert process.run(never, os.getpid) not in (None, first)


def test_a_process_that_cannot_be_started_is_a_sentence(
    process: KillableProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    with monkeypatch.context() as without:
        without.setattr(processes, "make_executor", refused)
        process.prestart(os.getpid)
        with pytest.raises(
            MarginscopeError, match=r"no process can be started .*unavailable.*; cl"
        ):
            process.run(never, os.getpid)
    assert process.run(never, os.getpid) is not None


def test_cancelling_kills_the_process_at_once(process: KillableProcess) -> None:
    """A call that waits for its turn is cancelled, too, and leaves the process alone."""
    stop = threading.Event()
    done: list[object] = []
    thread = threading.Thread(target=lambda: done.append(process.run(stop.is_set, sleep_long)))
    thread.start()
    while not workers():
        time.sleep(0.01)
    process.prestart(os.getpid)  # it is at work
    assert process.run(lambda: True, os.getpid) is None and workers()
    stop.set()
    thread.join()
    assert done == [None] and not workers()
    assert process.run(lambda: True, sleep_long) is None  # before it was sent
    process.prestart(sleep_long)
    process.stop()
    assert not workers()


# Raised in loky's thread, where a process ends just as it gets its call; it starts another then.
@pytest.mark.filterwarnings("ignore:A worker stopped while some jobs")
def test_an_idle_process_ends_and_the_next_call_starts_another() -> None:
    process = KillableProcess("It was not done", idle_seconds=0.2)
    first = process.run(never, os.getpid)
    while workers():
        time.sleep(0.01)
    assert process.run(never, os.getpid) not in (None, first)
    process.stop()


def test_a_process_for_one_function_is_gone_afterwards() -> None:
    assert run_in_process("It was not done", never, abs, -3) == 3
    assert run_in_process("It was not done", lambda: bool(workers()), sleep_long) is None
    assert not workers()


@posix
def test_a_worker_ends_with_a_program_that_is_killed(tmp_path: Path) -> None:
    """In the middle of a call, and with what it has begun to write."""
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from core.processes import run_in_process\n"
        "from tests.processes import draw_for_long\n"
        "folder = Path(sys.argv[1])\n"
        "given = ((), folder / 'a.webp', None, folder / 'counter', {})\n"
        "run_in_process('It was not done', lambda: False, draw_for_long, *given)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT) as program:
        while not (tmp_path / "counter").exists():
            time.sleep(0.01)
        (worker,) = workers(psutil.Process(program.pid))
        assert [one.suffix for one in tmp_path.glob(".*")] == [".webp"]
        program.kill()
        program.wait()
        while is_worker(worker) or list(tmp_path.glob(".*")):
            time.sleep(0.01)
