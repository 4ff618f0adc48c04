"""Sweeps in a folder of run files, with a ledger or without, and their results.

A study of few cells that was recorded without a ledger is recognised by the names of its run files
and by the experiments in them: those of a shipped study, at one of its sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from core.errors import InputError
from core.figures.names import PageSize
from core.figures.palette import Palette
from core.figures.primitives import FigureScene
from core.figures.study_figure import figure_of_runs, layout_of
from core.figures.study_scene import AUTOMATIC
from core.runs import Run, open_run
from core.studies.cell_table import Known, Row, known_values
from core.studies.cells import runs_of, studies_in
from core.studies.study import Study, load_study, shipped_ids
from core.studies.tables import SIZES
from core.studies.trials import Opened, trials_of
from core.studies.verdicts import JudgedClaim, judge
from core.sweep.plan import (
    SUFFIX,
    Ledger,
    digest_of,
    ledger_path,
    read_ledger,
    recorded_row,
    run_file,
    run_paths,
    task_of,
)


def sweeps_in(folder: Path, values: bool = True) -> list[Ledger]:
    """Return the ledgers of a folder, and new ones for shipped studies whose runs have none.

    Without `values` the rows of new ledgers have none: to compute them takes a second a run for
    large test sets, and figures and claims read their values from the runs.

    Raises InputError for a ledger that cannot be read.
    """
    ledgers = [read_ledger(path) for path in sorted(folder.glob(f"*{SUFFIX}"))]
    ids = {ledger.study.id for ledger in ledgers}
    for name in studies_in(folder, [name for name in shipped_ids() if name not in ids]):
        ledger = ledger_of_runs(load_study(name), folder, values)
        if ledger is not None:
            ledgers.append(ledger)
    return ledgers


def existing_sweeps(folder: Path, values: bool = True) -> list[Ledger]:
    """Return `sweeps_in`; raise InputError if the folder has none."""
    ledgers = sweeps_in(folder, values)
    if not ledgers:
        raise InputError(
            f"{folder} contains no sweep: neither a file *{SUFFIX} nor runs of an unmodified "
            "shipped study",
            remedy="run a study into it first",
            typed="run a study into it first, with check STUDY --out DIR or run STUDY --out DIR",
        )
    return ledgers


def ledger_of_runs(study: Study, folder: Path, values: bool = True) -> Ledger | None:
    """Make a ledger from the run files of a study, at the size that most of them have.

    Parameters
    ----------
    study : Study
        Study without a size.
    folder : Path
        Folder of run files.
    values : bool
        Compute the values of the rows.

    Returns
    -------
    Ledger or None
        None if no file contains an experiment of the study.
    """
    best: Ledger | None = None
    for size in (None, *(size for size in SIZES if size in study.sizes)):
        sized = study.at_size(size)
        present = sum(run_file(sized, cell, folder).is_file() for cell in sized.cells())
        largest = 0 if best is None else len(best.entries)
        if present > largest:  # a cell of several sizes is one file, which takes a second to check
            ledger = ledger_at(sized, folder, size, values)
            best = ledger if len(ledger.entries) > largest else best
    return best


def note_runs(study: Study, folder: Path, size: str | None) -> None:
    """Write the ledger of cells that were recorded without one, for claims and figures.

    Runs of a shipped study without a figure need none: their files identify them.

    Parameters
    ----------
    study : Study
        Study at its size.
    folder : Path
        Folder of run files.
    size : str or None
        Name of the size.
    """
    if study.figure or (study.claims and study.id not in shipped_ids()):
        ledger = ledger_at(study, folder, size if study.sizes else None)
        if ledger.entries:
            ledger.save()


def ledger_at(study: Study, folder: Path, size: str | None, values: bool = True) -> Ledger:
    """Make a ledger of the run files of a study at one size.

    Parameters
    ----------
    study : Study
        Study at the size.
    folder : Path
        Folder of run files; those of other settings are passed over.
    size : str or None
        Name of the size.
    values : bool
        Compute the values of the rows.

    Returns
    -------
    Ledger
        May be empty.
    """
    ledger = Ledger(ledger_path(study.id, folder), study, size)
    for cell in study.cells():
        file = run_file(study, cell, folder)
        if not file.is_file():
            continue
        try:
            task = task_of(study, cell, file)
            row = recorded_row(task if values else replace(task, columns=()), file, math.nan)
        except InputError:  # a run with other settings
            continue
        if row is not None:
            ledger.set_row(row, digest_of(cell.experiment))
    return ledger


# ------------------------------------------------------------------------------------------ results


def judged_in(
    folder: Path, ledger: Ledger, size: str | None, opened: Opened | None = None
) -> list[JudgedClaim]:
    """Judge the claims of a swept study.

    Parameters
    ----------
    folder : Path
        Folder of run files.
    ledger : Ledger
        Ledger of the sweep.
    size : str or None
        Size of the claims; None for the size of the sweep.
    opened : callable, optional
        Opens the run file of a path, as a context; by default `core.runs.open_run`.

    Returns
    -------
    list of JudgedClaim
        One for each claim, in their order.
    """
    judged_size = (size or ledger.size) if ledger.study.sizes else None
    return judged_rows(ledger.study, ledger.rows, folder, judged_size, opened)


def judged_rows(
    study: Study,
    rows: Mapping[str, Row],
    folder: Path,
    size: str | None,
    opened: Opened | None = None,
) -> list[JudgedClaim]:
    """Judge the claims of a study by the rows of its cells, whose runs are in a folder.

    Parameters
    ----------
    study : Study
        Study whose claims are judged.
    rows : mapping of str to Row
        Rows of the cells, by their names.
    folder : Path
        Folder of the run files.
    size : str or None
        Size that the cells were trained at; None judges all claims.
    opened : callable
        Opens the run file of a path, as a context; None for `core.runs.open_run`.

    Returns
    -------
    list of JudgedClaim
        One for each claim, in their order.
    """
    paths = run_paths(study, folder)
    # Drop rows whose run file was deleted, except failed cells, which never had one and count among
    # the runs of a claim.
    present = {
        name: row
        for name, row in rows.items()
        if name in paths and (row.state == "failed" or paths[name].is_file())
    }
    return judge(study, trials_of(study, present, paths, opened), size)


def results_in(
    folder: Path, ledger: Ledger | None, claims: bool = True, opened: Opened | None = None
) -> tuple[list[str], Known | None]:
    """Return a line for each claim of a sweep, and the values in its table.

    Parameters
    ----------
    folder : Path
        Folder of run files.
    ledger : Ledger or None
        Ledger of the sweep.
    claims : bool
        Judge the claims.
    opened : callable, optional
        Opens the run file of a path, as a context; by default `core.runs.open_run`.

    Returns
    -------
    list of str, Known or None
        Empty and None without a ledger.
    """
    if ledger is None:
        return [], None
    claims = claims and bool(ledger.study.claims)
    verdicts = [one.line for one in judged_in(folder, ledger, None, opened)] if claims else []
    return verdicts, known_values(ledger.rows, run_paths(ledger.study, folder))


def one_per_path(register: Callable[[Run], Run]) -> Callable[[Run], Run]:
    """Return a function that keeps one run of a file open, to reuse its computed results."""
    runs: dict[Path, Run] = {}

    def register_once(run: Run) -> Run:
        if run.path in runs:
            run.close()
        else:
            runs[run.path] = register(run)
        return runs[run.path]

    return register_once


def opener_of(register: Callable[[Run], Run]) -> Opened:
    """Return the function by which claims open runs that `register` closes later."""
    return lambda path: nullcontext(register(open_run(path)))


def folder_figure(
    folder: Path,
    register: Callable[[Run], Run],
    palette: Palette,
    fresh: Sequence[Study] = (),
    claims: bool = True,
    sheet: PageSize = AUTOMATIC,
    ledgers: Sequence[Ledger] | None = None,
) -> FigureScene | None:
    """Return the figure of the study with a layout whose runs a folder holds; None without one.

    Parameters
    ----------
    folder : Path
        Folder of run files.
    register : callable
        Called with each run that is opened; closes the run later, and returns the run to read.
    palette : Palette
        Colours of the figure.
    fresh : sequence of Study
        Studies whose runs were recorded a moment ago and have no ledger.
    claims : bool
        Judge the study's claims and write the verdicts below the panels.
    sheet : PageSize
        Size of the figure and of its letters.
    ledgers : sequence of Ledger, optional
        Sweeps of the folder, if they were read before.

    Returns
    -------
    FigureScene or None
    """
    if ledgers is None:
        ledgers = [] if fresh else sweeps_in(folder, values=False)
    study = layout_of(folder, fresh or [ledger.study for ledger in ledgers])
    if study is None:
        return None
    own = next((ledger for ledger in ledgers if ledger.study.id == study.id), None)
    register = one_per_path(register)
    verdicts, known_values = results_in(folder, own, claims, opener_of(register))
    paths = runs_of(study.id, folder)
    return figure_of_runs(study, paths, register, palette, verdicts, known_values, sheet)
