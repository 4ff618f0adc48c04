"""What all engines of full-batch gradient descent share: schedule, frames, and how runs end.

W <- W - eta grad R(W), t = step size * steps, 1/n inside the risk. With loss.l2 = lambda > 0 the
objective is R(W) + lambda |W|^2 (wei19, section 2).
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from core.compiled import descent as kernel
from core.compiled.records import record
from core.dynamics import saved
from core.dynamics.clock import Clock
from core.dynamics.frame_times import first_time, frame_times
from core.dynamics.integrator import Chunk, Integrator, Outcome, Pace, first_units
from core.dynamics.step_size import default_step, rounded_down
from core.problem.frame import Frame
from core.problem.problem import Problem
from core.problem.start import State
from core.study_file.dynamics import GradientDescent

BUFFER_BYTES = 8_000_000
BLOW_UP = 1e6  # a risk this much above its start does not come back


class FullBatch(Integrator):
    """Constant-step descent; an engine adds `_allocate` and `_take_steps`.

    `_flat` is W in the run's precision, `_progress` where the run stands.
    """

    temperature_cap = None

    def __init__(self, problem: Problem) -> None:
        settings = problem.experiment.dynamics
        assert isinstance(settings, GradientDescent)
        self.problem = problem
        self.step_size = default_step(problem) if settings.step is None else settings.step
        self.dtype = np.dtype(problem.experiment.run.precision)
        self.engine = self.engine_name()
        self._clock = Clock(problem, self.step_size)
        self._schedule = self._clock.schedule(frame_times(problem, first_time(problem)))
        self.planned = 1 + self._schedule.size
        self._begin()
        self._allocate()
        self._started = False

    @abstractmethod
    def engine_name(self) -> str:
        """What computes, in words."""

    @abstractmethod
    def _allocate(self) -> None:
        """Make what the engine works with."""

    @abstractmethod
    def _take_steps(self, budget: int) -> int:
        """At most `budget` steps; returns a code of core.compiled.descent."""

    # What a batch of many runs needs of each, which takes the steps of all (core.dynamics.many).

    @property
    def start_parameters(self) -> np.ndarray:
        """W at the start, in the run's precision."""
        return self._flat

    @property
    def last_step(self) -> int:
        """The step of the last frame."""
        return int(self._schedule[-1]) if self._schedule.size else self.problem.start.step

    @property
    def limit(self) -> float:
        """The loss measure above which a run has diverged."""
        return float(self._limit)

    def last_frame(self, parameters: np.ndarray) -> Frame:
        """The frame that ends the schedule."""
        return self._frame(parameters, self.last_step)

    def _begin(self) -> None:
        problem = self.problem
        start = problem.physical_start()
        self._flat = start.astype(self.dtype)
        rows = max(1, min(64, self._schedule.size, BUFFER_BYTES // self._flat.nbytes))
        self._buffer = np.zeros((rows, self._flat.size), self.dtype)
        self._progress: kernel.Progress
        self._progress, self._memory = record(kernel.Progress)
        self._progress.step = problem.start.step
        self.pace = Pace(first_units(problem.network.m, *problem.inputs.shape))
        # In the run's own precision, so that float32 kernels do not compute in float64.
        shrink = 1.0 - 2.0 * self.step_size * problem.experiment.loss.l2
        self._shrink: Any = self.dtype.type(shrink)
        self._initial = self._measure(problem.start.origin)
        self._limit = BLOW_UP * problem.dataset.n * max(1.0, self._initial / problem.dataset.n)
        if problem.start.state is not None:
            saved.put_back(self._parts(), problem.start.state)

    def _measure(self, flat: np.ndarray) -> float:
        """What the kernel watches at flat parameters, see core.compiled.descent.slopes."""
        loss = self.problem.loss
        if loss.lipschitz:
            return float(np.maximum(-self.problem.margins(flat), 0.0).sum())
        return float(loss.value(self.problem.scores(flat)).sum())

    def _frame(self, flat: np.ndarray, step: int) -> Frame:
        parameters = flat.copy()
        dual = None
        if self.dtype == np.float32:
            dual = self.problem.dual(parameters.astype(np.float64))
        return Frame(step, self._clock.log10_time(step), 0.0, parameters, dual)

    def state(self) -> State:
        """The time of step 0, and the largest loss measure so far: the frame says the rest."""
        return saved.taken(self._parts())

    def _parts(self) -> saved.Parts:
        return {"clock": self._clock.numbers(), "worst": self._memory[:1]}

    def _chunk(self, frames: tuple[Frame, ...], outcome: Outcome) -> Chunk:
        step = int(self._progress.step)
        return Chunk(frames, outcome, step, self._clock.log10_time(step))

    def advance(self) -> Chunk:
        if not self._started:
            self._started = True
            first = self._frame(self._flat, self.problem.start.step)
            done = self.planned == 1
            return self._chunk((first,), Outcome.COMPLETED if done else Outcome.GOING)
        before = int(self._progress.mark)
        code = self._take_steps(self.pace.start())
        if code == kernel.GOING:
            self.pace.stop()
        rows = range(int(self._progress.buffered))
        steps = self._schedule[before:]
        frames = tuple(self._frame(self._buffer[row], int(steps[row])) for row in rows)
        self._progress.buffered = 0
        if code in (kernel.DIVERGED, kernel.DEAD) or not self._finite(frames):
            return self._ended_early(frames, dead=code == kernel.DEAD)
        return self._chunk(frames, Outcome.COMPLETED if code == kernel.DONE else Outcome.GOING)

    def take_over(self, other: FullBatch) -> None:
        """Go on from where another engine with the same schedule stands, between two chunks."""
        self._started = True
        self._flat[:], self._memory[:] = other._flat, other._memory

    @staticmethod
    def _finite(frames: tuple[Frame, ...]) -> bool:
        return all(np.isfinite(frame.parameters).all() for frame in frames)

    def _ended_early(self, frames: tuple[Frame, ...], dead: bool) -> Chunk:
        kept = tuple(frame for frame in frames if np.isfinite(frame.parameters).all())
        step = int(self._progress.step)
        worst = float(self._progress.worst)
        threshold = max(self._initial, self.problem.dataset.n) * 1.5
        if dead and worst <= threshold:  # died of its own accord: nothing moves any more, for ever
            rest = self._schedule[self._progress.mark :]
            still = tuple(self._frame(self._flat, int(step_)) for step_ in rest)
            event = ("stationary", {"step": step, "why": "no unit is active on any example"})
            self._progress.step = self._schedule[-1]
            last = self._chunk(kept + still, Outcome.COMPLETED)
            return Chunk(last.frames, last.outcome, last.step, last.log10_time, event)
        suggested = self.suggested_step()
        payload = {
            "step": step,
            "log10_time": self._clock.log10_time(step),
            "step_size": self.step_size,
            "suggested_step": suggested,
            "why": "every unit was thrown off the data" if dead else "the risk grew without bound",
        }
        chunk = self._chunk(kept, Outcome.DIVERGED)
        return Chunk(chunk.frames, chunk.outcome, step, chunk.log10_time, ("diverged", payload))

    def suggested_step(self) -> float:
        """A step that should not diverge: the smaller of 1/lambda_0 and half the present one."""
        return rounded_down(min(default_step(self.problem), self.step_size / 2.0))
