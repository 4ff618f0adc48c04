"""Cost of a study: a measured model of seconds a cell, and the wall time on N cores.

For each variant and dynamics, seconds = a + b * work, work being a count of multiply-adds that is
known before a cell is run (`work`). a and b are measured: by running a few of the study's own cells
here, the cheapest first, or by the cells that a finished sweep has recorded.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from core.files import temporary_folder
from core.runs import estimated_bytes
from core.studies.cell_table import Row
from core.studies.formulas import VARIANT
from core.studies.statistics import apart_from_seeds
from core.studies.study import Study
from core.studies.tables import Cell
from core.study_file.experiment import Experiment
from core.sweep.cell import expected_experiment, run_batch
from core.sweep.plan import task_of

# Seconds until a worker has imported the program and loaded the compiled kernels.
START_SECONDS = 3.0


@final
@dataclass(frozen=True, slots=True)
class GroupCost:
    """Cost of the cells of one variant.

    `mean`, `most` and `total` are core-seconds of the mean and the dearest cell, and of all;
    `bytes` is the size of their files; `probes` cells were measured, for `probed_seconds` in all.
    """

    name: str
    cells: int
    mean: float
    most: float
    total: float
    bytes: int
    probes: int
    probed_seconds: float


@final
@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of the groups of a study, and its wall time on `cores` cores."""

    groups: tuple[GroupCost, ...]
    cores: int

    @property
    def total(self) -> float:
        """Core-seconds."""
        return sum(group.total for group in self.groups)

    @property
    def bytes(self) -> int:
        """Estimated size of all run files, in bytes."""
        return sum(group.bytes for group in self.groups)

    @property
    def wall(self) -> float:
        """Seconds on these cores.

        The workers' start, and an equal share of all work, but at least the longest cell. The
        share is raised by half a longest cell, since the last cells leave some cores idle.
        """
        longest = max((group.most for group in self.groups), default=0.0)
        # The longest cell is a lower bound, whatever the number of cores.
        return START_SECONDS + max(self.total / self.cores + 0.5 * longest, longest)


def work(experiment: Experiment) -> float:
    """Return the multiply-adds of a cell with explicit defaults, up to a factor of its dynamics."""
    data, network, dynamics = experiment.data, experiment.network, experiment.dynamics
    return dynamics.work(float(data.n or 1), float(network.m or 1), float(data.d or 1))


@final
@dataclass(frozen=True, slots=True)
class _SizedCell:
    """Cell with its work and the bytes of its file."""

    cell: Cell
    work: float
    bytes: int


def estimate(
    study: Study, cores: int, budget: float = 20.0, rows: Mapping[str, Row] | None = None
) -> Cost:
    """Estimate the cost of a study.

    Parameters
    ----------
    study : Study
        Study at its size.
    cores : int
        Cores of the sweep.
    budget : float
        Seconds for measurements in this process, approximately.
    rows : mapping of str to Row, optional
        Rows of finished cells by name, which replace measurements in groups that have some.

    Returns
    -------
    Cost
    """
    groups: dict[str, list[Cell]] = {}
    for cell in study.cells():
        name = f"{cell.values.get(VARIANT, '')} {cell.experiment.dynamics.kind}".strip()
        groups.setdefault(name, []).append(cell)
    each = budget / len(groups)
    return Cost(
        tuple(_group(study, name, cells, each, rows or {}) for name, cells in groups.items()), cores
    )


def _group(
    study: Study, name: str, cells: Sequence[Cell], budget: float, rows: Mapping[str, Row]
) -> GroupCost:
    """Return the cost of a group by a line through its finished cells, or through probes.

    `rows` are those of finished cells by name. Without any, cells are recorded within `budget`
    seconds.
    """
    sized = _size_cells(study, cells)
    measured = [
        (one.work, rows[one.cell.name].seconds)
        for one in sized
        if one.cell.name in rows and rows[one.cell.name].seconds > 0.0
    ]
    points = measured or _probe_cells(study, sized, budget)
    intercept, rate = fit_line(points)
    seconds = [intercept + rate * one.work for one in sized]
    total, size = sum(seconds), sum(one.bytes for one in sized)
    mean, longest, probed = total / len(cells), max(seconds), sum(second for _, second in points)
    return GroupCost(name, len(cells), mean, longest, total, size, len(points), probed)


