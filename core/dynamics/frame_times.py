"""The times of a run's frames: those that the run from t = 0 to its end has after its start."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.dynamics.step_size import lambda_0
from core.problem.problem import Problem
from core.problem.schedule import first_log10_time, log10_schedule

Array = NDArray[np.float64]


def first_time(problem: Problem) -> float:
    """log10 t of the first frame after t = 0, by the curvature there."""
    return first_log10_time(lambda_0(problem, problem.start.origin))


def frame_times(problem: Problem, first: float) -> Array:
    """log10 t of all frames after the first, increasing.

    They are on the schedule that the run would have from t = 0 on: a run that is interrupted and
    continued has the same frames as one that is not. Times that the run passes through once more,
    to reach its start, come before them.
    """
    start, experiment = problem.start, problem.experiment
    recording, last = experiment.recording, experiment.dynamics.until_log10_time
    times = log10_schedule(first, last, recording.frames, recording.log10_times)
    begun = start.marks[-1] if start.marks else start.log10_time
    return np.concatenate([np.array(start.marks), times[times > begun]])
