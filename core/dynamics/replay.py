"""Replay of a run from an earlier frame whose state is known, up to its start.

The frames of some dynamics do not determine the continuation: the flow's are between two of its
steps, and Adam has moments. If the state at a frame was not saved, the run restarts at an earlier
state, or at t = 0, and passes through the same frames again without emitting them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import final

import numpy as np

from core.dynamics.integrator import Chunk, Integrator, Outcome
from core.problem.problem import Problem, State, with_dynamics
from core.run_files.frame import Frame


@final
class Replay(Integrator):
    """Integrator from the earlier start to the start, and from there on that of the run.

    `make` makes the integrator of a problem without an earlier start.
    """

    def __init__(self, problem: Problem, make: Callable[[Problem], Integrator]) -> None:
        start = problem.start
        dynamics = start.replay_dynamics or problem.experiment.dynamics
        assert start.earlier is not None
        self._make = make
        self._problem = replace(
            problem, start=replace(start, earlier=None, replay_times=(), replay_dynamics=None)
        )
        onward = make(self._problem)  # for its description; its state is unknown yet
        self.engine, self.planned = onward.engine, onward.planned
        self.temperature_cap = onward.temperature_cap
        way = dynamics.model_copy(update={"until_log10_time": start.replay_times[-1]})
        # The whole dynamics too, for schedules that count the steps to its end.
        earlier = replace(start.earlier, replay_times=start.replay_times, replay_dynamics=dynamics)
        self._inner = make(replace(with_dynamics(problem, way), start=earlier))
        self._arrived = self._started = False

    def advance(self) -> Chunk:
        start = self._problem.start
        if not self._started:
            self._started = True
            return Chunk((self._first_frame(),), Outcome.GOING, start.step, start.log10_time)
        chunk = self._inner.advance()
        if self._arrived:
            return chunk
        if chunk.outcome is Outcome.COMPLETED:
            self._arrive()
        elif chunk.outcome is not Outcome.GOING:  # the original run passed this point
            return replace(chunk, frames=())
        return Chunk((), Outcome.GOING, chunk.step, chunk.log10_time)

    def _arrive(self) -> None:
        """Replace the replaying integrator by that of the run, from the state it has reached."""
        start = replace(self._problem.start, state=self._inner.state())
        self._inner = self._make(replace(self._problem, start=start))
        self._inner.advance()  # skips frame 0, which was emitted first
        self._arrived = True

    def _first_frame(self) -> Frame:
        problem, start = self._problem, self._problem.start
        dtype, dual = np.dtype(problem.experiment.run.precision), None
        if dtype == np.float32:
            dual = problem.dual(problem.physical_start())
        return Frame(start.step, start.log10_time, start.rho, start.parameters.astype(dtype), dual)

    def state(self) -> State | None:
        return self._inner.state() if self._arrived else None
