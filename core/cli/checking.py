"""`check`: the claims of a study, confirmed or refuted by its runs."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from core.cli.output import print_indented, print_json, print_line, say
from core.cli.sweeping import INTERRUPTED, run_sweep
from core.files import scratch
from core.studies.code import check_code
from core.studies.row import Row
from core.studies.study import Study, load_study, shipped_ids
from core.studies.trials import trials_of
from core.studies.verdicts import Judged, judge
from core.sweep.folder import existing_sweeps
from core.sweep.ledger import Ledger
from core.sweep.plan import run_file

INDENT = " " * 4  # of where a claim comes from, under its line


def check(arguments: argparse.Namespace) -> int:
    """Print every claim with its verdict; 1 where one is refuted."""
    target = Path(arguments.target)
    # A folder that happens to bear a study's name does not hide the study; `./NAME` is the folder.
    if target.is_dir() and arguments.target not in shipped_ids():
        status, judged = _folder(target, arguments.size)
    else:
        status, judged = _study(arguments)
    if status == INTERRUPTED:
        return status
    if arguments.json:
        print_json([one.as_json() for one in judged])
    else:
        for one in judged:
            print_line(one.line())
            if one.claim.basis:
                print_indented(one.claim.basis, INDENT, INDENT)
        if not judged:
            say("The study makes no claims.")
    refuted = any(one.verdict == "refuted" for one in judged)
    # A run that diverged is a finished run, of which the claims speak: its status fails nothing.
    return 1 if refuted or status == 1 else 0


def _study(arguments: argparse.Namespace) -> tuple[int, list[Judged]]:
    size = arguments.size or "quick"
    study = load_study(arguments.target)
    check_code(study, arguments.target)
    study = study.at_size(size).with_settings(arguments.settings)
    with ExitStack() as stack:
        folder = arguments.out or stack.enter_context(scratch("check"))
        status, plan = run_sweep(study, Path(folder), size, arguments, prints=False)
        if status == INTERRUPTED:
            return status, []
        rows = {name: entry.row for name, entry in plan.ledger.entries.items()}
        return status, _judged(study, rows, Path(folder), size if study.sizes else None)


def _folder(folder: Path, size: str | None) -> tuple[int, list[Judged]]:
    judged, status = [], 0
    # Without the table's values, a second a run where there is no ledger: claims need few of them.
    for ledger in existing_sweeps(folder, values=False):
        rows = {name: entry.row for name, entry in ledger.entries.items()}
        if any(row.state == "failed" for row in rows.values()):
            status = 1
        judged += judged_in(folder, ledger, size)
    return status, judged


def judged_in(folder: Path, ledger: Ledger, size: str | None) -> list[Judged]:
    """The claims of a swept study, at the size that it was swept at unless another is given."""
    rows = {name: entry.row for name, entry in ledger.entries.items()}
    judged_size = (size or ledger.size) if ledger.study.sizes else None
    return _judged(ledger.study, rows, folder, judged_size)


def _judged(study: Study, rows: Mapping[str, Row], folder: Path, size: str | None) -> list[Judged]:
    paths = {cell.name: run_file(study, cell, folder) for cell in study.cells()}
    # A row outlives its run file. A cell that failed never had one, and counts among the runs that
    # a claim is about.
    there = {
        name: row
        for name, row in rows.items()
        if name in paths and (row.state == "failed" or paths[name].is_file())
    }
    return judge(study, trials_of(study, there, paths), size)
