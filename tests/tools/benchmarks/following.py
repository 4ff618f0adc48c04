"""Delay and cost of a window that follows a run recorded by another program."""

from __future__ import annotations

import random
import tempfile
import time
from functools import partial
from pathlib import Path

from app.shell.application import Marginscope
from tests.support.foreign_loop import LoopProcess
from tests.tools.benchmarks.measure import heading, median_row, row
from tests.tools.benchmarks.window import event_loop, opened, prepare_offscreen, put_away, until

LOOKS = 40
REST_S = 8.0


def main() -> None:
    """Measure one window, with one loop in a separate process."""
    prepare_offscreen()
    with tempfile.TemporaryDirectory() as name, LoopProcess(Path(name) / "mine.msrun") as loop:
        loop.frames(5)
        program = opened(Path(name) / "user", str(loop.path))
        until(partial(_reads, program, 6))
        program.playback.set_follow(True)  # as `marginscope.show` opens a run
        event_loop(5.0)
        late = [_late(program, loop) for _ in range(LOOKS)]
        # The last frame's own work, such as where its margin is going, is done first.
        until(lambda: not program.theory.final_margins.busy)
        cpu, begun = time.process_time(), time.perf_counter()
        event_loop(REST_S)
        busy = (time.process_time() - cpu) / (time.perf_counter() - begun)
        put_away(program)
    heading("following another program's loop")
    median_row("a frame is shown after", late, asked="0.5 s", words=f"{LOOKS} frames")
    row("while the loop rests", f"{busy:.2%} of a core", asked="under 1 %")


def _late(program: Marginscope, loop: LoopProcess) -> float:
    """Return the seconds from a frame's recording to its display."""
    event_loop(0.2 + 0.5 * random.random())
    begun = time.perf_counter()
    frames = loop.frames(1)
    until(partial(_shows, program, frames))
    return time.perf_counter() - begun


def _reads(program: Marginscope, frames: int) -> bool:
    return any(run.data is not None and run.data.frames == frames for run in program.session)


def _shows(program: Marginscope, frames: int) -> bool:
    runs = program.display.view.runs
    return bool(runs) and runs[0].frame == frames - 1
