"""`run` for many cells, a sweep to resume, here or on a cluster; and `check`, its claims."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from core.cli.output import print_indented, print_json, print_line, print_notice, progress
from core.compiled.kernel_groups import compiling_words
from core.files import temporary_folder
from core.program.stopping import answered_elsewhere, first_signal
from core.studies.cell_table import check_table, rows_of, write_table
from core.studies.code import check_code
from core.studies.study import Study, load_study, shipped_ids
from core.sweep.control import SweepControl, SweepStatus
from core.sweep.loop import sweep
from core.sweep.plan import Plan, plan
from core.sweep.pools import pool_for

if TYPE_CHECKING:
    from core.extremes.hunt import HuntStatus
    from core.studies.verdicts import JudgedClaim

StatusType = TypeVar("StatusType", SweepStatus, "HuntStatus")

INTERRUPTED, FAILED, DIVERGED = 130, 1, 3
NO_WORKERS = (
    "The cluster has no workers left; its cells wait for one. Start workers, or stop with Ctrl-C "
    "and repeat the command later."
)


def print_progress(statuses: Iterator[StatusType], label: str) -> Iterator[StatusType]:
    """Yield statuses; print once what is compiled first, and each loss of a cluster's workers.

    `label` names the trainings that wait: "cells" or "runs".
    """
    compiled = lacking = False
    for status in statuses:
        if status.lacks_workers and not lacking:
            print_notice(NO_WORKERS)
        lacking = status.lacks_workers
        if status.compiling and not compiled:
            print_notice(f"{compiling_words(status.compiling)} The {label} start afterwards.")
            compiled = True
        yield status


def run_sweep(
    study: Study,
    folder: Path,
    size: str | None,
    options: argparse.Namespace,
    table: Path | None = None,
    prints: bool = True,
) -> tuple[int, Plan]:
    """Run the cells of a study that have no finished run file yet.

    Parameters
    ----------
    study : Study
        Study at its size.
    folder : Path
        Folder of run files.
    size : str or None
        Name of the size, "quick" or "paper"; None for the study's own.
    options : argparse.Namespace
        Options of commands with sweeps: force, quiet, jobs, cluster, together.
    table : Path, optional
        Table to write.
    prints : bool
        Print the run files.

    Returns
    -------
    int, Plan
        Exit status (130, 1, 3 or 0), and the plan with its ledger.

    Raises
    ------
    InputError
        No cell can be run.
    """
    if table is not None:
        check_table(table)
    if options.together:
        print_notice("--together has no effect: processes train the cells.")
    control = SweepControl()
    # Workers of a cluster may run on other machines, which cannot share a WAL (decision 0009).
    sweep_plan = plan(study, folder, size, options.force, shared=options.cluster is not None)
    if sweep_plan.kept and prints:
        print_notice(
            f"{len(sweep_plan.kept)} of {len(sweep_plan.paths)} cells are already finished."
        )
    # Report errors in the data before anything is started.
    if sweep_plan.tasks and (understood := sweep_plan.tasks[0].problem().dataset.reading_sentence):
        print_notice(understood)
    pool = pool_for(sweep_plan.tasks, options.jobs, options.cluster, control.cell)
    status = control.status
    with (
        answered_elsewhere(),
        first_signal(control.cell.stop),
        progress(study.id, len(sweep_plan.paths), options.quiet) as bar,
    ):
        for status in print_progress(sweep(sweep_plan, pool, control), "cells"):
            bar.set_done(status.done + status.failed, _words(status))
    if table is not None:
        write_table(rows_of(study, sweep_plan.ledger.rows), table)
    _report(sweep_plan, status, prints)
    return _code(sweep_plan, status), sweep_plan


def _words(status: SweepStatus) -> str:
    """Return the text beside a bar of cells: running and failed ones, and the seconds left.

    Without running cells the text is the reason: kernels, or a cluster without workers.
    """
    if status.compiling:
        return "compiling kernels"
    if status.lacks_workers:
        return "waiting for workers"
    # NaN, the only number unequal to itself, until a cell has finished.
    time_left = "" if status.eta != status.eta else f", {status.eta:.0f} s left"
    failed = f", {status.failed} failed" if status.failed else ""
    return f"{status.running} running{failed}{time_left}"


def _report(sweep: Plan, status: SweepStatus, prints: bool) -> None:
    """Print the failed cells, with `prints` the run files of the others, and an interruption."""
    for name, path in sweep.paths.items():
        entry = sweep.ledger.entries.get(name)
        if entry is not None and entry.row.state == "failed":
            print_notice(f"{path.name} failed: {entry.row.reason}")
        elif entry is not None and entry.row.state == "done" and prints:
            print_line(path)
    if status.stopped:
        n_open = status.total - status.done
        print_notice(
            f"Interrupted with {n_open} of {status.total} cells left; "
            "repeat the command to continue."
        )


def _code(sweep: Plan, status: SweepStatus) -> int:
    """Return 130 for an interrupted sweep, 1 if a cell failed, 3 if one diverged, else 0."""
    if status.stopped:
        return INTERRUPTED
    rows = [entry.row for entry in sweep.ledger.entries.values()]
    # A cell that was not recorded outranks a run that diverged.
    if any(row.state == "failed" for row in rows):
        return FAILED
    return DIVERGED if any(row.reason == "diverged" for row in rows) else 0


# ----------------------------------- check: the claims of a study, confirmed or refuted by its runs

INDENT = " " * 4  # of a claim's source, under its line


def check(arguments: argparse.Namespace) -> int:
    """Print every claim with its verdict; return 1 if one is refuted or a cell failed, else 0.

    Return 130, without verdicts, if the training was interrupted.
    """
    target = Path(arguments.target)
    # A folder with a study's name does not hide the study; `./NAME` means the folder.
    if target.is_dir() and arguments.target not in shipped_ids():
        status, claims = _checked_folder(target, arguments.size)
    else:
        status, claims = _checked_study(arguments)
    if status == INTERRUPTED:
        return status
    if arguments.json:
        print_json([one.as_dict() for one in claims])
    else:
        for one in claims:
            print_line(one.line)
            if one.basis:
                print_indented(one.basis, INDENT, INDENT)
        if not claims:
            print_notice("The study makes no claims.")
    refuted = any(one.verdict == "refuted" for one in claims)
    # A diverged run is a finished run that the claims cover: its status is no failure.
    return 1 if refuted or status == 1 else 0


def _checked_study(arguments: argparse.Namespace) -> tuple[int, list[JudgedClaim]]:
    """Train a study, "quick" by default, and judge its claims.

    Returns the sweep's exit status and the verdicts; runs stay in --out only.
    """
    from core.sweep.folder import judged_rows

    size = arguments.size or "quick"
    study = load_study(arguments.target)
    check_code(study, arguments.target)
    study = study.at_size(size).with_settings(arguments.settings)
    with ExitStack() as stack:
        folder = arguments.out or stack.enter_context(temporary_folder("check"))
        status, sweep = run_sweep(study, Path(folder), size, arguments, prints=False)
        if status == INTERRUPTED:
            return status, []
        judged_size = size if study.sizes else None
        return status, judged_rows(study, sweep.ledger.rows, Path(folder), judged_size)


def _checked_folder(folder: Path, size: str | None) -> tuple[int, list[JudgedClaim]]:
    """Judge the claims of the sweeps in a folder.

    Returns 1 if a cell has failed, else 0, and the verdicts.
    """
    from core.sweep.folder import existing_sweeps, judged_in

    claims, status = [], 0
    # Without the table's values, which take a second a run if there is no ledger: claims need few.
    for ledger in existing_sweeps(folder, values=False):
        if any(row.state == "failed" for row in ledger.rows.values()):
            status = 1
        claims += judged_in(folder, ledger, size)
    return status, claims
