"""Statistics of groups of neurons."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.observables.node_coordinates import unit_rows
from core.observables.nodes import node_norms, outer_signs, rotation
from core.runs import Run

Array = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True)
class GroupFacts:
    """Statistics of `count` of a run's m neurons.

    Mean and standard deviation (over these neurons, divisor `count`) of |alpha_j| |u_j| at the
    physical scale and of the rotation; numbers of positive and negative alpha_j; mean and largest
    angle to the mean direction, that of the sum of v_j/|v_j|, in degrees. NaN if undefined.
    """

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
    """Return the statistics of some neurons at a frame.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.
    nodes : collection of int
        Indices of the neurons, from 0.

    Returns
    -------
    GroupFacts
        NaN for statistics of no neuron.
    """
    flat, chosen = run.parameters(index), np.array(sorted(nodes), dtype=np.int64)
    m = int(run.network.m)
    with np.errstate(over="ignore", invalid="ignore"):  # late frames may exceed float64
        scale = np.exp(run.network.degree * run.rho[index])
        norm, norm_sd = _moments(scale * node_norms(run, index)[chosen])
    turned, turned_sd = _moments(rotation(run, index)[chosen])
    signs = outer_signs(run, index)[chosen]
    angles = angles_to_mean(run.network.directions(flat)[chosen])
    finite = angles[np.isfinite(angles)]
    return GroupFacts(
        chosen.size,
        m,
        norm,
        norm_sd,
        turned,
        turned_sd,
        int(np.count_nonzero(signs > 0)),
        int(np.count_nonzero(signs < 0)),
        float(finite.mean()) if finite.size else float("nan"),
        float(finite.max()) if finite.size else float("nan"),
    )


def angles_to_mean(vectors: Array) -> Array:
    """Return the angle of each row to the mean of all unit rows.

    Parameters
    ----------
    vectors : array (k, d)
        Vectors of any length.

    Returns
    -------
    array (k,)
        Degrees; NaN for rows of 0, and everywhere if the directions cancel.

    Examples
    --------
    >>> angles_to_mean(np.array([[1.0, 0.0], [0.0, 2.0]])).round(9).tolist()
    [45.0, 45.0]
    """
    units = unit_rows(vectors)[0]
    is_known = np.isfinite(units).all(axis=1)
    mean = units[is_known].sum(axis=0)
    length = float(np.linalg.norm(mean))
    # At the level of rounding of so many unit vectors no mean direction exists.
    if length <= 1e-12 * max(int(is_known.sum()), 1):
        return np.full(len(vectors), np.nan)
    return np.asarray(np.degrees(np.arccos(np.clip(units @ (mean / length), -1.0, 1.0))))


def _moments(values: Array) -> tuple[float, float]:
    finite = values[~np.isnan(values)]
    if finite.size == 0:
        return float("nan"), float("nan")
    return float(finite.mean()), float(finite.std())
