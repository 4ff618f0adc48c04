"""`compare`: several runs in one figure or table."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from core.cli.margins import time_of
from core.cli.output import print_line, print_notice, progress
from core.comparison.comparison import Comparison, table
from core.comparison.question import RANK, SORTED, CompareQuestion, check_count
from core.errors import InputError
from core.figures.names import parse_size
from core.files import write_whole
from core.runs import open_run, open_with_history

if TYPE_CHECKING:
    from core.comparison.setting_differences import Differing

AGAINST_TIME = CompareQuestion().against


def compare(arguments: argparse.Namespace) -> int:
    """Draw or write a comparison of runs, and print the settings in which they differ."""
    from core.comparison.setting_differences import (
        check_observable,
        check_runs,
        compare_runs,
        differing_of,
    )
    from core.figures.export import check_figure_path

    out = Path(arguments.out)
    names = arguments.observable or ["hard_margin"]
    check_count(len(arguments.runs))
    time = time_of(arguments.at, "--at")
    moment = math.inf if time is None else time
    _width(arguments.size)  # check the size before anything is computed
    if out.suffix.lower() != ".csv":
        try:
            check_figure_path(out)
        except InputError as error:
            raise InputError(f"{error.text} For a table, choose a .csv.", option="--out") from error
    with ExitStack() as stack:
        opener = open_with_history if arguments.history else open_run
        runs = [stack.enter_context(opener(path)) for path in arguments.runs]
        for name in names:
            check_observable(name, runs)
        mixed = any(name not in SORTED for name in names)
        questions = [_question(name, arguments, mixed) for name in dict.fromkeys(names)]
        for question in questions:
            check_runs(question, runs)
        total = len(questions) * sum(run.frames for run in runs)
        with progress("compare", total, arguments.quiet) as bar:
            comparisons = [compare_runs(one, runs, bar.add, moment) for one in questions]
        differences = differing_of(runs)
        _check(comparisons)
        _write(comparisons, differences, out, arguments)
    _print(differences, arguments.runs)
    print_line(out)
    return 0


def _check(comparisons: Sequence[Comparison]) -> None:
    """Raise InputError if a comparison has nothing to draw or write."""
    for one in comparisons:
        if one.is_empty:
            raise InputError(
                " ".join((f"These runs have no {one.question.observable} to compare.", *one.notes))[
                    :-1
                ],
                remedy="choose another axis, or lines",
                typed="give another --against, or --kind lines",
            )


def _question(name: str, arguments: argparse.Namespace, mixed: bool) -> CompareQuestion:
    """Return the question about an observable.

    Neurons are compared by rank, unless another axis was given for them alone.
    """
    against = arguments.against
    if name in SORTED and (mixed or against == AGAINST_TIME):
        against = RANK
    return CompareQuestion(name, against, arguments.kind, arguments.band)


def _write(
    comparisons: Sequence[Comparison],
    differences: Differing,
    out: Path,
    arguments: argparse.Namespace,
) -> None:
    from core.figures.comparison import comparison_scene
    from core.figures.export import save_figure
    from core.figures.palette import DARK, LIGHT

    if out.suffix.lower() == ".csv":
        write_whole(out, table(comparisons).encode())
        for note in dict.fromkeys(note for one in comparisons for note in one.notes):
            print_notice(note)  # figures print the note below their panels
        return
    title = f"{len(differences.labels)} runs compared"
    palette, width = DARK if arguments.dark else LIGHT, _width(arguments.size)
    scene = comparison_scene(comparisons, title, palette, width)
    save_figure(scene, out, dpi=arguments.dpi)


def _width(text: str | None) -> float:
    """Return the width of --size; the height follows the panels."""
    from core.figures.comparison import WIDTH, check_width

    if text is None:
        return WIDTH
    width, height = parse_size(text)
    if height is not None:
        raise InputError(
            f"{text!r}: the height follows from the panels; give a width.", option="--size"
        )
    check_width(width)
    return width


def _print(differences: Differing, paths: Sequence[str]) -> None:
    """Print the settings in which runs differ, a line for each run."""
    for path, row in zip(paths, differences.rows, strict=True):
        words = ", ".join(
            f"{key} = {value}" for key, value in zip(differences.keys, row, strict=True)
        )
        print_line(f"{path}: {words or 'the same settings'}")
