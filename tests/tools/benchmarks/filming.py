"""Scrubbing with a film being exported, and without one, in turn: the window's time per picture."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from PySide6.QtWidgets import QApplication

from app.export.pictures import FilmJob
from app.shell.application import Marginscope
from tests.recording import recorded
from tests.tools.benchmarks.measure import heading, row
from tests.tools.benchmarks.window import (
    SMALL,
    ended,
    event_loop,
    opened,
    prepare_offscreen,
    put_away,
    until,
    waited,
)

FRAMES, PIXELS = 300, (1280, 720)
PICTURES = 80  # of one round, each at another moment


def scrubbed(program: Marginscope) -> list[float]:
    """Seconds for each of many moments from the request until all views are painted, less what this
    thread waited for a processor."""
    span = program.display.view.span
    taken = []
    for share in np.random.default_rng(0).uniform(size=PICTURES):
        begun = time.perf_counter() - waited()
        program.playback.seek(span.moment(float(share)))
        QApplication.processEvents()
        while any(panel.pending for panel in program.display.panels):
            QApplication.processEvents()
        taken.append(time.perf_counter() - waited() - begun)
        event_loop(0.01)  # as between two movements of a mouse; the others go on meanwhile
    return taken


def _more(drawn: Sequence[object], than: int) -> bool:
    return len(drawn) > than


def told(name: str, seconds: Sequence[float], asked: str = "") -> None:
    """One line: median, 99th percentile and the longest."""
    median, late = statistics.median(seconds), float(np.quantile(seconds, 0.99))
    row(
        name,
        f"{1e3 * median:.1f} ms",
        f"{1e3 * late:.1f} ms p99",
        f"{1e3 * max(seconds):.1f} most",
        asked=asked,
    )


def main(rounds: int) -> None:
    prepare_offscreen()
    alone: list[float] = []
    filmed: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = folder / "small.toml"
        study.write_text(SMALL)
        path = folder / "run.msrun"
        recorded(path, "network.m=256", "recording.frames=400")
        program = opened(folder / "user", str(study))
        until(lambda: ended(program))
        program.files.open_files([str(path)])
        until(lambda: not any(run.has_unread_frames for run in program.session))
        program.display.update_intent(playing=False, follow=False)
        theory = program.theory
        event_loop(2.0)
        until(lambda: not theory.busy)
        job = FilmJob((path,), folder / "film.gif", seconds=FRAMES / 20, size=PIXELS)
        drawn: list[object] = []
        program.export.worker.progress.connect(drawn.append)
        for _ in range(rounds):
            alone += scrubbed(program)
            program.export.start(job)
            until(partial(_more, drawn, len(drawn)))  # libraries are loaded, axes drawn
            filmed += scrubbed(program)
            assert program.export.busy, "the film was done before the scrubbing"
            program.export.cancel()
            until(lambda: not program.export.busy)
            event_loop(0.2)
        put_away(program)
    heading("scrubbing beside a film", "median", "99 %", "longest")
    told("a picture while scrubbing, four views", alone)
    told("  while a film of 300 frames is made", filmed, "not slowed down")


if __name__ == "__main__":
    main(3)
