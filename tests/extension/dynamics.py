"""Averaged descent: M <- beta M + (1 - beta) grad R(W), W <- W - eta M."""

from __future__ import annotations

from typing import ClassVar, Literal, final

import numpy as np

from core.dynamics import solver_state
from core.dynamics.registry import Engines, register
from core.dynamics.step_size import default_step
from core.dynamics.stepper import Stepper
from core.problem.problem import Problem
from core.settings import setting
from core.study_file.dynamics_section import UNTIL_MEANING, DynamicsSection


@final
class Averaged(DynamicsSection):
    title: ClassVar[str] = "full-batch descent along the mean gradient; t = step * steps"
    words: ClassVar[str] = "averaged descent"
    source: ClassVar[str] = "docs/extend.md"

    kind: Literal["averaged"] = "averaged"
    step: float | None = setting(None, meaning="step size eta; default 1/lambda_0", gt=0)
    beta: float = setting(0.9, meaning="share of the mean that a step keeps", ge=0, lt=1)
    until_log10_time: float = setting(2.0, meaning=UNTIL_MEANING, unit="log10 t", ge=-8, le=15)


@final
class AveragedDescent(Stepper):
    """Averaged descent by `network.gradient`; continued runs keep the mean M."""

    def __init__(self, problem: Problem) -> None:
        dynamics = problem.experiment.dynamics
        assert isinstance(dynamics, Averaged)
        super().__init__(problem, dynamics.step or default_step(problem))
        self.engine, self._beta = problem.network.engine, dynamics.beta
        self._weights = np.array(problem.physical_start())
        self._mean = np.zeros_like(self._weights)
        self._resume()

    def _parts(self) -> solver_state.Parts:
        return {**super()._parts(), "mean": self._mean}

    def _advance(self, count: int) -> int:
        problem, y = self.problem, self.problem.dataset.y
        for done in range(count):
            with np.errstate(over="ignore", invalid="ignore"):  # what is not finite has diverged
                g = problem.loss.output_gradient(problem.outputs(self._weights), y) / y.size
                slope = problem.network.gradient(self._weights, problem.inputs, g)
                slope = slope + 2.0 * problem.experiment.loss.l2 * self._weights
                self._mean = self._beta * self._mean + (1.0 - self._beta) * slope
            if not np.isfinite(self._mean).all():
                return done
            self._weights = self._weights - self.step_size * self._mean
        return count

    def _flat(self) -> np.ndarray:
        return self._weights.copy()


register(Engines(Averaged, AveragedDescent, default_step=default_step))
