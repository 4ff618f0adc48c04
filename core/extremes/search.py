"""Order of a hunt's runs: draws, and then neighbours of the best.

First the study itself and `drawn` draws in all; from then on three of four runs are near one of the
best, and each fourth is drawn still. They come in generations, and a proposal depends on the
values of earlier generations alone: on no clock, and not on how many run at a time. So a hunt of
more runs starts with those of a shorter one.

The length of a move follows the 1/5 rule (Rechenberg, Evolutionsstrategie, 1973): steps grow if
more than a fifth of a generation's refined runs are better than the best before them, and shrink
if fewer are.
"""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import ValidationError

from core.errors import InputError
from core.studies.study import Study
from core.studies.tables import Cell
from core.study_file.experiment import Experiment
from core.study_file.validation import clauses_of

# ------------------------------------------------------------------------------------------- points
# A `Point` holds the differences of a run from the study itself: seeds by their keys, and arrays of
# moved data or starts, which are saved to a file. All draws use the given generator, so that a hunt
# is reproducible.

Array = NDArray[np.float64]
RUN, DATA, NETWORK = "run.seed", "data.seed", "network.seed"
SEEDS = (RUN, DATA, NETWORK)
LARGEST_SEED = 2**31 - 1
MOST_SHUFFLED = 1_000_000  # largest range of seeds drawn without repetition


@final
@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """Seeds, and the arrays of a data set (x, y) or of a start, by name; None if seeds give all.

    `place` is the cell of the study's grid, by its number.
    """

    place: int
    seeds: Mapping[str, int] = field(default_factory=dict)
    arrays: Mapping[str, Array] | None = None

    @property
    def digest(self) -> str:
        """First 32 hex digits of the SHA-256 of the whole point."""
        digest = hashlib.sha256(repr((self.place, sorted(self.seeds.items()))).encode())
        for name, array in sorted((self.arrays or {}).items()):
            digest.update(f"{name} {array.shape} ".encode())
            digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
        return digest.hexdigest()[:32]


@final
@dataclass(frozen=True)
class Ground:
    """Study without its seeds: the cells that a hunt visits, and the seeds that it may draw."""

    study: Study
    seeds: tuple[int, int] = (0, LARGEST_SEED)
    seed: int = 0  # of the search's own draws

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Cells of the grid, without its axes of seeds."""
        return without_seeds(self.study).cells()

    @cached_property
    def _order(self) -> NDArray[np.int64] | None:
        """Range of seeds in the order in which they are drawn; None for one that is too long."""
        first, last = self.seeds
        if last - first >= MOST_SHUFFLED:
            return None
        order = np.random.default_rng([self.seed, 1]).permutation(last - first + 1)
        return np.asarray(first + order, dtype=np.int64)

    def draw_seed(self, number: int, rng: Generator) -> int | None:
        """Return the seed of a draw.

        `number` counts draws from 0: a range of at most `MOST_SHUFFLED` seeds is used without
        repetition, and returns None after its last. Seeds of longer ranges come from `rng`.
        """
        if self._order is None:
            return self.draw_any_seed(rng)
        return int(self._order[number]) if number < self._order.size else None

    def draw_any_seed(self, rng: Generator) -> int:
        """Return a seed of the range, which may have been drawn before."""
        first, last = self.seeds
        return int(rng.integers(first, last, endpoint=True))


def without_seeds(study: Study) -> Study:
    """Return the study with the first value of each axis of seeds in place of the axis."""
    for key in SEEDS:
        if key in study.axes:
            study = study.with_value(key, study.axes[key][0])
    return study


class Space(ABC):
    """Points of a study. The constructor raises InputError for a study that has none."""

    over: str

    def __init__(self, ground: Ground) -> None:
        self.ground = ground

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Cells of the study's grid that the hunt visits; a point's `place` is an index."""
        return self.ground.cells

    def start_at(self, place: int) -> Point:
        """Return the point of a cell of the study itself."""
        return Point(place)

    @abstractmethod
    def fresh(self, rng: Generator, number: int) -> Point | None:
        """Return the draw of a number; None if no draw is left."""

    @abstractmethod
    def draw_neighbour(self, rng: Generator, parent: Point, step: float) -> Point | None:
        """Return a neighbour of a point.

        Parameters
        ----------
        rng : Generator
            Random numbers.
        parent : Point
            Point.
        step : float
            Distance relative to the size of the point's arrays, 0 to 1.

        Returns
        -------
        Point or None
            None if the proposal is no valid point.
        """

    def experiment(self, point: Point, file: Path) -> Experiment:
        """Return the experiment of a point, whose arrays are in `file`. Raises InputError."""
        experiment = self.cells[point.place].experiment
        tables: dict[str, dict[str, Any]] = {}
        for key, seed in point.seeds.items():
            section, _, name = key.partition(".")
            tables.setdefault(section, {})[name] = seed
        sections = {
            section: getattr(experiment, section).model_copy(update=table)
            for section, table in tables.items()
        }
        return experiment.model_copy(update=sections)


