"""Values of compared runs: requested in the background, and compared as far as they are known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from app.state.background_values import BackgroundValues, NodesQuestion
from app.state.resolve import frame_at
from app.state.session import RunSnapshot
from core.comparison.question import CompareQuestion
from core.problem.schedule import coordinate, inverse_coordinate

if TYPE_CHECKING:
    from core.comparison.alignment import Array
    from core.comparison.comparison import Comparison
    from core.comparison.recorded import Differing
    from core.runs import RecordedRun


OWNER = "compare"


@final
@dataclass(frozen=True, slots=True, eq=False)
class ComparedRun:
    """Compared run: its file, its computed values, and the largest possible margin."""

    run: RecordedRun
    background: BackgroundValues
    most: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class ComparedValues:
    """Comparison, and of each run the farthest place by each frame, its snapshot and its curve."""

    answer: Comparison
    keys: tuple[Array, ...] = ()
    snapshots: tuple[RunSnapshot, ...] = ()
    curves: tuple[tuple[Array, Array], ...] = ()


def request_values(question: CompareQuestion, runs: Sequence[ComparedRun], cursor: float) -> None:
    """Request what a question needs: observables at all frames, or the nodes of one."""
    from core.observables.registry import observable_of

    for one in runs:
        names = () if question.ranked else question.names
        names = tuple(name for name in names if observable_of(name).applies(one.run))
        one.background.ask_traces(OWNER, names, one.run.frames)
        wanted = NodesQuestion(_frame(one, cursor), question.observable)
        one.background.nodes.ask(wanted if question.ranked else None)


def _frame(one: ComparedRun, cursor: float) -> int:
    """Return the last frame that is not after the cursor, or the first one."""
    places = np.asarray(coordinate(np.asarray(one.run.log10_time[: one.run.frames])))
    return max(frame_at(RunSnapshot(-1, places, 0.0, False, 0), cursor), 0)


def compare_over_time(
    question: CompareQuestion, runs: Sequence[ComparedRun], named: Differing
) -> ComparedValues:
    """Compare the values over time that are known so far."""
    from core.comparison.alignment import keys_of, reached
    from core.comparison.comparison import compared
    from core.comparison.recorded import traced_of

    traced = []
    for one, label, family in zip(runs, named.labels, named.families, strict=True):
        frames, known = one.run.frames, np.ones(one.run.frames, dtype=bool)
        values: dict[str, Array] = {}
        for name in question.names:
            if one.background.asks(OWNER, name):
                known &= one.background.known(name, frames)
                values[name] = one.background.trace(name, frames)[:, 0]
            else:
                values[name] = np.full(frames, math.nan)
        traced.append(traced_of(one.run, label, family, values, one.most).taken(known))
    keys = [keys_of(run, question.against) for run in traced]
    moments = [np.asarray(coordinate(run.log10_time)) for run in traced]
    return ComparedValues(
        compared(question, traced),
        tuple(np.fmax.accumulate(key) if key.size else key for key in keys),
        tuple(RunSnapshot(-1, one, 0.0, False, 0) for one in moments),
        tuple(
            reached(key, run.values[question.observable])
            for key, run in zip(keys, traced, strict=True)
        ),
    )


def compare_nodes(
    question: CompareQuestion, runs: Sequence[ComparedRun], named: Differing, cursor: float
) -> ComparedValues | None:
    """Compare the nodes of the last computed frames, each run's near the cursor.

    None while the nodes of a run are unknown.
    """
    from core.comparison.alignment import Ranked
    from core.comparison.comparison import compared_nodes

    ranked = []
    for one, label, family in zip(runs, named.labels, named.families, strict=True):
        known = one.background.nodes.known
        if known is None or known[0].name != question.observable:
            return None
        values = known[1][np.isfinite(known[1])]
        counts = one.run.counts_steps
        ranked.append(Ranked(label, family, np.sort(values), known[1].size, counts))
    log10_time = float(inverse_coordinate(cursor)) if math.isfinite(cursor) else -math.inf
    return ComparedValues(compared_nodes(question, ranked, log10_time))
