"""The ledger of a sweep: `<id>.sweep.json` beside the run files, written whole or not at all.

It holds the study as it was swept and a row for each cell that ended, failed ones with the reason.
Run files are the truth: a row whose file is gone counts for nothing, and one whose checksum is
wrong is as if it were not there.
"""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final, get_args

from core.errors import InputError
from core.files import read_whole, write_whole
from core.studies.cell_table import Row, State
from core.studies.study import Study, parse_study
from core.studies.tables import MAX_CELLS
from core.study_file.experiment import Experiment

FORMAT, WITHOUT_SUMS = 2, 1  # earlier versions wrote no checksums
SUFFIX = ".sweep.json"
HUNT_SUFFIX = ".hunt.json"  # of the runs that a hunt has tried (core.extremes)
MOST_BYTES = 100_000_000  # a cell takes half a kilobyte
# A cell has nine fields, its columns, and at most 24 moments (core.studies.moments).
MOST_COMMAS = 60 * MAX_CELLS
MOST_BRACES = 3 * MAX_CELLS + 3  # of cells, their values and moments; of the study's own tables
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
    """A row, and what of: the digest of the experiment as the study states it."""

    row: Row
    digest: str


@final
class Ledger:
    """What a folder knows of a sweep of one study at one size (None where it has none).

    `question` is what a hunt looks for, by key; empty for a sweep.
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

    def put(self, row: Row, digest: str) -> None:
        """Remember how a cell ended."""
        self.entries[row.name] = LedgerEntry(row, digest)

    def save(self) -> None:
        """Write the ledger; InputError or DiskError where it cannot be."""
        document: dict[str, Any] = {
            "format": FORMAT,
            "study": self.study.id,
            "size": self.size,
            "toml": self.study.to_toml(),
            "cells": {name: _summed(name, _plain(entry)) for name, entry in self.entries.items()},
        }
        if self.question:
            document["question"] = self.question
        write_whole(self.path, json.dumps(document, indent=1, allow_nan=False).encode())


def place(study_id: str, folder: Path) -> Path:
    """Where the ledger of a study lies in a folder of runs."""
    return folder / f"{study_id}{SUFFIX}"


def digest_of(experiment: Experiment) -> str:
    """What tells experiments apart, as a study states them: SHA-256 of their settings."""
    return hashlib.sha256(experiment.written_json().encode()).hexdigest()[:32]


def read_ledger(path: Path, suffix: str = SUFFIX) -> Ledger:
    """The ledger of a file; InputError where it is none."""
    try:
        document = _document(path)
        if document["format"] not in (FORMAT, WITHOUT_SUMS):
            raise InputError(f"{path} was written by another version of the program.")
        name = str(document["study"])
        if path.name != f"{name}{suffix}":  # or its runs would be looked for somewhere else
            raise InputError(f"{path} is the ledger of another study, {name[:60]!r}.")
        study = parse_study(document["toml"], name)
        size = document["size"]
        question = {str(key): str(told) for key, told in document.get("question", {}).items()}
        ledger = Ledger(path, study, None if size is None else str(size), question)
        for cell, fields in document["cells"].items():
            if document["format"] == WITHOUT_SUMS or _is_whole(cell, fields):
                ledger.entries[cell] = _entry(cell, fields)
    except UNREADABLE as error:
        raise InputError(
            f"{path} cannot be read as the ledger of a sweep ({str(error)[:200]}); move it away, "
            "and the run files beside it are looked at instead."
        ) from error
    return ledger


def _document(path: Path) -> Any:
    """The JSON value of a ledger, of no more parts than one has. Raises InputError, ValueError."""
    content = read_whole(path, MOST_BYTES, "ledger")
    # Before the parser, which would first make all of it (decision 0012).
    if content.count(b"{") > MOST_BRACES or content.count(b",") > MOST_COMMAS:
        raise ValueError("it has more entries than a sweep has cells")
    if content.count(b"[") > MAX_CELLS:
        raise ValueError("it has lists, which a ledger has none of")
    return json.loads(content)


def _plain(entry: LedgerEntry) -> dict[str, Any]:
    fields = asdict(entry.row)
    del fields["name"]
    # JSON has no NaN: what is not finite is kept as a word, which float reads back.
    for table in ("values", "moments"):
        fields[table] = {k: v if math.isfinite(v) else str(v) for k, v in fields[table].items()}
    fields["seconds"] = entry.row.seconds if math.isfinite(entry.row.seconds) else "nan"
    return fields | {"digest": entry.digest}


def _summed(name: str, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a cell with a checksum of all of them."""
    return fields | {"sum": _sum(name, fields)}


def _is_whole(name: str, fields: Mapping[str, Any]) -> bool:
    """Whether the fields of a cell are those that were written."""
    others = {key: value for key, value in fields.items() if key != "sum"}
    return bool(fields["sum"] == _sum(name, others))


def _sum(name: str, fields: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps([name, fields], sort_keys=True).encode())


def _entry(name: str, fields: Mapping[str, Any]) -> LedgerEntry:
    values, moments = (
        {str(key): float(value) for key, value in table.items()}
        for table in (fields["values"], fields.get("moments", {}))
    )
    if fields["state"] not in get_args(State):
        raise ValueError(f"the state {str(fields['state'])[:40]!r} of the cell {name[:60]}")
    if float(fields["seconds"]) < 0.0 or not 0 <= int(fields["bytes"]) < 2**63:
        raise ValueError(f"a number of the cell {name[:60]}")
    row = Row(
        name,
        fields["state"],
        str(fields["reason"]),
        float(fields["seconds"]),
        str(fields["engine"]),
        values,
        int(fields["bytes"]),
        str(fields["worker"]),
        moments,
    )
    return LedgerEntry(row, str(fields["digest"]))
