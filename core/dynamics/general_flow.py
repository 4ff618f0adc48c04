"""Gradient flow in log time for networks without a compiled twin: same steps, from Python.

The homogeneous parameters move as in core.compiled.flow; the others, of which the normalisation of
the abstract head makes f bounded, move kappa = min(e^(L rho), v_speed/max_j |u_j|) times as fast
as at |theta| = 1. Source of the system: homogeneity, section 2 and Theorem 3.6.
"""

from __future__ import annotations

import math
from functools import partial
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.compiled.log_time import blend_states, is_moving, start_step
from core.compiled.log_time_state import State
from core.compiled.phases import Field, advance
from core.dynamics.log_time_flow import LogTimeFlow
from core.problem.problem import Problem

Array = NDArray[np.float64]


@final
class GeneralField:
    """Field of a network through `network.outputs` and `network.gradient`, and its arrays.

    `start` to `gradient` are the functions of a core.compiled.phases.Field; all of them take the
    state `s` of the scheme, used or not.
    """

    def __init__(self, problem: Problem, theta: Array, wave: Array, s: State) -> None:
        self._problem, self._network = problem, problem.network
        self._inputs, self._y = problem.inputs, problem.dataset.y
        # Reading a number from the state takes as long as multiplying a small array.
        self._v_speed = float(s.v_speed)
        self.theta, self.wave = theta, wave
        vectors = (np.zeros(theta.size) for _ in range(6))
        self.older, self.newer, self.previous, self.middle, self.G0, self.G = vectors
        self.p, self.q, self._p0, self._q0 = (np.zeros(wave.size) for _ in range(4))

    def _scores(self, flat: Array) -> Array:
        return np.ascontiguousarray(self._problem.scores(flat).reshape(-1))

    def _speed(self, s: State, flat: Array) -> float:
        """Return kappa, the speed of the parameters in which f is not homogeneous."""
        # One factor for all of V, unlike core.compiled.flow with one per neuron: inner weights of a
        # head belong to no neuron.
        fastest = float(np.exp(self._network.degree * s.rho))
        largest = float(np.abs(self._network.nodes(flat)[0]).max(initial=0.0))
        return fastest if fastest * largest <= self._v_speed else self._v_speed / largest

    def _gradient(self, s: State, flat: Array, weights: Array) -> Array:
        """Return sum_i weights_i grad p_i at `flat`, (size,), times kappa for unscaled parameters.

        These come last in `flat`, from `network.scaled` on: f is not homogeneous in them.
        """
        g = _output_weights(weights, self._y, self._network.k)
        slope = np.array(self._network.gradient(flat, self._inputs, g))
        slope[self._network.scaled :] *= self._speed(s, flat)
        return slope

    def start(self, s: State) -> bool:
        """Set scores, dual weights and G0 at theta; return False where the field is zero."""
        self._p0 = self._scores(self.theta)
        start_step(s, self._p0, self._q0)
        self.G0 = self._gradient(s, self.theta, self._q0)
        return is_moving(s, self.G0)

    def power_iteration(self, s: State) -> float:
        """Take a power step on `wave` in place; return the estimate of K's largest eigenvalue.

        K = sqrt(q) J J' sqrt(q), J the gradients of the scores at theta, those in unscaled
        parameters times kappa.
        """
        root, wave = np.sqrt(self._q0), self.wave
        gradient = self._gradient(s, self.theta, root * wave)
        df = self._network.derivative(self.theta, self._inputs, gradient)
        scores = self._problem.loss.scores(np.asarray(df), self._y)  # linear in the outputs
        image = root * scores.reshape(-1)
        norm = float(np.linalg.norm(image))
        wave[:] = image / norm if norm > 0.0 else wave.size**-0.5
        return norm

    def evaluate(self, s: State, point: Array) -> None:
        """Set p at a point."""
        self.p = self._scores(point)

    def gradient(self, s: State, point: Array) -> None:
        """Set G at a point, from q."""
        self.G = self._gradient(s, point, self.q)

    def normalise(self, s: State, base: Array) -> float:
        """Divide the homogeneous part of `newer` by its norm in place, and return that norm."""
        norm = self._network.norm(self.newer)
        self.newer[: self._network.scaled] /= norm
        return norm

    def measure(self, s: State, norm: float) -> float:
        """Set p at `newer`; return its distance to theta.

        The unscaled parameters contribute their relative change. `norm` is unused.
        """
        self.p = self._scores(self.newer)
        scaled = self._network.scaled
        distance = float(np.linalg.norm(self.newer[:scaled] - self.theta[:scaled]))
        unscaled, before = self.newer[scaled:], self.theta[scaled:]
        length = float(np.linalg.norm(before))
        if length == 0.0:
            return distance
        return math.hypot(distance, np.linalg.norm(unscaled - before) / length)

    def interpolate(self, s: State, w: float, out: Array) -> float:
        """Write the direction of a frame within the last step; return its rho.

        Parameters
        ----------
        s : State
            State of the scheme.
        w : float
            Position within the step, from 0 to 1.
        out : array (size,)
            Written in place.

        Returns
        -------
        float
            rho of the frame.
        """
        return blend_states(s, self._network.scaled, self.previous, self.theta, w, out)


FIELD = Field(
    GeneralField.start,
    GeneralField.power_iteration,
    GeneralField.evaluate,
    GeneralField.normalise,
    GeneralField.measure,
    GeneralField.interpolate,
    GeneralField.gradient,
)


@final
class GeneralFlow(LogTimeFlow):
    """Flow in log time of any homogeneous network, with the scheme's steps taken in Python."""

    def _allocate(self) -> None:
        self.engine = f"{self.problem.network.engine} float64"
        self._advance = partial(advance, FIELD)
        self._work = GeneralField(self.problem, self.direction, self._wave, self.kernel_state)

    def _vectors(self) -> dict[str, Array]:
        return {"theta": self.direction, "previous": self._work.previous}


def _output_weights(weights: Array, y: Array, k: int) -> Array:
    """Return weights (n,) or (n, k) of the outputs: the transpose of LossFunction.scores.

    >>> _output_weights(np.array([1.0, 2.0]), np.array([1.0]), 3).tolist()
    [[-1.0, 3.0, -2.0]]
    """
    if k == 1:
        return np.asarray(weights * y)
    own, n = y.astype(np.int64), y.size
    g = np.zeros((n, k))
    g[np.arange(k)[None, :] != own[:, None]] = -weights
    g[np.arange(n), own] = weights.reshape(n, k - 1).sum(axis=1)
    return g
