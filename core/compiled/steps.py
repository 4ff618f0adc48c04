"""Steps of every two-layer network, full batch or on batches, as one kernel.

What they have in common, the passes through the network, is most of the code: as two kernels it
would be compiled twice for each precision.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from core.compiled.descent import descend
from core.compiled.jit import compiled
from core.compiled.network import Net
from core.compiled.stochastic import batch_steps

Array = NDArray[Any]
SCHEDULED = -1  # beside the rules of core.compiled.stochastic: descent on the full batch, by marks


@compiled
def network_steps(
    rule: int, net: Net, flat: Array, X: Array, y: Array, budget: int, loss: int, limit: float,
    step_size: float, shrink: float, numbers: Array, first: Array, second: Array, XT: Array,
    Z: Array, C: Array, F: Array, G: Array, gradient: Array, floats: Array, counts: Array,
    schedule: Array, buffer: Array,
) -> int:  # fmt: skip
    """`descend` for the rule SCHEDULED, else `batch_steps`; returns what they do.

    step_size, shrink, floats, counts, schedule and buffer are for the first, and numbers, first and
    second for the other: arrays without elements stand for what is not used.
    """
    if rule == SCHEDULED:
        return descend(
            net, flat, XT, X, y, loss, step_size, shrink, limit, Z, C, F, G, gradient, floats,
            counts, schedule, buffer, budget,
        )  # fmt: skip
    return batch_steps(
        net, flat, X, y, budget, loss, limit, rule, numbers, first, second, XT, Z, C, F, G,
        gradient,
    )  # fmt: skip
