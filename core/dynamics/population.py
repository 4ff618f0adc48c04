"""Gradient flow of the exact risk on Gaussian inputs with a teacher."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from core.dynamics.plain_flow import plain_flow_step
from core.dynamics.runge_kutta import RungeKutta
from core.dynamics.step_size import growth_rate
from core.network.parametrisation import Array, join_flat
from core.problem.problem import Problem
from core.problem.schedule import first_log10_time
from core.problem.teacher import student_weights, teacher_of
from core.study_file.population import PopulationFlow


@final
class ExactRiskFlow(RungeKutta):
    """Flow by Runge-Kutta steps in float64; the data only set the default step."""

    engine = "NumPy float64"

    def __init__(self, problem: Problem) -> None:
        dynamics = problem.experiment.dynamics
        assert isinstance(dynamics, PopulationFlow)
        self._teacher = teacher_of(problem)
        super().__init__(problem, dynamics.step or plain_flow_step(problem))

    def _slope(self, flat: NDArray[np.float64]) -> Array:
        a, V = student_weights(self.problem.network, flat)
        slopes = dict(zip("aV", self._teacher.gradient(a, V), strict=True))
        return np.asarray(join_flat([slopes[block.name] for block in self.problem.network.layout]))

    def _first_mark(self) -> float:
        return first_log10_time(growth_rate(self.problem))
