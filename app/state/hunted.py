"""A run that a hunt has found, as a line of its table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """`value` is what was asked for, `rank` 0 for a run without one. `where` are its place in the
    grid and its seeds, `how` the way it was found, `state` how it ended, and `path` its file, None
    where that was not kept.
    """

    rank: int
    value: float
    where: str
    how: str
    state: str
    verdict: str
    path: Path | None
