"""A run of a gigabyte against the clock: its first picture, a link into it; and a whole film."""

from __future__ import annotations

import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication

from app.scenes.scene_texts import link_of
from app.shell.application import Marginscope
from core.figures.film import film_frames
from core.figures.options import FigureOptions
from core.figures.palette import LIGHT
from core.runs import open_run
from tests.recording import recorded
from tests.tools.benchmarks.measure import heading, median_row, row
from tests.tools.benchmarks.window import (
    SMALL,
    ended,
    event_loop,
    opened,
    prepare_offscreen,
    put_away,
    until,
)

FRAMES, WIDTH = 1400, 4096  # of 0.7 MB each
FILM_FRAMES, MEASURED = 300, 40


def painted(program: Marginscope, path: Path) -> float:
    """Seconds until all views of a file's run have been painted."""
    drawn = [plot for panel in program.display.panels for plot in _plots(panel)]
    for plot in drawn:
        plot.paint_seconds = 0.0

    def shown() -> bool:
        runs = [run.path for run in program.session if run.data is not None and run.data.frames]
        panel = program.display.panels[0]
        plots = _plots(panel)
        return runs == [path] and panel.frame >= 0 and all(plot.paint_seconds for plot in plots)

    begun = time.perf_counter()
    program.files.open_files([str(path)])
    while not shown():
        QApplication.processEvents()
    return time.perf_counter() - begun


def _plots(panel: Any) -> list[Any]:
    return [view.plot for view in panel.views]


def main(rounds: int) -> None:
    prepare_offscreen()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "large.msrun"
        recorded(
            path,
            f"network.m={WIDTH}",
            f"recording.frames={FRAMES}",
            "dynamics.kind=gd",
            "data.d=64",
            "dynamics.step=0.05",
            "dynamics.until_log10_time=2.0",
        )
        study = folder / "small.toml"
        study.write_text(SMALL)
        program = opened(folder / "user", str(study))
        until(partial(ended, program))
        event_loop(3.0)
        size = path.stat().st_size / 1e9
        small = min((folder / "user" / "runs").glob("*.msrun"))
        taken = []
        for _ in range(rounds):
            taken.append(painted(program, path))
            painted(program, small)
            event_loop(1.0)
        heading("large runs, and films", "ours", "beside")
        median_row("first picture of a large run", taken, f"{size:.2f} GB", asked="0.5 s")
        for name, m in (("large", 0), ("usual", 256)):
            one = folder / f"{name}.msrun"
            if m:
                recorded(one, f"network.m={m}", "recording.frames=400")
            taken = [linked(program, one) for _ in range(rounds)]
            median_row(f"a link into a {name} run", taken, asked="1 s")
        put_away(program)
        film(folder)


def linked(program: Marginscope, path: Path) -> float:
    """Seconds until a link shows a moment late in a run."""
    program.files.open_files([str(path)])
    until(lambda: not any(run.has_unread_frames for run in program.session))
    program.display.update_intent(playing=False)
    program.playback.to_typed("10^1.5")
    link = link_of(program.scenes.shareable_scene())
    wanted = [run.frame for run in program.display.view.runs]
    program.training.close_runs()
    event_loop(1.0)
    begun = time.perf_counter()
    program.files.open_files([link])
    while [run.frame for run in program.display.view.runs] != wanted:
        QApplication.processEvents()
    return time.perf_counter() - begun


def film(folder: Path) -> None:
    """A film of 300 frames at 720p, of which the first forty are drawn."""
    path = folder / "film.msrun"
    recorded(path, "network.m=256", "recording.frames=400")
    with open_run(path) as run:
        begun = time.perf_counter()
        drawn = list(film_frames([run], "neurons", MEASURED, (1280, 720), FigureOptions(LIGHT)))
        each = (time.perf_counter() - begun) / len(drawn)
    row(
        "a frame of a film at 720p, m = 256",
        f"{1e3 * each:.0f} ms",
        f"{FILM_FRAMES * each:.0f} s for {FILM_FRAMES}",
        asked="60 s",
    )


if __name__ == "__main__":
    main(3)
