"""`marginscope --self-test`: a test of this installation, as JSON on standard output.

It opens the window offscreen in folders of its own, trains a run in it, reads the file, scrubs
through it, saves a figure and a film, computes a margin that is known in closed form, and starts a
process for the cells of studies. What it prints is {version, frozen, python, system, torch,
kernels, steps: [{name, ok, seconds, detail}], ok}; the status is 0 where all is well, else 1.

The cache of kernels is the user's own: that is what one wants to know about.
"""

from __future__ import annotations

import json
import math
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, final

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from app.errors import LOG_FILE, Reporter, open_log
from app.places import Places
from app.process import prepare
from app.shell.application import Marginscope
from core.cli.bundle import is_bundled
from core.compiled import store
from core.program.version import __version__

MOMENTS = 50
PATIENCE_S = 300.0  # per step: a slow machine compiles kernels at the same time
POLL_MS = 5
# y x is (3, 1) or (3, -1) for each point, so (3, 0) is the hull's point nearest to the origin.
STUDY = """
title = "Four points"
[data]
kind = "points"
points = [[3, 1, 1], [3, -1, 1], [-3, 1, -1], [-3, -1, -1]]
[network]
m = 16
[dynamics]
kind = "flow"
until_log10_time = 2.0
[recording]
frames = 120
"""
MARGIN, CLOSED_FORM, DIGITS = "gamma_linear", 3.0, 1e-9


class FailedError(Exception):
    """A failed step; the text describes the fault."""


def require(condition: object, sentence: str) -> None:
    """Raise FailedError unless a condition holds."""
    if not condition:
        raise FailedError(sentence)


@final
class Heard:
    """Messages of the window about something: success or failure, and the words."""

    def __init__(self) -> None:
        self.answers: list[tuple[bool, str]] = []

    def good(self, words: str = "") -> None:
        """Record a success."""
        self.answers.append((True, words))

    def bad(self, words: str) -> None:
        """Record a failure."""
        self.answers.append((False, words))

    def has_answer(self) -> bool:
        """Return True after an answer."""
        return bool(self.answers)


