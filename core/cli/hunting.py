"""`hunt`: the run of a study that is worst for a bound, or most extreme in a quantity."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from core.cli.margins import time_of
from core.cli.output import print_indented, print_line, print_notice, progress
from core.cli.sweeping import INTERRUPTED, print_progress
from core.errors import InputError
from core.extremes.hunt import BEST, Budget, FileRetention, Hunt, HuntStatus
from core.extremes.hunt_building import hunt_for, pool_of, seeds_words, state_of, table
from core.extremes.objective import VERDICT, verdict_words
from core.extremes.question import Frames, Question, limit_of, range_of
from core.program.stopping import answered_elsewhere, first_signal
from core.studies.cell_table import check_table, write_rows
from core.studies.claims import Counts, HuntTable, hunt_of
from core.studies.code import check_code
from core.studies.study import Study, load_study
from core.studies.tables import MAX_CELLS
from core.sweep.control import SweepControl
from core.sweep.pools import Pool

MINUTES = 5  # default budget
LISTED = 5  # failures listed one by one


def hunt(arguments: argparse.Namespace) -> int:
    """Run the hunt, print the best runs, and write all as a table; return 130 if interrupted."""
    study = load_study(arguments.study)
    check_code(study, arguments.study)
    hunt_table = hunt_of(study.results, study.id)
    study = study.at_size(arguments.size).with_settings(arguments.settings)
    if arguments.table is not None:
        check_table(Path(arguments.table))
    # Check everything before anything is written.
    counts = Counts() if hunt_table is None else hunt_table.counts(arguments.size)
    budget = budget_of(arguments, counts)
    plan = make_hunt(study, hunt_table, counts, arguments)
    control = SweepControl()
    pool = pool_of(plan, arguments.jobs, arguments.cluster, control.cell)
    ended = _run(plan, pool, control, budget, arguments.quiet)
    _report(plan, ended, control.stop_requested)
    rows = table(plan)
    if rows:
        write_rows(rows, plan.retention.folder / f"{study.id}.hunt.csv")
        if arguments.table is not None:
            write_rows(rows, Path(arguments.table))
    return INTERRUPTED if control.stop_requested else 0


def make_hunt(
    study: Study, table: HuntTable | None, counts: Counts, arguments: argparse.Namespace
) -> Hunt:
    """Return the hunt of a command, with the study's own question as default.

    Parameters
    ----------
    study : Study
        Study at its size.
    table : HuntTable or None
        The study's own [hunt].
    counts : Counts
        Numbers of runs at the size.
    arguments : argparse.Namespace
        Options of the command.

    Returns
    -------
    Hunt
    """
    least, text = _sense(study, table, arguments)
    # An objective of the command replaces the study's question completely.
    own = None if arguments.minimise or arguments.maximise else table
    over = arguments.over or ("seeds" if table is None else table.over)
    if arguments.flip_labels and over != "data":
        raise InputError("--flip-labels varies the data; add --over data.")
    question = Question(
        text,
        least,
        over,
        _frames(own, arguments),
        arguments.exclude_unfit or (own is not None and own.exclude_unfit),
        range_of(arguments.seeds) if arguments.seeds else table and table.seeds,
        arguments.seed,
        check_positive(arguments.drawn, "--drawn") or counts.drawn,
        arguments.flip_labels,
    )
    best = check_positive(arguments.best, "--best") or BEST
    retention = FileRetention(Path(arguments.output), best, arguments.keep_all, arguments.force)
    return hunt_for(study, question, retention, arguments.size)


def _frames(own: HuntTable | None, arguments: argparse.Namespace) -> Frames:
    """Return the frames of the objective, from the command or else from the study."""
    frames = Frames() if own is None else Frames(own.take, own.at, own.after)
    at = frames.at if arguments.at is None else time_of(arguments.at, "--at")
    after = frames.after if arguments.after is None else arguments.after
    return Frames(arguments.take or frames.take, at, after)


def _sense(
    study: Study, table: HuntTable | None, arguments: argparse.Namespace
) -> tuple[bool, str]:
    """Return True if the objective is minimised, and its text. InputError if none is given."""
    if arguments.minimise is not None or arguments.maximise is not None:
        least = arguments.minimise is not None
        return least, str(arguments.minimise if least else arguments.maximise)
    if table is None:
        raise InputError(
            f"{study.id} has no section [hunt]; give an objective, such as --minimise hard_margin."
        )
    return table.minimise is not None, str(table.minimise or table.maximise)


def check_positive(number: int | None, option: str) -> int | None:
    """Return a count of the command line, or None. Raises InputError outside 1 to MAX_CELLS."""
    if number is not None and not 1 <= number <= MAX_CELLS:
        raise InputError(f"give a number from 1 to {MAX_CELLS}.", where=number, option=option)
    return number


def budget_of(arguments: argparse.Namespace, counts: Counts) -> Budget:
    """Return the budget: --budget as a time or a number of runs, --runs, or the study's.

    Five minutes if none is given. Raises InputError for a wrong text.
    """
    runs, seconds = check_positive(arguments.runs, "--runs"), math.inf
    text = arguments.budget
    if text is not None:
        trials, seconds = limit_of(text)
        runs = runs if trials is None else min(runs or MAX_CELLS, trials)
    if runs is None and text is None:
        runs = counts.runs
    if runs is None and seconds == math.inf:
        seconds = 60.0 * MINUTES
    return Budget(min(runs or MAX_CELLS, MAX_CELLS), seconds)


# ------------------------------------------------------------------------------------ running


def _run(hunt: Hunt, pool: Pool, control: SweepControl, budget: Budget, quiet: bool) -> HuntStatus:
    status = HuntStatus()
    total = budget.runs if budget.seconds == math.inf else 0
    stopping = first_signal(control.cell.stop)
    with answered_elsewhere(), stopping, progress("hunt", total, quiet) as bar:
        for status in print_progress(hunt.run(pool, control, budget), "runs"):
            bar.set_done(status.tried, _words(status))
    return status


def _words(status: HuntStatus) -> str:
    """Return the text beside a hunt's bar: its running runs, and the best value so far."""
    best = "" if math.isnan(status.best) else f", best {status.best:.6g}"
    return f"{status.running} running{best}"


