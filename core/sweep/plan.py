"""Remaining cells of a sweep in a folder, and its ledger `<id>.sweep.json` beside the run files.

The ledger is written whole or not at all. It contains the study as it was swept and a row for each
cell that ended, failed ones with the reason. Run files are the truth: a row whose file is gone
counts for nothing, and a row whose checksum is wrong is ignored.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, final

from pydantic import TypeAdapter

from core.errors import InputError, RunFileError
from core.files import read_whole, write_whole
from core.problem.problem import Problem, resolve_problem
from core.runs import open_run
from core.studies.cell_table import Row
from core.studies.code import trusted_codes
from core.studies.study import Study, parse_study
from core.studies.tables import MAX_CELLS, Cell
from core.study_file.experiment import Experiment
from core.study_file.weight import check_room
from core.sweep.cell import Task, expected_experiment, is_complete, row_of

# --------------------------------------------------------------------------------------- the ledger

FORMAT, WITHOUT_SUMS = 2, 1  # format 1, of earlier versions, has no checksums
SUFFIX = ".sweep.json"
HUNT_SUFFIX = ".hunt.json"  # of the ledger of a hunt's runs (core.extremes)
MOST_BYTES = 100_000_000  # a cell takes about 500 bytes
# A cell has nine fields, its columns, and at most 24 moments (core.studies.moments).
MOST_COMMAS = 60 * MAX_CELLS
MOST_BRACES = 3 * MAX_CELLS + 3  # of cells, their values and moments, and of the study's own tables
ROW = TypeAdapter(Row)
UNREADABLE = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
    MemoryError,
)


@final
@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """Row of a cell, and the digest of the experiment as the study states it."""

    row: Row
    digest: str


@final
class Ledger:
    """Record of a sweep of one study at one size (None if it has no sizes).

    `question` is what a hunt searches for, by key; empty for a sweep.
    """

    def __init__(
        self, path: Path, study: Study, size: str | None, question: Mapping[str, str] | None = None
    ) -> None:
        self.path = path
        self.study = study
        self.size = size
        self.question = dict(question or {})
        self.entries: dict[str, LedgerEntry] = {}

    @property
    def rows(self) -> dict[str, Row]:
        """Rows of the cells that have ended, by name."""
        return {name: entry.row for name, entry in self.entries.items()}

    def set_row(self, row: Row, digest: str) -> None:
        """Record the end of a cell."""
        self.entries[row.name] = LedgerEntry(row, digest)

    def save(self) -> None:
        """Write the ledger; raise InputError or DiskError if that fails."""
        document: dict[str, Any] = {
            "format": FORMAT,
            "study": self.study.id,
            "size": self.size,
            "toml": self.study.to_toml(),
            "cells": {
                name: _with_checksum(name, _plain(entry)) for name, entry in self.entries.items()
            },
        }
        if self.question:
            document["question"] = self.question
        write_whole(self.path, json.dumps(document, indent=1, allow_nan=False).encode())


def ledger_path(study_id: str, folder: Path) -> Path:
    """Return the path of a study's ledger in a folder of runs, `<id>.sweep.json`."""
    return folder / f"{study_id}{SUFFIX}"


def digest_of(experiment: Experiment) -> str:
    """Return 32 hex digits of the SHA-256 of an experiment's settings as a study states them."""
    return hashlib.sha256(experiment.written_json().encode()).hexdigest()[:32]


def read_ledger(path: Path, suffix: str = SUFFIX) -> Ledger:
    """Read a ledger without entries of a wrong checksum; raise InputError for another file."""
    try:
        document = _document(path)
        if document["format"] not in (FORMAT, WITHOUT_SUMS):
            raise InputError(f"{path} was written by another version of the program.")
        name = str(document["study"])
        # A renamed ledger would look for its runs under another name.
        if path.name != f"{name}{suffix}":
            raise InputError(f"{path} is the ledger of another study, {name[:60]!r}.")
        study = parse_study(document["toml"], name)
        size = document["size"]
        question = {str(key): str(value) for key, value in document.get("question", {}).items()}
        ledger = Ledger(path, study, None if size is None else str(size), question)
        for cell, fields in document["cells"].items():
            if document["format"] == WITHOUT_SUMS or _is_whole(cell, fields):
                ledger.entries[cell] = _entry(cell, fields)
    except UNREADABLE as error:
        reason = " ".join(str(error).split())[:200]  # pydantic's messages have several lines
        raise InputError(
            f"{path} cannot be read as the ledger of a sweep ({reason}); move it away, to "
            "rebuild it from the run files next to it."
        ) from error
    return ledger


