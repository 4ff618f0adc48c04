"""The first start: kernels are compiled in a process beside, and a recording plays meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.playback.status import StatusLine
from app.training.first_start import RECORDING, WAITING
from app.training.kernels import CompilerProcess, Stage
from app.training.recipes import FromExperiment
from app.training.run_worker import RunWorker, TrainingJob
from core.compiled import headless_process, kernel_groups
from core.dynamics.required_groups import groups_of
from core.runs import open_run
from core.studies.study import load_study
from core.training.control import Control, FinishReason, RunState
from tests.app.shell.conftest import Opener, trained
from tests.frames_in_chunks import trajectory
from tests.support.cold_kernels import Cold, cold

__all__ = ["cold"]

ROOT = Path(__file__).resolve().parents[3]
FIRST, REST = kernel_groups.GROUPS[0], kernel_groups.GROUPS[1:]


@pytest.fixture
def compiler(cold: Cold) -> Iterator[CompilerProcess]:
    made = CompilerProcess()
    yield made
    made.close()


def test_every_group_is_told_as_it_is_ready(
    cold: Cold, compiler: CompilerProcess, qtbot: QtBot
) -> None:
    told: list[Stage | None] = []
    compiler.progress.connect(told.append)
    assert compiler.check_cache()
    compiler.request(())
    qtbot.waitUntil(lambda: len(told) == 1)
    assert told[0] == Stage(0, len(kernel_groups.GROUPS), FIRST)
    assert compiler.is_missing((FIRST,))
    cold.release(FIRST)
    qtbot.waitUntil(lambda: len(told) == 2)
    assert told[1] == Stage(1, len(kernel_groups.GROUPS), REST[0])
    assert not compiler.is_missing((FIRST,))
    assert compiler.is_missing((FIRST, REST[0]))
    cold.release(*REST)
    qtbot.waitUntil(lambda: told[-1] is None)
    stages = [stage for stage in told if stage is not None]
    assert [stage.done for stage in stages] == list(range(len(kernel_groups.GROUPS)))
    assert [stage.group for stage in stages] == list(kernel_groups.GROUPS)
    assert not compiler.is_missing(kernel_groups.GROUPS)
    assert compiler.stage is None
    assert cold.requests == [list(kernel_groups.GROUPS)]


def test_what_is_waited_for_goes_first(cold: Cold, compiler: CompilerProcess, qtbot: QtBot) -> None:
    compiler.check_cache()
    compiler.request(())
    qtbot.waitUntil(lambda: len(cold.requests) == 1)
    compiler.request((kernel_groups.MIRROR,))
    qtbot.waitUntil(lambda: len(cold.requests) == 2)
    assert cold.requests[1][0] == kernel_groups.MIRROR
    assert sorted(cold.requests[1]) == sorted(kernel_groups.GROUPS)
    cold.release(kernel_groups.MIRROR)
    qtbot.waitUntil(lambda: not compiler.is_missing((kernel_groups.MIRROR,)))
    assert compiler.stage == Stage(1, len(kernel_groups.GROUPS), FIRST)


def test_where_compiling_fails_the_runs_compile_for_themselves(
    cold: Cold, compiler: CompilerProcess, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = [sys.executable, "-S", "-c", "raise SystemExit(3)"]
    monkeypatch.setattr(headless_process, "warm_command", lambda: broken)
    compiler.check_cache()
    with qtbot.waitSignal(compiler.progress, check_params_cb=lambda stage: stage is None):
        compiler.request(())
    assert not compiler.is_missing(kernel_groups.GROUPS)


def test_where_kernels_cannot_be_kept_the_window_says_so(
    open_program: Opener,
    study: Path,
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = open_program(study)
    qtbot.waitUntil(lambda: trained(program))
    compiler, bar = program.worker.compiler, program.window.bar
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "cache"))
    broken = [sys.executable, "-S", "-c", "raise SystemExit(2)"]
    monkeypatch.setattr(headless_process, "warm_command", lambda: broken)
    bar.show_message("Settings are not remembered.")
    assert compiler.check_cache()
    compiler.request(())
    qtbot.waitUntil(lambda: "NUMBA_CACHE_DIR" in bar.text)
    assert bar.text.startswith("Settings are not remembered. Compiled kernels cannot be saved in ")


def test_closing_ends_the_process(cold: Cold, compiler: CompilerProcess, qtbot: QtBot) -> None:
    compiler.check_cache()
    compiler.request(())
    qtbot.waitUntil(lambda: len(cold.requests) == 1)
    process = compiler.process
    compiler.close()
    assert process.returncode is not None


def jobs_of(study: Path, folder: Path, *settings: tuple[str, ...]) -> list[TrainingJob]:
    """Return a job for the study's first cell with each of the settings."""
    return [
        TrainingJob(
            key,
            folder / f"{key}.msrun",
            Control(),
            FromExperiment(load_study(str(study)).with_settings(one).cells()[0].experiment),
        )
        for key, one in enumerate(settings)
    ]


