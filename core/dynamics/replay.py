"""A run whose start is reached once more, from an earlier moment at which all is known.

The frames of some dynamics do not say how they go on: the flow's lie between two of its steps, and
Adam has moments. Where the state at a frame was not kept the run is taken up at an earlier state,
or at t = 0, and passes through the same frames again. They are not handed on a second time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import final

import numpy as np

from core.dynamics.integrator import Chunk, Integrator, Outcome
from core.frame import Frame
from core.problem import Problem, Start
from core.start import State


def from_earlier(problem: Problem) -> Problem:
    """The problem begun at its earlier start, with the times up to its own start on the way."""
    start = problem.start
    assert isinstance(start.earlier, Start)
    return replace(problem, start=replace(start.earlier, marks=start.marks))


@final
class Replay(Integrator):
    """The frames of an integrator, begun at `from_earlier(problem)`, from the start on."""

    def __init__(self, problem: Problem, inner: Integrator) -> None:
        self._problem, self._inner = problem, inner
        self._left = 1 + len(problem.start.marks)  # frames that are known
        self.engine, self.temperature_cap = inner.engine, inner.temperature_cap
        self.planned = inner.planned - len(problem.start.marks)
        self._started = False

    def advance(self) -> Chunk:
        start = self._problem.start
        if not self._started:
            self._started = True
            return Chunk((self._first_frame(),), Outcome.GOING, start.step, start.log10_time)
        chunk = self._inner.advance()
        known = min(self._left, len(chunk.frames))
        self._left -= known
        event = None if self._left else chunk.event
        return replace(chunk, frames=chunk.frames[known:], event=event)

    def _first_frame(self) -> Frame:
        problem, start = self._problem, self._problem.start
        dtype, dual = np.dtype(problem.experiment.run.precision), None
        if dtype == np.float32:
            dual = problem.dual(problem.physical_start())
        return Frame(start.step, start.log10_time, start.rho, start.parameters.astype(dtype), dual)

    def state(self) -> State | None:
        return None if self._left else self._inner.state()