def _document(path: Path) -> Any:
    """Return the parsed JSON of a ledger of bounded size. Raises InputError or ValueError."""
    content = read_whole(path, MOST_BYTES, "ledger")
    # Before parsing, which would build all of it in memory (decision 0012).
    if content.count(b"{") > MOST_BRACES or content.count(b",") > MOST_COMMAS:
        raise ValueError("it has more entries than a sweep has cells")
    if content.count(b"[") > MAX_CELLS:
        raise ValueError("it has lists, which a ledger has none of")
    return json.loads(content)


def _plain(entry: LedgerEntry) -> dict[str, Any]:
    fields = asdict(entry.row)
    del fields["name"]
    # JSON has no NaN: non-finite numbers are stored as words that float() parses.
    for table in ("values", "moments"):
        fields[table] = {k: v if math.isfinite(v) else str(v) for k, v in fields[table].items()}
    fields["seconds"] = entry.row.seconds if math.isfinite(entry.row.seconds) else "nan"
    return fields | {"digest": entry.digest}


def _with_checksum(name: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a cell with a checksum of all of them."""
    return fields | {"sum": _crc32(name, fields)}


def _is_whole(name: str, fields: Mapping[str, Any]) -> bool:
    """Return True if the fields of a cell match their checksum."""
    without_sum = {key: value for key, value in fields.items() if key != "sum"}
    return bool(fields["sum"] == _crc32(name, without_sum))


def _crc32(name: str, fields: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps([name, fields], sort_keys=True).encode())


def _entry(name: str, fields: Mapping[str, Any]) -> LedgerEntry:
    row = ROW.validate_python({**fields, "name": name})
    if row.seconds < 0.0 or not 0 <= row.bytes < 2**63:
        raise ValueError(f"a number of the cell {name[:60]}")
    return LedgerEntry(row, str(fields["digest"]))


# ----------------------------------------------------------------------------------------- the plan

LONGEST_NAME = 240  # file systems allow 255 bytes, and SQLite appends its suffixes


@final
@dataclass(frozen=True)
class Plan:
    """Study, folder, ledger and remaining tasks in the order of the grid."""

    study: Study
    folder: Path
    ledger: Ledger
    paths: Mapping[str, Path]  # of all cells by name, like the digests
    digests: Mapping[str, str]
    tasks: tuple[Task, ...]
    kept: tuple[Row, ...]  # rows of finished cells


def run_file(study: Study, cell: Cell, folder: Path) -> Path:
    """Return DIR/<id>__<axis>=<value>.msrun, or DIR/<id>.msrun without axes.

    Parameters
    ----------
    study, cell, folder : Study, Cell, Path
        Study at its size, cell, whose name is in the file's, and folder of run files.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        The name is longer than file systems allow.
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


def problems(study: Study, print_note: Callable[[str], None] | None = None) -> Iterator[Problem]:
    """Yield the problem of each cell; `print_note` gets once how a data file was understood."""
    printed = {""}
    for cell in study.cells():
        problem = resolve_problem(cell.experiment, study.folder, study.title, study.source)
        understood = problem.dataset.reading_sentence
        if print_note is not None and understood not in printed:
            print_note(understood)
            printed.add(understood)
        yield problem


def plan(
    study: Study, folder: Path, size: str | None = None, force: bool = False, shared: bool = False
) -> Plan:
    """Find the cells of a study that a folder lacks.

    A finished file of the same experiment is kept; one that was cut off is recorded again.

    Parameters
    ----------
    study, folder, size
        Study at its size, folder of run files, and name of the size, if any.
    force, shared : bool
        Record all cells again. Workers are on other machines, whose memory is unknown.

    Returns
    -------
    Plan
        Tasks of the missing cells, and rows of the others, which its ledger has as well.

    Raises
    ------
    InputError
        A file contains another experiment, or the runs do not fit this machine.
    """
    from core.studies.moments import requested_of  # loads the observables

    columns, requested = study.sweep.columns, requested_of(study)
    path = ledger_path(study.id, folder)
    entries = {} if force or not path.is_file() else read_ledger(path).entries
    ledger = Ledger(path, study, size)
    trusted = trusted_codes(study) if shared else ()
    tasks, finished, paths, digests = [], [], {}, {}
    for cell in study.cells():
        file = run_file(study, cell, folder)
        digest = digest_of(cell.experiment)
        paths[cell.name], digests[cell.name] = file, digest
        task = replace(
            task_of(study, cell, file), stage=shared, requested=requested, trusted=trusted
        )
        row = None
        # Run files are authoritative: the ledger only spares reading them (decision 0009).
        if not force and file.exists():
            entry = entries.get(cell.name)
            if (
                entry is not None
                and entry.digest == digest
                and entry.row.state == "done"
                and set(columns) <= set(entry.row.values)
                and not _reads_files(cell.experiment)
                and is_complete(file)
            ):
                row = entry.row
            else:
                seconds = entry.row.seconds if entry is not None else math.nan
                is_known = entry is not None and entry.digest == digest
                row = recorded_row(task, file, seconds, is_known=is_known)
        if row is None:
            tasks.append(task)
        else:
            finished.append(row)
            ledger.set_row(row, digest)
    check_room((task.experiment for task in tasks), folder, memory=not shared)
    return Plan(study, folder, ledger, paths, digests, tuple(tasks), tuple(finished))


def task_of(study: Study, cell: Cell, file: Path) -> Task:
    """Return the task of recording a cell of a study into a file.

    Parameters
    ----------
    study, cell, file : Study, Cell, Path
        Study, one of its cells, and the run file to write, made absolute.

    Returns
    -------
    Task
    """
    source = study.folder, study.title, study.source
    return Task(cell.name, str(file.resolve()), cell.experiment, *source, study.sweep.columns)


def ledger_rows(study: Study, folder: Path) -> tuple[dict[str, Path], dict[str, Row]]:
    """Return the run file of each cell, which need not exist, and the known rows, by cell names.

    Rows are of unchanged experiments, and of finished runs only if their files exist. No run file
    is opened. Raises InputError as `read_ledger`.
    """
    path = ledger_path(study.id, folder)
    entries = read_ledger(path).entries if path.is_file() else {}
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
    """Return True if files outside the study define the run, which may have changed since."""
    network = experiment.network
    return experiment.data.embedded or network.init == "file" or network.kind == "custom"


def recorded_row(task: Task, file: Path, seconds: float, *, is_known: bool = False) -> Row | None:
    """Return the row of a finished file; None for one that must be recorded again.

    Parameters
    ----------
    task, file : Task, Path
        Cell, and its run file.
    seconds : float
        Time that the recording took, for the row.
    is_known : bool
        A ledger names the file as a run of this very study.

    Returns
    -------
    Row or None

    Raises
    ------
    InputError
        The file is a run of another experiment, or no run file.
    """
    try:
        with open_run(file) as run:
            if run.experiment != expected_experiment(
                task.problem(), run.experiment if is_known else None
            ):
                raise InputError(
                    f"The run file {file} exists and contains another experiment",
                    remedy="choose another folder",
                    typed="overwrite it with --force, or choose another folder with --out",
                )
            return row_of(run, task.name, task.columns, seconds) if run.is_complete else None
    except RunFileError:
        # Files left by a crash are recorded again; foreign files are never replaced.
        if _is_foreign(file):
            raise InputError(
                f"{file} exists and is not a run file",
                remedy="move it",
                typed="overwrite it with --force",
            ) from None
        return None


def _is_foreign(file: Path) -> bool:
    """Return True if an existing file is neither a database nor empty."""
    with file.open("rb") as opened:
        return opened.read(15) not in (b"", b"SQLite format 3")
