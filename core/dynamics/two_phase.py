"""Two-phase training of the standard network (telgarsky22, Table 1, the row 2-phase SGD).

Phase one is the first step: one gradient of a large batch in V, computed where the outputs are zero
(as from a symmetric start, so that only correlations count), of which only the directions are kept:

    v_j <- g_j/|g_j|,    g_j = sgn(a_j) sum_i y_i 1[<v_j(0), x_i> > 0] x_i,

without the initial weights; a neuron whose g_j is zero keeps its direction, or stays 0. Phase
two starts from a = 0 and is gradient descent on a, a convex problem, over the training examples.
t = step * steps counts both. Fresh examples of phase one come from `default_rng([run.seed, 2])`. A
run that continues another dynamics starts with phase one too, at the V that it finds.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.compiled import outer as kernel
from core.dynamics import solver_state
from core.dynamics.integrator import Pace, first_units
from core.dynamics.step_size import round_down
from core.dynamics.stepper import Stepper
from core.dynamics.stream import FreshSource, make_generator
from core.problem.problem import Problem
from core.problem.schedule import first_log10_time
from core.study_file.dynamics import TwoPhase

Array = NDArray[np.float64]
BLOCK = 4096  # examples of the large batch per block


def first_phase(problem: Problem) -> Array:
    """Compute and return the inner weights after the large-batch step.

    Parameters
    ----------
    problem : Problem
        Problem with the standard network.

    Returns
    -------
    array (m, d)
        Unit directions v_j; 0 where v_j(0) and g_j are 0.
    """
    dynamics = problem.experiment.dynamics
    assert isinstance(dynamics, TwoPhase)
    start = problem.network.unpack(problem.physical_start())
    a, V = start["a"], start["V"]
    total = np.zeros_like(V)
    if dynamics.first_batch == 0:
        total = _correlations(V, problem.dataset.x, problem.dataset.y)
    else:
        source = FreshSource(problem)
        generator = make_generator(problem, 2)
        for first in range(0, dynamics.first_batch, BLOCK):
            count = min(BLOCK, dynamics.first_batch - first)
            total += _correlations(V, *source.draw(generator, count))
    total *= np.sign(a)[:, None]
    # A neuron that is active on no example has gradient 0, and keeps its direction.
    total = np.where(total.any(axis=1)[:, None], total, V)
    largest = np.abs(total).max(axis=1, keepdims=True)  # its square may underflow or overflow
    total = total / np.where(largest > 0.0, largest, 1.0)
    return np.asarray(total / np.where(largest > 0.0, np.linalg.norm(total, axis=1)[:, None], 1.0))


def _correlations(V: Array, x: Array, y: Array) -> Array:
    """Return sum_i y_i 1[<v_j, x_i> > 0] x_i, (m, d)."""
    return np.asarray(((V @ x.T) > 0.0) @ (y[:, None] * x))


def hidden_features(V: Array, x: Array) -> Array:
    """Return the hidden features.

    Parameters
    ----------
    V : array (m, d)
        Inner weights.
    x : array (n, d)
        Inputs.

    Returns
    -------
    array (n, m)
        relu(<v_j, x_i>).
    """
    return np.ascontiguousarray(np.maximum(x @ V.T, 0.0))


def outer_curvature(problem: Problem, H: Array) -> float:
    """Return lambda_max(H' diag(l''(0)) H)/n + 2 lambda, the largest curvature in a, at a = 0.

    H (n, m) contains the hidden features of the training examples.
    """
    n, zero = H.shape[0], np.zeros(H.shape[0])
    curvature = problem.loss.output_curvature(zero, problem.dataset.y, np.ones(n))
    weighted = np.sqrt(curvature)[:, None] * H
    small = weighted @ weighted.T if n <= H.shape[1] else weighted.T @ weighted
    return float(np.linalg.eigvalsh(small)[-1] / n + 2.0 * problem.experiment.loss.l2)


def in_second_phase(problem: Problem) -> bool:
    """Return True if the first step was taken before the start."""
    start = problem.start
    if start.state is None or "phase" not in start.state:
        return start.same_dynamics and start.step > 0
    return bool(start.state["phase"].any())


def two_phase_step(problem: Problem) -> float:
    """Return the default step of the second phase: 1/`outer_curvature`, or 1 where that is 0.

    Takes the first phase (without changing the problem) unless the start is past it.
    """
    V = problem.network.unpack(problem.physical_start())["V"]
    V = V if in_second_phase(problem) else first_phase(problem)
    value = outer_curvature(problem, hidden_features(V, problem.dataset.x))
    return 1.0 / value if value > 0.0 else 1.0


@final
class TwoPhases(Stepper):
    """Large-batch step, then compiled descent on a."""

    engine = "compiled float64, outer layer"

    def __init__(self, problem: Problem) -> None:
        dynamics = problem.experiment.dynamics
        assert isinstance(dynamics, TwoPhase)
        has_started = in_second_phase(problem)
        V = problem.network.unpack(problem.physical_start())["V"]
        self._V = np.array(V) if has_started else first_phase(problem)
        self._H = hidden_features(self._V, problem.dataset.x)
        self._curvature = outer_curvature(problem, self._H)
        step = 1.0 / self._curvature if self._curvature > 0.0 else 1.0
        super().__init__(problem, dynamics.step or step)
        n, m = self._H.shape
        self._current = problem.physical_start().copy()
        self._a = np.array(self._current[:m]) if has_started else np.zeros(m)
        self._y, self._most = np.array(problem.dataset.y), self._limit() * n
        self._shrink = 1.0 - 2.0 * self.step_size * problem.experiment.loss.l2
        self._work = (np.zeros((1, n)), np.zeros((1, n)))
        self.pace = Pace(first_units(m, n, 1))
        self._has_started = has_started
        self._resume()

    def _parts(self) -> solver_state.Parts:
        return {**super()._parts(), "phase": np.array([float(self._has_started)])}

    def _first_mark(self) -> float:
        """Return log10 t of the first frame after t = 0, by the outer layer's curvature."""
        return first_log10_time(self._curvature)

    def _advance(self, count: int) -> int:
        budget = count
        if not self._has_started:
            self._has_started, budget = True, count - 1
        n_steps: int = kernel.outer_steps(
            self._a,
            self._H,
            self._y,
            budget,
            self.problem.loss.code,
            self.step_size,
            self._shrink,
            self._most,
            *self._work,
        )
        return count - budget + n_steps

    def _flat(self) -> NDArray[Any]:
        if not self._has_started:
            return self._current
        return np.concatenate([self._a, self._V.reshape(-1)])

    def suggested_step(self) -> float:
        return round_down(min(1.0 / self._curvature, self.step_size / 2.0))
