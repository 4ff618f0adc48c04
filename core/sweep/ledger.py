"""The ledger of a sweep: `<id>.sweep.json` beside the run files, written whole or not at all.

It holds the study as it was swept and a row for each cell that ended, failed ones with the reason.
Run files are the truth: a row whose file is gone counts for nothing.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

from core.errors import InputError
from core.experiment import Experiment
from core.files import write_whole
from core.study import Study, parse_study
from core.sweep.cell import Row

FORMAT = 1
SUFFIX = ".sweep.json"
MOST_BYTES = 200_000_000


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """A row, and what of: the digest of the experiment as the study states it."""

    row: Row
    digest: str


@final
class Ledger:
    """What a folder knows of a sweep of one study at one size (None where it has none)."""

    def __init__(self, path: Path, study: Study, size: str | None) -> None:
        self.path = path
        self.study = study
        self.size = size
        self.entries: dict[str, Entry] = {}

    def put(self, row: Row, digest: str) -> None:
        """Remember how a cell ended."""
        self.entries[row.name] = Entry(row, digest)

    def save(self) -> None:
        """Write the ledger; InputError or DiskError where it cannot be."""
        document = {
            "format": FORMAT, "study": self.study.id, "size": self.size,
            "toml": self.study.to_toml(),
            "cells": {name: _plain(entry) for name, entry in self.entries.items()},
        }  # fmt: skip
        write_whole(self.path, json.dumps(document, indent=1, allow_nan=False).encode())


def place(study_id: str, folder: Path) -> Path:
    """Where the ledger of a study lies in a folder of runs."""
    return folder / f"{study_id}{SUFFIX}"


def digest_of(experiment: Experiment) -> str:
    """What tells experiments apart, as a study states them: SHA-256 of their settings."""
    return hashlib.sha256(experiment.model_dump_json().encode()).hexdigest()[:32]


def read_ledger(path: Path) -> Ledger:
    """The ledger of a file; InputError where it is none."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path} is larger than 200 MB; it is no ledger of a sweep.")
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["format"] != FORMAT:
            raise InputError(f"{path} was written by another version of the program.")
        study = parse_study(document["toml"], str(document["study"]))
        size = document["size"]
        ledger = Ledger(path, study, None if size is None else str(size))
        for name, told in document["cells"].items():
            ledger.entries[name] = _entry(name, told)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path} cannot be read as the ledger of a sweep ({error}); move it away, and the run "
            "files beside it are looked at instead."
        ) from error
    return ledger


def read_ledgers(folder: Path) -> list[Ledger]:
    """The ledgers of a folder; InputError where there is none, or one cannot be read."""
    paths = sorted(folder.glob(f"*{SUFFIX}"))
    if not paths:
        raise InputError(
            f"{folder} holds no sweep (no file *{SUFFIX}); run a study into it first, with "
            "check STUDY --out DIR or run STUDY --out DIR."
        )
    return [read_ledger(path) for path in paths]


def _plain(entry: Entry) -> dict[str, Any]:
    told = asdict(entry.row)
    del told["name"]
    told["values"] = {k: v if math.isfinite(v) else str(v) for k, v in told["values"].items()}
    told["seconds"] = entry.row.seconds if math.isfinite(entry.row.seconds) else "nan"
    return told | {"digest": entry.digest}


def _entry(name: str, told: Mapping[str, Any]) -> Entry:
    values = {str(key): float(value) for key, value in told["values"].items()}
    row = Row(
        name, told["state"], str(told["reason"]), float(told["seconds"]), str(told["engine"]),
        values, int(told["bytes"]), str(told["worker"]),
    )  # fmt: skip
    return Entry(row, str(told["digest"]))
