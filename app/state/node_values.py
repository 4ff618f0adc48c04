"""Values returned by DisplayData: numbers of a neuron, sorted neurons, times of frames."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Indices = NDArray[np.int64]


@final
@dataclass(frozen=True, slots=True)
class NodeFacts:
    """One neuron at one frame; weights are at the physical scale.

    `angle` is that from its start in degrees, and `rotation` the cosine: both NaN for a neuron of
    length 0 at either time. `position` is the point |a_j| v_j on the chosen plane.
    """

    index: int
    outer_weight: float
    inner_norm: float
    angle: float
    rotation: float
    relative_norm: float
    position: tuple[float, float]
    sign_flips: int


@final
@dataclass(frozen=True, slots=True, eq=False)
class SortedNodes:
    """Values in increasing order, NaN last; `place[j]` is the position of neuron j."""

    values: Singles
    order: Indices
    place: Indices


def with_finite_first(values: Floats) -> Floats:
    """Return values whose first, if -inf (t = 0, or step 0), is one spacing before the second.

    >>> with_finite_first(np.array([-np.inf, 1.0, 1.5])).tolist()
    [0.5, 1.0, 1.5]
    """
    result = np.array(values, dtype=np.float64)
    if result.size and not math.isfinite(result[0]):
        if result.size == 1:
            result[0] = 0.0
        else:
            # The second gap is the usual spacing. The numbers .05 and .001 keep t = 0 apart from
            # the first frame if the second gap is missing or tiny.
            spacing = result[2] - result[1] if result.size > 2 else 0.05
            result[0] = result[1] - max(float(spacing), 1e-3)
    return result