@final
class SelfTest:
    """Steps of the test in their order; a failing step does not stop the others."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._places = Places.in_folder(folder / "user")
        self._program: Marginscope | None = None
        self.steps: list[dict[str, Any]] = []
        self._uncaught = Heard()
        self._picture = QImage()

    def run(self) -> bool:
        """Run all steps; return True if all passed."""
        steps = (
            self.window,
            self.training,
            self.recording,
            self.scrubbing,
            self.figure,
            self.film,
            self.margin,
            self.processes,
            self.documents,
            self.closing,
        )
        open_log(self._places.logs)
        reporter = Reporter(self._places.logs / LOG_FILE)
        reporter.message.connect(self._uncaught.bad)
        reporter.install()
        for step in steps:
            self._do(step)
        reporter.uninstall()
        return all(step["ok"] for step in self.steps)

    def _do(self, step: Callable[[], str]) -> None:
        start = time.perf_counter()
        try:
            ok, detail = True, step()
        except Exception as error:  # report any failure of a step
            ok, detail = False, f"{type(error).__name__}: {error}"
        seconds = round(time.perf_counter() - start, 3)
        self.steps.append({"name": step.__name__, "ok": ok, "seconds": seconds, "detail": detail})
        print(f"{step.__name__}: {'ok' if ok else 'FAILED'}, {detail}", file=sys.stderr, flush=True)

    # -------------------------------------------------------------------------------- helpers

    @property
    def program(self) -> Marginscope:
        """Window's program. Raises FailedError if it did not open."""
        if self._program is None:
            raise FailedError("no window opened")
        return self._program

    def _wait_until(self, true: Callable[[], bool], condition: str) -> None:
        """Run the event loop until a condition holds."""
        deadline = time.monotonic() + PATIENCE_S
        while not true():
            loop = QEventLoop()
            QTimer.singleShot(POLL_MS, loop.quit)
            loop.exec()
            require(not self._uncaught.has_answer(), "uncaught error; details are in the log")
            require(time.monotonic() < deadline, f"{condition} took more than {PATIENCE_S:.0f} s")

    def _run_file(self) -> Path:
        runs = list(self.program.session)
        require(len(runs) == 1, f"expected one open run, found {len(runs)}")
        return runs[0].path

    # ---------------------------------------------------------------------------------- steps

    def window(self) -> str:
        """Check that the window opens and is painted."""
        study = self._folder / "four-points.toml"
        study.write_text(STUDY, "utf-8")
        program = self._program = Marginscope(self._places, [str(study)])
        painted = Heard()
        program.window.painted.connect(painted.good)
        program.window.resize(1280, 800)
        program.worker.run_started.connect(program.settle)
        program.start()
        self._wait_until(painted.has_answer, "the first paint")
        picture = program.window.grab().toImage()
        columns, rows = range(0, picture.width(), 16), range(0, picture.height(), 16)
        colours = {picture.pixel(x, y) for x in columns for y in rows}
        require(len(colours) > 2, "the window is empty")
        return f"{picture.width()} x {picture.height()} on {QApplication.platformName()}"

    def training(self) -> str:
        """Check that the window's thread trains, and that the views follow to the end."""
        session = self.program.session

        def trained() -> bool:
            runs = list(session)
            return bool(runs) and all(
                run.data is not None and not run.live and not run.has_unread_frames for run in runs
            )

        self._wait_until(trained, "the training")
        (run,) = session
        require(not run.failure, run.failure)
        assert run.data is not None
        return f"{run.data.frames} frames to log10 t = {run.data.planned_end:g}"

    def recording(self) -> str:
        """Check that the run's file is complete and has the same content."""
        from core.runs import open_run

        path = self._run_file()
        with open_run(path) as run:
            require(run.status == "finished", f"the run is {run.status}")
            last = float(run.log10_time[run.frames - 1])
            require(run.frames > 50, f"only {run.frames} frames were recorded")
            require(math.isclose(last, 2.0, abs_tol=1e-9), f"it ended at log10 t = {last}")
            return f"{run.frames} frames, {path.stat().st_size} bytes"

    def _is_repainted(self) -> bool:
        return self.program.window.grab().toImage() != self._picture

    def scrubbing(self) -> str:
        """Check that the picture follows the timeline in both directions."""
        program = self.program
        program.display.update_intent(playing=False, follow=False)
        start = time.perf_counter()
        for turn in range(MOMENTS):
            self._picture = program.window.grab().toImage()
            program.playback.seek(-1.0 + 3.0 * ((17 * turn) % 101) / 101.0)
            self._wait_until(self._is_repainted, "a repaint")
        return f"{MOMENTS} moments, {1e3 * (time.perf_counter() - start) / MOMENTS:.0f} ms each"

    def _export(self, job: Any) -> bytes:
        """Return the file written by an export job of the window."""
        heard, export = Heard(), self.program.export
        export.finished.connect(heard.good)
        export.error.connect(heard.bad)
        export.start(job)
        self._wait_until(heard.has_answer, "the export")
        is_written, words = heard.answers[0]
        require(is_written and job.path.is_file(), words)
        content: bytes = job.path.read_bytes()
        return content

    def figure(self) -> str:
        """Check a figure as PDF with its fonts in it, drawn by this program in another process."""
        from app.export.pictures import FigureJob

        content = self._export(FigureJob((self._run_file(),), self._folder / "figure.pdf"))
        require(content.startswith(b"%PDF-"), "the figure is not a PDF")
        require(content.rstrip().endswith(b"%%EOF"), "the figure is incomplete")
        require(b"/Font" in content, "the figure has no fonts")
        return f"{len(content)} bytes"

    def film(self) -> str:
        """Check a film, drawn by this program in another process."""
        from PIL import Image

        from app.export.pictures import FilmJob

        path = self._folder / "film.gif"
        job = FilmJob((self._run_file(),), path, seconds=1.0, frames_per_second=5.0)
        self._export(job)
        with Image.open(path) as film:
            frames = int(getattr(film, "n_frames", 1))
        require(frames > 1, "the film does not move")
        return f"{frames} pictures"

    def margin(self) -> str:
        """Check a margin against its closed form."""
        from core.reference.cancel_token import CancelToken
        from core.reference.registry import REFERENCES, compute
        from core.runs import open_run

        with open_run(self._run_file()) as run:
            bracket = compute(REFERENCES[MARGIN], run.problem, CancelToken()).bracket
        wrong = abs(bracket.value - CLOSED_FORM)
        require(wrong <= DIGITS, f"{MARGIN} is {bracket.value!r}, and {CLOSED_FORM} is right")
        require(bracket.certified, f"{MARGIN} has no certificate")
        return f"{MARGIN} = {bracket.value:.12g}, off by {wrong:.1e}"

    def processes(self) -> str:
        """Check a process of the kind that trains the cells of a study."""
        from core.processes import run_in_process

        number = run_in_process("The other process did not answer", lambda: False, os.getpid)
        require(number not in (None, os.getpid()), "no other process answered")
        return "a process of Marginscope answered"

    def documents(self) -> str:
        """Check that the documents of Help and the studies exist."""
        from app.shell.documents import documents
        from core.studies.study import load_study, shipped_ids

        pages = len(documents())
        require(pages > 10, f"found {pages} documents")
        studies = [load_study(name) for name in shipped_ids()]
        return f"{pages} documents, {len(studies)} studies"

    def closing(self) -> str:
        """Check that the window closes with its threads and processes, and logs nothing."""
        program = self.program
        program.window.close()
        require(program.worker.close(), "training did not stop in time")
        log = self._places.logs / LOG_FILE
        log_text = log.read_text("utf-8") if log.is_file() else ""
        require("Traceback" not in log_text, f"log: {log_text[-500:]}")
        return "nothing in the log"


def report(folder: Path) -> dict[str, Any]:
    """Run all steps in a folder, and return the report."""
    before = store.names()
    test = SelfTest(folder)
    start = time.perf_counter()
    ok = test.run()
    return {
        "version": __version__,
        "frozen": is_bundled(),
        "python": platform.python_version(),
        "system": platform.platform(),
        "torch": find_spec("torch") is not None,
        "kernels": {"place": store.folder().name, "found": len(before), "now": len(store.names())},
        "seconds": round(time.perf_counter() - start, 3),
        "steps": test.steps,
        "ok": ok,
    }


def main() -> int:
    """Test this installation, and print the result."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    prepare()
    application = QApplication.instance() or QApplication([sys.argv[0]])
    with tempfile.TemporaryDirectory(prefix="marginscope-self-test-") as name:
        result = report(Path(name))
    print(json.dumps(result, indent=2), flush=True)
    del application
    return 0 if result["ok"] else 1
