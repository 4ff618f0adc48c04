"""The linear program of column generation, kept alive between rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """q (n,) in the simplex, weights (k,) >= 0 of the columns with sum 1, and the optimum."""

    q: Array
    weights: Array
    value: float


def _highs() -> Any | None:
    """SciPy's own HiGHS, without which every round would start from nothing.

    The module is private, hence the fallback to linprog; on 64 points and 3000 columns a round
    takes 7 ms with it and 90 ms without.
    """
    try:
        from scipy.optimize._highspy import _core
    except ImportError:
        return None
    return _core


@final
class Master:
    """min over q in the simplex of max_j <C_j, q>: rows C_j (n,) are appended, q re-optimised.

    The best response of the columns is the dual: weights w in their simplex with
    min_i (C'w)_i = the value. Dual simplex, which stays feasible when rows are appended.

    `unit` is about the value where that is small: the program's tolerances are absolute.
    """

    def __init__(self, n: int, kept_alive: bool = True, unit: float = 1.0) -> None:
        self._n, self._unit = n, unit
        self._columns = np.zeros((0, n))
        self._core = _highs() if kept_alive else None
        self._model = None if self._core is None else self._start(self._core)

    def _start(self, core: Any) -> Any:
        model = core._Highs()
        # Without presolve each round begins at the basis of the one before; one thread, as others
        # compute.
        options = {"output_flag": False, "presolve": "off", "solver": "simplex", "threads": 1}
        for name, value in {**options, "simplex_strategy": 1}.items():
            model.setOptionValue(name, value)
        empty = np.zeros(0, dtype=np.int32), np.zeros(0)
        for _ in range(self._n):
            model.addCol(0.0, 0.0, core.kHighsInf, 0, *empty)
        model.addCol(1.0, -core.kHighsInf, core.kHighsInf, 0, *empty)
        indices = np.arange(self._n, dtype=np.int32)
        model.addRow(1.0, 1.0, self._n, indices, np.ones(self._n))
        return model

    def add(self, columns: Array) -> None:
        """Append columns (k, n): y_i alpha relu(<beta, x_i>) of an atom each."""
        self._columns = np.vstack([self._columns, columns])
        if self._model is None or self._core is None:
            return
        k, n = columns.shape
        values = np.hstack([columns / self._unit, -np.ones((k, 1))]).ravel()
        starts = np.arange(k, dtype=np.int32) * np.int32(n + 1)
        indices = np.tile(np.arange(n + 1, dtype=np.int32), k)
        lower = np.full(k, -self._core.kHighsInf)
        self._model.addRows(k, lower, np.zeros(k), values.size, starts, indices, values)

    def solve(self) -> Solution:
        """The optimum over the columns so far.

        Raises ArithmeticError where the linear program does not end.
        """
        if self._model is None:
            q, weights = self._cold()
        else:
            self._model.run()
            solution = self._model.getSolution()
            q = np.array(solution.col_value)[: self._n]
            # Row 0 is the sum of q. Multipliers of rows with an upper bound are <= 0 where one
            # minimises.
            weights = -np.array(solution.row_dual)[1:]
        q, weights = np.maximum(q, 0.0), np.maximum(weights, 0.0)
        if not (q.sum() > 0.0 and weights.sum() > 0.0):
            raise ArithmeticError("The linear program did not come to an end.")
        q, weights = q / q.sum(), weights / weights.sum()
        return Solution(q, weights, float((weights @ self._columns).min()))

    def _cold(self) -> tuple[Array, Array]:
        from scipy.optimize import linprog

        k, n = self._columns.shape
        answer = linprog(
            np.append(np.zeros(n), 1.0),
            A_ub=np.hstack([self._columns / self._unit, -np.ones((k, 1))]),
            b_ub=np.zeros(k),
            A_eq=np.append(np.ones(n), 0.0)[None],
            b_eq=[1.0],
            bounds=[(0.0, None)] * n + [(None, None)],
            method="highs-ds",
        )
        return answer.x[:n], -answer.ineqlin.marginals
