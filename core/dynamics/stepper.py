"""Base of all dynamics of equal steps, t = step size * steps: frames, and ends of runs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.dynamics import solver_state
from core.dynamics.clock import Clock, first_time, frame_times
from core.dynamics.integrator import Chunk, Event, Integrator, Outcome, Pace, first_units
from core.dynamics.step_size import round_down
from core.problem.problem import Problem, State
from core.run_files.frame import Frame

FRAME_BYTES = 8_000_000  # approximate limit of the frames in a chunk
BLOW_UP = 1e6  # a loss this far above its start does not recover
SOME = 8  # number of longest inputs at which a frame is checked


class EqualSteps(Integrator):
    """Steps numbered from t = 0; the frame of a mark is the first step with t >= 10^mark."""

    temperature_cap = None

    def __init__(self, problem: Problem, step_size: float) -> None:
        self.problem = problem
        self.step_size = step_size
        self.dtype = np.dtype(problem.experiment.run.precision)
        self._clock = Clock(problem, step_size)
        # Steps of the frames after the first.
        self.schedule = self._clock.schedule(frame_times(problem, self._first_mark(), step_size))
        self.planned = 1 + self.schedule.size
        self._started = False

    @abstractmethod
    def _current_step(self) -> int:
        """Return the present step."""

    def _first_mark(self) -> float:
        """Return log10 t of the first frame after t = 0."""
        return first_time(self.problem)

    def suggested_step(self) -> float:
        """Return a step that should not diverge."""
        return round_down(self.step_size / 2.0)

    def _parts(self) -> solver_state.Parts:
        """Return the arrays of the state, besides the parameters of a frame."""
        return {"clock": self._clock.numbers()}

    def _frame_of(self, parameters: NDArray[np.floating], step: int) -> Frame:
        """Return the frame of parameters at a step; in float32 with their dual weights.

        The frame refers to `parameters`, which must not be modified later.
        """
        dual = None
        if self.dtype == np.float32:
            # Products of a diverging run's parameters exceed float64.
            with np.errstate(over="ignore", invalid="ignore"):
                dual = self.problem.dual(parameters.astype(np.float64))
        return Frame(step, self._clock.log10_time(step), 0.0, parameters, dual)

    def _chunk(
        self, frames: Sequence[Frame], outcome: Outcome, event: Event | None = None
    ) -> Chunk:
        step = self._current_step()
        return Chunk(tuple(frames), outcome, step, self._clock.log10_time(step), event)

    def _diverged_chunk(
        self, frames: Sequence[Frame], reason: str = "the risk grew without bound"
    ) -> Chunk:
        """Return the last chunk of a diverged run, with its reason."""
        payload = {
            "step": self._current_step(),
            "log10_time": self._clock.log10_time(self._current_step()),
            "step_size": self.step_size,
            "suggested_step": self.suggested_step(),
            "why": reason,
        }
        return self._chunk(frames, Outcome.DIVERGED, ("diverged", payload))


class Stepper(EqualSteps):
    """Dynamics of single steps; a subclass adds `_advance` and `_flat`."""

    def __init__(self, problem: Problem, step_size: float) -> None:
        super().__init__(problem, step_size)
        self._step, self._mark = problem.start.step, 0
        n, D = problem.inputs.shape
        lengths = np.linalg.norm(problem.inputs, axis=1)
        # Outputs overflow at the longest inputs first; checking all examples would cost as much as
        # a step.
        self._longest_inputs = problem.inputs[np.argsort(lengths)[-SOME:]]
        self.pace = Pace(first_units(problem.network.m, max(1, self._examples_per_step(n)), D))
        self._frame_state = problem.start.state

    def _current_step(self) -> int:
        return self._step

    def _examples_per_step(self, n: int) -> int:
        return n

    @abstractmethod
    def _advance(self, count: int) -> int:
        """Take `count` steps, or as many as stay finite; return their number."""

    @abstractmethod
    def _flat(self) -> NDArray[np.floating]:
        """Return the present parameters as a separate array."""

    def state(self) -> State | None:
        return self._frame_state

    def _resume(self) -> None:
        """Continue from the start's state, if it has one; called once all parts exist."""
        if self.problem.start.state is not None:
            solver_state.set_state(self._parts(), self.problem.start.state)

    def advance(self) -> Chunk:
        if not self._started:
            self._started = True
            first = self._frame_of(self._flat(), self._step)
            return self._chunk([first], Outcome.COMPLETED if self.planned == 1 else Outcome.GOING)
        budget, frames = self.pace.start(), list[Frame]()
        room = max(1, FRAME_BYTES // (self.problem.network.size * self.dtype.itemsize))
        while budget > 0 and self._mark < self.schedule.size and len(frames) < room:
            count = min(budget, int(self.schedule[self._mark]) - self._step)
            n_taken = self._advance(count)
            self._step += n_taken
            budget -= n_taken
            if n_taken < count:
                return self._diverged_chunk(frames)
            if self._step == self.schedule[self._mark]:
                frame = self._frame_of(self._flat(), self._step)
                if not self._is_finite(frame.parameters):
                    return self._diverged_chunk(frames)
                frames.append(frame)
                self._frame_state = solver_state.get_state(self._parts())
                self._mark += 1
        if budget == 0:
            self.pace.stop()
        done_all = self._mark == self.schedule.size
        return self._chunk(frames, Outcome.COMPLETED if done_all else Outcome.GOING)

    def _is_finite(self, parameters: NDArray[np.floating]) -> bool:
        """Return True if parameters, and outputs at the longest inputs, are finite."""
        if not np.isfinite(parameters).all():
            return False
        with np.errstate(over="ignore", invalid="ignore"):
            f = self.problem.network.outputs(parameters.astype(np.float64), self._longest_inputs)
        return bool(np.isfinite(np.asarray(f)).all())

    def _limit(self) -> float:
        """Return the mean of LossFunction.divergence above which a run has diverged."""
        measure = self.problem.loss.divergence(self.problem.scores(self.problem.start.origin))
        return BLOW_UP * max(1.0, float(measure.mean()))
