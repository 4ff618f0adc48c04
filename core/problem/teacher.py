"""Teacher of a problem: the ReLU network whose outputs are the targets."""

from __future__ import annotations

import numpy as np

from core.network.gaussian_inputs import ReluTeacher
from core.problem.problem import Problem, with_directions


def teacher_of(problem: Problem) -> ReluTeacher:
    """Return the teacher of a problem whose data know it."""
    directions = with_directions(problem).directions
    up, down = directions["positive"], directions["negative"]
    signs = np.concatenate([np.ones(up.shape[0]), -np.ones(down.shape[0])])
    return ReluTeacher(signs, np.concatenate([up, down]))
