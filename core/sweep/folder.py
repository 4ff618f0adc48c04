"""The sweeps that a folder of run files holds, with a ledger or without.

A study of few cells that was recorded without a ledger is known by the names of its run files and
by the experiments in them: those of a shipped study, at one of its sizes.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from core.errors import InputError
from core.studies.cells import studies_in
from core.studies.study import Study, load_study, shipped_ids
from core.studies.tables import SIZES
from core.sweep.ledger import SUFFIX, Ledger, digest_of, place, read_ledger
from core.sweep.plan import recorded_row, run_file, task_of


def sweeps_in(folder: Path, values: bool = True) -> list[Ledger]:
    """The ledgers of a folder, and one made for each shipped study whose runs lie there without.

    Without `values` the rows of those that are made have none: to compute them takes a second a
    run where test sets are large, and figures and claims read what they need from the runs.

    Raises InputError for a ledger that cannot be read.
    """
    ledgers = [read_ledger(path) for path in sorted(folder.glob(f"*{SUFFIX}"))]
    known = {ledger.study.id for ledger in ledgers}
    for name in studies_in(folder, [name for name in shipped_ids() if name not in known]):
        ledger = ledger_of_runs(load_study(name), folder, values)
        if ledger is not None:
            ledgers.append(ledger)
    return ledgers


def existing_sweeps(folder: Path, values: bool = True) -> list[Ledger]:
    """`sweeps_in`; InputError where there is none."""
    ledgers = sweeps_in(folder, values)
    if not ledgers:
        raise InputError(
            f"{folder} holds no sweep: neither a file *{SUFFIX} nor runs of a shipped study as it "
            "is",
            remedy="run a study into it first",
            typed="run a study into it first, with check STUDY --out DIR or run STUDY --out DIR",
        )
    return ledgers


def ledger_of_runs(study: Study, folder: Path, values: bool = True) -> Ledger | None:
    """What the run files of a study in a folder say, at the size of which most are there.

    None where no file holds an experiment of the study.
    """
    best: Ledger | None = None
    for size in (None, *(size for size in SIZES if size in study.sizes)):
        ledger = ledger_at(study.at_size(size), folder, size, values)
        if len(ledger.entries) > (0 if best is None else len(best.entries)):
            best = ledger
    return best


def note_runs(study: Study, folder: Path, size: str | None) -> None:
    """Write the ledger of cells that were recorded without one, for claims and figures.

    Runs of a shipped study without a figure need none: they are known again by their files.
    """
    if study.figure or (study.claims and study.id not in shipped_ids()):
        ledger = ledger_at(study, folder, size if study.sizes else None)
        if ledger.entries:
            ledger.save()


def ledger_at(study: Study, folder: Path, size: str | None, values: bool = True) -> Ledger:
    """A ledger of the run files that are there of a study, which `size` was applied to."""
    ledger = Ledger(place(study.id, folder), study, size)
    for cell in study.cells():
        file = run_file(study, cell, folder)
        if not file.is_file():
            continue
        try:
            task = task_of(study, cell, file)
            row = recorded_row(task if values else replace(task, columns=()), file, math.nan)
        except InputError:  # a run of other settings
            continue
        if row is not None:
            ledger.put(row, digest_of(cell.experiment))
    return ledger
