"""`compare`: several runs in one figure or table."""

from __future__ import annotations

import argparse
import csv
import io
import math
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from core.cli.output import progress
from core.comparison.alignment import shown
from core.comparison.comparison import Comparison
from core.comparison.differing import Differing
from core.comparison.question import RANK, SORTED, CompareQuestion, check_count
from core.errors import InputError
from core.files import write_whole
from core.problem.schedule import parse_time
from core.runs import open_run

AGAINST_TIME = CompareQuestion().against


def compare(arguments: argparse.Namespace) -> int:
    """Draw or write what some runs have in common, and print the settings in which they differ."""
    from core.comparison.recorded import check_observable, check_runs, compare_runs, differing_of
    from core.figures.export import check_figure_path

    out = Path(arguments.out)
    names = arguments.observable or ["hard_margin"]
    check_count(len(arguments.runs))
    for name in names:
        check_observable(name)
    questions = [_question(name, arguments) for name in dict.fromkeys(names)]
    moment = math.inf if arguments.at is None else parse_time(arguments.at)
    if moment is None:
        raise InputError(f"{arguments.at!r} is no time; write t, or 10^2.5.", option="--at")
    if out.suffix.lower() != ".csv":
        try:
            check_figure_path(out)
        except InputError as error:
            raise InputError(f"{error.text} A table of it is a .csv.", option="--out") from error
    with ExitStack() as stack:
        runs = [stack.enter_context(open_run(path)) for path in arguments.runs]
        for question in questions:
            check_runs(question, runs)
        total = len(questions) * sum(run.frames for run in runs)
        with progress("compare", total, arguments.quiet) as bar:
            found = [compare_runs(one, runs, bar.add, moment) for one in questions]
        named = differing_of(runs)
        _write(found, named, out, arguments)
    _print(named, arguments.runs)
    print(out)
    return 0


def _question(name: str, arguments: argparse.Namespace) -> CompareQuestion:
    """What is asked of an observable; nodes are compared by their ranks unless something else is
    asked for."""
    against = arguments.against
    if name in SORTED and against == AGAINST_TIME:
        against = RANK
    return CompareQuestion(name, against, arguments.kind, arguments.band)


def _write(
    found: Sequence[Comparison], named: Differing, out: Path, arguments: argparse.Namespace
) -> None:
    from core.figures.comparison import comparison_scene
    from core.figures.export import save_figure
    from core.figures.palette import DARK, LIGHT

    if out.suffix.lower() == ".csv":
        write_whole(out, table(found).encode())
        return
    title = f"{len(named.labels)} runs compared"
    scene = comparison_scene(found, title, DARK if arguments.dark else LIGHT)
    save_figure(scene, out, dpi=arguments.dpi)


def table(found: Sequence[Comparison]) -> str:
    """A row for each place of each line; `low` and `high` are those of bands."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    against = found[0].question.against if found else "log10_time"
    across = f"log10_{against}" if against in ("step", "norm_squared", "risk") else against
    writer.writerow(("observable", "line", across, "value", "low", "high"))
    for comparison in found:
        name = comparison.question.observable
        for line in comparison.lines:
            places = shown(line.places, against).tolist()
            low = line.low.tolist() if line.banded else [""] * len(places)
            high = line.high.tolist() if line.banded else [""] * len(places)
            for row in zip(places, line.values.tolist(), low, high, strict=True):
                writer.writerow((name, line.label, *row))
    return text.getvalue()


def _print(named: Differing, paths: Sequence[str]) -> None:
    """The settings in which runs differ, a line for each run."""
    for path, row in zip(paths, named.rows, strict=True):
        words = ", ".join(f"{key} = {value}" for key, value in zip(named.keys, row, strict=True))
        print(f"{path}: {words or 'the same settings'}")
