"""Lines of the panels of a study, with their means and spreads, as plain numbers.

`points` and `function` show data and functions instead of numbers of runs: the training examples of
the first run on their first two coordinates, by label (wei19, Figure 1), and its network on an
interval, divided by its squared norm, beside the l1-SVM of the same data (wei19, Figure 5 right).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.observables.predictor_values import flat_values
from core.reference.l1_path import directions_of_circle, lifted_inputs, maximise_l1_margin
from core.runs import Run
from core.studies.cells import StudyCell, check_formula
from core.studies.layout import PanelLayout
from core.studies.moments import END, moments_of
from core.studies.statistics import by_setting, crossings, fits, matches, mean_bar, slope_of

Array = NDArray[np.float64]
ALL = ""  # value of the only line of a panel
GRID = 401  # points per curve
LABELS = {1.0: "y = +1", -1.0: "y = -1"}
NETWORK, SVM = "network", "l1-SVM"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A line of a panel: x (k,), mean, low and high (k,), and of how many runs each, (k,).

    x is log10 t if the panel's x is "t". `value` is a value of the setting `lines`, a formula, or a
    moment. `names`: the first run of each point, or of the line.
    """

    value: Any
    x: Array
    mean: Array
    low: Array
    high: Array
    count: NDArray[np.int64]
    # Slope of log y on log x, with its 0.95 interval.
    slope: tuple[float, float, float] | None = None
    joined: bool = True  # False for points without a curve
    names: tuple[str, ...] = ()


def lines_of(panel: PanelLayout, cells: Sequence[StudyCell]) -> tuple[Line, ...]:
    """Return the lines of a panel, sorted by their values; () where no cell has a value."""
    symbols = {name for cell in cells for name in cell.symbols}
    for formula in panel.y:
        check_formula(formula, symbols)
    included = [cell for cell in cells if _is_included(cell, panel)]
    if panel.kind == "traces":
        lines = _traces(panel, included)
    elif panel.kind == "sweep":
        lines = _sweep(panel, included)
    elif panel.kind == "crossing":
        lines = _crossings(panel, included)
    elif panel.kind == "activation":
        lines = _activations(panel, included)
    else:
        lines = {"points": points, "function": functions}[panel.kind](included)
    # A line without numbers would still appear in the legend.
    return tuple(line for line in lines if np.isfinite(line.mean).any())


def _is_included(cell: StudyCell, panel: PanelLayout) -> bool:
    """Return True if a panel shows a cell, by its `where` and its rule about fits."""
    if not matches(cell, panel.where):
        return False
    return not panel.exclude_unfit or fits(cell.value_at("train_error", END)) is not False


def _by_line(cells: Sequence[StudyCell], panel: PanelLayout) -> list[tuple[Any, list[StudyCell]]]:
    """Return the cells of each line, by the setting `lines`; one line without it."""
    return by_setting(cells, panel.lines) if panel.lines else [(ALL, [*cells])]


# --------------------------------------------------------------------------------------- traces


def _traces(panel: PanelLayout, cells: Sequence[StudyCell]) -> list[Line]:
    """Return a mean curve over the frames for each formula and value of the lines' axis."""
    lines = []
    for formula in panel.y:
        for value, group in _by_line(cells, panel):
            traces = [_trace(cell, panel, formula) for cell in group]
            line = _mean_trace(formula if len(panel.y) > 1 else value, traces, panel)
            if line is not None:
                lines.append(replace(line, names=(group[0].name,)))
    return lines


def _trace(cell: StudyCell, panel: PanelLayout, formula: str) -> tuple[Array, Array]:
    """Return x and y of one run, without frames that the axis cannot show."""
    record = cell.record
    frames = range(record.log10_times.size)
    if panel.x == "t":
        x = np.array(record.log10_times)
    elif panel.x == "step":
        x = record.steps.astype(np.float64)
    else:
        x = np.array([cell.value(panel.x, frame) for frame in frames])
    y = np.array([cell.value(formula, frame) for frame in frames])
    # Frame 0, at t = 0, has no position on a log10 t axis.
    is_shown = np.isfinite(x) & ((x > 0.0) | (panel.x_scale == "linear") | (panel.x == "t"))
    return x[is_shown], y[is_shown]


def _mean_trace(
    value: Any, traces: Sequence[tuple[Array, Array]], panel: PanelLayout
) -> Line | None:
    """Average runs at the x of the first; the others are interpolated where they differ."""
    traces = [trace for trace in traces if trace[0].size]
    if not traces:
        return None
    grid = traces[0][0]
    logarithmic = panel.x_scale == "log" and panel.x != "t"
    rows = np.array([_interpolate(grid, x, y, logarithmic) for x, y in traces])
    log = panel.y_scale == "log"
    ends = np.array([mean_bar(column.tolist(), panel.spread, log) for column in rows.T])
    count = np.isfinite(rows).sum(axis=0)
    return Line(value, grid, ends[:, 0], ends[:, 1], ends[:, 2], count)


def _interpolate(grid: Array, x: Array, y: Array, log: bool) -> Array:
    """Return y at the points of a grid, linear in x or ln x; NaN outside of x."""
    # Common case: runs of one setting share their grid, and nothing is interpolated.
    if np.array_equal(grid, x):
        return y
    order = np.argsort(x, kind="stable")
    places, targets = (np.log(x[order]), np.log(grid)) if log else (x[order], grid)
    # NaN outside a run's own range: holding its end values would bend the mean.
    return np.interp(targets, places, y[order], left=np.nan, right=np.nan)


# ---------------------------------------------------------------------------------------- sweep


