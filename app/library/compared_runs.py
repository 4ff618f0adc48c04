"""Files of compared runs, and comparisons of their known values."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np

from app.library.legend_table import LegendRow
from app.state.background_values import BackgroundValues, NodesQuestion
from app.state.resolve import frame_at
from app.state.session import RunSnapshot
from app.widgets.screen_text import greek
from core.comparison.question import SORTED, CompareQuestion
from core.errors import InputError
from core.figures.palette import Palette
from core.figures.reference_colours import reference_colour
from core.numbers import raise_powers
from core.problem.schedule import coordinate, inverse_coordinate
from core.study_file.experiment import KINDS
from core.study_file.words import kind_words, value_words

if TYPE_CHECKING:
    from app.widgets.levels import LevelLine
    from core.comparison.alignment import Array
    from core.comparison.comparison import Comparison
    from core.comparison.setting_differences import Differing
    from core.reference.margin import ReferenceMargin
    from core.runs import RecordedRun


OWNER = "compare"


@final
@dataclass(frozen=True, slots=True, eq=False)
class ComparedRun:
    """Compared run: file, name, computed values, and the largest margin."""

    name: str
    run: RecordedRun
    background: BackgroundValues
    most: float


def open_compared(
    names: Sequence[str], present: Sequence[ComparedRun] = ()
) -> tuple[ComparedRun, ...]:
    """Open files by name; those of present runs stay open, as the caller's.

    Raises MarginscopeError or OSError if a file cannot be read; no file is then left open.
    """
    from core.comparison.setting_differences import most_of
    from core.runs import open_run

    unmatched, result, opened = list(present), list[ComparedRun](), list[ComparedRun]()
    try:
        for name in names:
            match = next((one for one in unmatched if one.name == name), None)
            if match is not None:
                unmatched.remove(match)
                result.append(match)
                continue
            run = open_run(Path(name))
            opened.append(ComparedRun(name, run, BackgroundValues(run), most_of(run)))
            if run.frames == 0:
                raise InputError(f"{run.path.name} has no frames yet. Compare it later.")
            result.append(opened[-1])
    except BaseException:
        close_compared(opened)
        raise
    return tuple(result)


def snapshot_of(one: ComparedRun) -> RunSnapshot:
    """Return a snapshot of a run for the cursor's range."""
    from app.state.node_values import with_finite_first

    places = with_finite_first(coordinate(np.asarray(one.run.log10_time[: one.run.frames])))
    return RunSnapshot(-1, places, float(places[-1]), False, 0)


def close_compared(runs: Iterable[ComparedRun]) -> None:
    """Close the files of some runs."""
    for one in runs:
        one.run.close()


def legend_rows(
    runs: Sequence[ComparedRun], differences: Differing, visible_rows: Collection[int]
) -> list[LegendRow]:
    """Return the rows of the legend; `visible_rows` are the places of the drawn runs."""
    return [
        LegendRow(
            raise_powers(name),
            _tip(one),
            k in visible_rows,
            tuple(map(_setting, differences.keys, settings)),
        )
        for k, (one, name, settings) in enumerate(
            zip(runs, differences.labels, differences.rows, strict=True)
        )
    ]


def _setting(key: str, text: str) -> str:
    """Return the value of a setting as shown in the form."""
    section, _, name = key.partition(".")
    is_known = name == "kind" and text in KINDS.get(section, ())
    return kind_words(section, text) if is_known else raise_powers(value_words(text))


def reference_levels(
    references: Sequence[ReferenceMargin], question: CompareQuestion, palette: Palette
) -> list[LevelLine]:
    """Return reference margins as lines, if margins are compared."""
    from app.views.margins import level_of
    from core.comparison.setting_differences import MARGINS

    scale = MARGINS.get(question.observable)
    if scale is None or question.kind == "differences":
        return []
    return [
        level_of(one, reference_colour(one.reference.name, palette), scale) for one in references
    ]


