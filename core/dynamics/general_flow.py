"""Gradient flow in log time for networks without a compiled twin: the same scheme, from Python.

The homogeneous parameters move as in core.compiled.flow; the others, of which the normalisation of
the abstract head makes f bounded, move kappa = min(e^(L rho), v_speed/max_j |u_j|) times as fast
as at |theta| = 1. Source of the system: homogeneity, section 2 and Theorem 3.6.
"""

from __future__ import annotations

import math
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.compiled import chebyshev
from core.compiled import log_time as scheme
from core.compiled.dual import dual_weights
from core.dynamics.log_time_flow import LogTimeFlow

Array = NDArray[np.float64]


@final
class GeneralFlow(LogTimeFlow):
    """One field evaluation after another, through `network.outputs` and `network.gradient`."""

    def _allocate(self) -> None:
        network = self.problem.network
        self.engine = f"{network.engine} float64"
        size, count = self.direction.size, self._wave.size
        self._older, self._newer, self._previous, self._middle = (np.zeros(size) for _ in range(4))
        self._p, self._q, self._p0, self._q0 = (np.zeros(count) for _ in range(4))
        self._field = np.zeros(size)
        # A number is read out of the state in the time that a small array takes to be multiplied.
        s = self.kernel_state
        self._v_speed, self._others = float(s.v_speed), int(s.others)
        self._inputs, self._y = self.problem.inputs, self.problem.dataset.y

    def _vectors(self) -> dict[str, Array]:
        return {"theta": self.direction, "previous": self._previous}

    # ------------------------------------------------------------------------------- the field

    def _scores(self, flat: Array) -> Array:
        return np.ascontiguousarray(self.problem.scores(flat).reshape(-1))

    def _speed(self, flat: Array) -> float:
        """kappa, the factor of the parameters in which f is not homogeneous."""
        network, rho = self.problem.network, self.kernel_state.rho
        # One factor for all of V, where core.compiled.flow has one a node: what is inside a head
        # belongs to no node.
        fastest = float(np.exp(network.degree * rho))
        largest = float(np.abs(network.nodes(flat)[0]).max(initial=0.0))
        return fastest if fastest * largest <= self._v_speed else self._v_speed / largest

    def _gradient(self, flat: Array, weights: Array) -> Array:
        """sum_i weights_i grad p_i, with kappa."""
        network = self.problem.network
        g = _output_weights(weights, self._y, network.k)
        slope = np.array(network.gradient(flat, self._inputs, g))
        slope[network.scaled :] *= self._speed(flat)
        return slope

    def _dual(self, p: Array) -> Array:
        q = np.zeros(p.size)
        s = self.kernel_state
        dual_weights(s.form, self._others, p, s.temperature, q)
        return q

    def _power_iteration(self) -> float:
        root = np.sqrt(self._q0)
        along = self._gradient(self.direction, root * self._wave)
        df = self.problem.network.derivative(self.direction, self._inputs, along)
        scores = self.problem.loss.scores(np.asarray(df), self._y)  # linear in the outputs
        image = root * scores.reshape(-1)
        norm = float(np.linalg.norm(image))
        count = self._wave.size
        self._wave = image / norm if norm > 0.0 else np.full(count, count**-0.5)
        return norm

    # ------------------------------------------------------------------------------ the phases

    def work_for(self, budget: int) -> int:
        s = self.kernel_state
        for _ in range(budget):
            phase = s.phase
            if phase == scheme.RUN_STAGE:  # most often
                self._next_stage()
                continue
            if phase == scheme.EMIT:
                code = self._emit()
                if code != scheme.GOING:
                    return code
                phase = s.phase
            if phase == scheme.BEGIN:
                if not self._start_of_step():
                    return scheme.STATIONARY
            elif phase == scheme.POWER_ITERATION:
                s.eigenvalue = self._power_iteration()
                s.power -= 1
                s.phase = scheme.PLAN if s.power == 0 else phase
            elif phase == scheme.PLAN:
                chebyshev.plan(s, self.marks)
                if s.h < scheme.SMALLEST_STEP:
                    return scheme.STALLED
                chebyshev.first_stage(s, self.direction, self._older, self._newer, self._field)
            elif phase == scheme.HALVE:
                self._begin_half()
            else:
                self._end_step()
        return scheme.GOING

    def _emit(self) -> int:
        s, frames = self.kernel_state, self._frames_due()
        scheme.emit(s, self.problem.network.scaled, self.direction, self._previous, frames)
        code: int = scheme.after_frames(s, frames)
        return code

    def _start_of_step(self) -> bool:
        """Evaluate the field at theta; False where it is zero."""
        s = self.kernel_state
        self._p0 = self._scores(self.direction)
        scheme.begin(s, self._p0, self._q0)
        self._field = self._gradient(self.direction, self._q0)
        if not scheme.moves(s, self._field):
            return False
        s.phase = scheme.POWER_ITERATION if s.power > 0 else scheme.PLAN
        return True

    def _base(self) -> Array:
        """Where the step begins whose stages are made."""
        return (self.direction, self._previous, self._middle)[self.kernel_state.half]

    def _next_stage(self) -> None:
        s = self.kernel_state
        slope = self._gradient(self._newer, self._dual(self._scores(self._newer)))
        chebyshev.stage(self.kernel_state, self._base(), self._older, self._newer, slope)
        s.stage += 1
        if s.stage == s.stages:
            s.phase = scheme.FINISH

    def _normalise(self) -> float:
        """|W_h| of the last stage, which is divided by it."""
        network, newer = self.problem.network, self._newer
        norm = network.norm(newer)
        newer[: network.scaled] /= norm
        return norm

    def _distance(self) -> float:
        """How far the last stage is from theta; the other parameters by their relative change."""
        scaled = self.problem.network.scaled
        distance = float(np.linalg.norm(self._newer[:scaled] - self.direction[:scaled]))
        rest, before = self._newer[scaled:], self.direction[scaled:]
        length = float(np.linalg.norm(before))
        if length == 0.0:
            return distance
        return math.hypot(distance, np.linalg.norm(rest - before) / length)

    def _finish(self) -> bool:
        """Normalise the last stage, test it, and take it or refuse it; True when taken."""
        s = self.kernel_state
        norm = self._normalise()
        p = self._scores(self._newer)
        if not scheme.fit(s, p, norm):
            return False
        distance = self._distance()
        s.most_stages = max(s.most_stages, s.stages)
        self._previous[:], self.direction[:] = self.direction, self._newer
        scheme.accept(s, p, norm, distance)
        return True

    def _end_step(self) -> None:
        """The end of a step, or of half of one that is checked."""
        s = self.kernel_state
        if s.half > 0:
            self._finish_half()
        elif self._finish():
            chebyshev.after_step(s, self.marks)
        else:
            s.phase = scheme.PLAN

    def _begin_half(self) -> None:
        """The first stage of half the last step."""
        s, base = self.kernel_state, self._base()
        q = np.zeros(self._wave.size)
        p = self._scores(base)
        scheme.heat(s, p, q)
        chebyshev.plan_half(s)
        slope = self._gradient(base, q)
        chebyshev.first_stage(s, base, self._older, self._newer, slope)

    def _finish_half(self) -> None:
        """The end of a half step: the second begins where the first ended, and is compared."""
        s = self.kernel_state
        norm = self._normalise()
        if s.half == 1:
            self._middle[:] = self._newer
            s.rho += math.log(norm)
            s.half, s.phase = 2, scheme.HALVE
            return
        chebyshev.compared(s, float(self._scores(self._newer).min()), self._distance())


def _output_weights(weights: Array, y: Array, k: int) -> Array:
    """The transpose of LossFunction.scores: weights (n,) or (n, k) of the outputs.

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
