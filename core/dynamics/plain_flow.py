"""Gradient flow in plain time on networks with balanced layers (core.compiled.balanced_flow)."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from core.compiled.balanced_flow import FINEST, Balance, balanced_steps
from core.dynamics import solver_state
from core.dynamics.kernel_arrays import make_work_arrays
from core.dynamics.step_size import growth_rate, round_down
from core.dynamics.stepper import Stepper
from core.network.parametrisation import TwoLayer
from core.problem.problem import Problem
from core.problem.schedule import first_log10_time
from core.study_file.dynamics import PlainFlow

TURN = 0.01  # fraction of the time in which a small neuron turns or grows
# Difference of Heun's and Euler's results of one part, relative to a neuron's length.
TOLERANCE = 1e-3


def plain_flow_step(problem: Problem) -> float:
    """Return a hundredth of 1/`growth_rate`, two digits of it; .01 where nothing pulls."""
    rate = growth_rate(problem)
    return round_down(TURN / rate) if np.isfinite(rate) and rate > 0.0 else TURN


@final
class BalancedFlow(Stepper):
    """Flow by Heun's steps in float64, halved as often as they need it."""

    engine = "compiled float64"

    def __init__(self, problem: Problem) -> None:
        dynamics, network = problem.experiment.dynamics, problem.network
        assert isinstance(dynamics, PlainFlow)
        assert isinstance(network, TwoLayer)
        super().__init__(problem, dynamics.step or plain_flow_step(problem))
        n, m = problem.dataset.n, network.m
        self._current = problem.physical_start().astype(np.float64)
        self._work = make_work_arrays(problem, self._current, self._limit() * n, n)
        self._work.columns[:] = problem.inputs.T
        # Copies, since a run file's arrays are read-only: numba would compile for that separate
        # type.
        self._data = (np.array(problem.inputs, order="C"), np.array(problem.dataset.y))
        a, V = self._current[:m], self._current[m:].reshape(m, -1)
        arrays = (np.zeros_like(self._current) for _ in range(3))
        self._balance = Balance(
            a**2 - (V**2).sum(axis=1), np.sign(a), np.array([FINEST], np.int64), *arrays
        )
        self._resume()

    def _first_mark(self) -> float:
        # A small start has small curvature; the speed at which it turns is not small.
        return first_log10_time(growth_rate(self.problem))

    def _parts(self) -> solver_state.Parts:
        balance = self._balance
        # In a frame the difference of a^2 and |v|^2 has lost its digits if both have grown.
        own = {"conserved": balance.conserved, "signs": balance.signs, "part": balance.part}
        return {**super()._parts(), **own}

    def _resume(self) -> None:
        super()._resume()
        part = int(self._balance.part[0])
        if part not in [2**k for k in range(FINEST.bit_length())]:
            raise solver_state.invalid_state("the length of its step is none")

    def _advance(self, count: int) -> int:
        n_steps: int = balanced_steps(
            self._work, self._balance, *self._data, count, self.step_size, TOLERANCE
        )
        return n_steps

    def _flat(self) -> NDArray[np.floating]:
        return self._current.copy()
