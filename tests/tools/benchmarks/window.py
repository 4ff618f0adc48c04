"""Speed of the window: training in view, idleness, and two thousand turns of use.

Where Linux tells how long a thread waited for a processor, that is taken off gaps, since it is the
doing of other programs; other times are those of the clock, and want a quiet machine.
"""

from __future__ import annotations

import gc
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from app.places import Places
from app.process import prepare
from app.shell.application import Marginscope
from app.state.views import VIEWS
from core.runs import Recorder
from core.training.trajectory import run
from tests.app.shell.test_start import started
from tests.problems import problem
from tests.tools.benchmarks.measure import heading, median_row, row, spread

# Long enough (about five seconds) that opening and closing do not matter.
WATCHED = """
[network]
m = 256
[dynamics]
kind = "gd"
step = 0.01
until_log10_time = 2.9
[recording]
frames = 400
"""
SMALL = """
[network]
m = 16
[dynamics]
until_log10_time = 2.0
[recording]
frames = 60
[axes]
"run.seed" = [0, 1]
"""

# A branch is trained once in so many turns, to a later end.
BRANCHES, END, LATER = 100, "dynamics.until_log10_time", "2.2"


@cache
def prepare_offscreen() -> QApplication:
    """Return the application, prepared as the program does; the cache keeps it alive."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    prepare()
    return QApplication([])


def until(true: Callable[[], bool], seconds: float = 600.0) -> float:
    """Run the event loop until a condition holds; return the seconds."""
    begun = time.perf_counter()
    while not true():
        event_loop(0.02)
        if time.perf_counter() - begun > seconds:
            raise TimeoutError("the window did not get there")
    return time.perf_counter() - begun


def event_loop(seconds: float) -> None:
    """Run Qt's own event loop for so long."""
    loop = QEventLoop()
    QTimer.singleShot(round(1000 * seconds), loop.quit)
    loop.exec()


def opened(folder: Path, *names: str) -> Marginscope:
    """Return a new window with its own folder."""
    program = Marginscope(Places.in_folder(folder), names)
    program.window.resize(1280, 800)
    program.worker.run_started.connect(program.settle)  # as the program does
    program.start()
    return program


def ended(program: Marginscope) -> bool:
    """Return True if runs are open and none is being trained."""
    return len(program.session) > 0 and not program.session.live


def put_away(program: Marginscope) -> None:
    """Close the window and let Qt delete it."""
    program.window.close()
    program.worker.close()
    program.window.deleteLater()
    program.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    QApplication.processEvents()


def first_paint(rounds: int) -> None:
    """Measure from the start of the process to the first paint; nothing heavy may be loaded."""
    seconds = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as name:
            begun, seen = started(Path(name), QT_QPA_PLATFORM="offscreen")
            seconds.append(seen[0]["time"] - begun)
    median_row("process start to the window", seconds, asked="1.5 s")


