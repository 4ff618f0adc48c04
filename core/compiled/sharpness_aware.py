"""Gradient uphill of sharpness-aware descent, compiled."""

from __future__ import annotations

from math import sqrt
from typing import Any

from numpy.typing import NDArray

from core.compiled.descent import Work, slopes
from core.compiled.group_penalty import add_group_penalty
from core.compiled.jit import compile_kernel
from core.compiled.network import evaluate_outputs, vjp

Array = NDArray[Any]


@compile_kernel
def climb(work: Work, X: Array, y: Array, rule: Any) -> None:
    """Replace the gradient at W by that at W + rho g/|g|; W stays.

    Parameters
    ----------
    work : Work
        Network, and its gradient at W, updated in place.
    X, y : array (b, D) or (0, D), array (b,)
        Batch that is in work.columns.
    rule : Rule
        rho and penalties. g has both, and the result the change of lambda's, which `descend` adds.
    """
    flat, gradient, start, penalty = work.flat, work.gradient, rule.first, 2 * rule.penalty
    total = 0.0
    for k in range(flat.size):
        slope = float(gradient[k] + penalty * flat[k])
        total += slope * slope
    if not total > 0:
        return
    rise = flat.dtype.type(rule.beta_1 / sqrt(total))
    for k in range(flat.size):
        start[k] = flat[k]
        flat[k] += rise * (gradient[k] + penalty * flat[k])
    evaluate_outputs(work.net, flat, work.columns, work.Z, work.F)
    slopes(work.loss, work.F, y, 1 / y.size, work.G)
    vjp(work.net, flat, work.columns, X, work.G, work.Z, work.C, gradient)
    if rule.group > 0:
        add_group_penalty(flat, gradient, rule, work.net.m)
    for k in range(flat.size):
        gradient[k] += penalty * (flat[k] - start[k])
        flat[k] = start[k]
