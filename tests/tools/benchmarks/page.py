"""Page of Figure 1: its size, the time to make it, and its frame rate in a headless browser."""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from core.cli.training import run_for_figure
from core.figures.page import PageOptions, save_page
from core.runs import open_run
from marginscope import record
from tests.problems import FIGURE_1
from tests.support.browser import Browser, browser, browser_path
from tests.tools.benchmarks.measure import heading, row

SIZES = ((1280, 800), (700, 500), (1920, 1080))
SECONDS = 9.0  # of the ten that it plays
READY = "document.querySelector('main')?.dataset.ready === 'true'"
# Every time that the slider has another moment a frame has been drawn.
PLAY = """new Promise((done) => {
  const slider = document.querySelector('input[type=range]');
  const moved = [];
  let before = null;
  const begun = performance.now();
  const look = (now) => {
    if (slider.value !== before) moved.push(now);
    before = slider.value;
    if (performance.now() - begun < 1000 * SECONDS) requestAnimationFrame(look);
    else done(moved);
  };
  for (const key of KEYS) document.dispatchEvent(new KeyboardEvent('keydown', { key }));
  requestAnimationFrame(look);
})"""


def main() -> None:
    """Make the page, and play it at three sizes, at normal and double speed."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        paths = run_for_figure(FIGURE_1, Path(folder), quiet=True)
        runs = [stack.enter_context(open_run(path)) for path in paths]
        path = Path(folder) / "figure.html"
        begun = time.perf_counter()
        save_page(runs, path)
        seconds = time.perf_counter() - begun
        size = path.stat().st_size / 1e6
        frames = max(run.frames for run in runs)
        heading("the page of Figure 1", "ours", "beside")
        name = f"{frames} frames: size; made in"
        row(name, f"{size:.2f} MB", f"{seconds:.1f} s", asked="5 MB")
        wide_page(Path(folder))
        program = browser_path()
        if program is None:
            print("No Chromium here: how fast the page plays is not measured.")
            return
        with browser(program) as page:
            for wide, high in SIZES:
                page.resize(wide, high)
                rates = [_rate(page, path, keys) for keys in ("' '", "'2', ' '")]
                row(
                    f"it plays at {wide} x {high}: frames a second; at 2 x",
                    f"{rates[0]:.0f}",
                    f"{rates[1]:.0f}",
                    asked="30",
                )


def wide_page(folder: Path) -> None:
    """Measure the CPU seconds and size of a page of 2,000 nodes at 600 moments."""
    generator = np.random.default_rng(0)
    x = generator.normal(size=(200, 10))
    V, a = generator.normal(size=(2000, 10)), generator.normal(size=2000) / 2000
    path, out = folder / "wide.msrun", folder / "wide.html"
    with record(path, x, np.sign(x[:, 0]), loss="logistic", V0=V, a0=a, time="t") as recording:
        for t in np.logspace(-2.0, 4.0, 599):
            V = V + 0.01 * generator.normal(size=V.shape)
            recording.frame(float(t), V=V, a=a)
    with open_run(path) as run:
        begun = time.process_time()
        save_page([run], out, options=PageOptions(frames=600))
        seconds = time.process_time() - begun
    row(
        "m = 2000, 600 frames: size; made in",
        f"{out.stat().st_size / 1e6:.2f} MB",
        f"{seconds:.1f} s",
        asked="15 s",
        words="CPU",
    )


def _rate(page: Browser, path: Path, keys: str) -> float:
    """Return the frames drawn per second."""
    page.open(path, READY)
    seconds = SECONDS if "2" not in keys else SECONDS / 2.0
    play = PLAY.replace("SECONDS", str(seconds)).replace("KEYS", f"[{keys}]")
    moved: list[Any] = page.value(play)
    return 1000.0 * (len(moved) - 2) / float(moved[-1] - moved[1])