# ------------------------------------------------------------------------------------- telling


def _report(hunt: Hunt, status: HuntStatus, stopped: bool) -> None:
    ranked, unranked = hunt.ranked_runs(), hunt.unranked_runs()
    question = hunt.question
    moment = "" if hunt.objective.statement else f" ({question['frames']})"
    print_line(
        f"{question['sense']} {question['objective']}{moment} over {question['over']}: "
        f"{len(hunt.tried)} runs in {status.seconds:.0f} s"
    )
    for rank, one in enumerate(ranked[: hunt.retention.best], start=1):
        values = hunt.space.cells[one.place].values
        parent = f" from run {one.parent}" if one.parent >= 0 else ""
        verdict = verdict_words(one.row.moments.get(VERDICT, math.nan))
        line = f"{rank:>3}  {one.value:<12.6g} run {one.index}, {one.phase}{parent}: "
        line += seeds_words(one, values, hunt.space.over) + (f"; {verdict}" if verdict else "")
        print_line(line)
        file = hunt.run_file(one.index)
        if file.is_file():
            print_indented(str(file), " " * 5, " " * 7)
    if not ranked:
        print_line("No run has a value.")
    for one in unranked[:LISTED]:
        print_notice(f"run {one.index} ({one.phase}) has no rank: {state_of(one)}")
    if len(unranked) > LISTED:
        print_notice(f"{len(unranked)} runs have no rank; the table lists the reasons.")
    if hunt.exhausted:
        print_notice("Every candidate has been tried.")
    if stopped:
        print_notice("Interrupted; repeat the command to continue.")
