"""Runs of files as they are compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from core.comparison.alignment import Array, Ranked, Traced
from core.comparison.comparison import Comparison, compared, compared_nodes
from core.comparison.differing import Differing, differing
from core.comparison.question import SORTED, CompareQuestion, check_count
from core.errors import InputError
from core.observables.observable import Shape
from core.observables.registry import OBSERVABLES, numbers_of, observable_in, observable_of
from core.program import headless_program
from core.reference.margin import load_margin, saved_margin_path
from core.reference.registry import REFERENCES
from core.reference.share import FIRST, most
from core.runs import Run
from core.runs.settings import known_settings
from core.studies.cells import flattened
from core.study_file.recorded import RecordedLoop

NO_SHARE = (
    "gamma_gl of this run's data is not known, so that its margin is no share of it; "
    "compute it, or choose another axis"
)


def most_of(run: Run) -> float:
    """What the hard margin is at most by gamma_gl, as computed before; NaN where it was not."""
    reference = REFERENCES[FIRST]
    if not (reference.applies(run.problem) and reference.drawn_in(run.problem)):
        return math.nan
    entry = load_margin(saved_margin_path(reference, run.problem))
    return math.nan if entry is None else most(reference.factor, entry.bracket.value)


def differing_of(runs: Sequence[Run]) -> Differing:
    """The settings in which some runs differ, and what they are called by them."""
    stems, titles = [run.path.stem for run in runs], [run.title for run in runs]
    return differing([_settings(run) for run in runs], stems, titles)


def _settings(run: Run) -> dict[str, Any]:
    """Known settings by dotted key, without what an optimizer does not do (False), and without what
    the dynamics says as well."""
    said = {f"optimizer.{name}" for name in ("lr", "betas", "eps")}
    if isinstance(run.experiment.dynamics, RecordedLoop):
        said = set()
    every = flattened(known_settings(run))
    return {
        key: value
        for key, value in every.items()
        if key not in said and not (key.startswith("optimizer.") and value is False)
    }


def check_observable(name: str, runs: Sequence[Run] = ()) -> None:
    """InputError unless it has one number a frame, or a number of each node that can be sorted;
    numbers that recorded loops passed are those of some `runs`."""
    scalars = [one.name for one in OBSERVABLES.values() if one.shape is Shape.SCALAR]
    found = observable_in(runs, name)
    if (found is None or found.shape is not Shape.SCALAR) and name not in SORTED:
        scalars += dict.fromkeys(one.name for run in runs for one in numbers_of(run))
        raise InputError(
            f"{name!r} is no observable with one number a frame; those are {', '.join(scalars)}. "
            f"Sorted by nodes there are {' and '.join(SORTED)}.",
            option="--observable",
        )


def check_runs(question: CompareQuestion, runs: Sequence[Run]) -> None:
    """InputError where some runs cannot answer a question."""
    check_count(len(runs))
    check_observable(question.observable, runs)
    for run in runs:
        if run.frames == 0:
            raise InputError(f"{run.path} has no frames yet; wait for the first or run it again.")
        for name in question.names:
            if not observable_of(name).applies(run):
                where = observable_of(name).where
                raise InputError(
                    f"There is no {name} of this run: it is for {where}.", where=run.path
                )
        if question.against == "share" and math.isnan(most_of(run)):
            raise InputError(
                NO_SHARE,
                where=run.path,
                remedy="",
                typed=f"{headless_program()} margins RUN computes it",
            )


def compare_runs(
    question: CompareQuestion,
    runs: Sequence[Run],
    progress: Callable[[int], None] | None = None,
    log10_time: float = math.inf,
) -> Comparison:
    """The answer from all frames of some runs; where nodes are compared, from the last frame of
    each that is not after a time.

    Raises InputError where one of them cannot be compared.
    """
    check_runs(question, runs)
    named = differing_of(runs)
    if question.ranked:
        return _compare_nodes(question, runs, named, log10_time)
    traced = []
    for run, label, family in zip(runs, named.labels, named.families, strict=True):
        values: dict[str, Array] = {name: np.empty(run.frames) for name in question.names}
        for index in range(run.frames):
            for name in question.names:
                values[name][index] = observable_of(name).at(run, index)
            if progress is not None:
                progress(1)
        traced.append(traced_of(run, label, family, values, most_of(run)))
    return compared(question, traced)


def _compare_nodes(
    question: CompareQuestion, runs: Sequence[Run], named: Differing, log10_time: float
) -> Comparison:
    ranked = []
    for run, label, family in zip(runs, named.labels, named.families, strict=True):
        after = int(np.searchsorted(run.log10_time[: run.frames], log10_time, side="right"))
        ranked.append(ranked_of(run, label, family, question.observable, max(after - 1, 0)))
    return compared_nodes(question, ranked, log10_time)


def ranked_of(run: Run, label: str, family: str, name: str, frame: int) -> Ranked:
    """A run by one of SORTED of its nodes at a frame."""
    values = np.asarray(observable_of(name).at(run, frame), dtype=np.float64)
    known = np.sort(values[np.isfinite(values)])
    return Ranked(label, family, known, values.size, run.counts_steps)


def traced_of(run: Run, label: str, family: str, values: dict[str, Array], most: float) -> Traced:
    """A run with the values of its first frames, as many as are given."""
    frames = min((one.size for one in values.values()), default=0)
    times = np.asarray(run.log10_time[:frames], dtype=np.float64)
    steps = np.asarray(run.steps[:frames], dtype=np.float64)
    return Traced(label, family, times, steps, values, most, run.counts_steps)
