"""Compared runs of files, and the settings in which they differ.

Examples and weights that were given as arrays have a checksum, which means nothing to a reader:
tables number the different ones, and names leave them out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from core.comparison.alignment import Array, RankedNodes, RunTraces
from core.comparison.comparison import Comparison, Shade, compare_over_time, compared_nodes
from core.comparison.description import describe
from core.comparison.names import (
    ABSENT,
    CONTENT,
    RunDescription,
    differing_keys,
    naming_keys,
    run_names,
)
from core.comparison.question import SORTED, CompareQuestion, check_count
from core.errors import InputError
from core.observables.observable import Shape
from core.observables.registry import OBSERVABLES, numbers_of, observable_in, observable_of
from core.program import headless_program
from core.reference.margin import ReferenceMargin, load_margin, saved_margin_path
from core.reference.registry import REFERENCES
from core.reference.share import FIRST, largest_margin
from core.runs import Run
from core.studies.statistics import is_seed
from core.study_file.words import number_names
from core.terminal.text import shorten

# ----------------------------------------------------------------------------- settings that differ

Columns = Mapping[str, Sequence[str]]


@final
@dataclass(frozen=True, slots=True)
class Differing:
    """Settings in which runs differ, and the names and colours of the runs.

    `rows[i][j]` is the value of setting `keys[j]` of run i; `labels` and `families` name the runs,
    with and without their seeds. Runs that differ in seeds only have one family. `shades` are the
    colours of the runs (core.figures.palette.run_colour).
    """

    keys: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    labels: tuple[str, ...]
    families: tuple[str, ...]
    shades: tuple[Shade, ...]

    def select_runs(self, places: Sequence[int]) -> Differing:
        """Return the rows of the runs with these indices, with unchanged names and colours."""
        return Differing(
            self.keys,
            tuple(self.rows[k] for k in places),
            tuple(self.labels[k] for k in places),
            tuple(self.families[k] for k in places),
            tuple(self.shades[k] for k in places),
        )


def find_differences(runs: Sequence[RunDescription], slots: Sequence[int] = ()) -> Differing:
    """Return what differs between runs, and names and colours for them.

    Parameters
    ----------
    runs : sequence of RunDescription
        Runs side by side.
    slots : sequence of int
        Colours of the runs where they have no order; by default 0, 1, 2 and so on.

    Returns
    -------
    Differing
        The table, the names and the colours.
    """
    keys = tuple(differing_keys(runs))
    columns = {key: [run.texts.get(key, ABSENT) for run in runs] for key in keys}
    texts = [_column_texts(key, columns[key]) for key in keys]
    rows = tuple(tuple(column[k] for column in texts) for k in range(len(runs)))
    labels, families = tuple(run_names(runs)), tuple(_families(runs))
    shades = shades_of(runs) or tuple(slots or range(len(runs)))
    return Differing(keys, rows, labels, families, shades)


def shades_of(runs: Sequence[RunDescription]) -> tuple[float, ...]:
    """Return the places of runs from 0 to 1 in the order of the one number that names them.

    Empty if other settings name them as well, or none. Runs of equal numbers keep their order.
    """
    if any(run.branch for run in runs):
        return ()
    keys = [key for key in naming_keys(runs) if not is_seed(key)]
    if len(keys) != 1:
        return ()
    values = [run.values.get(keys[0]) for run in runs]
    if not all(type(value) in (int, float) for value in values):
        return ()
    order = sorted(range(len(runs)), key=values.__getitem__)  # type: ignore[arg-type]
    return tuple(order.index(k) / max(len(runs) - 1, 1) for k in range(len(runs)))


def _families(runs: Sequence[RunDescription]) -> list[str]:
    """Return a name for each run, equal for runs that differ in seeds only."""
    plain = [key for key in differing_keys(runs) if not is_seed(key)]
    members = [tuple(run.texts.get(key, ABSENT) for key in plain) for run in runs]
    firsts = [members.index(member) for member in members]
    each = sorted(set(firsts))
    if len(each) == 1:
        return [""] * len(runs)
    keys = [key for key in naming_keys(runs) if not is_seed(key)]
    if len({tuple(runs[k].texts.get(key, ABSENT) for key in keys) for k in each}) < len(each):
        keys = [key for key in plain if not key.endswith(CONTENT)]
    alone = [runs[k].own_name if firsts.count(k) == 1 else "" for k in each]
    names = number_names(
        own or runs[k].words(keys) or "run" for own, k in zip(alone, each, strict=True)
    )
    return [names[each.index(first)] for first in firsts]


def _column_texts(key: str, column: Sequence[str]) -> list[str]:
    """Return the values of a setting as tables have them.

    >>> _column_texts("data.content", ["c9e3", "e83c", "c9e3"])
    ['no. 1', 'no. 2', 'no. 1']
    """
    if not key.endswith(CONTENT):
        return [shorten(text) for text in column]
    numbers = {text: f"no. {k}" for k, text in enumerate(dict.fromkeys(column), 1)}
    return [text if text == ABSENT else numbers[text] for text in column]


# ------------------------------------------------------------------------------------ recorded runs

NO_SHARE = "gamma_gl of this run's data is not known yet; compute it, or choose another axis"


def most_of(run: Run) -> float:
    """Return the largest hard margin that the saved gamma_gl of a run's data allows.

    NaN without a saved one, or where it does not bound the run's margins.
    """
    reference = REFERENCES[FIRST]
    if not (reference.applies(run.problem) and reference.is_comparable(run.problem)):
        return math.nan
    entry = load_margin(saved_margin_path(reference, run.problem))
    return math.nan if entry is None else largest_margin(reference.factor, entry.bracket.value)


def differing_of(runs: Sequence[Run], slots: Sequence[int] = ()) -> Differing:
    """Return the settings in which runs differ, and names and colours for the runs."""
    return find_differences([describe(run) for run in runs], slots)


MARGINS = {"hard_margin": 1.0, "smoothed_margin": 1.0, "l1_margin": 2.0}
"""Observables that reference margins are lines of, by the multiple of the hard margin."""


def common_references(runs: Sequence[Run]) -> tuple[ReferenceMargin, ...]:
    """Return the certified reference margins that are known, and equal for all runs."""
    problems = [run.problem for run in runs]
    references = []
    for reference in REFERENCES.values():
        if not all(reference.applies(one) and reference.is_comparable(one) for one in problems):
            continue
        paths = {saved_margin_path(reference, one) for one in problems}
        entries = [load_margin(path) for path in paths]
        brackets = {entry.bracket for entry in entries if entry is not None}
        if len(brackets) == 1 and None not in entries:
            margin = ReferenceMargin(reference, brackets.pop(), 0.0)
            if margin.is_drawable and margin.bracket.certified:
                references.append(margin)
    return tuple(references)


def check_observable(name: str, runs: Sequence[Run] = ()) -> None:
    """Raise InputError unless an observable can be compared.

    It has one number a frame, or a number of each neuron that can be sorted; numbers that recorded
    loops passed are those of some `runs`.
    """
    scalars = [one.name for one in OBSERVABLES.values() if one.shape is Shape.SCALAR]
    observable = observable_in(runs, name)
    if (observable is None or observable.shape is not Shape.SCALAR) and name not in SORTED:
        scalars += dict.fromkeys(one.name for run in runs for one in numbers_of(run))
        raise InputError(
            f"{name!r} has no single value per frame; choose one of {', '.join(scalars)}, or "
            f"{' or '.join(SORTED)} of the sorted neurons.",
            option="--observable",
        )


def check_runs(question: CompareQuestion, runs: Sequence[Run]) -> None:
    """Raise InputError if some runs cannot answer a question."""
    check_count(len(runs))
    check_observable(question.observable, runs)
    for run in runs:
        if run.frames == 0:
            raise InputError(
                f"{run.path} has no frames yet; wait for the first frame, or run it again."
            )
        for name in question.names:
            if not observable_of(name).applies(run):
                where = observable_of(name).where
                raise InputError(
                    f"This run has no {name}, which is defined for {where}.", where=run.path
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
    differences: Differing | None = None,
) -> Comparison:
    """Compare runs over all their frames; neurons at the last frame of each not after a time.

    Parameters
    ----------
    question : CompareQuestion
        What to compare, and how.
    runs : sequence of Run
        Open runs, two at least.
    progress : callable, optional
        Called with 1 after each frame of each run; not for neurons.
    log10_time : float
        log10 of the time at which neurons are compared; inf for the end of each run.
    differences : Differing, optional
        Names and colours of the runs, where these are compared as part of more runs.

    Returns
    -------
    Comparison
        The lines.

    Raises
    ------
    InputError
        A run cannot be compared.
    """
    check_runs(question, runs)
    differences = differences or differing_of(runs)
    if question.is_by_rank:
        return _compare_nodes(question, runs, differences, log10_time)
    traced = []
    for run, label, family in zip(runs, differences.labels, differences.families, strict=True):
        values: dict[str, Array] = {name: np.empty(run.frames) for name in question.names}
        for index in range(run.frames):
            for name in question.names:
                values[name][index] = observable_of(name).value_at(run, index)
            if progress is not None:
                progress(1)
        traced.append(traced_of(run, label, family, values, most_of(run)))
    return compare_over_time(question, traced, differences.shades)


def _compare_nodes(
    question: CompareQuestion, runs: Sequence[Run], differences: Differing, log10_time: float
) -> Comparison:
    """Compare the neurons of each run at its last frame not after a time, else at its first."""
    ranked = []
    for run, label, family in zip(runs, differences.labels, differences.families, strict=True):
        after = int(np.searchsorted(run.log10_time[: run.frames], log10_time, side="right"))
        ranked.append(ranked_of(run, label, family, question.observable, max(after - 1, 0)))
    return compared_nodes(question, ranked, log10_time, differences.shades)


def ranked_of(run: Run, label: str, family: str, name: str, frame: int) -> RankedNodes:
    """Return a run by the finite numbers of its neurons at a frame, in increasing order.

    Parameters
    ----------
    run : Run
        Open run.
    label, family : str
        Name of the run, and its name without seeds.
    name : str
        One of SORTED.
    frame : int
        Index of the frame.

    Returns
    -------
    RankedNodes
    """
    values = np.asarray(observable_of(name).value_at(run, frame), dtype=np.float64)
    finite = np.sort(values[np.isfinite(values)])
    return RankedNodes(label, family, finite, values.size, run.counts_steps)


def traced_of(
    run: Run, label: str, family: str, values: dict[str, Array], margin_bound: float
) -> RunTraces:
    """Return a run with the values of its first frames.

    Parameters
    ----------
    run : Run
        Open run.
    label, family : str
        Name of the run, and its name without seeds.
    values : dict of str to array (T,)
        Observables by name; the shortest decides the number of frames.
    margin_bound : float
        Result of `most_of`: upper bound of the hard margin, or NaN.

    Returns
    -------
    RunTraces
    """
    frames = min((one.size for one in values.values()), default=0)
    times = np.asarray(run.log10_time[:frames], dtype=np.float64)
    steps = np.asarray(run.steps[:frames], dtype=np.float64)
    return RunTraces(label, family, times, steps, values, margin_bound, run.counts_steps)