class ArraySpace(Space):
    """Points that may have arrays of their own beside their seeds."""

    def experiment(self, point: Point, file: Path) -> Experiment:
        experiment = super().experiment(point, file)
        return experiment if point.arrays is None else self.with_file(experiment, file)

    @abstractmethod
    def with_file(self, experiment: Experiment, file: Path) -> Experiment:
        """Return the experiment with its arrays replaced by those of a file."""


@final
class SeedSpace(Space):
    """Seeds: run.seed, and those of data and network if the study has them.

    Near a point are those with its data and another start, and those with its start and other
    data: seeds themselves have no neighbours.
    """

    over = "seeds"

    def start_at(self, place: int) -> Point:
        seeds = {key: self._own(place, key) for key in SEEDS}
        return Point(place, {key: seed for key, seed in seeds.items() if seed is not None})

    def fresh(self, rng: Generator, number: int) -> Point | None:
        place, round_number = number % len(self.cells), number // len(self.cells)
        seed = self.ground.draw_seed(round_number, rng)
        if seed is None:
            return None
        keys = [key for key in (DATA, NETWORK) if self._own(place, key) is not None]
        return Point(place, {RUN: seed} | {key: self.ground.draw_any_seed(rng) for key in keys})

    def draw_neighbour(self, rng: Generator, parent: Point, step: float) -> Point | None:
        new, of_data = self.ground.draw_any_seed(rng), bool(rng.integers(2))
        if not of_data or (NETWORK not in parent.seeds and not self._has_start(parent)):
            return replace(parent, seeds={**parent.seeds, NETWORK: new})
        # If the data have no seed, run.seed draws them first.
        own = DATA in parent.seeds or self._own(parent.place, DATA) is not None
        return replace(parent, seeds={**parent.seeds, DATA if own else RUN: new})

    def _own(self, place: int, key: str) -> Any:
        """Return the seed that the study itself gives for a key in a cell, or None."""
        section, _, name = key.partition(".")
        return getattr(getattr(self.cells[place].experiment, section), name)

    def _has_start(self, point: Point) -> bool:
        """Return True if the start does not come from run.seed: data can change without it."""
        network = self.cells[point.place].experiment.network
        return network.seed is not None or network.init == "file"


def replace_section(
    experiment: Experiment, section: str, table: dict[str, Any], reason: str
) -> Experiment:
    """Return the experiment with another section.

    Parameters
    ----------
    experiment : Experiment
        Experiment.
    section : str
        Name of the section.
    table : dict
        Content of the section.
    reason : str
        Start of the error.

    Returns
    -------
    Experiment

    Raises
    ------
    InputError
        The section does not go with the rest of the experiment.
    """
    names = type(experiment).model_fields
    parts: dict[str, Any] = {name: getattr(experiment, name) for name in names}
    try:
        return Experiment.model_validate({**parts, section: table})
    except ValidationError as error:
        text = "; ".join(clause.text for clause in clauses_of(error, {section: table}))
        raise InputError(f"{reason}: {text}.") from error


