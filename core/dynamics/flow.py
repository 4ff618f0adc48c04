"""Gradient flow in log time by the compiled kernel, for every homogeneous two-layer network."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from core.compiled import flow as kernel
from core.compiled import log_time as state
from core.dynamics.log_time_flow import LogTimeFlow, apart
from core.dynamics.sliding import Sliding
from core.dynamics.twin import twin
from core.network.parametrisation import TwoLayer

PREVIOUS = 4  # which of the kernel's vectors is theta before the last step


@final
class Flow(LogTimeFlow):
    """Many steps a call, without the GIL."""

    engine = "compiled float64"

    def _allocate(self) -> None:
        problem, network = self.problem, self.problem.network
        assert isinstance(network, TwoLayer)
        n, D = problem.inputs.shape
        self._net = twin(network, n, D)
        # Copies, since a run file's arrays are read-only: another type to numba, compiled anew.
        inputs, y = problem.inputs, np.array(problem.dataset.y)
        rows, columns = np.array(inputs, order="C"), np.array(inputs.T, order="C")
        self._data = (columns, rows, y, np.zeros((network.k, n)))
        self._work = tuple(apart(self._theta.size) for _ in range(6))
        self._matrices = tuple(np.zeros((network.m, n)) for _ in range(3))
        self._points = (*(apart(self._wave.size) for _ in range(4)), self._wave)
        euler = self._settings[state.EULER] == 1.0
        self.slides = not euler and Sliding.follows(problem)
        self._sliding: Sliding | None = None

    def _vectors(self) -> dict[str, NDArray[np.float64]]:
        return {"theta": self._theta, "previous": self._work[PREVIOUS]}

    def _work_for(self, budget: int) -> int:
        code: int = kernel.advance(
            self._net,
            self.problem.loss.code,
            self._theta,
            self._data,
            self._settings,
            self._floats,
            self._counts,
            self._marks,
            self._buffer,
            self._rows,
            budget,
            self._work,
            self._matrices,
            self._points,
        )
        return self._slide() if code == state.STICKS else code

    def _slide(self) -> int:
        """One implicit step; what it takes is made when it is needed first."""
        if self._sliding is None:
            self._sliding = Sliding(self.problem)
        longest = float(self._settings[state.H_EARLY])
        return self._sliding.advance(
            self._theta, self._work[PREVIOUS], self._floats, self._counts, self._marks, longest
        )
