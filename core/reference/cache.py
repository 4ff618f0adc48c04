"""Reference margins kept on disk, one JSON file each, so that a data set is computed once.

The folder is the per-user cache folder; MARGINSCOPE_CACHE names another. A file's name is the
SHA-256 of the reference's name, the version of its method and what its value depends on. A damaged
or missing file is as if it had never been there, and a folder that cannot be written is no error.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

from core.errors import MarginscopeError
from core.files import read_text, write_whole
from core.problem.problem import Problem
from core.reference.margin import NAN, Bracket, Reference

LARGEST_FILE = 100_000  # bytes; what is longer was not written by this module


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """A bracket, what it took, and for one that ended early the seconds that it had been given."""

    bracket: Bracket
    seconds: float
    allowed: float | None = None

    def serves(self, allowed: float) -> bool:
        """Whether it is as good as a computation that is given so many seconds."""
        return self.allowed is None or allowed <= self.allowed


def folder() -> Path:
    """Where the files lie."""
    from platformdirs import user_cache_path

    chosen = os.environ.get("MARGINSCOPE_CACHE")
    return (Path(chosen) if chosen else user_cache_path("marginscope")) / "margins"


def place(reference: Reference, problem: Problem) -> Path:
    """The file of a margin."""
    # The version: what another method has found is not this one's bracket.
    what = json.dumps([reference.name, reference.version, reference.key(problem)])
    return folder() / f"{hashlib.sha256(what.encode()).hexdigest()}.json"


def load(path: Path) -> Entry | None:
    """What a file holds; None where there is none, or none that can be used."""
    try:
        return _entry(json.loads(read_text(path, LARGEST_FILE, "margin")))
    # Whatever is wrong with it, the margin can be computed again.
    except (MarginscopeError, OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def store(path: Path, entry: Entry) -> None:
    """Write an entry whole; nothing happens where it cannot be written."""
    fields = asdict(entry.bracket)
    for name in ("lower", "upper", "value"):
        fields[name] = fields[name] if math.isfinite(fields[name]) else None
    fields |= {"seconds": entry.seconds, "allowed": entry.allowed}
    try:
        write_whole(path, json.dumps(fields, allow_nan=False).encode())
    except (MarginscopeError, OSError, ValueError):
        return


def _entry(fields: Any) -> Entry:
    """Raises ValueError, TypeError or KeyError for what `store` cannot have written."""
    lower, upper, value = (_read(fields[name]) for name in ("lower", "upper", "value"))
    certified, method = fields["certified"], fields["method"]
    if not isinstance(certified, bool) or not isinstance(method, str):
        raise TypeError
    if math.isfinite(value) and not lower <= value <= upper:
        raise ValueError
    allowed = fields["allowed"]
    bracket = Bracket(lower, upper, value, certified, method)
    return Entry(bracket, _read(fields["seconds"]), None if allowed is None else _read(allowed))


def _read(value: object) -> float:
    if value is None:
        return NAN
    # True is an int to Python, and no number of ours.
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError
    return float(value)
