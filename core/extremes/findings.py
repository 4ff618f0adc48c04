"""What a hunt found, as rows of a table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from core.extremes.hunt import DIVERGED, Hunt, Tried
from core.extremes.objective import UNFIT, VERDICT, verdict_words


def table(hunt: Hunt) -> list[dict[str, Any]]:
    """A row for each run: rank, value, how it was found, its cell and seeds, its files, and the
    columns of the study; the best first, and at the end those without a rank.
    """
    rows = [_row(hunt, one, str(rank)) for rank, one in enumerate(hunt.ranked(), start=1)]
    return rows + [_row(hunt, one, "") for one in hunt.unranked()]


def _row(hunt: Hunt, one: Tried, rank: str) -> dict[str, Any]:
    cell = hunt.space.cells[one.place]
    file, arrays = hunt.run_file(one.index), hunt.array_file(one.index)
    experiment = cell.experiment
    own = {
        "run.seed": experiment.run.seed,
        "data.seed": experiment.data.seed,
        "network.seed": experiment.network.seed,
    }
    seeds = {key: value for key, value in own.items() if value is not None} | dict(one.seeds)
    columns = {key: value for key, value in one.row.values.items() if key not in cell.values}
    return {
        "rank": rank,
        "value": one.value,
        "run": one.index,
        "phase": one.phase,
        "parent": "" if one.parent < 0 else str(one.parent),
        **cell.values,
        **{key: str(seeds.get(key, "")) for key in own},
        f"{hunt.space.over}_file": arrays.name if one.moved and arrays.is_file() else "",
        "state": state_of(one),
        "verdict": verdict_words(one.row.moments.get(VERDICT, math.nan)),
        "run_file": file.name if file.is_file() else "",
        **columns,
    }


def state_of(one: Tried) -> str:
    """How a run ended, in words: completed, no number, did not fit, diverged, or why it failed."""
    if one.row.state != "done" or one.row.reason == DIVERGED:
        return one.row.reason or one.row.state
    if one.row.moments.get(UNFIT):
        return "did not fit"
    return "no number" if math.isnan(one.value) else one.row.reason


def seeds_words(one: Tried, values: Mapping[str, Any], over: str) -> str:
    """Where a run stands in the grid, its seeds, and whether what the hunt is over was moved."""
    parts = [f"{key.partition('.')[2] or key} {value}" for key, value in values.items()]
    names = {"run.seed": "seed", "data.seed": "data", "network.seed": "start"}
    parts += [f"{names[key]} {seed}" for key, seed in one.seeds.items()]
    if one.moved:
        parts.append(f"{over} moved")
    return ", ".join(parts) or "as the study has it"
