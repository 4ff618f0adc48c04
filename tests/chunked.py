"""Runs that are cut into as many chunks as there are units of work."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.dynamics.integrator import Integrator
from core.problem.frame import Frame
from core.training.trajectory import chunks


def frames_of(dynamics: Integrator) -> list[Frame]:
    """Every frame of a dynamics, to its end."""
    return [frame for chunk in chunks(dynamics) for frame in chunk.frames]


def check_small_chunks(dynamics: Integrator, whole: Sequence[Frame]) -> None:
    """With one step a chunk (the flow: one field evaluation) the frames are what they were."""
    dynamics.pace.seconds = 1e-9
    pieces = frames_of(dynamics)
    assert len(pieces) == len(whole) == dynamics.planned
    for one, other in zip(pieces, whole, strict=True):
        assert np.array_equal(one.parameters, other.parameters)
        assert (one.rho, one.step) == (other.rho, other.step)
