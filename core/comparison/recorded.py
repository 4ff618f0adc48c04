"""Runs of files as they are compared, and the settings in which they differ.

Examples and weights that were given as arrays have a checksum, which names nothing to a reader:
tables number the different ones, and names leave them out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from core.comparison.alignment import Array, Ranked, Traced
from core.comparison.comparison import Comparison, compared, compared_nodes
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
from core.settings import NOT_RECORDED
from core.studies.cells import flattened
from core.studies.statistics import is_seed
from core.studies.tables import value_text
from core.study_file.dynamics import RecordedLoop
from core.study_file.words import label_of, numbered, setting_words
from core.terminal.text import shortened

# ----------------------------------------------------------------------------- settings that differ

MOST_IN_LABEL = 3
ABSENT = "\u2013"
CONTENT = ".content"  # how the keys of checksums end
HORIZON = "dynamics.until_log10_time"

Columns = Mapping[str, Sequence[str]]
Settings = Sequence[Mapping[str, Any]]


@final
@dataclass(frozen=True, slots=True)
class Differing:
    """`rows[i][j]` is the value of setting `keys[j]` of run i; `labels` and `families` name the
    runs, with and without their seeds. Runs that differ in seeds only have one family."""

    keys: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    labels: tuple[str, ...]
    families: tuple[str, ...]


def differing(settings: Sequence[Mapping[str, Any]], titles: Sequence[str] = ()) -> Differing:
    """Return what differs between runs, and names for them.

    Parameters
    ----------
    settings : sequence of mappings
        Dotted key to value, one mapping a run.
    titles : sequence of str
        Titles of the runs. All different, they name runs whose given arrays differ.

    Returns
    -------
    Differing
        The table and the names.
    """
    every = dict.fromkeys(key for table in settings for key in table)
    texts = {key: [_text(table, key) for table in settings] for key in every}
    columns = {key: column for key, column in texts.items() if len(set(column)) > 1}
    words = _words(columns, settings)
    given = any(key.endswith(CONTENT) for key in columns)
    if given and all(titles) and len(set(titles)) == len(settings):
        words = [shortened(title) for title in titles]
    if not columns:
        words = [shortened(title) for title in titles] or words
    labels = numbered(word or "run" for word in words)
    keys = tuple(columns)
    shown = [_shown(key, columns[key]) for key in keys]
    rows = tuple(tuple(column[k] for column in shown) for k in range(len(settings)))
    return Differing(keys, rows, tuple(labels), tuple(_families(columns, settings)))


def _families(columns: Columns, settings: Settings) -> list[str]:
    """A name for each run, equal for runs that differ in seeds only."""
    plain = {key: column for key, column in columns.items() if not is_seed(key)}
    members = [tuple(column[k] for column in plain.values()) for k in range(len(settings))]
    firsts = [members.index(member) for member in members]
    words = _words(plain, settings)
    each = sorted(set(firsts))
    if len(each) == 1:
        return [""] * len(settings)
    names = numbered(words[k] or "run" for k in each)
    return [names[each.index(first)] for first in firsts]


def _text(table: Mapping[str, Any], key: str) -> str:
    value = table.get(key)
    if value is None or value == NOT_RECORDED:
        return ABSENT if value is None else NOT_RECORDED
    return " ".join(value_text(value).split())


def _shown(key: str, column: Sequence[str]) -> list[str]:
    """Return the values of a setting as tables have them.

    >>> _shown("data.content", ["c9e3", "e83c", "c9e3"])
    ['no. 1', 'no. 2', 'no. 1']
    """
    if not key.endswith(CONTENT):
        return [shortened(text) for text in column]
    numbers = {text: f"no. {k}" for k, text in enumerate(dict.fromkeys(column), 1)}
    return [text if text == ABSENT else numbers[text] for text in column]


def _words(columns: Columns, settings: Settings) -> list[str]:
    """Return each run's settings in words; the horizon where nothing else tells some apart."""
    keys = [key for key in columns if not key.endswith(CONTENT)]
    lasting = [key for key in keys if key != HORIZON]
    told, all_told = (
        len({tuple(columns[key][k] for key in some) for k in range(len(settings))})
        for some in (lasting, keys)
    )
    keys = lasting if told == all_told else keys
    rest = len(keys) - MOST_IN_LABEL
    more = f" and {rest} more" if rest > 0 else ""
    return [
        ", ".join(shortened(_named(key, table)) for key in keys[:MOST_IN_LABEL]) + more
        for table in settings
    ]


def _named(key: str, table: Mapping[str, Any]) -> str:
    if table.get(key) is None:
        return f"{label_of(key)} {ABSENT}"
    return setting_words(key, table[key])


# ------------------------------------------------------------------------------------ recorded runs

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
    return differing([_settings(run) for run in runs], [run.title for run in runs])


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
