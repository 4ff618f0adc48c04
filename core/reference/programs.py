"""Linear programs by HiGHS, which a watch can interrupt at any time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.reference.cancel_token import CancelledError, CancelToken

Array = NDArray[np.float64]
FEASIBLE = 1e-10  # violation of a bound or row that HiGHS accepts, at its smallest setting


@final
@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Program max <cost, v> with rows @ v <= most and lower <= v <= upper."""

    cost: Array
    rows: Array
    most: Array
    lower: Array
    upper: Array


@final
@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """Solution v and multipliers >= 0 of the rows.

    `finished` is False if the watch timed out; `v` is then possibly infeasible.
    """

    v: Array
    multipliers: Array
    finished: bool


def solve_program(program: Program, watch: CancelToken) -> Optimum:
    """Solve a program by simplex.

    Raises CancelledError, and ArithmeticError if HiGHS finds no optimum.
    """
    from highspy import HighsModelStatus

    model = _model(program)
    # A watch without time left interrupts immediately, as may happen in the last of several
    # programs.
    model.cbSimplexInterrupt.subscribe(_interrupt_of(watch))
    watch.check()
    model.run()
    watch.check()
    status, solution = model.getModelStatus(), model.getSolution()
    finished = status == HighsModelStatus.kOptimal
    if not finished and status != HighsModelStatus.kInterrupt:
        raise ArithmeticError("HiGHS found no optimum of the program.")
    v = np.array(solution.col_value) if solution.value_valid else np.zeros(program.cost.size)
    # HiGHS minimises -cost: its multipliers have the opposite sign.
    multipliers = np.maximum(-np.array(solution.row_dual), 0.0)
    return Optimum(v, multipliers, finished)


def _interrupt_of(watch: CancelToken) -> Any:
    """Return a HiGHS callback that stops the solver once the watch is cancelled or timed out."""

    def interrupt(event: Any) -> None:
        try:
            watch.check()
            stop = watch.timed_out
        except CancelledError:
            # `solve_program` raises it again, since exceptions do not pass through HiGHS.
            stop = True
        if stop:
            event.interrupt()

    return interrupt


def _model(program: Program) -> Any:
    """Return the HiGHS model of a program, on one thread."""
    from highspy import Highs, HighsLp, MatrixFormat  # slow to load

    count, size = program.rows.shape
    lp = HighsLp()
    lp.num_row_, lp.num_col_ = count, size
    # HiGHS minimises -cost.
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = -program.cost, program.lower, program.upper
    lp.row_lower_, lp.row_upper_ = np.full(count, -np.inf), program.most
    is_used = program.rows != 0.0
    lp.a_matrix_.format_ = MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.r_[0, np.cumsum(is_used.sum(axis=1))].astype(np.int32)
    lp.a_matrix_.index_ = np.nonzero(is_used)[1].astype(np.int32)
    lp.a_matrix_.value_ = program.rows[is_used]
    model = Highs()  # type: ignore[no-untyped-call]
    options = {"output_flag": False, "threads": 1, "primal_feasibility_tolerance": FEASIBLE}
    options |= {"dual_feasibility_tolerance": FEASIBLE}
    for name, value in options.items():
        model.setOptionValue(name, value)
    model.passModel(lp)
    return model
