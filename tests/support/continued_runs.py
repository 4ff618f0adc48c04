"""Runs recorded in pieces, and the same runs recorded in one go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from core.problem.problem import Problem
from core.runs import RecordedRun, Recorder, open_run
from core.training.continuation import continue_problem
from core.training.control import Status
from core.training.trajectory import run

# Rounding of engines that take up the parameters alone and sum in another order: a part in 1e16 a
# step, over at most a thousand steps, of parameters of order 1.
ROUNDING = 1e-12


def with_marks(problem: Problem, marks: Sequence[float]) -> Problem:
    """Return the problem with these times (log10 t) for all its frames."""
    experiment = problem.experiment
    dynamics = experiment.dynamics.model_copy(update={"until_log10_time": marks[-1]})
    changes: dict[str, Any] = {
        "log10_times": tuple(marks),
        "frames": len(marks) + 2,
        "spacing": "log",  # even frames are other ones where the end is another
    }
    recording = experiment.recording.model_copy(update=changes)
    experiment = experiment.model_copy(update={"dynamics": dynamics, "recording": recording})
    return replace(problem, experiment=experiment)


def recorded_at(path: Path, problem: Problem) -> Status:
    return run(problem, partial(Recorder, path))


def continued_at(path: Path, source: Path, *settings: str, frame: int | None = None) -> Status:
    """Continue a run file from one of its frames, into another file."""
    with open_run(source) as begun:
        problem, _ = continue_problem(begun, frame, settings)
    return recorded_at(path, problem)


def assert_frames_agree(part: RecordedRun, whole: RecordedRun, rounding: float) -> None:
    """Assert that the frames of a part equal the whole run's at their times."""
    times = part.log10_time
    places = np.searchsorted(whole.log10_time, times)
    assert np.array_equal(whole.log10_time[places], times)
    assert np.array_equal(whole.steps[places], part.steps)
    for index, place in enumerate(places.tolist()):
        ours, theirs = part.parameters(index), whole.parameters(place)
        size = float(np.abs(theirs).max())
        assert np.abs(ours - theirs).max() <= rounding * size, (index, place)
        assert abs(part.rho[index] - whole.rho[place]) <= rounding * (1.0 + abs(whole.rho[place]))
        if index:  # the first frame is that of the run before
            assert part.diagnostics(index).keys() == whole.diagnostics(place).keys()
