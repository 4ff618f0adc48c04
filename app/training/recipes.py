"""How the problem of a run is made: small frozen values, carried out in the training thread."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from core.dynamics.needs import groups_of
from core.study_file.experiment import Experiment

if TYPE_CHECKING:  # loads scipy
    from core.problem.problem import Problem


# A problem is made in the training thread: its data may take seconds to read or draw.
class Recipe(ABC):
    """Something that a problem can be made from."""

    @abstractmethod
    def problem(self) -> Problem:
        """The problem; raises InputError with a sentence when it cannot be made."""

    @abstractmethod
    def groups(self) -> tuple[str, ...]:
        """The kernels that training it may need (core.compiled.warming); raises InputError."""


@final
@dataclass(frozen=True, slots=True)
class FromExperiment(Recipe):
    """Data and initial parameters drawn or read as the experiment says."""

    experiment: Experiment
    folder: Path | None = None
    title: str = ""
    source: str = ""

    def problem(self) -> Problem:
        from core.problem.problem import resolve

        return resolve(self.experiment, self.folder, self.title, self.source)

    def groups(self) -> tuple[str, ...]:
        return groups_of(self.experiment)


@final
@dataclass(frozen=True, slots=True)
class FromRun(Recipe):
    """The data of a recorded run with other settings; its initial parameters where network and
    seed are the same."""

    path: Path
    experiment: Experiment

    def problem(self) -> Problem:
        from core.runs import open_run
        from core.training.continuation import restarted

        with open_run(self.path) as run:
            return restarted(run.problem, self.experiment)

    def groups(self) -> tuple[str, ...]:
        return groups_of(self.experiment)


@final
@dataclass(frozen=True, slots=True)
class Further(Recipe):
    """Onwards from the last frame of a run."""

    path: Path

    def problem(self) -> Problem:
        from core.runs import open_run
        from core.training.continuation import continued

        with open_run(self.path) as run:
            return continued(run, None, ())[0]

    def groups(self) -> tuple[str, ...]:
        from core.runs import open_run

        with open_run(self.path) as run:
            return groups_of(run.experiment)


@final
@dataclass(frozen=True, slots=True)
class Branch(Recipe):
    """From a frame of a run, with the settings of an experiment."""

    path: Path
    frame: int
    experiment: Experiment

    def problem(self) -> Problem:
        from core.runs import open_run
        from core.training.branching import branched

        with open_run(self.path) as run:
            return branched(run, self.frame, self.experiment)

    def groups(self) -> tuple[str, ...]:
        return groups_of(self.experiment)
