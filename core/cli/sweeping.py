"""`run` for many cells: a sweep with a ledger, resumable, here or on a cluster."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.cli.output import print_line, progress, say
from core.cli.waiting import NO_WORKERS, stopped_by_signals
from core.compiled.warming import compiling_words
from core.studies.cell_table import check_table, rows_of, write_table
from core.studies.study import Study
from core.sweep.control import SweepControl, SweepStatus
from core.sweep.loop import sweep
from core.sweep.plan import Plan, plan
from core.sweep.pools import pool_for

INTERRUPTED, FAILED, DIVERGED = 130, 1, 3


def run_sweep(
    study: Study,
    folder: Path,
    size: str | None,
    options: argparse.Namespace,
    table: Path | None = None,
    prints: bool = True,
) -> tuple[int, Plan]:
    """Run what is left of a study in a folder; the exit status, and the plan with its ledger.

    `options` are those that commands with sweeps share (core.cli.parser): force, quiet, jobs,
    cluster, together. With `prints` the run files are printed. Raises InputError for what cannot be
    run at all.
    """
    if table is not None:
        check_table(table)
    if options.together:
        say("--together has no effect: processes train the cells.")
    control = SweepControl()
    # A cluster's workers may be on other machines, which cannot share a WAL (decision 0009).
    made = plan(study, folder, size, options.force, shared=options.cluster is not None)
    if made.kept and prints:
        say(f"{len(made.kept)} of {len(made.paths)} cells are there already.")
    # What is wrong with the data is said before anything is started.
    if made.tasks and (understood := made.tasks[0].problem().dataset.understood):
        say(understood)
    pool = pool_for(made.tasks, options.jobs, options.cluster, control.cell)
    status = control.status
    with (
        stopped_by_signals(control.cell),
        progress(study.id, len(made.paths), options.quiet) as bar,
    ):
        announced = lacking = False
        for status in sweep(made, pool, control):
            if status.lacks_workers and not lacking:
                say(NO_WORKERS)
            lacking = status.lacks_workers
            if status.compiling and not announced:
                say(f"{compiling_words(status.compiling)} The cells begin after that.")
                announced = True
            bar.to(status.done + status.failed, _words(status))
    if table is not None:
        write_table(rows_of(study, made.ledger.rows), table)
    _report(made, status, prints)
    return _code(made, status), made


def _words(status: SweepStatus) -> str:
    if status.compiling:
        return "compiling kernels"
    if status.lacks_workers:
        return "waiting for workers"
    # NaN, the only number that differs from itself, until a cell has ended.
    left = "" if status.eta != status.eta else f", {status.eta:.0f} s left"
    failed = f", {status.failed} failed" if status.failed else ""
    return f"{status.running} running{failed}{left}"


def _report(made: Plan, status: SweepStatus, prints: bool) -> None:
    for name, path in made.paths.items():
        entry = made.ledger.entries.get(name)
        if entry is not None and entry.row.state == "failed":
            say(f"{path.name} failed: {entry.row.reason}")
        elif entry is not None and entry.row.state == "done" and prints:
            print_line(path)
    if status.stopped:
        left = status.total - status.done
        say(f"Interrupted; {left} of {status.total} cells are left; the same command goes on.")


def _code(made: Plan, status: SweepStatus) -> int:
    if status.stopped:
        return INTERRUPTED
    rows = [entry.row for entry in made.ledger.entries.values()]
    # What was not recorded at all weighs more than a run that diverged.
    if any(row.state == "failed" for row in rows):
        return FAILED
    return DIVERGED if any(row.reason == "diverged" for row in rows) else 0
