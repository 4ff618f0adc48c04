"""Speed of the views: scrubbing through recorded runs, offscreen, with every view painted."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any, final

import numpy as np
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget
from threadpoolctl import threadpool_limits

from app.state.display import DisplayData
from app.views.compare import CompareView
from app.views.run_panel import RunPanel
from core.comparison.comparison import compare_over_time
from core.comparison.question import KINDS, MOST_COMPARED, CompareQuestion
from core.comparison.setting_differences import traced_of
from core.figures.film import film_frames
from core.figures.options import FigureOptions
from core.figures.palette import LIGHT
from core.observables.registry import OBSERVABLES
from core.reference.margin import Bracket, ReferenceMargin
from core.reference.registry import REFERENCES
from core.runs import Run, open_run
from tests.app.options import show_frame
from tests.recording import recorded
from tests.tools.benchmarks.measure import heading, row

PANEL = (620, 680)  # what one of two runs has in a window of 1280 x 800, without side panels
FRAMES = 400
REDRAWS = 120


def _panels(folder: Path, widths: tuple[int, ...]) -> list[tuple[Any, Any]]:
    panels = []
    for m in widths:
        path = folder / f"{m}.msrun"
        if not path.exists():
            recorded(path, f"network.m={m}", f"recording.frames={FRAMES}")
        data = DisplayData(open_run(path))
        begun, slices = time.perf_counter(), []
        while not data.complete:
            turn = time.perf_counter()
            data.update()
            slices.append(time.perf_counter() - turn)
        taken = time.perf_counter() - begun
        row(
            f"reading {data.frames} frames, m = {m}",
            f"{taken * 1e3:.0f} ms",
            f"{statistics.median(slices) * 1e3:.1f} ms",
            f"{max(slices) * 1e3:.1f} ms",
            words="whole, median slice, longest slice",
        )
        panel = RunPanel(LIGHT)
        panel.resize(*PANEL)
        panel.set_data(data, f"m = {m}")
        panel.set_theory(_lines(data), [])
        panel.show()
        panels.append((panel, data))
    return panels


def _lines(data: DisplayData) -> list[ReferenceMargin]:
    """Return three reference lines, like a window with computed margins."""
    top = float(np.nanmax(data.margins[:, 0]))
    shares = {"gamma_gl": 1.1, "gamma_ntk": 0.9, "gamma_linear": 0.5}
    brackets = {
        name: Bracket(share * top, 1.01 * share * top, share * top, True, "")
        for name, share in shares.items()
    }
    return [ReferenceMargin(REFERENCES[name], one, 0.0) for name, one in brackets.items()]


def _scrub(panels: list[tuple[Any, Any]], application: Any) -> list[float]:
    """Return the seconds of single redraws at random frames: requested, computed and painted."""
    views = [view for panel, _ in panels for view in panel.findChildren(QWidget)]
    plots = [view.plot for view in views if hasattr(view, "plot")]
    counter = Paints()
    for plot in plots:
        plot.viewport().installEventFilter(counter)
    order = np.random.default_rng(0).integers(0, FRAMES - 1, REDRAWS + 10)
    seconds = []
    for frame in order.tolist():
        begun = time.perf_counter()
        for panel, _ in panels:
            show_frame(panel, frame)
        application.processEvents()
        seconds.append(time.perf_counter() - begun)
    if counter.count < len(plots) * len(seconds):
        raise SystemExit(f"{counter.count} paints for {len(seconds)} redraws of {len(plots)} views")
    return seconds[10:]


@final
class Paints(QObject):
    """Counter of real paint events."""

    count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.Paint
        return False


def _film(run: Run) -> None:
    """Measure a frame of a film of one panel, drawn for paper."""
    begun = time.perf_counter()
    drawn = list(film_frames([run], "neurons", 24, (800, 600), FigureOptions(LIGHT)))
    seconds = (time.perf_counter() - begun) / len(drawn)
    row("a frame of a film, neurons, 800 x 600", f"{seconds * 1e3:.0f} ms")


def _compare(folder: Path, application: Any) -> None:
    """Measure ten runs as lines of one plot: a moment requested, drawn and painted."""
    traced = []
    for seed in range(MOST_COMPARED):
        path = folder / f"seed{seed}.msrun"
        recorded(path, "network.m=256", f"recording.frames={FRAMES}", f"run.seed={seed}")
        with open_run(path) as run:
            values = {"hard_margin": OBSERVABLES["hard_margin"].trace(run)}
            traced.append(traced_of(run, f"seed = {seed}", "", values, float("nan")))
    view = CompareView(LIGHT)
    view.resize(2 * PANEL[0], PANEL[1])
    view.show()
    for kind in KINDS:
        question = CompareQuestion(kind=kind)
        answer = compare_over_time(question, traced)
        view.show_comparison(answer)
        application.processEvents()
        seconds = []
        for frame in np.random.default_rng(0).integers(1, FRAMES - 1, REDRAWS + 10).tolist():
            begun = time.perf_counter()
            view.show_places([float(traced[0].log10_time[frame])] * len(answer.lines))
            application.processEvents()
            seconds.append(time.perf_counter() - begun)
        milliseconds = 1e3 * np.array(seconds[10:])
        row(
            f"ten runs of m = 256 compared, {kind}",
            f"{np.median(milliseconds):.1f} ms",
            f"{np.quantile(milliseconds, 0.9):.1f} ms",
            f"{np.quantile(milliseconds, 0.99):.1f} ms",
            asked="33 ms",
        )
    view.close()
    view.deleteLater()


def main() -> None:
    """Print the medians beside their goals."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QApplication.instance() or QApplication([])
    cases = (
        ("four views, m = 256", (256,), 16),
        ("eight views, m = 16 and 256", (16, 256), 33),
        ("four views, m = 4096, 400 frames", (4096,), 33),
    )
    assert OBSERVABLES  # loaded, as the window does behind its start
    heading("a redraw while scrubbing", "median", "90 %", "99 %")
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        for name, widths, asked in cases:
            panels = _panels(Path(folder), widths)
            application.processEvents()
            seconds = 1e3 * np.array(_scrub(panels, application))
            row(
                name,
                f"{np.median(seconds):.1f} ms",
                f"{np.quantile(seconds, 0.9):.1f} ms",
                f"{np.quantile(seconds, 0.99):.1f} ms",
                asked=f"{asked} ms" + (", 99 % within 50 ms" if widths == (4096,) else ""),
            )
            if widths == (256,):
                _film(panels[0][1].run)
            for panel, data in panels:
                panel.close()
                panel.deleteLater()
                data.run.close()
            application.processEvents()
        _compare(Path(folder), application)
        application.processEvents()


if __name__ == "__main__":
    main()