def _sweep(panel: PanelLayout, cells: Sequence[StudyCell]) -> list[Line]:
    lines = []
    moments = moments_of(panel)
    for moment in moments:
        for formula in panel.y:
            for value, group in _by_line(cells, panel):
                places = by_setting(group, panel.x)
                by_x = [(x, [c.value_at(formula, moment) for c in some]) for x, some in places]
                label = formula if len(panel.y) > 1 else moment.place if len(moments) > 1 else value
                line = _line(label, by_x, panel.spread, panel.y_scale == "log")
                lines.append(replace(line, names=tuple(some[0].name for _, some in places)))
    return lines


def _line(value: Any, by_x: Sequence[tuple[Any, Sequence[float]]], bar: str, log: bool) -> Line:
    """Return means and bars over the seeds at each x."""
    ends = np.array([mean_bar(ys, bar, log) for _, ys in by_x]).reshape(-1, 3)
    x = np.array([float(place) for place, _ in by_x])
    count = np.array([np.isfinite(ys).sum() for _, ys in by_x], dtype=np.int64)
    return Line(value, x, ends[:, 0], ends[:, 1], ends[:, 2], count)


# ------------------------------------------------------------------------------------- crossing


def _crossings(panel: PanelLayout, cells: Sequence[StudyCell]) -> list[Line]:
    """Return n* as geometric means over seeds, with the slope and the wider of its intervals."""

    def y(cell: StudyCell) -> float:
        return cell.value_at(panel.y[0], END)

    lines = []
    for value, group in _by_line(cells, panel):
        table = crossings(group, panel.x, panel.along, panel.level, y)
        # n* is positioned on a logarithmic axis: average its logarithm over seeds.
        fit = slope_of(table, "geometric")
        slope = (fit.value, fit.low, fit.high) if math.isfinite(fit.value) else None
        by_x = [(x, [*by_seed.values()]) for x, by_seed in table]
        line = _line(value, by_x, panel.spread, log=True)
        # In the order of the line's points.
        names = tuple(some[0].name for _, some in by_setting(group, panel.x))
        lines.append(replace(line, slope=slope, names=names))
    return lines


# ----------------------------------------------------------------------------------- activation


def _activations(panel: PanelLayout, cells: Sequence[StudyCell]) -> list[Line]:
    """Return phi of the first cell of each line on [-3, 3]."""
    z = np.linspace(-3.0, 3.0, 241)
    lines = []
    for value, group in _by_line(cells, panel):
        phi = group[0].record.activation
        if phi is not None:
            lines.append(_curve(value, z, np.asarray(phi(z), dtype=np.float64)))
    return lines


# ------------------------------------------------------------------------------------ pictures


def points(cells: Sequence[StudyCell]) -> list[Line]:
    """Return the examples of the first cell with its run: for each label a line without a curve."""
    run = _first(cells)
    if run is None or run.dataset.d < 2:
        return []
    return _labelled_examples(run, run.dataset.x[:, 0], run.dataset.x[:, 1])


def functions(cells: Sequence[StudyCell]) -> list[Line]:
    """Return f/|W|^L of the first cell's last frame, its data's l1-SVM likewise, and examples."""
    run = _first(cells)
    if run is None or run.dataset.d != 1:
        return []
    grid, network, svm = evaluate_on_interval(run)
    lines = [_curve(NETWORK, grid, network)]
    if svm is not None:
        lines.append(_curve(SVM, grid, svm))
    x = run.dataset.x[:, 0]
    return lines + _labelled_examples(run, x, np.zeros(x.size))


def evaluate_on_interval(run: Run) -> tuple[Array, Array, Array | None]:
    """Evaluate the network of the last frame on the interval of its one-dimensional data.

    Parameters
    ----------
    run : Run
        Run with data of dimension 1 and a frame.

    Returns
    -------
    grid : array (GRID,)
        Points from the least to the largest input.
    network : array (GRID,)
        f/|W|^L.
    svm : array (GRID,) or None
        Normalised hard-margin l1-SVM of the data; None for networks without biases.

    References
    ----------
    Wei et al. 2019, Figure 5 right.
    """
    x = run.dataset.x[:, 0]
    grid = np.linspace(x.min(), x.max(), GRID)
    network, plane_ = normalised_function(run, grid), lifted_inputs(run.problem)
    if plane_ is None:
        return grid, network, None
    svm = maximise_l1_margin(plane_, run.dataset.y, directions_of_circle())
    return grid, network, svm.evaluate(np.column_stack([grid, np.ones(GRID)]))


def normalised_function(run: Run, grid: Array) -> Array:
    """Evaluate the network of the last frame, divided by |W|^L, on one-dimensional inputs.

    Parameters
    ----------
    run : Run
        Run with a frame.
    grid : array (k,)
        Inputs.

    Returns
    -------
    array (k,)
    """
    last = run.frames - 1
    norm = run.network.norm_power(run.parameters(last))
    return flat_values(run, last, grid[:, None]) / norm


def _first(cells: Sequence[StudyCell]) -> Run | None:
    """Return the first open run of some cells, or None."""
    return next((cell.record.run for cell in cells if cell.record.run is not None), None)


def _curve(value: Any, x: Array, y: Array) -> Line:
    """Return a line without bars, of one run."""
    return Line(value, x, y, y, y, np.ones(x.size, dtype=np.int64))


def _labelled_examples(run: Run, x: Array, y: Array) -> list[Line]:
    lines = []
    for label, words in LABELS.items():
        is_labelled = run.dataset.y == label
        if is_labelled.any():
            count = np.ones(int(is_labelled.sum()), dtype=np.int64)
            lines.append(
                Line(
                    words,
                    x[is_labelled],
                    y[is_labelled],
                    y[is_labelled],
                    y[is_labelled],
                    count,
                    joined=False,
                )
            )
    return lines
