"""Tangent kernel of a page: the cosines of some examples at every moment, a byte for each pair."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.figures.kernel_panel import KernelPanel
from core.figures.page_encoding import encode
from core.observables.kernel_matrix import kernel_cosines, why_no_kernel

Json = dict[str, Any]
KERNEL_EXAMPLES = 64
NUMBERS = KERNEL_EXAMPLES * (KERNEL_EXAMPLES + 1) // 8  # of four bytes each, for a moment
STEPS = 127.0  # from a cosine of 0 to one of 1


def page_kernel(panel: KernelPanel) -> KernelPanel:
    """Return a panel with as many examples as a page has."""
    return replace(panel, limit=KERNEL_EXAMPLES)


def describe_matrix(panel: KernelPanel) -> Json:
    """Return the colours of the cosines -1 and 1, and the borders between classes."""
    if why_no_kernel(panel.run):
        return {}
    colours = [panel.palette.negative, panel.palette.positive]
    return {"colours": colours, "borders": [*panel.order.borders]}


def describe_cosines(panel: KernelPanel, stops: NDArray[np.int64]) -> Json:
    """Return the cosines of all pairs at each stop, as differences from the stop before.

    Parameters
    ----------
    panel : KernelPanel
        Panel of the run.
    stops : array (stops,)
        Frames that the page shows.

    Returns
    -------
    dict
        Number of examples, and changes (stops, pairs) modulo 256 of 127 (1 + cosine), rounded.
        Pairs are those of the lower triangle, row after row. Nothing for runs without a kernel.
    """
    if why_no_kernel(panel.run):
        return {}
    count = panel.order.examples.size
    pairs = np.tril_indices(count)
    cosines = [kernel_cosines(panel.run, index, panel.order)[pairs] for index in stops.tolist()]
    levels = np.rint(STEPS + STEPS * np.array(cosines)).astype(np.uint8)
    changes = np.diff(levels, axis=0, prepend=np.zeros((1, pairs[0].size), dtype=np.uint8))
    return {"examples": count, "changes": encode(changes)}
