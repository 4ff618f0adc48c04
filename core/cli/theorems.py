"""`theorems`: what the papers' statements say of a run."""

from __future__ import annotations

import argparse
import math
import textwrap
from pathlib import Path
from typing import Any

from core.cli.margins import stopped
from core.cli.output import MARGIN_SECONDS, print_json, progress
from core.errors import InputError
from core.reference.margin import ReferenceMargin
from core.reference.watch import CancelledError, Watch
from core.runs import Run, open_run


def theorems(arguments: argparse.Namespace) -> int:
    """Print every applicable statement; 130 and no traceback when interrupted."""
    from core.theorems.registry import assess_all

    delta, limit = arguments.delta, arguments.limit
    if not 0.0 < delta < 1.0:
        raise InputError(f"--delta {delta:g}: a failure probability lies between 0 and 1.")
    if math.isnan(limit) or limit <= 0.0:
        raise InputError(
            f"--limit {limit:g}: give a positive number of seconds, such as {MARGIN_SECONDS:g}."
        )
    try:
        with open_run(Path(arguments.run)) as run:
            margins = _margins(run, limit, arguments.quiet)
            with stopped(Watch()) as watch:
                found = assess_all(run, margins, delta, watch)
    except CancelledError:
        raise KeyboardInterrupt from None
    if arguments.json:
        print_json([one.as_json() for one in found])
    else:
        for one in found:
            _print(one)
        if not found:
            print("No statement of the papers is about this run.")
    return 0


def _margins(run: Run, limit: float, quiet: bool) -> dict[str, ReferenceMargin]:
    """The reference margins that the statements are judged by."""
    from core.reference.registry import compute, references_of

    found = {}
    references = references_of(run.problem)
    with progress("margins", len(references), quiet) as bar:
        for done, reference in enumerate(references):
            with stopped(Watch(limit)) as watch:
                found[reference.name] = compute(reference, run.problem, watch)
            bar.to(done + 1, reference.name)
    return found


def _print(one: Any) -> None:
    statement, comparison = one.statement, one.comparison
    print(f"{statement.source}, {statement.name}: {one.verdict.value}")
    _line(statement.text)
    if not math.isnan(comparison.bound):
        sense = f"measured {comparison.measured:.6g} {comparison.sense} {comparison.bound:.6g}"
        _line(f"{sense}{'' if comparison.holds is not False else ' does not hold'}")
    if comparison.why:
        _line(comparison.why)
    for hypothesis in one.hypotheses:
        met = {True: "met", False: "NOT MET", None: "not decided"}[hypothesis.met]
        _line(f"- {hypothesis.text}: {hypothesis.needed}; {hypothesis.present}: {met}")
    if statement.slip:
        _line(f"Note: {statement.slip}")


def _line(text: str) -> None:
    print(textwrap.fill(text, 100, initial_indent="    ", subsequent_indent="      "))
