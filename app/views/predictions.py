"""Predictions of a run's curves, as far as their values are known, as bounds beside the curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from app.state.node_values import Floats
from app.views.view import Bound
from app.widgets.screen_text import rich
from core.numbers import number_text

if TYPE_CHECKING:
    from core.observables.prediction import Prediction
    from core.runs import Run


def predicted_bounds(
    predictions: Sequence[Prediction],
    measured: Mapping[str, Floats],
    values: Mapping[str, Floats],
) -> tuple[Bound, ...]:
    """Return the first prediction of each observable that has values, and the ends of its band.

    `measured` are the observables and `values` the columns of predictions, (T,) each by name, NaN
    where they are not computed, or where the prediction does not apply to the run.
    """
    predictions_of: dict[str, Prediction] = {}
    for one in predictions:
        if one.of not in predictions_of and np.isfinite(values[one.name]).any():
            predictions_of[one.of] = one
    return tuple(
        Bound(
            one.label if column == one.name else "",
            one.of,
            values[column],
            _tip(one, measured[one.of] - values[one.name]) if column == one.name else "",
            predicted=True,
        )
        for one in predictions_of.values()
        for column in one.columns
    )


def find_refusals(
    predictions: Sequence[Prediction], bounds: Sequence[Bound], run: Run
) -> dict[str, str]:
    """Return why observables have no prediction, in rich text by name, as far as that is known.

    `predictions` suit the run, and `bounds` are those that apply.
    """
    absent = [one for one in predictions if one.of not in {bound.view for bound in bounds}]
    refusals: dict[str, list[str]] = {}
    for one in absent:
        refusals.setdefault(one.of, []).append(one.known_refusal(run))
    return {
        name: rich(f"No prediction applies: {'; '.join(dict.fromkeys(sentences))}.")
        for name, sentences in refusals.items()
        if all(sentences)
    }


def _tip(prediction: Prediction, residual: Floats) -> str:
    """Return the definition of a prediction, and how far the run is from it."""
    finite = residual[np.isfinite(residual)]
    gap = ""
    if finite.size:
        largest, last = (number_text(float(one), 3) for one in (np.abs(finite).max(), finite[-1]))
        gap = f"<br>Measured less predicted: at most {largest}, at the end {last}."
    words = f"{prediction.title}: {prediction.formula} ({prediction.source})"
    return f"{rich(words)}.{gap}"
