"""`theorems`: what the papers' statements say of a run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from core.cli.margins import check_limit, computed, stopped
from core.cli.output import print_indented, print_json, print_line, print_text
from core.errors import InputError
from core.reference.watch import CancelledError, Watch
from core.runs import open_run
from core.studies.papers import PAPERS

if TYPE_CHECKING:
    from core.theorems.report import Report


def theorems(arguments: argparse.Namespace) -> int:
    """Print every applicable statement; 130 and no traceback when interrupted."""
    from core.theorems.registry import assess_all
    from core.theorems.report import report

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
        told = [(report(one).as_dict(), one.timing.as_json()) for one in assessed]
        print_json([{**values, "times": times} for values, times in told])
    else:
        for one in assessed:
            _print(report(one))
        if not assessed:
            print_line("No statement of the papers is about this run.")
    return 0


def _print(one: Report) -> None:
    print_text(str(one))
    if paper := PAPERS.get(one.source.partition(",")[0]):
        print_indented(f"From: {paper.citation(one.name)}", " " * 4, " " * 6)
