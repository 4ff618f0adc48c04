"""Which runs a hunt tries, and in which order: drawn ones, and then ones near the best.

First the study itself and `drawn` draws in all; from then on three of four runs are near one of the
best, and each fourth is drawn still. They come in generations, and what is proposed depends on the
values of earlier generations alone: on no clock, and not on how many run at a time. So a hunt of
more runs begins with those of a shorter one.

How far a point is moved follows the 1/5 rule (Rechenberg, Evolutionsstrategie, 1973): steps grow
where more than a fifth of a generation's refined runs are better than the best before them, and
shrink where fewer are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from core.extremes.space import Point, Space

Phase = Literal["study", "drawn", "refined"]
DRAWN = 32  # runs that are drawn first, unless another number is given
GENERATION = 8
EACH_DRAWN = 4  # of the runs after the first ones each fourth is drawn
PARENTS = 4  # the best runs, which are refined
FIRST_STEP, LEAST_STEP, MOST_STEP = 0.3, 1e-4, 1.0
GROWTH, FAILURES = 1.3, 4  # of the step at each success; so many failures take it back
TRIES = 20  # to find what was not tried yet


@final
@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A run to try: its number, how it was found, and from which run. -1 is none."""

    index: int
    phase: Phase
    parent: int
    point: Point


@final
class Search:
    """The generations of a hunt: `propose` one, `tell` the scores of its runs, and so on."""

    def __init__(self, space: Space, drawn: int = DRAWN) -> None:
        self.space = space
        self.step = FIRST_STEP
        self._first = drawn
        self._seed = space.ground.seed
        self._count = self._draws = 0
        self._scores: dict[int, float] = {}
        self._best: list[Candidate] = []  # the best first; their points alone are kept
        self._tried: set[str] = set()

    def propose(self) -> tuple[Candidate, ...]:
        """The next generation; empty once nothing is left that was not tried."""
        size = self._first if self._count == 0 else GENERATION
        found: list[Candidate] = []
        for index in range(self._count, self._count + size):
            candidate = self._candidate(index)
            if candidate is not None:
                self._tried.add(candidate.point.digest)
                found.append(candidate)
        self._count += size
        return tuple(found)

    def tell(self, generation: tuple[Candidate, ...], scores: Mapping[int, float]) -> None:
        """What the runs of a generation came to, by their numbers: the least is the best, and what
        is not finite is none. Runs without a score were not tried."""
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
            # Where nothing near is better any more it begins with large steps again.
            if self.step < LEAST_STEP:
                self.step = FIRST_STEP

    def _rank(self, candidate: Candidate) -> tuple[float, int]:
        return self._scores[candidate.index], candidate.index

    def _candidate(self, index: int) -> Candidate | None:
        # A generator for each run: what one takes of it changes no other.
        rng = np.random.default_rng([self._seed, 2, index])
        if index < min(len(self.space.cells), self._first):
            return Candidate(index, "study", -1, self.space.begin(index))
        wants_drawn = index < self._first or index % EACH_DRAWN == EACH_DRAWN - 1
        if wants_drawn or not self._best:
            return self._drawn(index, rng) or self._refined(index, rng)
        return self._refined(index, rng) or self._drawn(index, rng)

    def _drawn(self, index: int, rng: np.random.Generator) -> Candidate | None:
        while (point := self.space.fresh(rng, self._draws)) is not None:
            self._draws += 1
            if point.digest not in self._tried:
                return Candidate(index, "drawn", -1, point)
        return None

    def _refined(self, index: int, rng: np.random.Generator) -> Candidate | None:
        if not self._best:
            return None
        for _ in range(TRIES):
            # Half of them near the very best, a quarter near the next one, and so on.
            which = min(int(rng.geometric(0.5)) - 1, len(self._best) - 1)
            parent = self._best[which]
            point = self.space.near(rng, parent.point, self.step)
            if point is not None and point.digest not in self._tried:
                return Candidate(index, "refined", parent.index, point)
        return None
