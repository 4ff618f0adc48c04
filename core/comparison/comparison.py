"""Answers to a question about several runs, as frozen values and as a table in text."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np

from core.comparison.alignment import (
    Array,
    Labelled,
    RankedNodes,
    RunTraces,
    first_passages,
    interpolate,
    keys_of,
    to_axis_numbers,
    turns_back,
)
from core.comparison.question import AGAINST, CompareQuestion
from core.numbers import time_text

Shade = int | float
"""Colour of a run: a number in a list, or its place from 0 to 1 in an order."""

NONE: Array = np.empty(0)
MOST_NAMED = 3  # runs named in one sentence
UNKNOWN = {"share": ", as its gamma_gl has not been computed"}


@final
@dataclass(frozen=True, slots=True, eq=False)
class ComparedLine:
    """Line over increasing places (S,), and its band from `low` to `high` (S,), or none (0,).

    `members` are the numbers of its runs, from 0.
    """

    label: str
    members: tuple[int, ...]
    places: Array
    values: Array
    low: Array = field(default_factory=lambda: np.empty(0))
    high: Array = field(default_factory=lambda: np.empty(0))

    def owner(self, kind: str) -> int:
        """Return the number of the run that gives the line its colour, for a key of KINDS.

        In "differences" the run from which the first one is subtracted, else the first member.
        """
        return self.members[-1 if kind == "differences" else 0]

    @property
    def has_band(self) -> bool:
        return self.low.size > 0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Lines of runs, and sentences (`notes`) about missing or special comparisons.

    Neurons are compared at `log10_time`, inf for the end of each run. `steps`: t counts the steps
    of all runs. `shades`: colour of each run, in their order if empty.
    """

    question: CompareQuestion
    lines: tuple[ComparedLine, ...]
    notes: tuple[str, ...] = ()
    log10_time: float = float("inf")
    steps: bool = False
    shades: tuple[Shade, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if no line has a place."""
        return not any(line.places.size for line in self.lines)

    @property
    def line_shades(self) -> tuple[Shade, ...]:
        """Colour of each line: that of its run, whatever the kind of comparison."""
        owners = [line.owner(self.question.kind) for line in self.lines]
        return tuple(self.shades[k] if self.shades else k for k in owners)

    @property
    def moment(self) -> str:
        """Moment of neurons in words: "t = 316", or "the end"; empty for comparisons over time."""
        if not self.question.is_by_rank:
            return ""
        ended = self.log10_time == float("inf")
        return "the end" if ended else time_text(self.log10_time, self.steps)


def compare_over_time(
    question: CompareQuestion, runs: Sequence[RunTraces], shades: tuple[Shade, ...] = ()
) -> Comparison:
    """Compare runs over time.

    Parameters
    ----------
    question : CompareQuestion
        What to compare. Of a number that loops passed at some frames, these frames are compared.
    runs : sequence of RunTraces
        Runs with the values of `question.names`.
    shades : tuple of int or float
        Colour of each run; in their order if empty.

    Returns
    -------
    Comparison
    """
    from core.observables.registry import is_loop_number  # not loaded with the window

    name = question.observable
    if is_loop_number(name):
        runs = [run.select_frames(np.isfinite(run.values[name])) for run in runs]
    keys = [keys_of(run, question.against) for run in runs]
    curves = [
        first_passages(key, run.values[question.observable])
        for key, run in zip(keys, runs, strict=True)
    ]
    notes = [
        f"{run.label} has no {AGAINST[question.against]}{UNKNOWN.get(question.against, '')}."
        for run, (places, _) in zip(runs, curves, strict=True)
        if places.size == 0
    ]
    turning = [run.label for run, key in zip(runs, keys, strict=True) if turns_back(key)]
    if turning:
        some = ", ".join(turning) if len(turning) <= MOST_NAMED else f"{len(turning)} runs"
        notes.append(
            f"The {AGAINST[question.against]} of {some} is not monotone; values are taken where "
            "it is first reached."
        )
    steps = all(run.counts_steps for run in runs)
    return replace(_answer(question, runs, curves, notes), steps=steps, shades=shades)


def compared_nodes(
    question: CompareQuestion,
    runs: Sequence[RankedNodes],
    log10_time: float = float("inf"),
    shades: tuple[Shade, ...] = (),
) -> Comparison:
    """Compare runs at one moment by the sorted numbers of their neurons over rank / m.

    Between the ranks of a narrow network its line is straight, where it is subtracted from a wider
    one.

    Parameters
    ----------
    question : CompareQuestion
        What to compare; it must be ranked.
    runs : sequence of RankedNodes
        Runs at the moment.
    log10_time : float
        log10 of the moment; inf for the end of each run.
    shades : tuple of int or float
        Colour of each run; in their order if empty.

    Returns
    -------
    Comparison
        The lines.
    """
    curves = [(np.arange(1.0, run.values.size + 1.0) / run.m, run.values) for run in runs]
    notes = [
        f"{run.label} has {n_missing} neuron{'s' * (n_missing > 1)} "
        f"without a {question.observable}."
        for run in runs
        if (n_missing := run.m - run.values.size)
    ]
    steps = all(run.counts_steps for run in runs)
    answer = _answer(question, runs, curves, notes)
    return replace(answer, log10_time=log10_time, steps=steps, shades=shades)


def _answer(
    question: CompareQuestion,
    runs: Sequence[Labelled],
    curves: Sequence[tuple[Array, Array]],
    notes: list[str],
) -> Comparison:
    """Return the comparison of curves (places, values), one of each run; may add to `notes`."""
    if question.kind == "differences":
        lines = _differences(question, runs, curves, notes)
    elif question.kind == "bands":
        lines = _bands(question, runs, curves, notes)
    else:
        lines = [
            ComparedLine(run.label, (k,), *curve)
            for k, (run, curve) in enumerate(zip(runs, curves, strict=True))
        ]
    return Comparison(question, tuple(lines), tuple(notes))


def _common(curves: Sequence[tuple[Array, Array]]) -> Array:
    """Return all places of some curves that are within each of them, in increasing order."""
    ends = [(places[0], places[-1]) for places, _ in curves if places.size]
    if len(ends) < len(curves):
        return NONE
    low, high = max(one for one, _ in ends), min(one for _, one in ends)
    places: Array = np.unique(np.concatenate([places for places, _ in curves]))
    within: Array = places[(places >= low) & (places <= high)]
    return within


def _why_not_subtractable(
    against: str,
    first: Labelled,
    second: Labelled,
    curve: tuple[Array, Array],
    further: tuple[Array, Array],
) -> str:
    """Return a sentence: two runs have no place on the axis in common, with their ranges."""
    words = f"{first.label} and {second.label} have no {AGAINST[against]} in common"
    if not (curve[0].size and further[0].size):
        return f"{words}."
    ends = [to_axis_numbers(places[[0, -1]], against).tolist() for places, _ in (curve, further)]
    (low, high), (start, end) = ends
    return f"{words}: {low:.4g} to {high:.4g}, and {start:.4g} to {end:.4g}."


def _differences(
    question: CompareQuestion,
    runs: Sequence[Labelled],
    curves: Sequence[tuple[Array, Array]],
    notes: list[str],
) -> list[ComparedLine]:
    """Return each run less the first one, where both have values; note those without a line."""
    lines = []
    for k in range(1, len(runs)):
        places = _common((curves[0], curves[k]))
        if places.size == 0:
            notes.append(
                _why_not_subtractable(question.against, runs[0], runs[k], curves[0], curves[k])
            )
        values = interpolate(*curves[k], places) - interpolate(*curves[0], places)
        label = f"({runs[k].label}) \u2212 ({runs[0].label})"
        lines.append(ComparedLine(label, (0, k), places, values))
    return lines


def _bands(
    question: CompareQuestion,
    runs: Sequence[Labelled],
    curves: Sequence[tuple[Array, Array]],
    notes: list[str],
) -> list[ComparedLine]:
    """Return a line with a band for each family of runs, where all its runs have values.

    Adds to `notes` for families without a common place, or with one run each.
    """
    families: dict[str, list[int]] = {}
    for k, run in enumerate(runs):
        families.setdefault(run.family, []).append(k)
    lines = []
    for family, members in families.items():
        name = family or "all"
        places = _common([curves[k] for k in members])
        if places.size == 0:
            notes.append(f"The {len(members)} runs with {name} do not overlap.")
        values = np.array([interpolate(*curves[k], places) for k in members])
        if question.band == "range":
            middle = np.median(values, axis=0)
            low, high = values.min(axis=0), values.max(axis=0)
        else:
            middle = values.mean(axis=0)
            # Sample standard deviation over runs; a single run has none.
            spread = values.std(axis=0, ddof=1) if len(members) > 1 else np.zeros_like(middle)
            low, high = middle - spread, middle + spread
        seeds = f"{len(members)} run" + ("s" if len(members) > 1 else "")
        lines.append(ComparedLine(f"{name} ({seeds})", tuple(members), places, middle, low, high))
    if all(len(members) == 1 for members in families.values()):
        notes.append(
            "No two of these runs differ only in their seeds, so each band is a single run."
        )
    return lines


def table(comparisons: Sequence[Comparison]) -> str:
    """Return CSV with a row for each place of each line; `low` and `high` are empty without band.

    Places are the numbers on the axis of the first comparison.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    against = comparisons[0].question.against if comparisons else "log10_time"
    column = f"log10_{against}" if against in ("step", "norm_squared", "risk") else against
    writer.writerow(("observable", "line", column, "value", "low", "high"))
    for comparison in comparisons:
        name = comparison.question.observable
        for line in comparison.lines:
            places = to_axis_numbers(line.places, against).tolist()
            low = line.low.tolist() if line.has_band else [""] * len(places)
            high = line.high.tolist() if line.has_band else [""] * len(places)
            for row in zip(places, line.values.tolist(), low, high, strict=True):
                writer.writerow((name, line.label, *row))
    return text.getvalue()
