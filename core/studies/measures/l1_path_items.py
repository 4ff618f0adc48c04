"""Measures of wei19: networks against the l1 problem that they solve, and samples of D.

`l1_path` compares a network with core.reference.l1_path at the run's own lambda; `sample` counts in
the training examples of distribution D (2.1).
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError, did_you_mean
from core.reference.l1_path import PathPoint, circle, max_margin, plane, solve
from core.runs import Run
from core.studies.panel_lines import GRID, normalised

Array = NDArray[np.float64]


def _objective(run: Run, frame: int) -> float:
    """R + lambda |W|^2 at a frame."""
    flat = run.parameters(frame)  # physical: there is no log-time flow with l2 > 0
    p = run.network.margins(flat, run.inputs, run.dataset.y)
    return float(run.loss.value(p).mean()) + run.experiment.loss.l2 * run.network.norm(flat) ** 2


def _solved(run: Run) -> PathPoint:
    found = solve(run.problem)
    if found is None:
        raise InputError(
            "The l1 problem is solved for the logistic loss with l2 > 0, and networks with biases "
            "on the line or without in the plane."
        )
    return found


def excess(run: Run) -> float:
    """How far the run's objective is above the least one, relative to it."""
    return _objective(run, run.frames - 1) / _solved(run).objective - 1.0


def least_excess(run: Run) -> float:
    """The same at the best of the recorded moments (Theorem 3.3 is about min over t)."""
    best = min(_objective(run, frame) for frame in range(run.frames))
    return best / _solved(run).objective - 1.0


def distance(run: Run) -> float:
    """max |f/|W|^2 - g| / max |g| on the data's interval, g the normalised hard-margin l1-SVM."""
    seen = plane(run.problem)
    if seen is None or run.dataset.d != 1:
        raise InputError("Functions are compared on the line, with network.kind = bias.")
    x = np.linspace(run.dataset.x.min(), run.dataset.x.max(), GRID)
    svm = max_margin(seen, run.dataset.y, circle())
    g = svm.normalised(np.column_stack([x, np.ones(GRID)]))
    return float(np.abs(normalised(run, x) - g).max() / np.abs(g).max())


PATH: MappingProxyType[str, Callable[[Run], float]] = MappingProxyType(
    {"excess": excess, "least excess": least_excess, "distance": distance}
)


def cases(run: Run) -> float:
    """The largest difference from 1/4 of the shares of e_1, -e_1 (y = +1), e_2, -e_2 (y = -1)."""
    x, y = run.dataset.x, run.dataset.y
    scale = float(np.abs(x).max())
    found = [
        np.mean((y == label) & (np.sign(x[:, k]) == sign) & (np.abs(x[:, 1 - k]) < 1e-12 * scale))
        for label, k in ((1.0, 0), (-1.0, 1))
        for sign in (1.0, -1.0)
    ]
    return float(max(abs(share - 0.25) for share in found))


def lengths(run: Run) -> float:
    """The largest difference of |x_i|^2 from d - 1."""
    squares = (run.dataset.x**2).sum(axis=1)
    return float(np.abs(squares - (run.dataset.d - 1)).max())


def correlations(run: Run) -> float:
    """The largest |mean of y_i x_ij| over the coordinates: no linear predictor is of use."""
    return float(np.abs((run.dataset.y[:, None] * run.dataset.x).mean(axis=0)).max())


SAMPLE: MappingProxyType[str, Callable[[Run], float]] = MappingProxyType(
    {"cases": cases, "lengths": lengths, "correlations": correlations}
)


def path_of(run: Run, options: Any) -> float:
    """The comparison that `options.of` names."""
    return _named(PATH, options)(run)


def sample_of(run: Run, options: Any) -> float:
    """The property of the training examples that `options.of` names."""
    return _named(SAMPLE, options)(run)


def _named(
    known: MappingProxyType[str, Callable[[Run], float]], options: Any
) -> Callable[[Run], float]:
    name = str(options.get("of", ""))
    if name not in known:
        raise InputError(f"options.of = {name!r}: {did_you_mean(name, known)}")
    return known[name]
