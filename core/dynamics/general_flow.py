"""Gradient flow in log time for networks without a compiled twin: the same scheme, from Python.

The homogeneous parameters move as in core.compiled.flow; the others, of which the normalisation of
the abstract head makes f bounded, move kappa = min(e^(L rho), V_SPEED/max_j |u_j|) times as fast
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

    engine = "general float64"

    def _allocate(self) -> None:
        network = self.problem.network
        self.engine = f"{network.engine} float64"
        size, count = self._theta.size, self._wave.size
        self._older, self._newer, self._previous, self._middle = (np.zeros(size) for _ in range(4))
        self._p, self._q, self._p0, self._q0 = (np.zeros(count) for _ in range(4))
        self._field = np.zeros(size)
        self._others = max(network.k - 1, 1)
        self._inputs, self._y = self.problem.inputs, self.problem.dataset.y

    def _vectors(self) -> dict[str, Array]:
        return {"theta": self._theta, "previous": self._previous}

    # ------------------------------------------------------------------------------- the field

    def _scores(self, flat: Array) -> Array:
        f = np.asarray(self.problem.network.outputs(flat, self._inputs))
        return np.ascontiguousarray(self.problem.loss.scores(f, self._y).reshape(-1))

    def _speed(self, flat: Array) -> float:
        """kappa, the factor of the parameters in which f is not homogeneous."""
        network, rho = self.problem.network, self._floats[scheme.RHO]
        fastest = float(np.exp(network.degree * rho))
        largest = float(np.abs(network.nodes(flat)[0]).max(initial=0.0))
        limit = float(self._settings[scheme.V_SPEED])
        return fastest if fastest * largest <= limit else limit / largest

    def _gradient(self, flat: Array, weights: Array) -> Array:
        """sum_i weights_i grad p_i, with kappa."""
        network = self.problem.network
        g = _output_weights(weights, self._y, network.k)
        slope = np.array(network.gradient(flat, self._inputs, g))
        slope[network.scaled :] *= self._speed(flat)
        return slope

    def _dual(self, p: Array) -> Array:
        q = np.zeros(p.size)
        startup = self._counts[scheme.STARTUP]
        dual_weights(startup, self._others, p, self._floats[scheme.TEMPERATURE], q)
        return q

    def _power_iteration(self) -> float:
        root = np.sqrt(self._q0)
        along = self._gradient(self._theta, root * self._wave)
        df = self.problem.network.derivative(self._theta, self._inputs, along)
        scores = _linear_scores(np.asarray(df), self._y)
        image = root * scores
        norm = float(np.linalg.norm(image))
        count = self._wave.size
        self._wave = image / norm if norm > 0.0 else np.full(count, count**-0.5)
        return norm

    # ------------------------------------------------------------------------------ the phases

    def _work_for(self, budget: int) -> int:
        s, c = self._floats, self._counts
        for _ in range(budget):
            if c[scheme.PHASE] == scheme.EMIT:
                code = self._emit()
                if code != scheme.GOING:
                    return code
            if c[scheme.PHASE] == scheme.BEGIN:
                if not self._start_of_step():
                    return scheme.STATIONARY
            elif c[scheme.PHASE] == scheme.POWER_ITERATION:
                s[scheme.LAMBDA] = self._power_iteration()
                c[scheme.POWER] -= 1
                c[scheme.PHASE] = scheme.PLAN if c[scheme.POWER] == 0 else c[scheme.PHASE]
            elif c[scheme.PHASE] == scheme.PLAN:
                chebyshev.plan(s, c, self._settings, self._marks)
                if s[scheme.H] < scheme.SMALLEST_STEP:
                    return scheme.STALLED
                chebyshev.first_stage(s, c, self._theta, self._older, self._newer, self._field)
            elif c[scheme.PHASE] == scheme.RUN_STAGE:
                self._next_stage()
            elif c[scheme.PHASE] == scheme.HALVE:
                self._begin_half()
            else:
                self._end_step()
        return scheme.GOING

    def _emit(self) -> int:
        c, scaled = self._counts, self.problem.network.scaled
        scheme.emit(
            scaled,
            self._floats,
            c,
            self._theta,
            self._previous,
            self._marks,
            self._buffer,
            self._rows,
        )
        code: int = scheme.after_frames(c, self._marks, self._buffer)
        return code

    def _start_of_step(self) -> bool:
        """Evaluate the field at theta; False where it is zero."""
        problem, s, c = self.problem, self._floats, self._counts
        self._p0 = self._scores(self._theta)
        degree = problem.network.degree
        scheme.begin(
            problem.loss.code, degree, self._others, s, c, self._settings, self._p0, self._q0
        )
        self._field = self._gradient(self._theta, self._q0)
        if not scheme.moves(s, self._field):
            return False
        c[scheme.PHASE] = scheme.POWER_ITERATION if c[scheme.POWER] > 0 else scheme.PLAN
        return True

    def _base(self) -> Array:
        """Where the step begins whose stages are made."""
        return (self._theta, self._previous, self._middle)[self._counts[scheme.HALF]]

    def _next_stage(self) -> None:
        c = self._counts
        slope = self._gradient(self._newer, self._dual(self._scores(self._newer)))
        chebyshev.stage(self._floats, self._base(), self._older, self._newer, slope)
        c[scheme.STAGE] += 1
        if c[scheme.STAGE] == c[scheme.STAGES]:
            c[scheme.PHASE] = scheme.FINISH

    def _normalise(self) -> float:
        """|W_h| of the last stage, which is divided by it."""
        network, newer = self.problem.network, self._newer
        norm = network.norm(newer)
        newer[: network.scaled] /= norm
        return norm

    def _moved(self) -> float:
        """How far the last stage is from theta; the other parameters by their relative change."""
        scaled = self.problem.network.scaled
        moved = float(np.linalg.norm(self._newer[:scaled] - self._theta[:scaled]))
        rest, before = self._newer[scaled:], self._theta[scaled:]
        length = float(np.linalg.norm(before))
        return moved if length == 0.0 else math.hypot(moved, np.linalg.norm(rest - before) / length)

    def _finish(self) -> bool:
        """Normalise the last stage, test it, and take it or refuse it; True when taken."""
        s, c = self._floats, self._counts
        norm = self._normalise()
        p = self._scores(self._newer)
        if not scheme.fit(s, c, self._settings, p, norm):
            return False
        moved = self._moved()
        c[scheme.MOST_STAGES] = max(c[scheme.MOST_STAGES], c[scheme.STAGES])
        self._previous[:], self._theta[:] = self._theta, self._newer
        scheme.accept(self.problem.network.degree, s, c, self._settings, p, norm, moved)
        return True

    def _end_step(self) -> None:
        """The end of a step, or of half of one that is checked."""
        s, c = self._floats, self._counts
        if c[scheme.HALF] > 0:
            self._finish_half()
        elif self._finish():
            chebyshev.after_step(s, c, self._marks)
        else:
            c[scheme.PHASE] = scheme.PLAN

    def _begin_half(self) -> None:
        """The first stage of half the last step."""
        problem, s, c, base = self.problem, self._floats, self._counts, self._base()
        degree, q = problem.network.degree, np.zeros(self._wave.size)
        p = self._scores(base)
        scheme.heat(problem.loss.code, degree, self._others, s, c, self._settings, p, q)
        chebyshev.plan_half(s, c, self._settings)
        slope = self._gradient(base, q)
        chebyshev.first_stage(s, c, base, self._older, self._newer, slope)

    def _finish_half(self) -> None:
        """The end of a half step: the second begins where the first ended, and is compared."""
        s, c = self._floats, self._counts
        norm = self._normalise()
        if c[scheme.HALF] == 1:
            self._middle[:] = self._newer
            s[scheme.RHO] += math.log(norm)
            c[scheme.HALF], c[scheme.PHASE] = 2, scheme.HALVE
            return
        chebyshev.compared(s, c, float(self._scores(self._newer).min()), self._moved())


def _linear_scores(f: Array, y: Array) -> Array:
    """The scores of outputs, which are linear in them, one example after another."""
    if f.ndim == 1:
        return np.asarray(y * f)
    own = y.astype(np.int64)
    others = np.arange(f.shape[1])[None, :] != own[:, None]
    return np.asarray((f[np.arange(f.shape[0]), own][:, None] - f)[others])


def _output_weights(weights: Array, y: Array, k: int) -> Array:
    """The transpose of `_linear_scores`: weights (n,) or (n, k) of the outputs.

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
