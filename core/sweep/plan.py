"""What a sweep has still to do in a folder: the cells that no finished run file answers for."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from core.errors import InputError, RunFileError
from core.problem.problem import Problem, resolve
from core.runs import open_run
from core.studies.cell_table import Row
from core.studies.code import trusted_codes
from core.studies.study import Study
from core.studies.tables import Cell
from core.study_file.experiment import Experiment
from core.study_file.weight import check_room
from core.sweep.cell import Task, expected, finished, row_of
from core.sweep.ledger import Ledger, digest_of, place, read_ledger

LONGEST_NAME = 240  # file systems take 255 bytes, and SQLite adds its own ends


@final
@dataclass(frozen=True)
class Plan:
    """A study, its folder, its ledger, and the tasks that are left, in the order of the grid."""

    study: Study
    folder: Path
    ledger: Ledger
    paths: Mapping[str, Path]
    digests: Mapping[str, str]
    tasks: tuple[Task, ...]
    kept: tuple[Row, ...]


def run_file(study: Study, cell: Cell, folder: Path) -> Path:
    """DIR/<id>__<axis>=<value>.msrun, or DIR/<id>.msrun without axes.

    Raises InputError for a name that is longer than file systems take.
    """
    name = f"{study.id}{'__' + cell.name if cell.name else ''}.msrun"
    if len(os.fsencode(name)) > LONGEST_NAME:
        raise InputError(
            f"{study.id}: the run file of a cell would have a name of {len(name)} characters, "
            f"{name[:60]}...; at most {LONGEST_NAME} are possible: give fewer or shorter values."
        )
    return folder / name


def run_paths(study: Study, folder: Path) -> dict[str, Path]:
    """Return the run file of each cell by the cell's name, in the order of the grid."""
    return {cell.name: run_file(study, cell, folder) for cell in study.cells()}


def problems(study: Study, say: Callable[[str], None] | None = None) -> Iterator[Problem]:
    """Yield the problem of each cell; `say` gets once how a data file was understood."""
    said = {""}
    for cell in study.cells():
        problem = resolve(cell.experiment, study.folder, study.title, study.source)
        understood = problem.dataset.understood
        if say is not None and understood not in said:
            say(understood)
            said.add(understood)
        yield problem


def plan(
    study: Study, folder: Path, size: str | None = None, force: bool = False, shared: bool = False
) -> Plan:
    """Look at what a folder holds of a study.

    A finished file of the same experiment is kept; one that was cut off is recorded again; with
    `force` all are. Raises InputError for a file that holds another experiment, and for more than
    this machine holds; what a cluster's workers have is not known (`shared`).
    """
    from core.studies.moments import requested_of  # loads the observables

    columns, requested = study.sweep.columns, requested_of(study)
    path = place(study.id, folder)
    known = {} if force or not path.is_file() else read_ledger(path).entries
    ledger = Ledger(path, study, size)
    trusted = trusted_codes(study) if shared else ()
    tasks, kept, paths, digests = [], [], {}, {}
    for cell in study.cells():
        file = run_file(study, cell, folder)
        digest = digest_of(cell.experiment)
        paths[cell.name], digests[cell.name] = file, digest
        task = replace(
            task_of(study, cell, file), stage=shared, requested=requested, trusted=trusted
        )
        row = None
        # Run files are the truth: the ledger only saves the work of reading them (decision 0009).
        if not force and file.exists():
            entry = known.get(cell.name)
            if (
                entry is not None
                and entry.digest == digest
                and entry.row.state == "done"
                and set(columns) <= set(entry.row.values)
                and not _reads_files(cell.experiment)
                and finished(file)
            ):
                row = entry.row
            else:
                seconds = entry.row.seconds if entry is not None else math.nan
                is_known = entry is not None and entry.digest == digest
                row = recorded_row(task, file, seconds, is_known=is_known)
        if row is None:
            tasks.append(task)
        else:
            kept.append(row)
            ledger.put(row, digest)
    check_room((task.experiment for task in tasks), folder, memory=not shared)
    return Plan(study, folder, ledger, paths, digests, tuple(tasks), tuple(kept))


def task_of(study: Study, cell: Cell, file: Path) -> Task:
    """What a worker is told of a cell that is to be recorded into a file."""
    experiment, columns = cell.experiment, study.sweep.columns
    place = str(file.resolve())
    return Task(cell.name, place, experiment, study.folder, study.title, study.source, columns)


def ledger_rows(study: Study, folder: Path) -> tuple[dict[str, Path], dict[str, Row]]:
    """Where the runs of a study go, and the rows that its ledger has of this very study.

    Only the ledger is read, so that this is quick; `plan` looks at the files themselves. Raises
    InputError where the ledger cannot be read.
    """
    place_ = place(study.id, folder)
    entries = read_ledger(place_).entries if place_.is_file() else {}
    paths, rows = {}, {}
    for cell in study.cells():
        paths[cell.name] = file = run_file(study, cell, folder)
        entry = entries.get(cell.name)
        if entry is None or entry.digest != digest_of(cell.experiment):
            continue
        if entry.row.state != "done" or file.is_file():
            rows[cell.name] = entry.row
    return paths, rows


def _reads_files(experiment: Experiment) -> bool:
    """Whether files outside the study say what is run, which may have changed since."""
    network = experiment.network
    return experiment.data.embedded or network.init == "file" or network.kind == "custom"


def recorded_row(task: Task, file: Path, seconds: float, *, is_known: bool = False) -> Row | None:
    """Return the row of a finished file; None for one that must be recorded again.

    `is_known`: a ledger names the file as a run of this very study. Raises InputError for a run of
    another experiment, and for what is no run file.
    """
    try:
        with open_run(file) as run:
            if run.experiment != expected(task.problem(), run.experiment if is_known else None):
                raise InputError(
                    f"The run file {file} exists and holds another experiment",
                    remedy="choose another folder",
                    typed="--force records over it, --out names another folder",
                )
            return row_of(run, task.name, task.columns, seconds) if run.finished else None
    except RunFileError:
        # What a crash has left is recorded anew; what is of somebody else is not replaced.
        if _is_foreign(file):
            raise InputError(
                f"{file} exists and is no run file",
                remedy="move it",
                typed="--force records over it",
            ) from None
        return None


def _is_foreign(file: Path) -> bool:
    """Whether a file is something else than a database, and not empty."""
    with file.open("rb") as opened:
        return opened.read(15) not in (b"", b"SQLite format 3")
