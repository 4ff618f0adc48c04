"""Among what a hunt looks: points that are drawn anew, and points near one that is known.

A `Point` is what distinguishes a run from the study itself: seeds by their keys, and arrays that go
into a file where data or a start have been moved. Everything is drawn from the generator that is
handed in, so that a hunt proposes the same again.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import ValidationError

from core.errors import InputError
from core.studies.study import Cell, Study
from core.study_file.experiment import Experiment
from core.study_file.validation import clauses_of

Array = NDArray[np.float64]
RUN, DATA, NETWORK = "run.seed", "data.seed", "network.seed"
SEEDS = (RUN, DATA, NETWORK)
LARGEST_SEED = 2**31 - 1
MOST_SHUFFLED = 1_000_000  # seeds of a range that are drawn without one twice


@final
@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """Seeds, and the arrays of a data set (x, y) or of a start, by name; none where seeds say all.

    `place` is the cell of the study's grid, by its number.
    """

    place: int
    seeds: Mapping[str, int] = field(default_factory=dict)
    arrays: Mapping[str, Array] | None = None

    @property
    def digest(self) -> str:
        """What tells points apart: SHA-256 of all of it."""
        told = hashlib.sha256(repr((self.place, sorted(self.seeds.items()))).encode())
        for name, array in sorted((self.arrays or {}).items()):
            told.update(f"{name} {array.shape} ".encode())
            told.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
        return told.hexdigest()[:32]


@final
@dataclass(frozen=True)
class Ground:
    """A study without its seeds: the cells that a hunt goes round, and the seeds it may draw."""

    study: Study
    seeds: tuple[int, int] = (0, LARGEST_SEED)
    seed: int = 0  # of the hunt's own draws

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of the grid, without its axes of seeds."""
        return without_seeds(self.study).cells()

    @cached_property
    def _order(self) -> NDArray[np.int64] | None:
        """A range of seeds in the order in which they are drawn; None for one that is too long."""
        first, last = self.seeds
        if last - first >= MOST_SHUFFLED:
            return None
        order = np.random.default_rng([self.seed, 1]).permutation(last - first + 1)
        return np.asarray(first + order, dtype=np.int64)

    def drawn(self, number: int, rng: Generator) -> int | None:
        """The seed of the draw of this number, none of a short range twice; None after the last."""
        if self._order is None:
            return self.any(rng)
        return int(self._order[number]) if number < self._order.size else None

    def any(self, rng: Generator) -> int:
        """A seed of the range."""
        first, last = self.seeds
        return int(rng.integers(first, last, endpoint=True))


def without_seeds(study: Study) -> Study:
    """The study with the first value of each axis of seeds in place of the axis."""
    for key in SEEDS:
        if key in study.axes:
            study = study.with_value(key, study.axes[key][0])
    return study


class Space(ABC):
    """Points of a study. Raises InputError, when it is made, for a study that has none."""

    over: str

    def __init__(self, ground: Ground) -> None:
        self.ground = ground

    @property
    def cells(self) -> tuple[Cell, ...]:
        return self.ground.cells

    def begin(self, place: int) -> Point:
        """A cell as the study has it."""
        return Point(place)

    @abstractmethod
    def fresh(self, rng: Generator, number: int) -> Point | None:
        """The draw of a number; None where nothing is left to draw."""

    @abstractmethod
    def near(self, rng: Generator, parent: Point, step: float) -> Point | None:
        """A point near another one; `step` is how far relative to its size, 0 to 1. None where
        there is none."""

    def experiment(self, point: Point, file: Path) -> Experiment:
        """The experiment of a point, whose arrays lie in `file`. InputError where it cannot be."""
        experiment = self.cells[point.place].experiment
        tables: dict[str, dict[str, Any]] = {}
        for key, seed in point.seeds.items():
            section, _, name = key.partition(".")
            tables.setdefault(section, {})[name] = seed
        sections = {
            section: getattr(experiment, section).model_copy(update=table)
            for section, table in tables.items()
        }
        experiment = experiment.model_copy(update=sections)
        return experiment if point.arrays is None else self.with_file(experiment, file)

    def with_file(self, experiment: Experiment, file: Path) -> Experiment:
        """The experiment with the arrays of a file in their place."""
        raise NotImplementedError(f"{self.over}: points without arrays")


@final
class SeedSpace(Space):
    """Seeds: run.seed, and those of data and network where the study has them.

    Near a point are those with its data and another start, and those with its start and other
    data: seeds themselves have no neighbours.
    """

    over = "seeds"

    def begin(self, place: int) -> Point:
        known = {key: self._own(place, key) for key in SEEDS}
        return Point(place, {key: seed for key, seed in known.items() if seed is not None})

    def fresh(self, rng: Generator, number: int) -> Point | None:
        place, drawn = number % len(self.cells), number // len(self.cells)
        seed = self.ground.drawn(drawn, rng)
        if seed is None:
            return None
        others = [key for key in (DATA, NETWORK) if self._own(place, key) is not None]
        return Point(place, {RUN: seed} | {key: self.ground.any(rng) for key in others})

    def near(self, rng: Generator, parent: Point, step: float) -> Point | None:
        new, of_data = self.ground.any(rng), bool(rng.integers(2))
        if not of_data or (NETWORK not in parent.seeds and not self._has_start(parent)):
            return replace(parent, seeds={**parent.seeds, NETWORK: new})
        # Without a seed of their own the data are what run.seed draws first.
        own = DATA in parent.seeds or self._own(parent.place, DATA) is not None
        return replace(parent, seeds={**parent.seeds, DATA if own else RUN: new})

    def _own(self, place: int, key: str) -> Any:
        section, _, name = key.partition(".")
        return getattr(getattr(self.cells[place].experiment, section), name)

    def _has_start(self, point: Point) -> bool:
        """Whether the start does not come from run.seed: then the data can change without it."""
        network = self.cells[point.place].experiment.network
        return network.seed is not None or network.init == "file"


def made(experiment: Experiment, section: str, table: dict[str, Any], why: str) -> Experiment:
    """The experiment with another section; InputError, which begins with `why`, where that does
    not go with the rest of it."""
    names = type(experiment).model_fields
    parts: dict[str, Any] = {name: getattr(experiment, name) for name in names}
    try:
        return Experiment.model_validate({**parts, section: table})
    except ValidationError as error:
        text = "; ".join(clause.text for clause in clauses_of(error, {section: table}))
        raise InputError(f"{why}: {text}.") from error
