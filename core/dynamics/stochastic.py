"""Stochastic gradient descent, momentum and Adam: steps along g, the mean over a batch.

All count time as t = step size * steps. With loss.l2 = lambda > 0 the gradient 2 lambda W is
added to g, with loss.l23 that of lambda sum_j |theta_j|^3. A continued run keeps its order of
examples, and Adam its moments. Full-batch descent comes here for that penalty, and where its
steps become shorter (`core.dynamics.engines`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.dynamics import solver_state
from core.dynamics.batch_engine import make_batch_engine
from core.dynamics.step_size import (
    default_step,
    momentum_step,
    round_down,
    sharpness_aware_step,
    stochastic_step,
)
from core.dynamics.stepper import Stepper
from core.dynamics.stream import FreshStream, ReshuffledStream, Stream
from core.dynamics.update_rule import Rule
from core.errors import InputError
from core.problem.problem import Problem
from core.study_file.descent import Adam, GradientDescent, StochasticGradientDescent
from core.study_file.dynamics_section import DynamicsSection, check_batch
from core.study_file.label_noise import LabelNoise
from core.study_file.momentum import Momentum
from core.study_file.sam import SharpnessAware

FullBatchRule = GradientDescent | Momentum | SharpnessAware
MOST_DOUBLINGS = 2.0**31  # of Adam's moments, whose power of 2 kernels take as an integer


@final
class Stochastic(Stepper):
    """SGD, momentum, SAM, Adam and descent; `batch` = 0 means the training set in every step."""

    def __init__(self, problem: Problem) -> None:
        dynamics = problem.experiment.dynamics
        assert isinstance(dynamics, StochasticGradientDescent | LabelNoise | Adam | FullBatchRule)
        self._dynamics = dynamics
        fresh = isinstance(dynamics, StochasticGradientDescent) and dynamics.fresh
        full = isinstance(dynamics, FullBatchRule)
        size = 0 if isinstance(dynamics, FullBatchRule) else dynamics.batch
        if not fresh:  # files determine the number of examples only now
            try:
                check_batch(size, problem.dataset.n)
            except ValueError as error:
                raise InputError(f"{error}.") from error
        self._safe_step = default_step if full else stochastic_step
        if isinstance(dynamics, Momentum):
            self._safe_step = momentum_step
        elif isinstance(dynamics, SharpnessAware):
            self._safe_step = sharpness_aware_step
        super().__init__(problem, dynamics.step or self._safe_step(problem))
        batch, full = size or problem.dataset.n, size == 0
        rule = Rule(self.step_size, total=self._count_scheduled_steps())
        if isinstance(dynamics, Adam):
            betas, decay = (dynamics.beta1, dynamics.beta2), dynamics.weight_decay
            rule = Rule(
                self.step_size, True, *betas, dynamics.eps, decay, rule.total, dynamics.power
            )
        if isinstance(dynamics, Momentum):
            rule = replace(
                rule,
                beta1=dynamics.beta,
                momentum=True,
                ahead=dynamics.ahead,
                warm_up=dynamics.warm_up,
            )
        if isinstance(dynamics, SharpnessAware):
            rule = replace(rule, rho=dynamics.rho)
        limit = self._limit()
        if isinstance(dynamics, LabelNoise):
            limit *= max(1.0, dynamics.sigma**2)
        self._engine = make_batch_engine(problem, rule, self.dtype, limit, batch, full)
        self.engine = self._engine.name
        self._stream: Stream | None = None
        if not full:
            source: Callable[..., Stream] = FreshStream if fresh else ReshuffledStream
            if isinstance(dynamics, LabelNoise):
                source = partial(ReshuffledStream, sigma=dynamics.sigma)
            self._stream = source(problem, batch, self.dtype)
        # An empty array means the whole training set to kernels; of the type that they are compiled
        # for.
        self._nothing = (np.zeros((0, 1), self.dtype), np.zeros(0, self.dtype))
        self._resume()

    def _count_scheduled_steps(self) -> int:
        """Return the steps from t = 0 to the end if the schedule needs them; else 0."""
        if self._dynamics.schedule == "constant" or not self.schedule.size:
            return 0
        dynamics = self.problem.start.replay_dynamics
        if not isinstance(dynamics, DynamicsSection):
            return int(self.schedule[-1])
        return int(self._clock.schedule(np.array([dynamics.until_log10_time]))[-1])

    def _parts(self) -> solver_state.Parts:
        order = {} if self._stream is None else {"order": self._stream.get_place()}
        return {**super()._parts(), **self._engine.parts(), **order}

    def _resume(self) -> None:
        """Restore order, moments and their scale from the saved state, if any."""
        state = self.problem.start.state
        if state is None:
            return
        # Runs of earlier versions have no power of 2: their moments are not scaled.
        added = {"scale": np.zeros(1)} if "scale" in self._engine.parts() else {}
        solver_state.set_state(self._parts(), {**added, **state})
        for name, part in self._engine.parts().items():
            solver_state.check_finite(name, part)
            if name in ("second", "powers", "scale") and part.min() < 0.0:
                raise solver_state.invalid_state(f"{name} holds a value below 0")
            if name == "powers" and part.max() > 1.0:
                raise solver_state.invalid_state("a power of beta is above 1")
            if name == "scale" and not (part[0].is_integer() and part[0] < MOST_DOUBLINGS):
                raise solver_state.invalid_state("the scale of the moments is no power of 2")
        if self._stream is not None:
            self._stream.set_place(state["order"])

    def _examples_per_step(self, n: int) -> int:
        return getattr(self._dynamics, "batch", 0) or n

    def _first_mark(self) -> float:
        if isinstance(self._dynamics, Adam):  # Adam's time is unrelated to the curvature
            return float(np.log10(self.step_size))
        return super()._first_mark()

    def _flat(self) -> NDArray[np.floating]:
        return self._engine.flat()

    def _advance(self, count: int) -> int:
        if self._stream is None:
            return self._engine.take_steps(*self._nothing, count, self._step)
        n_taken = 0
        while n_taken < count:
            xs, ys, batches = self._stream.next_batches(count - n_taken)
            now = self._engine.take_steps(xs, ys, batches, self._step + n_taken)
            n_taken += now
            if now < batches:
                break
        return n_taken

    def suggested_step(self) -> float:
        """Return a step that should not diverge; for Adam a tenth of the present one."""
        if isinstance(self._dynamics, Adam):
            return round_down(self.step_size / 10.0)
        return round_down(min(self._safe_step(self.problem), self.step_size / 2.0))
