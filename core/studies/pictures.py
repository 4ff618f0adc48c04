"""Panels that show data and functions instead of numbers of runs.

`points`: the training examples of the first run on their first two coordinates, by label
(wei19, Figure 1). `function`: the network of the first run on an interval, divided by its squared
norm, beside the l1-SVM of the same data and the examples at y = 0 (wei19, Figure 5 right).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.observables.predictor import flat_values
from core.reference.l1_path import circle, max_margin, plane
from core.runs import Run
from core.studies.cells import StudyCell
from core.studies.lines import Line

Array = NDArray[np.float64]
GRID = 401
LABELS = {1.0: "y = +1", -1.0: "y = -1"}
NETWORK, SVM = "network", "l1-SVM"


def points(cells: Sequence[StudyCell]) -> list[Line]:
    """The examples of the first cell that has its run, a line without a curve for each label."""
    run = _first(cells)
    if run is None or run.dataset.d < 2:
        return []
    return _labelled(run, run.dataset.x[:, 0], run.dataset.x[:, 1])


def functions(cells: Sequence[StudyCell]) -> list[Line]:
    """f/|W|^2 of the first cell's last frame, its data's l1-SVM likewise, and the examples."""
    run = _first(cells)
    if run is None or run.dataset.d != 1:
        return []
    x = run.dataset.x[:, 0]
    grid = np.linspace(x.min(), x.max(), GRID)
    lines = [_curve(NETWORK, grid, normalised(run, grid))]
    seen = plane(run.problem)
    if seen is not None:
        found = max_margin(seen, run.dataset.y, circle())
        lifted = np.column_stack([grid, np.ones(GRID)])
        lines.append(_curve(SVM, grid, found.normalised(lifted)))
    return lines + _labelled(run, x, np.zeros(x.size))


def normalised(run: Run, grid: Array) -> Array:
    """f/|W|^2 of the last frame on a line of inputs; the scale of the parameters drops out."""
    last = run.frames - 1
    flat = run.parameters(last)
    return flat_values(run, last, grid[:, None]) / run.network.norm(flat) ** 2


def _first(cells: Sequence[StudyCell]) -> Run | None:
    return next((cell.record.run for cell in cells if cell.record.run is not None), None)


def _curve(value: str, x: Array, y: Array) -> Line:
    return Line(value, x, y, y, y, np.ones(x.size, dtype=np.int64))


def _labelled(run: Run, x: Array, y: Array) -> list[Line]:
    lines = []
    for label, words in LABELS.items():
        here = run.dataset.y == label
        if here.any():
            count = np.ones(int(here.sum()), dtype=np.int64)
            lines.append(Line(words, x[here], y[here], y[here], y[here], count, joined=False))
    return lines
