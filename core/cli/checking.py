"""`check`: the claims of a study, confirmed or refuted by its runs."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path

from core.cli.output import print_indented, print_json, print_line, say
from core.cli.sweeping import INTERRUPTED, run_sweep
from core.files import scratch
from core.studies.code import check_code
from core.studies.study import load_study, shipped_ids
from core.studies.verdicts import Judged
from core.sweep.folder import existing_sweeps, judged_in, judged_rows

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
        print_json([one.as_dict() for one in judged])
    else:
        for one in judged:
            print_line(one.line)
            if one.basis:
                print_indented(one.basis, INDENT, INDENT)
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
        judged_size = size if study.sizes else None
        return status, judged_rows(study, plan.ledger.rows, Path(folder), judged_size)


def _folder(folder: Path, size: str | None) -> tuple[int, list[Judged]]:
    judged, status = [], 0
    # Without the table's values, a second a run where there is no ledger: claims need few of them.
    for ledger in existing_sweeps(folder, values=False):
        if any(row.state == "failed" for row in ledger.rows.values()):
            status = 1
        judged += judged_in(folder, ledger, size)
    return status, judged