def _tip(one: ComparedRun) -> str:
    """Return when a run was recorded, and its file."""
    try:
        moment = datetime.fromisoformat(one.run.creation_time).astimezone()
    except ValueError:
        return one.name
    return f"Recorded {moment:%Y-%m-%d %H:%M}\n{one.name}"


def common_observables(runs: Sequence[ComparedRun]) -> dict[str, str]:
    """Return the observables that all runs have, with their titles."""
    from core.observables.registry import OBSERVABLES, scalars_of

    names = [{item.name: item.title for item in scalars_of(one.run)} for one in runs]
    of_nodes = [OBSERVABLES[name] for name in SORTED]
    for titles, one in zip(names, runs, strict=True):
        titles |= {x.name: f"{x.title}, sorted" for x in of_nodes if x.applies(one.run)}
    return {k: v for k, v in names[0].items() if all(k in later_names for later_names in names[1:])}


@final
@dataclass(frozen=True, slots=True, eq=False)
class ComparedValues:
    """Answer to a question; of each run the farthest place by each frame, snapshot and curve.

    `values`: the observable at each frame, also at those without a place on the axis.
    """

    answer: Comparison
    keys: tuple[Array, ...] = ()
    snapshots: tuple[RunSnapshot, ...] = ()
    curves: tuple[tuple[Array, Array], ...] = ()
    values: tuple[Array, ...] = ()

    def moment_at(self, place: float) -> float:
        """Return when the first run reaches a place; NaN for never."""
        for keys, run in zip(self.keys, self.snapshots, strict=True):
            indices = np.flatnonzero(keys >= place)
            if indices.size:
                return float(max(run.coordinates[indices[0]], coordinate(-300.0)))
        return math.nan

    def places_at(self, cursor: float) -> list[float]:
        """Return the place of each run on the axis at the cursor; NaN for none."""
        cursors = []
        for keys, run in zip(self.keys, self.snapshots, strict=True):
            frame = frame_at(run, cursor)
            cursors.append(float(keys[frame]) if frame >= 0 else math.nan)
        if self.answer.question.against in ("log10_time", "time"):
            # Use the cursor itself, also between two frames, up to the run's end.
            now = float(inverse_coordinate(cursor))
            cursors = [now if math.isfinite(place) else place for place in cursors]
        return cursors

    def places_of_lines(self, cursor: float) -> list[float]:
        """Return the place of each line at the cursor: that of its last run."""
        cursors = self.places_at(cursor)
        return [min(cursors[k] for k in line.members) for line in self.answer.lines]

    def line_of(self, run: int) -> int:
        """Return the line number of a drawn run; -1 if it has no line of its own."""
        if self.answer.question.kind == "differences":
            return run - 1
        lines = enumerate(self.answer.lines)
        return next((k for k, line in lines if run in line.members), -1)

    def values_at(self, cursor: float, runs: int) -> list[float]:
        """Return each drawn run's value at the cursor: a median where neurons are compared.

        With differences, the first run is the reference, and its value is NaN.
        """
        if self.answer.question.is_by_rank:
            every = [*medians(self.answer), math.nan]  # last entry: for runs without a line
            return [every[self.line_of(k)] for k in range(runs)]
        cursors = self.places_at(cursor)
        if self.answer.question.kind == "differences":
            lines = [(line.places, line.values) for line in self.answer.lines]
            at = self.places_of_lines(cursor)
            return [math.nan, *(value_at(*one, k) for one, k in zip(lines, at, strict=True))]
        values = []
        for k, (curve, place) in enumerate(zip(self.curves, cursors, strict=True)):
            frame = frame_at(self.snapshots[k], cursor)
            # A logarithmic axis has no t = 0.
            nowhere = frame >= 0 and not math.isfinite(place)
            values.append(float(self.values[k][frame]) if nowhere else value_at(*curve, place))
        return values


def value_heading(question: CompareQuestion) -> str:
    """Return the heading of the values of a question."""
    from core.observables.registry import observable_of

    title = greek(observable_of(question.observable).title)
    return f"median {title}" if question.is_by_rank else title


