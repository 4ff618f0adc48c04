"""Steps of every two-layer network, full batch or on batches, as one kernel.

Most of the code is common to both, the passes through the network: as two kernels it would be
compiled twice for each precision.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from core.compiled.descent import Run, Work, descend
from core.compiled.jit import compile_kernel
from core.compiled.stochastic import SCHEDULED, Rule, batch_steps

Array = NDArray[Any]


@compile_kernel
def network_steps(
    work: Work, X: Array, y: Array, budget: int, rule: Rule, run: Run, buffer: Array
) -> int:
    """Call `descend` for the rule SCHEDULED, else `batch_steps`.

    Parameters
    ----------
    work : Work
        Network; work.flat is updated in place.
    X, y : array (N, D), array (N,)
        Inputs and labels.
    budget : int
        Number of steps.
    rule : Rule
        Update rule; its constants are for `batch_steps`.
    run, buffer : Run, array (rows, size)
        Schedule, and frames, for `descend`.

    Returns
    -------
    int
        Code of `descend`, or number of steps.
    """
    if rule.kind == SCHEDULED:
        return descend(work, X, y, budget, run, buffer)
    return batch_steps(work, X, y, budget, rule)
