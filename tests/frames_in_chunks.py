"""Frames of a problem without a file, also of runs divided into many chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from core.dynamics.integrator import Integrator
from core.dynamics.registry import make_integrator, prepare
from core.problem.problem import Problem
from core.run_files.frame import Frame
from core.training.trajectory import chunks


def trajectory(problem: Problem) -> Iterator[Frame]:
    """Return the frames of a problem in the order of its schedule, without recording."""
    for chunk in chunks(make_integrator(prepare(problem))):
        yield from chunk.frames


def frames_of(dynamics: Integrator) -> list[Frame]:
    return [frame for chunk in chunks(dynamics) for frame in chunk.frames]


def check_small_chunks(dynamics: Integrator, whole: Sequence[Frame]) -> None:
    """Check that one step (for the flow one evaluation) per chunk gives the same frames."""
    dynamics.pace.seconds = 1e-9
    pieces = frames_of(dynamics)
    assert len(pieces) == len(whole) == dynamics.planned
    for one, other in zip(pieces, whole, strict=True):
        assert np.array_equal(one.parameters, other.parameters)
        assert (one.rho, one.step) == (other.rho, other.step)