def request_values(
    questions: Sequence[CompareQuestion], runs: Sequence[ComparedRun], cursor: float
) -> None:
    """Request the values for questions: observables at all frames, or neurons at one."""
    from core.observables.registry import observable_of

    needed = dict.fromkeys(name for one in questions if not one.is_by_rank for name in one.names)
    of_nodes = tuple(one.observable for one in questions if one.is_by_rank)
    for one in runs:
        names = tuple(name for name in needed if observable_of(name).applies(one.run))
        one.background.request_traces(OWNER, names, one.run.frames)
        question = NodesQuestion(_frame(one, cursor), of_nodes) if of_nodes else None
        one.background.nodes.request(question)


def _frame(one: ComparedRun, cursor: float) -> int:
    """Return the last frame not after the cursor, or the first one."""
    places = np.asarray(coordinate(np.asarray(one.run.log10_time[: one.run.frames])))
    return max(frame_at(RunSnapshot(-1, places, 0.0, False, 0), cursor), 0)


def compare_over_time(
    question: CompareQuestion, runs: Sequence[ComparedRun], differences: Differing
) -> ComparedValues:
    """Compare the known values over time."""
    from core.comparison.alignment import first_passages, keys_of
    from core.comparison.comparison import compare_over_time
    from core.comparison.setting_differences import traced_of

    traced = []
    for one, label, family in zip(runs, differences.labels, differences.families, strict=True):
        frames, is_known = one.run.frames, np.ones(one.run.frames, dtype=bool)
        values: dict[str, Array] = {}
        for name in question.names:
            if one.background.has_requested(OWNER, name):
                is_known &= one.background.known_frames(name, frames)
                values[name] = one.background.trace(name, frames)[:, 0]
            else:
                values[name] = np.full(frames, math.nan)
        traced.append(traced_of(one.run, label, family, values, one.most).select_frames(is_known))
    keys = [keys_of(run, question.against) for run in traced]
    moments = [np.asarray(coordinate(run.log10_time)) for run in traced]
    return ComparedValues(
        compare_over_time(question, traced, differences.shades),
        tuple(np.fmax.accumulate(key) if key.size else key for key in keys),
        tuple(RunSnapshot(-1, one, 0.0, False, 0) for one in moments),
        tuple(
            first_passages(key, run.values[question.observable])
            for key, run in zip(keys, traced, strict=True)
        ),
        tuple(run.values[question.observable] for run in traced),
    )


def compare_nodes(
    question: CompareQuestion, runs: Sequence[ComparedRun], differences: Differing, cursor: float
) -> ComparedValues | None:
    """Compare the neurons of the last computed frames, each run's near the cursor.

    None while the neurons of a run are unknown.
    """
    from core.comparison.alignment import RankedNodes
    from core.comparison.comparison import compared_nodes

    ranked = []
    for one, label, family in zip(runs, differences.labels, differences.families, strict=True):
        is_known = one.background.nodes.known
        if is_known is None or question.observable not in is_known[1]:
            return None
        every = is_known[1][question.observable]
        values, counts = every[np.isfinite(every)], one.run.counts_steps
        ranked.append(RankedNodes(label, family, np.sort(values), every.size, counts))
    # The start of the slider lies after t = 0, whose frame is shown there.
    has_started = any(math.isfinite(one.run.log10_time[_frame(one, cursor)]) for one in runs)
    log10_time = float(inverse_coordinate(cursor)) if has_started else -math.inf
    return ComparedValues(compared_nodes(question, ranked, log10_time, differences.shades))


def value_at(places: Array, values: Array, place: float) -> float:
    """Return the value at a place; the last value beyond the last place, NaN before the first."""
    from core.comparison.alignment import interpolate

    if places.size == 0:
        return math.nan
    interpolated = interpolate(places, values, np.array([min(place, float(places[-1]))]))
    return float(interpolated[0])


def medians(answer: Comparison) -> list[float]:
    """Return the median of each line's values; NaN for a line without values."""
    return [float(np.median(x.values)) if x.values.size else math.nan for x in answer.lines]
