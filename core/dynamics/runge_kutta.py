"""Flows in plain time by the classical method of Runge and Kutta, for networks of few parameters.

A step of length h is cut into equal parts, and these in two, as long as a part of fourth order and
the midpoint rule's of second order differ by more than `TOLERANCE` of |W|. The error of a part is
far below that difference. Parts of h/FINEST are accepted whatever their error is.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.dynamics import solver_state
from core.dynamics.plain_flow import plain_flow_step
from core.dynamics.step_size import growth_rate, objective_gradient
from core.dynamics.stepper import Stepper
from core.problem.problem import Problem
from core.problem.schedule import first_log10_time
from core.study_file.dynamics import PlainFlow

Array = NDArray[np.float64]
FINEST = 1024  # maximal number of parts of a step
TOLERANCE = 1e-6


class RungeKutta(Stepper):
    """Flow dW/dt = -`_slope`(W) of a subclass; the state is the number of parts of a step."""

    def __init__(self, problem: Problem, step_size: float) -> None:
        super().__init__(problem, step_size)
        self._current = problem.physical_start().astype(np.float64)
        self._part = np.array([1], np.int64)
        self._resume()

    @abstractmethod
    def _slope(self, flat: Array) -> Array:
        """Return the gradient at flat parameters, (size,)."""

    def _parts(self) -> solver_state.Parts:
        return {**super()._parts(), "part": self._part}

    def _resume(self) -> None:
        super()._resume()
        if int(self._part[0]) not in [2**k for k in range(FINEST.bit_length())]:
            raise solver_state.invalid_state("the length of its step is none")

    def _advance(self, count: int) -> int:
        for n_taken in range(count):
            with np.errstate(over="ignore", invalid="ignore"):  # infinities mean divergence
                self._take_step()
            if not np.isfinite(self._current).all():
                return n_taken
        return count

    def _take_step(self) -> None:
        """Take one step in as many parts as it needs, at first half as many as the last one."""
        parts = max(1, int(self._part[0]) // 2)
        n_left = parts
        while n_left > 0:
            h = self.step_size / parts
            following, difference = self._try_part(h)
            rough = not difference <= TOLERANCE * float(np.linalg.norm(self._current))
            if rough and parts < FINEST:
                parts, n_left = 2 * parts, 2 * n_left
                continue
            self._current, n_left = following, n_left - 1
        self._part[0] = parts

    def _try_part(self, h: float) -> tuple[Array, float]:
        """Return the parameters after a time h, and their distance to the midpoint rule's."""
        W = self._current
        k1 = -self._slope(W)
        k2 = -self._slope(W + 0.5 * h * k1)
        k3 = -self._slope(W + 0.5 * h * k2)
        k4 = -self._slope(W + h * k3)
        step = h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4)
        return W + step, float(np.linalg.norm(step - h * k2))

    def _flat(self) -> Array:
        return self._current.copy()


@final
class GeneralPlainFlow(RungeKutta):
    """Gradient flow of the risk on networks without compiled kernels."""

    def __init__(self, problem: Problem) -> None:
        dynamics = problem.experiment.dynamics
        assert isinstance(dynamics, PlainFlow)
        super().__init__(problem, dynamics.step or plain_flow_step(problem))
        self.engine = f"{problem.network.engine} float64"

    def _slope(self, flat: Array) -> Array:
        return objective_gradient(self.problem, flat)

    def _first_mark(self) -> float:
        return first_log10_time(growth_rate(self.problem))
