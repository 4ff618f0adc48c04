"""Linear program of column generation, kept alive between rounds.

On 64 points and 3000 columns a round takes 7 ms, and 90 ms where each starts from nothing, as by
SciPy's linprog.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Weights q (n,) in the simplex, weights (k,) >= 0 of the columns with sum 1, and optimum."""

    q: Array
    weights: Array
    value: float


@final
class Master:
    """Linear program min over q in the simplex of max_j <C_j, q>; rows C_j (n,) can be appended.

    The best response of the columns is the dual: weights w in their simplex with min_i (C'w)_i =
    the value. Solved by dual simplex, which stays feasible when rows are appended. `unit` is about
    the value where that is small: the program's tolerances are absolute.
    """

    def __init__(self, n: int, unit: float = 1.0) -> None:
        from highspy import Highs  # slow to load

        self._n, self._unit = n, unit
        self._columns = np.zeros((0, n))
        self._model = model = Highs()  # type: ignore[no-untyped-call]
        # Without presolve each round starts from the previous basis. One thread, as other cells or
        # views compute too.
        model.setOptionValue("output_flag", False)
        model.setOptionValue("presolve", "off")
        model.setOptionValue("solver", "simplex")
        model.setOptionValue("simplex_strategy", 1)
        model.setOptionValue("threads", 1)
        empty = np.zeros(0, dtype=np.int32), np.zeros(0)
        for _ in range(n):
            model.addCol(0.0, 0.0, np.inf, 0, *empty)
        model.addCol(1.0, -np.inf, np.inf, 0, *empty)
        model.addRow(1.0, 1.0, n, np.arange(n, dtype=np.int32), np.ones(n))

    def add(self, columns: Array) -> None:
        """Append columns (k, n): y_i alpha relu(<beta, x_i>) of one atom each."""
        self._columns = np.vstack([self._columns, columns])
        k, n = columns.shape
        values = np.hstack([columns / self._unit, -np.ones((k, 1))]).ravel()
        starts = np.arange(k, dtype=np.int32) * np.int32(n + 1)
        indices = np.tile(np.arange(n + 1, dtype=np.int32), k)
        lower = np.full(k, -np.inf)
        self._model.addRows(k, lower, np.zeros(k), values.size, starts, indices, values)

    def solve(self) -> Solution:
        """Return the optimum over all columns.

        Raises ArithmeticError where the linear program does not end.
        """
        self._model.run()
        solution = self._model.getSolution()
        q = np.array(solution.col_value)[: self._n]
        # Row 0 is the sum of q. In a minimisation, multipliers of rows with an upper bound are <=
        # 0.
        weights = -np.array(solution.row_dual)[1:]
        q, weights = np.maximum(q, 0.0), np.maximum(weights, 0.0)
        if not (q.sum() > 0.0 and weights.sum() > 0.0):
            raise ArithmeticError("The linear program did not converge.")
        q, weights = q / q.sum(), weights / weights.sum()
        return Solution(q, weights, float((weights @ self._columns).min()))
