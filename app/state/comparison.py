"""Comparison that the user chose: runs by the names of their files, and observables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

from core.comparison.question import AGAINST, MOST_COMPARED, RANK, SORTED, CompareQuestion

MOST_OBSERVABLES = 4  # side by side: more leave no room for the names of the runs


@final
@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """Runs of a comparison, by the names of their files, and the question.

    The first of them that is drawn is that of which others are differences. `hidden` ones are not
    drawn. `slots` are the colours of the runs where these have no order; if empty, 0, 1, 2 and so
    on. `several` observables have a plot each; if empty, only that of the question is drawn. The
    question is about the first of them that has a value over time.
    """

    runs: tuple[str, ...]
    question: CompareQuestion
    hidden: frozenset[str] = frozenset()
    slots: tuple[int, ...] = ()
    several: tuple[str, ...] = ()

    @property
    def observables(self) -> tuple[str, ...]:
        """Compared observables, in the order of their plots."""
        return self.several or (self.question.observable,)

    @property
    def questions(self) -> tuple[CompareQuestion, ...]:
        """Question of each plot."""
        return tuple(self._make_question(name) for name in self.observables)

    def _make_question(self, name: str) -> CompareQuestion:
        """Return the question about an observable, by rank for the sorted values of neurons."""
        against = self.question.against
        if name in SORTED:
            against = RANK
        elif against == RANK:
            against = next(iter(AGAINST))
        return replace(self.question, observable=name, against=against)

    def with_observables(self, names: Sequence[str]) -> ComparedRuns:
        """Return the comparison by other observables, at most the last four."""
        names = tuple(names)[-MOST_OBSERVABLES:]
        first = next((name for name in names if name not in SORTED), names[0])
        several = names if len(names) > 1 else ()
        return replace(self, question=self._make_question(first), several=several)

    @property
    def shown_runs(self) -> tuple[int, ...]:
        """Indices of the runs that are not hidden."""
        return tuple(k for k, name in enumerate(self.runs) if name not in self.hidden)

    @property
    def colours(self) -> tuple[int, ...]:
        """Slots of all runs."""
        return self.slots or tuple(range(len(self.runs)))

    def with_runs(self, names: Sequence[str]) -> ComparedRuns:
        """Return the comparison of other runs; remaining runs keep their colours."""
        colours = dict(zip(self.runs, self.colours, strict=True))
        places = {colours[one] for one in names if one in colours}
        free = [k for k in range(MOST_COMPARED + len(names)) if k not in places]
        slots = tuple(colours[one] if one in colours else free.pop(0) for one in names)
        slots = () if slots == tuple(range(len(names))) else slots
        return replace(self, runs=tuple(names), slots=slots, hidden=self.hidden & set(names))
