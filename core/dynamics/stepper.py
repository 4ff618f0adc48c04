"""What all dynamics of equal steps share: t = step size * steps, frames, and how runs end.

A dynamics adds `_take`: it moves `_flat` and says how many steps it could do.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from core.dynamics import saved
from core.dynamics.clock import Clock
from core.dynamics.frame_times import first_time, frame_times
from core.dynamics.integrator import Chunk, Integrator, Outcome, Pace, first_units
from core.dynamics.step_size import rounded_down
from core.problem.frame import Frame
from core.problem.problem import Problem
from core.problem.start import State

FRAME_BYTES = 8_000_000  # at most about so many bytes of frames a chunk
BLOW_UP = 1e6  # a loss this much above its start does not come back
SOME = 8  # of the longest inputs, at which a frame is looked at


class Stepper(Integrator):
    """Steps numbered from t = 0; the frame of a mark is the first step with t >= 10^mark."""

    temperature_cap = None

    def __init__(self, problem: Problem, step_size: float) -> None:
        self.problem = problem
        self.step_size = step_size
        self.dtype = np.dtype(problem.experiment.run.precision)
        self._clock = Clock(problem, step_size)
        self._schedule = self._clock.schedule(frame_times(problem, self._first_mark()))
        self.planned = 1 + self._schedule.size
        self._step, self._mark = problem.start.step, 0
        n, D = problem.inputs.shape
        lengths = np.linalg.norm(problem.inputs, axis=1)
        self._longest = problem.inputs[np.argsort(lengths)[-SOME:]]
        self.pace = Pace(first_units(problem.network.m, max(1, self._examples_a_step(n)), D))
        self._started = False
        self._kept = problem.start.state

    def _examples_a_step(self, n: int) -> int:
        """How many examples one step looks at."""
        return n

    @abstractmethod
    def _take(self, count: int) -> int:
        """Take `count` steps, or as many of them as stay finite; returns their number."""

    @abstractmethod
    def _flat(self) -> NDArray[np.floating]:
        """The parameters where they stand, an array of its own."""

    def _first_step(self) -> None:
        """What is to be done between frame 0 and the first step."""

    def _first_mark(self) -> float:
        """log10 t of the first frame after t = 0."""
        return first_time(self.problem)

    def suggested_step(self) -> float:
        """A step that should not diverge."""
        return rounded_down(self.step_size / 2.0)

    def state(self) -> State | None:
        """What the dynamics carried at the last frame."""
        return self._kept

    def _parts(self) -> saved.Parts:
        """What lives from one step to the next, beside the parameters of a frame."""
        return {"clock": self._clock.numbers()}

    def _resume(self) -> None:
        """Go on from the start's state, where it has one; called once all parts are there."""
        if self.problem.start.state is not None:
            saved.put_back(self._parts(), self.problem.start.state)

    def _frame(self) -> Frame:
        parameters, dual = self._flat(), None
        if self.dtype == np.float32:
            dual = self.problem.dual(parameters.astype(np.float64))
        return Frame(self._step, self._clock.log10_time(self._step), 0.0, parameters, dual)

    def _chunk(self, frames: list[Frame], outcome: Outcome) -> Chunk:
        return Chunk(tuple(frames), outcome, self._step, self._clock.log10_time(self._step))

    def advance(self) -> Chunk:
        if not self._started:
            self._started = True
            first = [self._frame()]
            self._first_step()
            return self._chunk(first, Outcome.COMPLETED if self.planned == 1 else Outcome.GOING)
        left, frames = self.pace.start(), list[Frame]()
        room = max(1, FRAME_BYTES // (self.problem.network.size * self.dtype.itemsize))
        while left > 0 and self._mark < self._schedule.size and len(frames) < room:
            wanted = min(left, int(self._schedule[self._mark]) - self._step)
            done = self._take(wanted)
            self._step += done
            left -= done
            if done < wanted:
                return self._diverged(frames)
            if self._step == self._schedule[self._mark]:
                frame = self._frame()
                if not self._is_finite(frame.parameters):
                    return self._diverged(frames)
                frames.append(frame)
                self._kept = saved.taken(self._parts())
                self._mark += 1
        if left == 0:
            self.pace.stop()
        done_all = self._mark == self._schedule.size
        return self._chunk(frames, Outcome.COMPLETED if done_all else Outcome.GOING)

    def _is_finite(self, parameters: NDArray[np.floating]) -> bool:
        """Whether the parameters are numbers, and so are outputs: the last step may be too long."""
        if not np.isfinite(parameters).all():
            return False
        with np.errstate(over="ignore", invalid="ignore"):
            f = self.problem.network.outputs(parameters.astype(np.float64), self._longest)
        return bool(np.isfinite(np.asarray(f)).all())

    def _diverged(self, frames: list[Frame]) -> Chunk:
        payload = {
            "step": self._step,
            "log10_time": self._clock.log10_time(self._step),
            "step_size": self.step_size,
            "suggested_step": self.suggested_step(),
            "why": "the risk grew without bound",
        }
        chunk = self._chunk(frames, Outcome.DIVERGED)
        time = chunk.log10_time
        return Chunk(chunk.frames, chunk.outcome, self._step, time, ("diverged", payload))

    def _limit(self) -> float:
        """The mean loss measure (core.compiled.descent.slopes) above which a run has diverged."""
        loss, start = self.problem.loss, self.problem.start.origin
        measure = np.maximum(-self.problem.margins(start), 0.0)
        if not loss.lipschitz:
            measure = loss.value(self.problem.scores(start))
        return BLOW_UP * max(1.0, float(measure.mean()))