def watched_training(rounds: int) -> None:
    """Record the same run alone and with the window, in turn.

    The second row is what the clock says less what the training thread waited for a processor,
    also for those that other programs had: what is left is its own work, the interpreter that the
    window held, and the disk.
    """
    settings = ("dynamics.kind=gd", "dynamics.step=0.01", "dynamics.until_log10_time=2.9")
    alone, watched, both = [], [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = folder / "watched.toml"
        study.write_text(WATCHED)
        at = problem(*settings, m=256)
        for _ in range(rounds):
            begun, before = time.perf_counter(), waited()
            run(at, partial(Recorder, folder / "alone.msrun", force=True))
            alone.append(time.perf_counter() - begun)
            bare = alone[-1] - (waited() - before)
            program = opened(folder / "user", str(study))
            until(lambda p=program: len(p.session) > 0 and bool(p.session.live))
            before = waited(training())
            watched.append(until(partial(ended, program)))
            both.append((watched[-1] - (waited(training()) - before)) / bare)
            put_away(program)
    pairs = [one / other for one, other in zip(watched, alone, strict=True)]
    median_row(
        "training while watched, m = 256",
        watched,
        f"{statistics.median(alone):.2f} s alone",
        f"{statistics.median(pairs) - 1:+.1%}",
        asked="at most +10 %",
    )
    row(
        "  less its waits for a processor",
        f"{statistics.median(both) - 1:+.1%}",
        spread=spread([one - 1.0 for one in both], "{:+.1%}"),
        words=f"load {os.getloadavg()[0]:.1f}",
    )


def training() -> int:
    """Return the system's number of the training thread."""
    names = {thread.name: thread.native_id for thread in threading.enumerate()}
    return names.get("marginscope-training") or threading.get_native_id()


def waited(thread: int | None = None) -> float:
    """Return the seconds for which a thread was ready while others ran; 0 if unknown."""
    thread = threading.get_native_id() if thread is None else thread
    try:
        told = Path(f"/proc/self/task/{thread}/schedstat").read_text()
    except OSError:
        return 0.0
    return int(told.split()[1]) / 1e9


class Gaps:
    """Seconds between turns of the event loop, and this thread's own work in them."""

    def __init__(self) -> None:
        self.gaps: list[float] = []
        self.work: list[float] = []
        self._last = self._now()
        self._timer = QTimer()
        self._timer.timeout.connect(self._look)
        self._timer.start(2)

    @staticmethod
    def _now() -> tuple[float, float]:
        return time.perf_counter() - waited(), time.thread_time()

    def _look(self) -> None:
        now, before = self._now(), self._last
        self._last = now
        self.gaps.append(now[0] - before[0])
        self.work.append(now[1] - before[1])

    def stop(self) -> None:
        self._timer.stop()


def gaps_while_training() -> None:
    """Measure how long the window ignores the mouse during training, with all views."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = folder / "watched.toml"
        study.write_text(WATCHED)
        program = opened(folder / "user", str(study))
        program.display.update_intent(views=tuple(VIEWS))
        until(lambda: any(run.data is not None for run in program.session))
        event_loop(1.0)  # all views are made
        gaps = Gaps()
        until(partial(ended, program), 600.0)
        gaps.stop()
        put_away(program)
    late = sum(gap > 0.05 for gap in gaps.gaps)
    row(
        "gaps with seven views while training",
        f"{1e3 * max(gaps.gaps):.0f} ms the longest",
        f"{late} of {len(gaps.gaps)} over 50 ms",
        f"{1e3 * max(gaps.work):.0f} ms own",
        asked="none over 50 ms",
    )


def idleness(folder: Path, study: Path) -> None:
    """Measure the window's share of a core when everything has been played and judged.

    Margins and verdicts are computed for some seconds after a run's end; half a minute is for them.
    """
    program = opened(folder / "idle", str(study))
    until(partial(ended, program))
    program.playback.seek_end()
    program.display.update_intent(playing=False, follow=False)
    event_loop(30.0)
    cpu, wall = time.process_time(), time.perf_counter()
    event_loop(5.0)
    busy = (time.process_time() - cpu) / (time.perf_counter() - wall)
    put_away(program)
    row("idle window", f"{busy:.2%} of a core", asked="under 1 %")


def resident() -> float:
    """Return resident memory of this process in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def at_rest(program: Marginscope) -> float:
    """Return resident memory in MB once everything is judged and shown."""
    theory = program.theory
    for _ in range(3):  # it begins a moment after the last change
        event_loop(1.0)
        until(lambda: not theory.busy)
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()
    return resident()


def turns(folder: Path, study: Path, count: int) -> None:
    """Repeat play, scrub, open, compare, undo and branch; return memory at a quarter and the end.

    Each turn ends with what is to be deleted later, as each event of a real event loop does: rows
    of statements that were judged are otherwise kept to the end.
    """
    program = opened(folder / "turns", str(study))
    until(partial(ended, program))
    files = [str(path) for path in sorted((folder / "turns" / "runs").glob("*.msrun"))]
    quarter = 0.0
    for turn in range(count):
        program.playback.play_from_start()
        QApplication.processEvents()
        program.playback.seek(-1.0 + 3.0 * (turn % 17) / 17.0)
        QApplication.processEvents()
        program.display.update_intent(linked=turn % 2 == 0)
        program.scenes.commit()
        program.scenes.undo()
        if turn % 4 == 0:
            program.files.open_files(files)
            QApplication.processEvents()
        if turn % 8 == 0:
            program.compare.set_shown(True)
            QApplication.processEvents()
            program.compare.set_shown(False)
        if turn % BRANCHES == BRANCHES - 1:
            program.branches.offer()
            program.window.form.sections["dynamics"].text_edited.emit(END, LATER)
            program.training.run()
            until(partial(ended, program))
            program.files.open_files(files)
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        if turn == count // 4:
            quarter = at_rest(program)
    grown = at_rest(program) - quarter
    put_away(program)
    row(
        f"{count} turns of play, scrub, open, compare, branch, undo",
        f"{grown:+.1f} MB",
        f"{quarter:.0f} MB",
        asked="flat",
    )


def main(rounds: int = 3, count: int = 2000) -> None:
    prepare_offscreen()
    heading("the window", "ours", "beside", "cost")
    first_paint(rounds)
    watched_training(rounds)
    gaps_while_training()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = folder / "small.toml"
        study.write_text(SMALL)
        idleness(folder, study)
        turns(folder, study, count)
