"""What the panels of a study show, as plain numbers: lines with their means and spreads."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.studies import pictures
from core.studies.cells import StudyCell, check_formula
from core.studies.layout import PanelLayout
from core.studies.lines import Line
from core.studies.moments import END, moments_of
from core.studies.statistics import first_below, slope_of
from core.studies.tables import value_text

Array = NDArray[np.float64]
NONE = ""  # the value of the only line of a panel


def spread_of(values: Array, spread: str, log: bool = False) -> tuple[float, float, float]:
    """Mean, and the ends of the bar: one standard deviation or two standard errors each way.

    Of a single value the ends are that value. For `log` all is done with the logarithms.

    >>> spread_of(np.array([1.0, 3.0]), "sd")
    (2.0, 0.5857864376269049, 3.414213562373095)
    """
    values = values[np.isfinite(values)]
    if log:
        values = np.log(values[values > 0.0])
    if values.size == 0:
        return float("nan"), float("nan"), float("nan")
    mean = float(values.mean())
    half = 0.0
    if values.size > 1 and spread != "none":
        half = float(values.std(ddof=1))
        half *= 2.0 / math.sqrt(values.size) if spread == "2se" else 1.0
    ends = (mean, mean - half, mean + half)
    return (math.exp(ends[0]), math.exp(ends[1]), math.exp(ends[2])) if log else ends


def lines_of(panel: PanelLayout, cells: Sequence[StudyCell]) -> tuple[Line, ...]:
    """The lines of a panel, sorted by what they stand for; empty where no cell has a value."""
    symbols = {name for cell in cells for name in cell.symbols()}
    for formula in panel.y:
        check_formula(formula, symbols)
    kept = [cell for cell in cells if _chosen(cell, panel)]
    if panel.kind == "traces":
        lines = _traces(panel, kept)
    elif panel.kind == "sweep":
        lines = _sweep(panel, kept)
    elif panel.kind == "crossing":
        lines = _crossings(panel, kept)
    elif panel.kind == "activation":
        lines = _activations(panel, kept)
    else:
        kinds = {"points": pictures.points, "function": pictures.functions}
        lines = kinds[panel.kind](kept)
    return tuple(line for line in lines if np.isfinite(line.mean).any())


def _chosen(cell: StudyCell, panel: PanelLayout) -> bool:
    for key, wanted in panel.where:
        allowed = wanted if isinstance(wanted, tuple) else (wanted,)
        if not any(same(cell.setting(key), value) for value in allowed):
            return False
    if panel.exclude_unfit:
        return not cell.at("train_error", END) > 0.0
    return True


def same(one: Any, other: Any) -> bool:
    """Whether two settings are the same, numbers to one part in 1e9."""
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-9)
    return value_text(one) == value_text(other)


def _grouped(cells: Iterable[StudyCell], formula: str) -> list[tuple[Any, list[StudyCell]]]:
    """Cells by the value of a setting, numbers in increasing order, words as they come."""
    groups: dict[Any, list[StudyCell]] = {}
    for cell in cells:
        value = cell.setting(formula) if formula else NONE
        value = tuple(value) if isinstance(value, list) else value
        groups.setdefault(value, []).append(cell)
    if all(isinstance(value, int | float) for value in groups):
        return sorted(groups.items())
    return list(groups.items())


# --------------------------------------------------------------------------------------- traces


def _traces(panel: PanelLayout, cells: Sequence[StudyCell]) -> list[Line]:
    lines = []
    for formula in panel.y:
        for value, group in _grouped(cells, panel.lines):
            found = [_trace(cell, panel, formula) for cell in group]
            line = _mean_trace(formula if len(panel.y) > 1 else value, found, panel)
            if line is not None:
                lines.append(line)
    return lines


def _trace(cell: StudyCell, panel: PanelLayout, formula: str) -> tuple[Array, Array]:
    """x and y of one run, without what the axis cannot show."""
    frames = range(cell.log10_times.size)
    if panel.x == "t":
        x = np.array(cell.log10_times)
    elif panel.x == "step":
        x = cell.steps.astype(np.float64)
    else:
        x = np.array([cell.value(panel.x, frame) for frame in frames])
    y = np.array([cell.value(formula, frame) for frame in frames])
    shown = np.isfinite(x) & ((x > 0.0) | (panel.x_scale == "linear") | (panel.x == "t"))
    return x[shown], y[shown]


def _mean_trace(
    value: Any, traces: Sequence[tuple[Array, Array]], panel: PanelLayout
) -> Line | None:
    """The mean over runs at the x of the first; the others are interpolated where they differ."""
    traces = [trace for trace in traces if trace[0].size]
    if not traces:
        return None
    grid = traces[0][0]
    logarithmic = panel.x_scale == "log" and panel.x != "t"
    rows = np.array([_at(grid, x, y, logarithmic) for x, y in traces])
    log = panel.y_scale == "log"
    ends = np.array([spread_of(column, panel.spread, log) for column in rows.T])
    count = np.isfinite(rows).sum(axis=0)
    return Line(value, grid, ends[:, 0], ends[:, 1], ends[:, 2], count)


def _at(grid: Array, x: Array, y: Array, log: bool) -> Array:
    if np.array_equal(grid, x):
        return y
    order = np.argsort(x, kind="stable")
    places, wanted = (np.log(x[order]), np.log(grid)) if log else (x[order], grid)
    return np.interp(wanted, places, y[order], left=np.nan, right=np.nan)


# ---------------------------------------------------------------------------------------- sweep


def _sweep(panel: PanelLayout, cells: Sequence[StudyCell]) -> list[Line]:
    lines = []
    moments = moments_of(panel)
    for moment in moments:
        for formula in panel.y:
            for value, group in _grouped(cells, panel.lines):
                at = [
                    (x, [c.at(formula, moment) for c in some])
                    for x, some in _grouped(group, panel.x)
                ]
                told = formula if len(panel.y) > 1 else moment.place if len(moments) > 1 else value
                lines.append(_line(told, at, panel))
    return lines


def _line(value: Any, at: Sequence[tuple[Any, Sequence[float]]], panel: PanelLayout) -> Line:
    ends = np.array(
        [spread_of(np.array(ys), panel.spread, panel.y_scale == "log") for _, ys in at]
    ).reshape(-1, 3)
    x = np.array([float(place) for place, _ in at])
    count = np.array([np.isfinite(ys).sum() for _, ys in at], dtype=np.int64)
    return Line(value, x, ends[:, 0], ends[:, 1], ends[:, 2], count)


# ------------------------------------------------------------------------------------- crossing


def _crossings(panel: PanelLayout, cells: Sequence[StudyCell]) -> list[Line]:
    """n* as geometric means over seeds, with the slope and the wider of its two intervals."""
    lines = []
    for value, group in _grouped(cells, panel.lines):
        table = []
        for x, some in _grouped(group, panel.x):
            by_seed: dict[Any, list[StudyCell]] = {}
            for cell in some:
                by_seed.setdefault(cell.seeds, []).append(cell)
            table.append((x, {seed: _crossing(panel, part) for seed, part in by_seed.items()}))
        fit = slope_of(table, "geometric")
        slope = (fit.value, fit.low, fit.high) if math.isfinite(fit.value) else None
        at = [(x, list(found.values())) for x, found in table]
        lines.append(replace(_line(value, at, replace(panel, y_scale="log")), slope=slope))
    return lines


def _crossing(panel: PanelLayout, cells: Sequence[StudyCell]) -> float:
    pairs = sorted((float(cell.setting(panel.along)), cell.at(panel.y[0], END)) for cell in cells)
    along, y = np.array(pairs).T
    return first_below(along, y, panel.level)


# ----------------------------------------------------------------------------------- activation


def _activations(panel: PanelLayout, cells: Sequence[StudyCell]) -> list[Line]:
    """phi of the first cell of each line on [-3, 3]."""
    z = np.linspace(-3.0, 3.0, 241)
    count = np.ones(z.size, dtype=np.int64)
    lines = []
    for value, group in _grouped(cells, panel.lines):
        phi = group[0].record.activation
        if phi is not None:
            y = np.asarray(phi(z), dtype=np.float64)
            lines.append(Line(value, z, y, y, y, count))
    return lines
