"""Curves beside those of a run: bounds of statements, and predictions of observables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.figures.options import BoundCurve, ViewOptions
from core.figures.primitives import Array, Label, plain
from core.observables.registry import observable_of, predictions_of
from core.runs import Run

PREDICTED = "predicted:"  # before the column in the key of a curve


def bounds_beside(view: ViewOptions, row: int, names: Sequence[str]) -> tuple[BoundCurve, ...]:
    """Return the bounds of statements that belong to some observables of a run.

    Parameters
    ----------
    view : ViewOptions
        Options of the figure, with the bounds of each row.
    row : int
        Row of the run.
    names : sequence of str
        Observables that are shown.

    Returns
    -------
    tuple of BoundCurve
        In the order of `view`; empty for a row without bounds.
    """
    return tuple(one for one in view.bounds_of(row) if one.view in names)


def predicted_curves(
    run: Run, names: Sequence[str], frames: NDArray[np.int64]
) -> tuple[BoundCurve, ...]:
    """Return the predictions of some observables, with the ends of their bands.

    Of several predictions of an observable the first that applies is drawn.

    Parameters
    ----------
    run : Run
        Open run.
    names : sequence of str
        Observables that are shown.
    frames : array (F,) of int
        Frames that are shown.

    Returns
    -------
    tuple of BoundCurve
        NaN at other frames.
    """
    curves = []
    for name in names:
        prediction = next((one for one in predictions_of(run, name) if one.applies(run)), None)
        if prediction is None:
            continue
        for column in prediction.columns:
            item, values = observable_of(column), np.full(run.frames, np.nan)
            values[frames] = [float(item.value_at(run, index)) for index in frames.tolist()]
            label = prediction.label if column == prediction.name else ""
            curves.append(BoundCurve(f"{PREDICTED}{column}", label, name, values, prediction))
    return tuple(curves)


def bound_at_frames(bound: BoundCurve, frames: NDArray[np.int64]) -> Array:
    """Return a bound at some frames.

    Parameters
    ----------
    bound : BoundCurve
        Bound of a statement.
    frames : array (F,) of int
        Frames.

    Returns
    -------
    array (F,)
        NaN where it was not judged.
    """
    values = np.full(frames.size, np.nan)
    is_known = frames < bound.values.size
    values[is_known] = bound.values[frames[is_known]]
    return values


# A curve falls to its end if, within this share of its width, it loses this share of its height.
END_SHARE, FALL_SHARE = 0.12, 0.1


def end_label(name: str, x: Array, y: Array, colour: str) -> list[Label]:
    """Return the name of a curve above its last finite point.

    A curve that falls to its end would run through the name: it has it below its first point.

    Parameters
    ----------
    name : str
        Name, with mathtext between dollar signs; "" for none.
    x, y : array (F,)
        Places of the curve on the axes; points that are not finite are left out.
    colour : str
        Colour of the name, #rrggbb.

    Returns
    -------
    list of Label
        One label; none without a name or a finite point.
    """
    indices = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if not (name and indices.size):
        return []
    first, last = indices[0], indices[-1]
    near = indices[x[indices] >= x[last] - END_SHARE * (x[last] - x[first])]
    falls = float(y[near].max()) > float(y[last]) + FALL_SHARE * float(np.ptp(y[indices]))
    if falls:
        return [Label(float(x[first]), float(y[first]), plain(name), colour, "left", True)]
    return [Label(float(x[last]), float(y[last]), plain(name), colour, "right")]
