"""`theorems`: what the papers' statements say of a run."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from core.cli.margins import check_limit, computed, stopped
from core.cli.output import print_indented, print_json, print_line
from core.errors import InputError
from core.reference.watch import CancelledError, Watch
from core.runs import open_run
from core.studies.papers import PAPERS


def theorems(arguments: argparse.Namespace) -> int:
    """Print every applicable statement; 130 and no traceback when interrupted."""
    from core.theorems.registry import assess_all

    delta = arguments.delta
    if not 0.0 < delta < 1.0:
        raise InputError(f"--delta {delta:g}: a failure probability lies between 0 and 1.")
    check_limit(arguments.limit)
    try:
        with open_run(Path(arguments.run)) as run:
            references = computed(run.problem, arguments.limit, arguments.quiet)
            margins = {margin.reference.name: margin for margin in references}
            with stopped(Watch()) as watch:
                assessed = assess_all(run, margins, delta, watch)
    except CancelledError:
        raise KeyboardInterrupt from None
    if arguments.json:
        print_json([one.as_json() for one in assessed])
    else:
        for one in assessed:
            _print(one)
        if not assessed:
            print_line("No statement of the papers is about this run.")
    return 0


def _print(one: Any) -> None:
    from core.theorems.words import timing_words

    statement, comparison = one.statement, one.comparison
    print_line(f"{statement.source}, {statement.name}: {one.verdict.value}")
    _line(statement.text)
    if words := timing_words(one):
        _line(words[0].upper() + words[1:])
    if not math.isnan(comparison.bound):
        sense = f"measured {comparison.measured:.6g} {comparison.sense} {comparison.bound:.6g}"
        _line(f"{sense}{'' if comparison.holds is not False else ' does not hold'}")
    if comparison.why:
        _line(comparison.why)
    for hypothesis in one.hypotheses:
        met = {True: "met", False: "NOT MET", None: "not decided"}[hypothesis.met]
        _line(f"- {hypothesis.text}: {hypothesis.needed}; {hypothesis.present}: {met}")
    if paper := PAPERS.get(statement.source.partition(",")[0]):
        _line(f"From: {paper.citation(statement.name)}")
    if statement.slip:
        _line(f"Note: {statement.slip}")


def _line(text: str) -> None:
    print_indented(text, " " * 4, " " * 6)
