"""Figures, claims, tables and points of a sweep say the same of the same runs, to the bit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.studies.cell_table import Row, means, points, rows_of
from core.studies.cells import RecordedValues, StudyCell, settings_of
from core.studies.claims import Quantity
from core.studies.layout import PanelLayout, parse_layout
from core.studies.measures.registry import measure
from core.studies.panel_lines import lines_of
from core.studies.statistics import group_by
from core.studies.study import Study, load_study, parse_study
from core.studies.trials import select_trials, trials_of
from tests.support.small_studies import BASE
from tests.support.sweeps import with_claims

NOISE = np.random.default_rng(11).uniform(0.8, 1.25, 997)
CROSSING = ("crossing", "crossing_slope")


def noise(cell: Any) -> float:
    return float(NOISE[sum(cell.name.encode()) * 31 % NOISE.size])


def closed() -> RecordedValues:
    raise AssertionError("the row says all that is asked")


def rows_with(study: Study, values: Any) -> dict[str, Row]:
    """Return a finished row for every cell, with made-up last values."""
    return {
        cell.name: Row(cell.name, "done", "completed", values=values(cell))
        for cell in study.cells()
    }


def shown(study: Study, rows: dict[str, Row]) -> list[StudyCell]:
    """Return the cells of a figure that is drawn from rows alone."""
    return [
        StudyCell(
            settings_of(cell.experiment) | dict(cell.values),
            closed,
            known=rows[cell.name].all_values,
        )
        for cell in study.cells()
    ]


def claimed(study: Study, rows: dict[str, Row], quantity: Quantity) -> Any:
    """Return a quantity as `check` measures it."""
    trials = trials_of(study, rows, {name: Path(name) for name in rows})
    return measure(select_trials(trials, quantity), quantity)


def pairs(study: Study) -> Iterator[tuple[PanelLayout, Any, Quantity]]:
    """Yield panels of crossings, a line of each, and what claims measure on that line's runs."""
    layout = study.layout()
    for panel in layout.panels:
        for claim in study.claims if panel.kind == "crossing" else ():
            for quantity in filter(None, (claim, claim.against)):
                where, options = dict(quantity.where), quantity.options
                line = where.pop(panel.lines, None)
                own = where.keys() <= {panel.x} if quantity.measure == "crossing" else not where
                same = (panel.y[0], panel.along, panel.level, panel.x) == tuple(
                    options.get(key) for key in ("y", "along", "level", "x")
                )
                allowed = dict(panel.where).get(panel.lines, (line,))
                if quantity.measure in CROSSING and own and same and line in allowed:
                    yield panel, line, quantity


@pytest.mark.parametrize(
    ("name", "count"), [("telgarsky22-table-1", 17), ("telgarsky22-table-1-scalar", 3)]
)
def test_crossings_and_slopes_of_figures_and_claims(
    name: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """n* in the middle of each curve's grid up to a factor of its seed, so that seeds differ.

    A bootstrap of 50 draws instead of 1,000: both sides must draw the same.
    """
    monkeypatch.setattr("core.studies.statistics.RESAMPLES", 50)
    study = load_study(name).at_size("quick")

    def curve(cell: Any) -> tuple[Any, ...]:
        return cell.values.get("variant"), cell.experiment.network.m, cell.experiment.data.d

    def along(cell: Any) -> int:
        return int(cell.experiment.data.n + getattr(cell.experiment.dynamics, "first_batch", 0))

    grids = {
        at: [along(cell) for cell in some] for at, some in group_by(study.cells(), curve).items()
    }

    def values(cell: Any) -> dict[str, float]:
        grid = grids[curve(cell)]
        needed = math.sqrt(min(grid) * max(grid)) * NOISE[cell.values["run.seed"]]
        return {"test_error": 0.1 - 0.05 * math.log(along(cell) / needed)}

    rows = rows_with(study, values)
    cells, compared = shown(study, rows), 0
    drawn = cache(lambda panel: lines_of(panel, cells))
    for panel, value, quantity in pairs(study):
        (line,) = (one for one in drawn(panel) if one.value == value)
        found = claimed(study, rows, quantity)
        if quantity.measure == "crossing":
            at = line.x == dict(quantity.where)[panel.x]
            assert line.mean[at].tolist() == [found.value], quantity
        else:
            assert line.slope == (found.value, found.low, found.high), quantity
            assert math.isfinite(found.value)
        compared += 1
    assert compared == count


def test_means_and_their_spread() -> None:
    """Four seeds at two widths: mean and interval of claim, point and table, and a panel's bar."""
    text = BASE.format(until=0.5) + '[axes]\n"network.m" = [4, 8]\n"run.seed" = [0, 1, 2, 3]\n'
    study = parse_study(text, "widths")
    rows = rows_with(study, lambda cell: {"risk": noise(cell)})
    table = rows_of(study, rows)
    (line,) = lines_of(
        parse_layout({"panels": [{"kind": "sweep", "x": "network.m", "y": "risk"}]}, "t").panels[0],
        shown(study, rows),
    )
    claim = 'measure = "risk"\nwhere = {{ "network.m" = {} }}\ncompare = "~"\nvalue = 0.0\n'
    told = means(table, ["risk"], exclude_unfit=False)
    paths = {name: Path(name) for name in rows}
    for k, point in enumerate(points(table, paths, "network.m", "risk")):
        spread = point.spread
        (asked,) = with_claims(study, claim.format(point.x)).claims
        found = claimed(study, rows, asked)
        assert (found.value, found.low, found.high) == (spread.mean, spread.low, spread.high)
        assert [told[k][f"risk_{part}"] for part in ("mean", "sd", "low", "high")] == [
            spread.mean,
            spread.sd,
            spread.low,
            spread.high,
        ]
        assert (line.mean[k], line.high[k]) == (spread.mean, spread.mean + spread.sd)
