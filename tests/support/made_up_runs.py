"""Run files with made-up frames, written without any training."""

from __future__ import annotations

from pathlib import Path

from core.run_files.frame import Frame
from core.runs import Recorder
from tests.support.made_up_figures import TIMES, growing, problem_of


def run_file(path: Path, *settings: str) -> Path:
    """Return the path of a finished run of twelve frames."""
    problem = problem_of(*settings)
    recorder = Recorder(path, problem, engine="tests", planned=len(TIMES), temperature_cap=None)
    frames = []
    for position, time in enumerate(TIMES):
        flat, rho = growing(problem, position)
        frames.append(Frame(position, time, rho, flat))
    recorder.append(frames)
    recorder.finish("completed")
    return path
