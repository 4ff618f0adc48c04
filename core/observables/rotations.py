"""How far the nodes have turned together: the least and the median of their rotations."""

from __future__ import annotations

import numpy as np

from core.observables.nodes import Array, rotation
from core.observables.observable import Observable, memoised
from core.observables.spectrum import has_inner
from core.runs import Run


@memoised
def known_rotations(run: Run, index: int) -> Array:
    """The rotations of the nodes that have a direction, in increasing order."""
    values = rotation(run, index)
    return np.sort(values[np.isfinite(values)])


def least_rotation(run: Run, index: int) -> float:
    values = known_rotations(run, index)
    return float(values[0]) if values.size else float("nan")


def median_rotation(run: Run, index: int) -> float:
    values = known_rotations(run, index)
    return float(np.median(values)) if values.size else float("nan")


OBSERVABLES = (
    Observable(
        "least_rotation",
        "least rotation",
        "min_j <v_j(0)/|v_j(0)|, v_j(t)/|v_j(t)|> over the nodes that have a direction",
        "telgarsky22, Figure 1c",
        least_rotation,
        applies=has_inner,
        where="networks whose nodes have inner weight vectors",
        tex=r"\min_j\frac{\langle v_j(0),v_j(t)\rangle}{|v_j(0)|\,|v_j(t)|}",
        normalisation="a cosine",
    ),
    Observable(
        "median_rotation",
        "median rotation",
        "the median over j of <v_j(0)/|v_j(0)|, v_j(t)/|v_j(t)|>, of the nodes that have one",
        "telgarsky22, Figure 1c",
        median_rotation,
        applies=has_inner,
        where="networks whose nodes have inner weight vectors",
        tex=r"\mathrm{median}_j\frac{\langle v_j(0),v_j(t)\rangle}{|v_j(0)|\,|v_j(t)|}",
        normalisation="a cosine",
    ),
)
