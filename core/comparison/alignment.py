"""Positions of a run's frames on an axis that several runs share.

Frames are interpolated linearly between the places of an axis: for t and log t alike that is in
log t, for steps and |W|^2 in their logarithms, for the risk in its logarithm. Frames without a
place (t = 0 on a logarithm) are left out. |W|^2, the risk and the share of gamma_gl may turn back:
a run is at such a place when it reaches it for the first time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True, eq=False)
class RunTraces:
    """Compared part of a run: T frames, log10 t (T,), steps (T,), values (T,) by observable.

    `label` names the run, and `family` its settings but for the seeds; "" if seeds alone differ.
    `most` is the upper bound of its hard margin by gamma_gl, NaN if unknown. `counts_steps`: t is
    the number of steps.
    """

    label: str
    family: str
    log10_time: Array
    steps: Array
    values: Mapping[str, Array]
    most: float = float("nan")
    counts_steps: bool = False

    def select_frames(self, mask: NDArray[np.bool_]) -> RunTraces:
        """Return the traces at the frames where a mask (T,) is True."""
        values = {name: values[mask] for name, values in self.values.items()}
        times, steps = self.log10_time[mask], self.steps[mask]
        return replace(self, log10_time=times, steps=steps, values=values)


@final
@dataclass(frozen=True, slots=True, eq=False)
class RankedNodes:
    """A run at one moment: a number of each of its m neurons, `values` (at most m,), increasing.

    Neurons without a finite number are left out. `label`, `family` and `counts_steps` are those of
    RunTraces.
    """

    label: str
    family: str
    values: Array
    m: int
    counts_steps: bool = False


Labelled = RunTraces | RankedNodes


def keys_of(run: RunTraces, against: str) -> Array:
    """Return the place of each frame on an axis.

    Parameters
    ----------
    run : RunTraces
        Run.
    against : str
        Key of core.comparison.question.AGAINST.

    Returns
    -------
    array (T,)
        Increasing with progress: log10 of steps, t and |W|^2, -log10 of the risk, the share itself.
        NaN for frames without a place.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if against == "step":
            keys = np.log10(run.steps)
        elif against == "norm_squared":
            keys = np.log10(run.values["norm_squared"])
        elif against == "risk":
            keys = -run.values["log10_risk"]
        elif against == "share":
            keys = run.values["hard_margin"] / run.most
        else:
            keys = np.array(run.log10_time)
    return np.where(np.isfinite(keys), keys, np.nan)


def to_axis_numbers(keys: Array, against: str) -> Array:
    """Convert places to the numbers on the axis.

    Parameters
    ----------
    keys : array (S,)
        Result of `keys_of`.
    against : str
        Key of core.comparison.question.AGAINST.

    Returns
    -------
    array (S,)
        t itself for "time", NaN beyond float64; log10 of the risk, for "risk"; else the places.
    """
    if against == "time":
        with np.errstate(over="ignore"):
            times = 10.0**keys
        return np.where(np.isfinite(times), times, np.nan)
    return -keys if against == "risk" else keys


def turns_back(keys: Array) -> bool:
    """Return True if a run moves back on an axis, by more than rounding."""
    finite = keys[np.isfinite(keys)]
    if finite.size < 2:
        return False
    setback = np.maximum.accumulate(finite) - finite
    return bool(setback.max() > 1e-9 * max(float(np.ptp(finite)), 1e-300))


def first_passages(keys: Array, values: Array) -> tuple[Array, Array]:
    """Return the places that a run reaches for the first time, and its values there.

    If a run comes back to its farthest place, that place occurs twice: with the value of the first
    time, and with the value at the return, from which the run continues.

    Parameters
    ----------
    keys, values : array (T,)
        Places and values of the frames; places that are not finite are left out.

    Returns
    -------
    two arrays (S,)
        Places, never decreasing, and values.

    Examples
    --------
    >>> values, times = np.array([0.0, 2.0, 1.0, 3.0]), np.array([0.0, 1.0, 5.0, 7.0])
    >>> places, then = first_passages(values, times)
    >>> places.tolist(), then.tolist()
    ([0.0, 2.0, 2.0, 3.0], [0.0, 1.0, 6.0, 7.0])
    """
    is_known = np.isfinite(keys)
    keys, values = keys[is_known], values[is_known]
    if keys.size == 0:
        return keys, values
    before = np.append(-np.inf, np.maximum.accumulate(keys)[:-1])
    new = keys > before
    last = np.append(-np.inf, keys[:-1])
    is_back = np.flatnonzero(new & (last < before))
    share = (before[is_back] - keys[is_back - 1]) / (keys[is_back] - keys[is_back - 1])
    crossing = values[is_back - 1] + share * (values[is_back] - values[is_back - 1])
    places = np.insert(keys, is_back, before[is_back])
    with_crossings = np.insert(values, is_back, crossing)
    mask = np.insert(new, is_back, True)
    return places[mask], with_crossings[mask]


def interpolate(places: Array, values: Array, where: Array) -> Array:
    """Interpolate values linearly.

    Parameters
    ----------
    places, values : array (S,)
        Result of `first_passages`.
    where : array (N,)
        Places at which to interpolate.

    Returns
    -------
    array (N,)
        NaN beyond both ends; at a place that occurs twice, the value of the first time.
    """
    result = np.full(where.shape, np.nan)
    if places.size == 0:
        return result
    is_inside = (where >= places[0]) & (where <= places[-1])
    right = np.searchsorted(places, where[is_inside], side="left")
    before = np.maximum(right - 1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = (where[is_inside] - places[before]) / (places[right] - places[before])
        values_between = values[before] + share * (values[right] - values[before])
    exact = places[right] == where[is_inside]
    result[is_inside] = np.where(exact, values[right], values_between)
    return result
