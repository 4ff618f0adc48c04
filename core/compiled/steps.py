"""Steps of every two-layer network, full batch or on batches, as one kernel.

What they have in common, the passes through the network, is most of the code: as two kernels it
would be compiled twice for each precision.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from core.compiled.descent import Run, Work, descend
from core.compiled.jit import compiled
from core.compiled.stochastic import SCHEDULED, Rule, batch_steps

Array = NDArray[Any]


@compiled
def network_steps(
    work: Work, X: Array, y: Array, budget: int, rule: Rule, run: Run, buffer: Array
) -> int:
    """`descend` for the rule SCHEDULED, else `batch_steps`; returns what they do.

    `run` and `buffer` are for the first, and the numbers of `rule` for the other.
    """
    if rule.kind == SCHEDULED:
        return descend(work, X, y, budget, run, buffer)
    return batch_steps(work, X, y, budget, rule)
