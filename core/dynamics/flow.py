"""Gradient flow in log time by the compiled kernel, for homogeneous two-layer networks."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from core.compiled import flow as kernel
from core.compiled import log_time as state
from core.dynamics.kernel_arrays import compiled_network, padded_zeros
from core.dynamics.log_time_flow import LogTimeFlow
from core.dynamics.sliding import Sliding
from core.network.activation import PLAIN, SCALAR, WITH_BIAS
from core.network.parametrisation import TwoLayer
from core.problem.problem import State

CONSERVED = (SCALAR, PLAIN, WITH_BIAS)  # networks whose neurons conserve signs
ROUNDING = 1e-13  # balances below this fraction of a_j^2 count as 0


@final
class Flow(LogTimeFlow):
    """Compiled flow, many steps a call, without the GIL."""

    engine = "compiled float64"

    def _allocate(self) -> None:
        problem, network = self.problem, self.problem.network
        assert isinstance(network, TwoLayer)
        n, D = problem.inputs.shape
        size, scores = self.direction.size, self._wave.size
        # Copies, since a run file's arrays are read-only: numba would compile for that separate
        # type.
        rows, y = np.array(problem.inputs, order="C"), np.array(problem.dataset.y)
        arrays = [np.array(rows.T, order="C"), rows, y, np.zeros((network.k, n)), self.direction]
        arrays += [padded_zeros(size) for _ in range(6)]
        arrays += [np.zeros((network.m, n)) for _ in range(3)]
        arrays += [*(padded_zeros(scores) for _ in range(4)), self._wave, self._balance()]
        self._advance = kernel.advance
        self._work = kernel.Work(compiled_network(network, n, D), *arrays)
        self.slides = self.kernel_state.euler == 0 and Sliding.can_integrate(problem)
        self._sliding: Sliding | None = None

    def _balance(self) -> NDArray[np.float64]:
        """Return what the flow conserves in each neuron (m,), or (0,) where it fixes no sign.

        See `core.compiled.conservation.rebalance`.
        """
        network, start = self.problem.network, self.problem.start
        assert isinstance(network, TwoLayer)
        if network.code not in CONSERVED or network.k > 1:
            return np.zeros(0)
        balance = np.array(network.imbalance(start.parameters), dtype=np.float64)
        outer = network.unpack(start.parameters)["a"]
        balance[np.abs(balance) <= ROUNDING * outer**2] = 0.0
        return np.asarray(balance * np.exp(2.0 * start.rho))

    def _vectors(self) -> dict[str, NDArray[np.float64]]:
        vectors = {"theta": self.direction, "previous": self._work.previous}
        return {**vectors, "balance": self._work.balance} if self._work.balance.size else vectors

    def set_state(self, state: State) -> None:
        balance = self._work.balance
        # States saved by an earlier version have no balance.
        super().set_state({"balance": balance, **state} if balance.size else state)

    def integrate_for(self, budget: int) -> int:
        code = super().integrate_for(budget)
        return self._slide() if code == state.STICKS else code

    def _slide(self) -> int:
        """Take one implicit step; return the code of `Sliding.advance`, made on first use."""
        if self._sliding is None:
            self._sliding = Sliding(self.problem, self._work.balance)
        return self._sliding.advance(
            self.direction, self._work.previous, self.kernel_state, self.marks
        )
