"""Plans of runs, and recipes of their problems: frozen values for the training thread."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from app.state.headings import file_name
from app.state.session import OpenRun
from app.training.studies import with_playback_frames
from core.comparison.names import RunDescription
from core.dynamics.required_groups import groups_of
from core.problem.schedule import coordinate
from core.studies.study import Study
from core.studies.tables import Cell, flatten_sections
from core.study_file.experiment import Experiment

if TYPE_CHECKING:  # loads scipy
    from core.problem.problem import Problem


# The training thread makes the problem: reading or sampling data may take seconds.
class Recipe(ABC):
    """Source from which a problem can be made."""

    @abstractmethod
    def problem(self) -> Problem:
        """Return the problem. Raises InputError if it cannot be made."""

    @abstractmethod
    def groups(self) -> tuple[str, ...]:
        """Return the groups of kernels that training may need. Raises InputError."""


@final
@dataclass(frozen=True, slots=True)
class FromExperiment(Recipe):
    """Data and initial parameters drawn or read by the experiment's settings."""

    experiment: Experiment
    folder: Path | None = None
    title: str = ""
    source: str = ""

    def problem(self) -> Problem:
        from core.problem.problem import resolve_problem

        return resolve_problem(self.experiment, self.folder, self.title, self.source)

    def groups(self) -> tuple[str, ...]:
        return groups_of(self.experiment)


@final
@dataclass(frozen=True, slots=True)
class FromRun(Recipe):
    """Data of a recorded run with other settings.

    The initial parameters are those of the run where network and seed are the same.
    """

    path: Path
    experiment: Experiment

    def problem(self) -> Problem:
        from core.runs import open_run
        from core.training.continuation import restart

        with open_run(self.path) as run:
            return restart(run.problem, self.experiment)

    def groups(self) -> tuple[str, ...]:
        return groups_of(self.experiment)


@final
@dataclass(frozen=True, slots=True)
class ContinuedRun(Recipe):
    """Continuation from the last frame of a run."""

    path: Path

    def problem(self) -> Problem:
        from core.runs import open_run
        from core.training.continuation import continue_problem

        with open_run(self.path) as run:
            return continue_problem(run, None, ())[0]

    def groups(self) -> tuple[str, ...]:
        from core.runs import open_run

        with open_run(self.path) as run:
            return groups_of(run.experiment)


@final
@dataclass(frozen=True, slots=True)
class Branch(Recipe):
    """Continuation from a frame of a run, with the settings of an experiment."""

    path: Path
    frame: int
    experiment: Experiment

    def problem(self) -> Problem:
        from core.runs import open_run
        from core.training.branching import branch

        with open_run(self.path) as run:
            return branch(run, self.frame, self.experiment)

    def groups(self) -> tuple[str, ...]:
        return groups_of(self.experiment)


@final
@dataclass(frozen=True, slots=True)
class PlannedRun:
    """Run before it is opened; `until` and `since` are in the schedule's coordinate.

    `since` is where it continues another run, -inf if it starts at t = 0.
    """

    name: str
    description: RunDescription
    until: float
    recipe: Recipe
    since: float = -math.inf


def plans_of(
    study: Study, cells: Sequence[Cell], base: Study, open_runs: Iterable[OpenRun]
) -> list[PlannedRun]:
    """Plan a run for each cell; file names tell the differences from the study `base`."""
    runs, plans = tuple(open_runs), []
    names = [file_name(study, cell, base) for cell in cells]
    for cell, name in zip(cells, names, strict=True):
        until = float(coordinate(cell.experiment.dynamics.until_log10_time))
        experiment = with_playback_frames(cell.experiment)
        recipe = recipe_of(study, experiment, runs)
        plans.append(PlannedRun(name, describe(experiment, study.title, name), until, recipe))
    return plans


def describe(experiment: Experiment, title: str, name: str, branch: str = "") -> RunDescription:
    """Return the facts that name a run before its recording."""
    return RunDescription(flatten_sections(experiment.model_dump(mode="json")), title, name, branch)


def recipe_of(study: Study, experiment: Experiment, open_runs: Iterable[OpenRun]) -> Recipe:
    """Use data and start of an open run if only its file has them, else the seeds."""
    for run in open_runs:
        if run.data is None or run.live:
            continue
        mine = run.data.run.experiment
        is_from_file = mine.network.init == "file" and mine.network == experiment.network
        if mine.data == experiment.data and (mine.data.embedded or is_from_file):
            return FromRun(run.path, experiment)
    return FromExperiment(experiment, study.folder, study.title, study.source)