# --------------------------------------------------------------------------------------- the search

Phase = Literal["study", "drawn", "refined"]
DRAWN = 32  # default number of runs drawn first
GENERATION = 8
EACH_DRAWN = 4  # every fourth later run is drawn
PARENTS = 4  # number of best runs that are refined
FIRST_STEP, LEAST_STEP, MOST_STEP = 0.3, 1e-4, 1.0
GROWTH, FAILURES = 1.3, 4  # factor of the step per success; FAILURES failures undo it
TRIES = 20  # attempts to find an untried point


@final
@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """Run to try: its number, its phase, and its parent (-1 for none)."""

    index: int
    phase: Phase
    parent: int
    point: Point


@final
class Search:
    """Generations of a hunt: `propose` one, `add_scores` of its runs, and repeat."""

    def __init__(self, space: Space, n_random: int = DRAWN) -> None:
        self.space = space
        self.step = FIRST_STEP
        self._first = n_random
        self._seed = space.ground.seed
        self._count = self._draws = 0
        self._scores: dict[int, float] = {}
        self._best: list[Candidate] = []  # the best first; their points alone are kept
        self._tried: set[str] = set()

    def propose(self) -> tuple[Candidate, ...]:
        """Return the next generation; empty once every point was tried."""
        size = self._first if self._count == 0 else GENERATION
        candidates: list[Candidate] = []
        for index in range(self._count, self._count + size):
            candidate = self._candidate(index)
            if candidate is not None:
                self._tried.add(candidate.point.digest)
                candidates.append(candidate)
        self._count += size
        return tuple(candidates)

    def add_scores(self, generation: tuple[Candidate, ...], scores: Mapping[int, float]) -> None:
        """Take the scores of a generation's runs, by their numbers.

        The least score is the best, and one that is not finite is none. Runs without a score were
        not tried.
        """
        refined = [one for one in generation if one.phase == "refined" and one.index in scores]
        before = self._rank(self._best[0])[0] if self._best else math.inf
        better = sum(scores[one.index] < before for one in refined)
        self._scores |= scores
        self._best += [one for one in generation if math.isfinite(scores.get(one.index, math.inf))]
        self._best.sort(key=self._rank)
        del self._best[PARENTS:]
        if refined:
            power = better - (len(refined) - better) / FAILURES
            self.step = min(self.step * GROWTH**power, MOST_STEP)
            # After no neighbour improves any more, restart with large steps.
            if self.step < LEAST_STEP:
                self.step = FIRST_STEP

    def _rank(self, candidate: Candidate) -> tuple[float, int]:
        return self._scores[candidate.index], candidate.index

    def _candidate(self, index: int) -> Candidate | None:
        # One generator per run: its draws do not affect other runs.
        rng = np.random.default_rng([self._seed, 2, index])
        if index < min(len(self.space.cells), self._first):
            return Candidate(index, "study", -1, self.space.start_at(index))
        wants_drawn = index < self._first or index % EACH_DRAWN == EACH_DRAWN - 1
        if wants_drawn or not self._best:
            return self._draw_candidate(index, rng) or self._refine_candidate(index, rng)
        return self._refine_candidate(index, rng) or self._draw_candidate(index, rng)

    def _draw_candidate(self, index: int, rng: np.random.Generator) -> Candidate | None:
        while (point := self.space.fresh(rng, self._draws)) is not None:
            self._draws += 1
            if point.digest not in self._tried:
                return Candidate(index, "drawn", -1, point)
        return None

    def _refine_candidate(self, index: int, rng: np.random.Generator) -> Candidate | None:
        if not self._best:
            return None
        for _ in range(TRIES):
            # Half of the draws are near the best, a quarter near the second, and so on.
            rank = min(int(rng.geometric(0.5)) - 1, len(self._best) - 1)
            parent = self._best[rank]
            point = self.space.draw_neighbour(rng, parent.point, self.step)
            if point is not None and point.digest not in self._tried:
                return Candidate(index, "refined", parent.index, point)
        return None