def record_pair(told: list[tuple[int, bool]], key: int, so: bool) -> None:
    told.append((key, so))


def test_a_run_waits_for_its_kernels_and_no_others(
    cold: Cold, study: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    normalised = ("network.kind=normalised",)
    mirror = ("network.kind=scalar", "dynamics.kind=mirror", "dynamics.until_log10_time=0.3")
    worker = RunWorker()
    jobs = jobs_of(study, tmp_path, mirror, normalised)
    ended: list[int] = []
    worker.finished.connect(ended.append)
    worker.submit(*jobs)
    worker.start()
    qtbot.waitUntil(lambda: bool(cold.requests) and cold.requests[-1][:1] == [FIRST])
    cold.release(FIRST)
    qtbot.waitUntil(lambda: ended == [1])
    assert jobs[0].control.status.state is RunState.IDLE
    cold.release(kernel_groups.MIRROR)
    qtbot.waitUntil(lambda: ended == [1, 0])
    assert worker.close()


def test_a_run_that_waits_for_its_kernels_loses_no_frame(
    cold: Cold, study: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    worker = RunWorker()
    (job,) = jobs_of(study, tmp_path, ("network.m=16",))
    told: list[tuple[int, bool]] = []
    worker.waiting.connect(partial(record_pair, told))
    ended: list[int] = []
    worker.finished.connect(ended.append)
    worker.submit(job)
    worker.start()
    qtbot.waitUntil(lambda: told == [(0, True)] and bool(cold.requests))
    assert not job.path.exists()
    cold.release(*kernel_groups.GROUPS)
    qtbot.waitUntil(lambda: ended == [0])
    assert told == [(0, True), (0, False)]
    assert worker.close()
    alone = list(trajectory(job.recipe.problem()))
    with open_run(job.path) as made:
        assert made.engine == "compiled float64"
        assert made.frames == len(alone)
        for index, frame in enumerate(alone):
            assert np.array_equal(made.parameters(index), frame.parameters)


def test_a_run_that_waits_for_its_kernels_can_be_stopped(
    cold: Cold, study: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    worker = RunWorker()
    (job,) = jobs_of(study, tmp_path, ())
    told: list[tuple[int, bool]] = []
    worker.waiting.connect(partial(record_pair, told))
    worker.submit(job)
    worker.start()
    qtbot.waitUntil(lambda: told == [(0, True)])
    with qtbot.waitSignal(worker.finished):
        job.control.stop()
        worker.wake()
    assert told == [(0, True), (0, False)]
    assert job.control.status.reason is FinishReason.CANCELLED
    assert not job.path.exists()
    assert worker.close()


def test_the_window_says_that_a_run_waits_for_its_kernels(
    cold: Cold, open_program: Opener, study: Path, qtbot: QtBot
) -> None:
    program = open_program(study)
    bar = program.window.bar
    qtbot.waitUntil(lambda: bar.text == WAITING)
    cold.release(*kernel_groups.GROUPS)
    qtbot.waitUntil(lambda: bar.text == "")
    qtbot.waitUntil(lambda: trained(program))


@pytest.mark.slow
def test_figure_1_plays_from_a_recording_until_it_is_trained(
    cold: Cold, open_program: Opener, qtbot: QtBot
) -> None:
    program = open_program(plays=True)
    session, display = program.session, program.display
    qtbot.waitUntil(lambda: [run.stands_in for run in session] == [True, True])
    assert program.window.bar.text == RECORDING
    assert "recording" in display.panels[0].heading.text()
    start = display.view.cursor
    qtbot.waitUntil(lambda: display.view.cursor > start + 0.2)
    assert "0 of" in program.window.status.text
    assert not list((program.places.runs).glob("*.msrun"))
    assert program.theory.results(1).judgement is None
    before = display.view.cursor
    seen: list[float] = []
    display.changed.connect(lambda: seen.append(display.view.cursor))
    cold.release(*kernel_groups.GROUPS)
    qtbot.waitUntil(lambda: not any(run.stands_in for run in session))
    assert min(seen, default=before) >= before
    assert seen == sorted(seen)
    assert program.window.bar.text == ""
    assert "recording" not in display.panels[0].heading.text()
    paths = [run.source for run in session]
    assert all(path.parent == program.places.runs for path in paths)


def test_nothing_is_asked_on_closing_before_anything_is_trained(
    cold: Cold, open_program: Opener, qtbot: QtBot
) -> None:
    program = open_program()
    qtbot.waitUntil(lambda: bool(cold.requests and program.session.live))
    assert program.shutdown.describe_unfinished() == ""


def test_what_is_said_of_compiling_is_never_shortened(qtbot: QtBot) -> None:
    line = StatusLine()
    qtbot.addWidget(line)
    line.resize(line.sizeHint())
    line.show()
    count = len(kernel_groups.GROUPS)
    for done, group in enumerate(kernel_groups.GROUPS):
        words = Stage(done, count, group).words
        line.show_texts(
            step=999_999_999,
            log10_time=-1.23,
            rate=123e3,
            eta=3000.0,
            message=words,
            engine="compiled float64, examples' coordinates",
            saved=Path("runs") / ("x" * 100),
        )
        line.show_work("computing gamma_gl, gamma_ntk ...")
        QApplication.processEvents()
        assert line.text == line.line.shown_text() == words
        assert f"{done} of {count}" in words


# -------------------------------------------------------------------------- what is needed for what

NEEDS = """
import json, sys
from dataclasses import replace
import numpy as np
from core.problem.problem import Start
from core.compiled import jit, store, kernel_groups
from core.dynamics.registry import make_integrator, prepare
from core.problem.problem import resolve_problem
from core.study_file.validation import build_experiment
from core.dynamics.required_groups import groups_of
from core.network.registry import NETWORKS
from core.study_file.dynamics import DYNAMICS
def still(problem):
    \"\"\"It comes to rest at once: nothing is active on any example.\"\"\"
    flat = np.array(problem.start.parameters)
    flat[problem.network.m:] = 0.0
    for array in problem.network.fixed.values():
        array[:] = 0.0
    return replace(problem, start=Start(flat, flat))
wrong = []
ready = kernel_groups.ready_groups()
content = {g: set(json.loads(store.load(g + kernel_groups.MARK))) for g in ready}
for dynamics in DYNAMICS:
    for network in NETWORKS:
        for precision in ("float64", "float32"):
            for d in (3, 30):
                tables = {"data": {"d": d, "n": 12}, "network": {"kind": network, "m": 5},
                          "dynamics": {"kind": dynamics}, "run": {"precision": precision}}
                try:
                    experiment = build_experiment(tables, "needs")
                    with jit.trace_kernels() as called:
                        one = make_integrator(prepare(resolve_problem(experiment)))
                        one.advance(), one.advance()
                        if dynamics in ("gd", "mirror") and NETWORKS[network].plain_relu:
                            one = make_integrator(still(prepare(resolve_problem(experiment))))
                            one.advance(), one.advance()
                except Exception as error:
                    if type(error).__name__ != "InputError":
                        raise
                    continue
                known = set().union(*(content[g] for g in groups_of(experiment)), ())
                if called - known:
                    wrong.append([dynamics, network, precision, d, *(called - known)])
print(json.dumps(wrong))
"""


@pytest.mark.slow
def test_the_groups_of_an_experiment_are_those_that_its_engine_uses() -> None:
    done = subprocess.run(
        [sys.executable, "-c", NEEDS], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []


def test_single_precision_has_kernels_of_its_own() -> None:
    study = load_study("telgarsky22-figure-1").with_settings(
        ("dynamics.kind=gd", "run.precision=float32")
    )
    found = groups_of(study.cells()[0].experiment)
    assert found == (kernel_groups.DESCENT_32, kernel_groups.GRAM_32)


# -------------------------------------------------------------------------------- what is loaded

LOADS = """
import importlib.abc, sys, threading
from app.shell.application import Marginscope
from app.places import Places
from app.state.views import VIEWS
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
found = []
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        slow = name.partition(".")[0] in ("core", "scipy", "numba", "torch", "matplotlib")
        if slow and threading.current_thread() is threading.main_thread():
            found.append(name)
def ready():
    sys.meta_path.insert(0, Finder())
def look():
    runs = list(program.session)
    if runs and all(r.data is not None and not r.live and r.data.complete for r in runs):
        if not program.display.calculator.busy and program.display.view.cursor > 0.0:
            program.window.close()
application_ = QApplication([])
program = Marginscope(Places.in_folder(Path(sys.argv[1])), [sys.argv[2]])
program.worker.ready.connect(ready)
program.start()
program.display.update_intent(views=tuple(VIEWS))
timer = QTimer()
timer.timeout.connect(look)
timer.start(100)
application_.exec()
print(*found)
"""


@pytest.mark.slow
def test_the_windows_thread_loads_no_numerical_library_while_it_shows_runs(
    tmp_path: Path, study: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADS, str(tmp_path / "user"), str(study)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


# ----------------------------------------------------------------------------- processes that end


def _children(pid: int) -> list[int]:
    """Return the processes that a process has started and that live (Linux)."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        found += [int(one) for one in task.read_text().split()]
    return found


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _until(true: object, seconds: float) -> bool:
    assert callable(true)
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_no_compiler_outlives_the_window(end: signal.Signals, tmp_path: Path) -> None:
    home = {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("DATA", "CONFIG", "STATE")}
    window = subprocess.Popen(
        [sys.executable, "-m", "app"],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **home, "NUMBA_CACHE_DIR": str(tmp_path / "none")},
    )
    try:
        assert _until(lambda: _children(window.pid), 60)
        compilers = _children(window.pid)
        window.send_signal(end)
        _, words = window.communicate(timeout=60)
        assert window.returncode == (128 + end if end in (signal.SIGTERM, signal.SIGHUP) else -end)
        assert "Traceback" not in words
        assert _until(lambda: not any(map(_alive, compilers)), 60)
    finally:
        window.kill()
