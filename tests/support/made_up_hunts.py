"""Hunts without training: the result of a run is a function of its problem."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import final

from core.extremes.hunt import Budget, FileRetention, Hunt, HuntStatus
from core.extremes.objective import VALUE, Objective
from core.extremes.perturbations import space_of
from core.extremes.search import LARGEST_SEED, Ground
from core.problem.problem import Problem
from core.studies.cell_table import Row
from core.studies.study import Study, parse_study
from core.sweep.cell import Task
from core.sweep.control import SweepControl
from core.sweep.pools import Pool, Rows

TEXT = """
title = "A hunt"
source = "telgarsky22"
[data]
kind = "parity"
d = 6
n = 16
[network]
m = 8
[dynamics]
kind = "gd"
step = 0.25
until_log10_time = 0.5
[recording]
frames = 4
"""


@final
class MadeUpPool(Pool):
    """Pool whose rows come from a function, which raises if a run fails; each leaves a file."""

    workers = 1
    shared = True  # nothing is compiled

    def __init__(self, value: Callable[[Problem], float], reason: str = "completed") -> None:
        self.value, self.reason = value, reason
        self.names: list[str] = []
        self.closed = False

    def submit(self, tasks: Sequence[Task]) -> Rows:
        future: Rows = Future()
        future.set_result([self._row(task) for task in tasks])
        return future

    def _row(self, task: Task) -> Row:
        self.names.append(task.name)
        try:
            value = self.value(task.problem())
        except ArithmeticError as error:
            return Row(task.name, "failed", str(error))
        Path(task.path).write_bytes(b"run")
        return Row(task.name, "done", self.reason, moments={VALUE: value})

    def renew(self) -> None:
        """Do nothing, since no process dies."""

    def close(self, at_once: bool = False) -> None:
        self.closed = True


def study_of(more: str = "", text: str = TEXT) -> Study:
    return parse_study(text + more, "small")


def hunt_over(
    over: str,
    folder: Path,
    *,
    study: Study | None = None,
    seed: int = 0,
    seeds: tuple[int, int] = (0, LARGEST_SEED),
    drawn: int = 8,
    best: int = 3,
    least: bool = True,
    flips: bool = False,
) -> Hunt:
    ground = Ground(study or study_of(), seeds, seed)
    question = {"over": over, "seed": str(seed), "drawn": str(drawn)}
    space = space_of(over, ground, flips)
    return Hunt(space, Objective("made up", least), FileRetention(folder, best), question, drawn)


def run(hunt: Hunt, pool: Pool, runs: int, control: SweepControl | None = None) -> list[HuntStatus]:
    return [*hunt.run(pool, control or SweepControl(), Budget(runs))]


def values(hunt: Hunt) -> list[tuple[int, str, int, float]]:
    """Return the results of a hunt's runs, the best first."""
    return [(one.index, one.phase, one.parent, one.value) for one in hunt.ranked_runs()]
