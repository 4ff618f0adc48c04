"""A row of a sweep: what one cell came to, and what is known of its run without opening it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, final

State = Literal["done", "failed", "cancelled"]
Known = Mapping[str, Mapping[str, float]]  # values of runs by name, by the names of their cells


@final
@dataclass(frozen=True, slots=True)
class Row:
    """What a cell came to. "done" is a finished run file, diverged ones included; `reason` is that
    of the run, or the sentence that says why there is no file. `values` are the columns at the last
    frame, NaN where undefined, and `moments` what the study's figure and claims ask for besides, by
    the names of core.studies.moments. `worker` is the process that recorded it.
    """

    name: str
    state: State
    reason: str
    seconds: float = 0.0
    engine: str = ""
    values: Mapping[str, float] = field(default_factory=dict)
    bytes: int = 0
    worker: str = ""
    moments: Mapping[str, float] = field(default_factory=dict)

    @property
    def known(self) -> dict[str, float]:
        """All values that are known of its run, by name."""
        return {**self.values, **self.moments}


def known_values(rows: Mapping[str, Row], paths: Mapping[str, Path]) -> Known:
    """What the rows of cells that are done tell of their run files, by the names of the cells.

    A file that has another length than when its row was written is not spoken for.
    """
    known: dict[str, Mapping[str, float]] = {}
    for name, row in rows.items():
        with suppress(OSError):
            if row.state == "done" and paths[name].stat().st_size == row.bytes:
                known[name] = row.known
    return known
