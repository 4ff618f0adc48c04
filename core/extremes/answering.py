"""From a question to the hunt that answers it, and to who works for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from core.extremes.hunt import Hunt, Keeping
from core.extremes.moved import space_of
from core.extremes.objective import Objective, objective_of
from core.extremes.question import Question
from core.extremes.search import DRAWN, GENERATION
from core.extremes.space import LARGEST_SEED, Ground
from core.studies.study import Study
from core.sweep.plan import task_of
from core.sweep.pools import Pool, pool_for
from core.training.control import Control


def told(question: Question, objective: Objective) -> Mapping[str, str]:
    """The words by which a ledger tells hunts apart, by key."""
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


def hunt_for(study: Study, question: Question, keeping: Keeping, size: str | None) -> Hunt:
    """The hunt that answers a question about a study as it stands, and stands on at a `size`.

    Raises InputError for what is neither a formula nor a statement, for what cannot be varied, and
    for a folder with another hunt.
    """
    objective = objective_of(question.text, question.least, question.frames, symbols(study))
    objective = replace(objective, fit=question.fit)
    ground = Ground(study, question.seeds or (0, LARGEST_SEED), question.seed)
    with_test = "test_error" in objective.text
    space = space_of(question.over, ground, question.flips, with_test)
    return Hunt(space, objective, keeping, told(question, objective), question.drawn or DRAWN, size)


def symbols(study: Study) -> tuple[str, ...]:
    """Names of sizes and factors that formulas may use."""
    from core.studies.derived import FACTOR, SYMBOLS

    factors = [key.partition(".")[2] for key in study.axes if key.startswith(f"{FACTOR}.")]
    return (*SYMBOLS, *factors)


def pool_of(made: Hunt, jobs: int | None, cluster: str | None, control: Control) -> Pool:
    """Who trains its runs: so many processes here, or a cluster at an address."""
    task = task_of(made.space.ground.study, made.space.cells[0], made.run_file(0))
    return pool_for([task] * max(GENERATION, made.drawn), jobs, cluster, control)
