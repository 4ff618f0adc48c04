"""The window against the clock: training while watched, idleness, and two thousand turns of use."""

from __future__ import annotations

import gc
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from app.application import Marginscope
from app.places import Places
from core.runs import Recorder
from core.trajectory import run
from tests.app.shell.test_start import started
from tests.benchmarks.measure import row
from tests.problems import problem

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


def until(true: Callable[[], bool], application: QApplication, seconds: float = 60.0) -> float:
    """Let the window live until something holds; the seconds it took."""
    begun = time.perf_counter()
    while not true():
        event_loop(0.02)
        if time.perf_counter() - begun > seconds:
            raise TimeoutError("the window did not get there")
    return time.perf_counter() - begun


def event_loop(seconds: float) -> None:
    """Qt's own event loop, for so long."""
    loop = QEventLoop()
    QTimer.singleShot(round(1000 * seconds), loop.quit)
    loop.exec()


def opened(folder: Path, *names: str) -> Marginscope:
    """A window of its own in a folder of its own."""
    program = Marginscope(Places.under(folder), names)
    program.window.resize(1280, 800)
    program.start()
    return program


def ended(program: Marginscope) -> bool:
    """Whether runs are open, and none is being trained."""
    return len(program.session) > 0 and not program.session.live


def put_away(program: Marginscope, application: QApplication) -> None:
    """Close the window and let Qt delete it."""
    program.window.close()
    program.worker.close()
    program.window.deleteLater()
    program.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    application.processEvents()


def first_paint(rounds: int) -> None:
    """From the start of the process to the first paint, with nothing heavy loaded by then."""
    seconds = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as name:
            begun, seen = started(Path(name), QT_QPA_PLATFORM="offscreen")
            seconds.append(seen[0]["time"] - begun)
    row("process start to the window", f"{statistics.median(seconds):.2f} s", asked="asked: 1.5 s")


def watched_training(application: QApplication, rounds: int) -> None:
    """The same run recorded alone and under the window, in turn."""
    settings = ("dynamics.kind=gd", "dynamics.step=0.01", "dynamics.until_log10_time=2.9")
    alone, watched = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = folder / "watched.toml"
        study.write_text(WATCHED)
        at = problem(*settings, m=256)
        for _ in range(rounds):
            begun = time.perf_counter()
            run(at, partial(Recorder, folder / "alone.msrun", force=True))
            alone.append(time.perf_counter() - begun)
            program = opened(folder / "user", str(study))
            until(lambda p=program: len(p.session) > 0 and bool(p.session.live), application)
            watched.append(until(partial(ended, program), application))
            put_away(program, application)
    pairs = [one / other for one, other in zip(watched, alone, strict=True)]
    row(
        "training while watched, m = 256", f"{statistics.median(watched):.2f} s",
        f"{statistics.median(alone):.2f} s alone", f"{statistics.median(pairs) - 1:+.1%}",
        "asked: at most +10 %",
    )  # fmt: skip


def idleness(application: QApplication, folder: Path, study: Path) -> None:
    """The share of a core that the window takes when everything has been played."""
    program = opened(folder / "idle", str(study))
    until(partial(ended, program), application)
    program.playback.to_end()
    program.display.ask(playing=False, follow=False)
    event_loop(1.0)
    cpu, wall = time.process_time(), time.perf_counter()
    event_loop(5.0)
    busy = (time.process_time() - cpu) / (time.perf_counter() - wall)
    put_away(program, application)
    row("idle window", f"{busy:.2%} of a core", "", "", "asked: under 1 %")


def resident() -> float:
    """Resident memory of this process in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def turns(application: QApplication, folder: Path, study: Path, count: int) -> None:
    """Play, scrub, hover, open and close, again and again; memory at a quarter and at the end."""
    program = opened(folder / "turns", str(study))
    until(partial(ended, program), application)
    files = [str(path) for path in sorted((folder / "turns" / "runs").glob("*.msrun"))]
    quarter = 0.0
    for turn in range(count):
        program.playback.play_from_start()
        application.processEvents()
        program.playback.to_moment(-1.0 + 3.0 * (turn % 17) / 17.0)
        application.processEvents()
        if turn % 4 == 0:
            program.files.open_files(files)
            application.processEvents()
        if turn == count // 4:
            gc.collect()
            quarter = resident()
    gc.collect()
    grown = resident() - quarter
    put_away(program, application)
    row(f"{count} turns of play, scrub, open", f"{grown:+.1f} MB", f"{quarter:.0f} MB", "", "flat")


def main(rounds: int = 3, count: int = 2000) -> None:
    """All of it, offscreen."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    print()
    first_paint(rounds)
    watched_training(application, rounds)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = folder / "small.toml"
        study.write_text(SMALL)
        idleness(application, folder, study)
        turns(application, folder, study, count)
