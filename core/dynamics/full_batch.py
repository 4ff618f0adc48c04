"""Base of all engines of full-batch gradient descent: schedule, frames, and ends of runs.

W <- W - eta grad R(W), t = step size * steps, 1/n inside the risk. With loss.l2 = lambda > 0 the
objective is R(W) + lambda |W|^2 (wei19, section 2).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from core.compiled import descent as kernel
from core.compiled.records import record
from core.dynamics import solver_state
from core.dynamics.integrator import Chunk, Outcome, Pace, first_units
from core.dynamics.step_size import default_step, round_down
from core.dynamics.stepper import BLOW_UP, EqualSteps
from core.problem.problem import Problem, State
from core.run_files.frame import Frame
from core.study_file.descent import GradientDescent

# Of frames in a chunk's buffer: at most 64, and fewer for large networks.
BUFFER_BYTES = 8_000_000


class FullBatch(EqualSteps):
    """Constant-step descent; an engine adds `_allocate` and `_take_steps`.

    `_flat` is W in the run's precision, `_progress` the progress of the run.
    """

    def __init__(self, problem: Problem) -> None:
        settings = problem.experiment.dynamics
        assert isinstance(settings, GradientDescent)
        super().__init__(problem, settings.step or default_step(problem))
        self._start()
        self._allocate()

    @abstractmethod
    def _allocate(self) -> None:
        """Set `engine`, and allocate its arrays."""

    @abstractmethod
    def _take_steps(self, budget: int) -> int:
        """Take at most `budget` steps; return a code of core.compiled.descent."""

    def _step_singly(self, budget: int, step: Callable[[], int]) -> int:
        """Take steps one by one; `step` returns GOING, or the code for why it took none."""
        progress = self._progress
        for _ in range(budget):
            if progress.mark == self.schedule.size:
                return kernel.DONE
            if progress.buffered == self._buffer.shape[0]:
                return kernel.BUFFER_FULL
            if (code := step()) != kernel.GOING:
                return code
            progress.step += 1
            if progress.step == self.schedule[progress.mark]:
                self._buffer[progress.buffered] = self._parameters()
                progress.buffered += 1
                progress.mark += 1
        return kernel.DONE if progress.mark == self.schedule.size else kernel.GOING

    def _parameters(self) -> np.ndarray:
        """Return the present parameters, (size,), not a copy."""
        return self._flat

    def _start(self) -> None:
        """Set parameters, buffer, progress and divergence limit from the problem's start."""
        problem = self.problem
        start = problem.physical_start()
        self._flat = start.astype(self.dtype)
        rows = max(1, min(64, self.schedule.size, BUFFER_BYTES // self._flat.nbytes))
        self._buffer = np.zeros((rows, self._flat.size), self.dtype)
        self._progress: kernel.Progress
        self._progress, self._memory = record(kernel.Progress)
        self._progress.step = problem.start.step
        self.pace = Pace(first_units(problem.network.m, *problem.inputs.shape))
        # In the run's own precision, so that float32 kernels do not compute in float64.
        shrink = 1.0 - 2.0 * self.step_size * problem.experiment.loss.l2
        self._shrink: Any = self.dtype.type(shrink)
        scores = problem.scores(problem.start.origin)
        self._initial = float(problem.loss.divergence(scores).sum())
        self._limit = BLOW_UP * problem.dataset.n * max(1.0, self._initial / problem.dataset.n)
        if problem.start.state is not None:
            solver_state.set_state(self._parts(), problem.start.state)

    def _current_step(self) -> int:
        return int(self._progress.step)

    def state(self) -> State:
        """Return the time of step 0, and the largest loss measure so far; frames hold the rest."""
        return solver_state.get_state(self._parts())

    def _parts(self) -> solver_state.Parts:
        return {**super()._parts(), "worst": self._memory[:1]}

    def advance(self) -> Chunk:
        if not self._started:
            self._started = True
            first = self._frame_of(self._flat.copy(), self.problem.start.step)
            is_complete = self.planned == 1
            return self._chunk((first,), Outcome.COMPLETED if is_complete else Outcome.GOING)
        before = int(self._progress.mark)
        code = self._take_steps(self.pace.start())
        # A chunk ended by a full buffer does not measure the speed.
        if code == kernel.GOING:
            self.pace.stop()
        rows = range(int(self._progress.buffered))
        steps = self.schedule[before:]
        frames = tuple(self._frame_of(self._buffer[row].copy(), int(steps[row])) for row in rows)
        self._progress.buffered = 0
        finite = tuple(frame for frame in frames if np.isfinite(frame.parameters).all())
        if code in (kernel.DIVERGED, kernel.DEAD) or len(finite) < len(frames):
            return self._stop_early(finite, dead=code == kernel.DEAD)
        return self._chunk(frames, Outcome.COMPLETED if code == kernel.DONE else Outcome.GOING)

    def _stop_early(self, frames: tuple[Frame, ...], dead: bool) -> Chunk:
        """Return the last chunk of a run without active units, or of a diverged one."""
        threshold = max(self._initial, self.problem.dataset.n) * 1.5
        # The network died by itself, not through a too long step: it never moves again.
        if dead and self._progress.worst <= threshold:
            marks = self.schedule[self._progress.mark :]
            repeats = tuple(self._frame_of(self._flat.copy(), int(step_)) for step_ in marks)
            facts = {"step": self._current_step(), "why": "no unit is active on any example"}
            self._progress.step = self.schedule[-1]
            return self._chunk(frames + repeats, Outcome.COMPLETED, ("stationary", facts))
        if dead:
            return self._diverged_chunk(frames, "every unit was thrown off the data")
        return self._diverged_chunk(frames)

    def suggested_step(self) -> float:
        """Return the smaller of the default step and half the present one, rounded down."""
        return round_down(min(default_step(self.problem), self.step_size / 2.0))
