"""What some nodes of a run are like together: how many, how long, how far turned, and where to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import final

import numpy as np

from core.observables.nodes import Array, node_norms, outer_signs, rotation, unit_rows
from core.runs import Run


@final
@dataclass(frozen=True, slots=True)
class GroupFacts:
    """Of `count` among m nodes: mean and standard deviation (over these nodes, divisor `count`) of
    |alpha_j| |u_j| at the physical scale and of the rotation; how many alpha_j are positive and
    negative; the mean direction is that of the sum of v_j/|v_j|, and `angle` and `widest` are the
    mean and the largest angle to it in degrees. NaN where nothing is defined."""

    count: int
    m: int
    norm: float
    norm_sd: float
    rotation: float
    rotation_sd: float
    positive: int
    negative: int
    angle: float
    widest: float


def group_facts(run: Run, index: int, nodes: Collection[int]) -> GroupFacts:
    """The facts of some nodes at a frame."""
    flat, chosen = run.parameters(index), np.array(sorted(nodes), dtype=np.int64)
    m = int(run.network.m)
    with np.errstate(over="ignore", invalid="ignore"):  # late frames may leave double precision
        scale = np.exp(run.network.degree * run.rho[index])
        norm, norm_sd = _moments(scale * node_norms(run, index)[chosen])
    turned, turned_sd = _moments(rotation(run, index)[chosen])
    signs = outer_signs(run, index)[chosen]
    angles = angles_to_mean(run.network.directions(flat)[chosen])
    known = angles[np.isfinite(angles)]
    return GroupFacts(
        chosen.size,
        m,
        norm,
        norm_sd,
        turned,
        turned_sd,
        int(np.count_nonzero(signs > 0)),
        int(np.count_nonzero(signs < 0)),
        float(known.mean()) if known.size else float("nan"),
        float(known.max()) if known.size else float("nan"),
    )


def angles_to_mean(vectors: Array) -> Array:
    """The angle of each row (k, d) to the mean of all unit rows, in degrees, (k,); NaN for rows
    without a direction, and where the directions cancel.

    >>> angles_to_mean(np.array([[1.0, 0.0], [0.0, 2.0]])).round(9).tolist()
    [45.0, 45.0]
    """
    units = unit_rows(vectors)[0]
    known = np.isfinite(units).all(axis=1)
    mean = units[known].sum(axis=0)
    length = float(np.linalg.norm(mean))
    # Below rounding of so many unit vectors there is no mean direction.
    if length <= 1e-12 * max(int(known.sum()), 1):
        return np.full(len(vectors), np.nan)
    return np.asarray(np.degrees(np.arccos(np.clip(units @ (mean / length), -1.0, 1.0))))


def _moments(values: Array) -> tuple[float, float]:
    known = values[~np.isnan(values)]
    if known.size == 0:
        return float("nan"), float("nan")
    return float(known.mean()), float(known.std())
