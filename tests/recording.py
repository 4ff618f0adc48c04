"""Small runs for tests, recorded by the program's own loop."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from core.problem.problem import resolve_problem
from core.runs import Recorder
from core.studies.study import load_study
from core.training.control import Control, Status
from core.training.trajectory import run
from tests.problems import FIGURE_1


def recorded(
    path: Path, *settings: str, study: str = FIGURE_1, control: Control | None = None
) -> Status:
    """Train the first cell of a study into a run file."""
    chosen = load_study(study)
    if study == FIGURE_1:
        chosen = chosen.with_settings(["network.m=16"])
    chosen = chosen.with_settings(settings)
    problem = resolve_problem(
        chosen.cells()[0].experiment, chosen.folder, chosen.title, chosen.source
    )
    return run(problem, partial(Recorder, path), control)
