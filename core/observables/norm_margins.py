"""Margins over norms of W other than l_2: largest entry, operator norm, sum of entries.

Each is min_i p_i over the L-th power of the norm whose steepest descent maximises it
(core.dynamics.steepest). All are undefined where W = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.network.parametrisation import TwoLayer
from core.observables.margins import flat_margins
from core.observables.observable import Observable, has_labels
from core.runs import Run

Array = NDArray[Any]
WHERE = "labels; two-layer networks homogeneous in all trained weights"
SOURCE = "definition; docs/theory.md, 3.3"


def has_norms(run: Run) -> bool:
    """Return True for labels and a two-layer network that is homogeneous in all of W."""
    network = run.network
    is_homogeneous = network.homogeneous and network.scaled == network.size and not network.product
    return has_labels(run) and isinstance(network, TwoLayer) and is_homogeneous


def blocks_at(run: Run, index: int) -> list[Array]:
    """Return the flat parameters of a frame as blocks, with V in the coordinates of R^d.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    list of arrays
        a (m,), V (m, d) and the like, V back in R^d.
    """
    blocks = run.network.unpack(run.parameters(index))
    if run.reduction is not None and "V" in blocks:
        blocks["V"] = run.reduction.full(blocks["V"])
    return list(blocks.values())


def largest_entry(blocks: list[Array]) -> float:
    """Return max |entry| of all blocks."""
    return max(float(np.abs(block).max(initial=0.0)) for block in blocks)


def sum_of_entries(blocks: list[Array]) -> float:
    """Return the sum of |entry| over all blocks."""
    return float(sum(np.abs(block).sum(dtype=np.float64) for block in blocks))


def operator_norm(blocks: list[Array]) -> float:
    """Return the largest operator norm of a block; of a vector its length."""
    return max(float(np.linalg.norm(block, 2)) for block in blocks)


def _margin(norm: Callable[[list[Array]], float], width: bool, run: Run, index: int) -> float:
    """Return min_i p_i/|W|^L in the norm `norm`, divided by m as well if `width`.

    NaN if W = 0.
    """
    size = norm(blocks_at(run, index)) ** run.network.degree * (run.network.m if width else 1)
    return float(flat_margins(run, index).min()) / size if size > 0.0 else float("nan")


of_norms = partial(Observable, applies=has_norms, where=WHERE, source=SOURCE, on_request=True)
OBSERVABLES = (
    of_norms(
        "margin_linf",
        "margin over the largest weight",
        "min_i p_i / (m max_k |W_k|^L): the margin of sign descent",
        function=partial(_margin, largest_entry, True),
        tex=r"\frac{\min_i p_i}{m\,\Vert W\Vert_\infty^L}",
        normalisation="divided by m |W|_inf^L, |W|_inf the largest |entry| of all trained weights",
    ),
    of_norms(
        "margin_spectral",
        "margin over the operator norm",
        "min_i p_i / max(|a|, |V|_op)^L, the largest over all blocks: that of spectral descent",
        function=partial(_margin, operator_norm, False),
        tex=r"\frac{\min_i p_i}{\max(|a|,\,\Vert V\Vert_{\mathrm{op}})^L}",
        normalisation="divided by the L-th power of the largest operator norm of a block; of a "
        "vector its length",
        costly=True,
    ),
    of_norms(
        "margin_l1",
        "margin over the sum of weights",
        "min_i p_i / (sum_k |W_k|)^L: the one of coordinate descent",
        function=partial(_margin, sum_of_entries, False),
        tex=r"\frac{\min_i p_i}{\Vert W\Vert_1^L}",
        normalisation="divided by |W|_1^L, |W|_1 the sum of all |entries| of the trained weights",
    ),
)
