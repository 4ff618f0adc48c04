"""Hunts made from questions, and tables of their runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from core.extremes.hunt import DIVERGED, FileRetention, Hunt, TrialResult
from core.extremes.objective import (
    UNFIT,
    VERDICT,
    Objective,
    check_labels,
    objective_of,
    verdict_words,
)
from core.extremes.perturbations import space_of
from core.extremes.question import Question
from core.extremes.search import DRAWN, GENERATION, LARGEST_SEED, Ground
from core.studies.study import Study
from core.sweep.plan import task_of
from core.sweep.pools import Pool, pool_for
from core.training.control import Control


def ledger_identity(question: Question, objective: Objective) -> Mapping[str, str]:
    """Return the words that identify a hunt in its ledger, by key."""
    statement = f"{objective.kind}:{objective.statement}" if objective.statement else ""
    seeds = question.seeds
    words = {
        "sense": "minimise" if question.least else "maximise",
        "objective": statement or question.text,
        "frames": question.frames.words,
        "over": question.over,
        "seed": str(question.seed),
        "seeds": "any" if seeds is None else f"{seeds[0]}-{seeds[1]}",
        "drawn": str(question.drawn or DRAWN),
        "labels": "flipped" if question.flips else "kept",
    }
    return words | ({"runs": "that fit"} if question.fit else {})


def hunt_for(study: Study, question: Question, retention: FileRetention, size: str | None) -> Hunt:
    """Make the hunt that answers a question about a study.

    Parameters
    ----------
    study : Study
        Study at the size.
    question : Question
        Objective, frames, space and seeds.
    retention : FileRetention
        Folder, and the files to keep.
    size : str or None
        Name of the study's size.

    Returns
    -------
    Hunt

    Raises
    ------
    InputError
        The text is neither a formula nor a statement, the space cannot be varied, or the folder
        contains another hunt.
    """
    objective = objective_of(question.text, question.least, question.frames, symbols(study))
    objective = replace(objective, fit=question.fit)
    check_labels(objective, (cell.experiment for cell in study.cells()))
    ground = Ground(study, question.seeds or (0, LARGEST_SEED), question.seed)
    with_test = "test_error" in objective.text
    space = space_of(question.over, ground, question.flips, with_test)
    return Hunt(
        space,
        objective,
        retention,
        ledger_identity(question, objective),
        question.drawn or DRAWN,
        size,
    )


def symbols(study: Study) -> tuple[str, ...]:
    """Return the names of sizes and of the study's factors that formulas may use."""
    from core.studies.formulas import FACTOR, SYMBOLS

    factors = [key.partition(".")[2] for key in study.axes if key.startswith(f"{FACTOR}.")]
    return (*SYMBOLS, *factors)


def pool_of(hunt: Hunt, jobs: int | None, cluster: str | None, control: Control) -> Pool:
    """Return the workers for a hunt's runs.

    Parameters
    ----------
    hunt : Hunt
        Hunt.
    jobs : int or None
        Number of processes, by default one for each core.
    cluster : str or None
        Address of a scheduler, which replaces processes.
    control : Control
        Stops and pauses runs in this process.

    Returns
    -------
    Pool
    """
    task = task_of(hunt.space.ground.study, hunt.space.cells[0], hunt.run_file(0))
    return pool_for([task] * max(GENERATION, hunt.drawn), jobs, cluster, control)


def table(hunt: Hunt) -> list[dict[str, Any]]:
    """Return a row for each run, the best first, and runs without a rank last.

    The row has rank, value, phase, cell and seeds, files, and the columns of the study.
    """
    rows = [_row(hunt, one, str(rank)) for rank, one in enumerate(hunt.ranked_runs(), start=1)]
    return rows + [_row(hunt, one, "") for one in hunt.unranked_runs()]


def _row(hunt: Hunt, one: TrialResult, rank: str) -> dict[str, Any]:
    """Return the row of a run; `rank` is "" without one."""
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


def state_of(one: TrialResult) -> str:
    """Return the end of a run in words.

    "completed", "no number", "did not fit" or "diverged"; the reason if the run failed.
    """
    if one.row.state != "done" or one.row.reason == DIVERGED:
        return one.row.reason or one.row.state
    if one.row.moments.get(UNFIT):
        return "did not fit"
    return "no number" if math.isnan(one.value) else one.row.reason


def seeds_words(one: TrialResult, values: Mapping[str, Any], over: str) -> str:
    """Return a run's place in the grid and its seeds in words.

    Parameters
    ----------
    one : TrialResult
        Run.
    values : mapping of str to value
        Values of the study's axes in the run's cell, by dotted key.
    over : str
        Name of the space, which is named if its data or start were moved.

    Returns
    -------
    str
    """
    parts = [f"{key.partition('.')[2] or key} {value}" for key, value in values.items()]
    names = {"run.seed": "seed", "data.seed": "data", "network.seed": "start"}
    parts += [f"{names[key]} {seed}" for key, seed in one.seeds.items()]
    if one.moved:
        parts.append(f"{over} moved")
    return ", ".join(parts) or "as the study has it"