def _size_cells(study: Study, cells: Sequence[Cell]) -> list[_SizedCell]:
    """Return the cells with work and bytes, computed once for cells that differ in seeds alone."""
    sizes: dict[str, tuple[float, int]] = {}
    sized = []
    for cell in cells:
        key = repr(apart_from_seeds(cell.values))
        if key not in sizes:
            problem = task_of(study, cell, Path("x.msrun")).problem()
            experiment = expected_experiment(problem)
            sizes[key] = (work(experiment), estimated_bytes(problem, experiment.recording.frames))
        sized.append(_SizedCell(cell, *sizes[key]))
    return sized


def _probe_cells(
    study: Study, sized: Sequence[_SizedCell], budget: float
) -> list[tuple[float, float]]:
    """Measure at most five cells here; return (work, seconds) of each, by increasing work.

    The cheapest cell is recorded twice, whatever `budget`, and its second time counts. The cells at
    the quarters follow if they have 1.5 times the work of the one before, while the predicted time
    fits the budget of so many seconds.
    """
    order = sorted(sized, key=lambda one: one.work)
    start = time.perf_counter()
    _time_cell(study, order[0])  # a first cell, untimed, loads the compiled kernels
    points = [(order[0].work, _time_cell(study, order[0]))]
    for place in (len(order) // 4, len(order) // 2, (3 * len(order)) // 4, len(order) - 1):
        one = order[place]
        # Two points of similar work do not determine a rate.
        if one.work <= 1.5 * points[-1][0]:
            continue
        predicted = points[-1][1] * one.work / points[-1][0]
        if time.perf_counter() - start + predicted > budget:
            break
        points.append((one.work, _time_cell(study, one)))
    return points


def _time_cell(study: Study, one: _SizedCell) -> float:
    """Record a cell in a temporary folder, and return its seconds (`Row.seconds`)."""
    with temporary_folder("cost") as folder:
        return run_batch([task_of(study, one.cell, folder / "probe.msrun")])[0].seconds


def fit_line(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Fit seconds = a + b * work, a and b nonnegative, by least squares of relative errors.

    One point, or points of one work, is all rate: an upper bound for smaller cells only.

    >>> a, b = fit_line([(1.0, 1.5), (3.0, 2.5)])
    >>> round(a, 9), round(b, 9)
    (1.0, 0.5)
    """
    import numpy as np
    from scipy.optimize import nnls

    works = np.array([point[0] for point in points])
    seconds = np.maximum([point[1] for point in points], 1e-6)
    if np.ptp(works) <= 1e-9 * works.max():
        return 0.0, float(seconds.mean() / works.mean())
    scale = works.max()
    # Relative errors, since cells take from 5 ms to an hour.
    rows = np.column_stack([1.0 / seconds, works / scale / seconds])
    sizes, _ = nnls(rows, np.ones(works.size))
    return float(sizes[0]), float(sizes[1] / scale)


def lines(cost: Cost) -> list[str]:
    """Return the cost as a table: a head, a line for each group, and the totals."""
    head = f"{'':<34}{'cells':>7}{'mean s':>10}{'most s':>10}{'core s':>11}{'MB':>9}  measured"
    groups = [
        f"{group.name:<34}{group.cells:>7}{group.mean:>10.3g}{group.most:>10.3g}"
        f"{group.total:>11.4g}{group.bytes / 1e6:>9.3g}  {group.probes} cells, "
        f"{group.probed_seconds:.2g} s"
        for group in cost.groups
    ]
    last = (
        f"{cost.total:.4g} core-seconds ({cost.total / 3600:.3g} core-hours), "
        f"{cost.bytes / 1e6:.3g} MB; about {_time(cost.wall)} on {cost.cores} cores."
    )
    return [head, *groups, last]


def summary(cost: Cost) -> str:
    """Return the cost in one line."""
    measured = sum(group.probes for group in cost.groups)
    cells = "1 cell" if measured == 1 else f"{measured} cells"
    cores = "1 core" if cost.cores == 1 else f"{cost.cores} cores"
    return (
        f"About {_time(cost.wall)} on {cores}, {cost.bytes / 1e6:.3g} MB (estimated from {cells})."
    )


def _time(seconds: float) -> str:
    """Return a duration as text in s, min or h."""
    if not math.isfinite(seconds) or seconds < 120.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200.0 else f"{seconds / 3600:.1f} h"
