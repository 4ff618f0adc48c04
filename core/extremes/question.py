"""Question of a hunt: from a study's own [hunt], from a command, or from the window."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import final

from core.errors import InputError
from core.settings import MAX_SEED
from core.studies.claims import HuntTable
from core.studies.hunt_kinds import Over, Take
from core.studies.tables import MAX_CELLS

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
TIME = re.compile(r"(\d+(?:\.\d*)?|\.\d+)([smh])")
RANGE = re.compile(r"(\d{1,19})-(\d{1,19})")


@final
@dataclass(frozen=True, slots=True)
class Frames:
    """Frames of a run's number: the last one, the least or largest of all, or log10 t = `at`.

    With `after`, frames count from the first on at which that formula is positive.
    """

    take: Take = "last"
    at: float | None = None
    after: str = ""

    @property
    def words(self) -> str:
        moment = self.take if self.at is None else f"log10 t = {self.at:g}"
        return f"{moment} after {self.after} > 0" if self.after else moment


@final
@dataclass(frozen=True, slots=True)
class Question:
    """Question for the least, or else the largest, of `text` (core.extremes.objective).

    `seeds` are the first and the last that may be drawn, None for any; `seed` is that of the search
    itself; `drawn` runs come before any is refined, None for the usual number; `fit`: only runs
    that end without training errors; `flips`: over data, labels may change as well.
    """

    text: str
    least: bool = True
    over: Over = "seeds"
    frames: Frames = field(default_factory=Frames)
    fit: bool = False
    seeds: tuple[int, int] | None = None
    seed: int = 0
    drawn: int | None = None
    flips: bool = False


def question_of(table: HuntTable, size: str | None) -> Question:
    """Return the question of a study's own [hunt] at a size."""
    return Question(
        str(table.minimise or table.maximise),
        table.minimise is not None,
        table.over,
        Frames(table.take, table.at, table.after),
        table.exclude_unfit,
        table.seeds,
        drawn=table.counts(size).drawn,
    )


def range_of(text: str) -> tuple[int, int]:
    """Parse a range of seeds, FIRST-LAST.

    >>> range_of("0-999")
    (0, 999)
    """
    match = RANGE.fullmatch(text.strip())
    if match is None or not int(match[1]) <= int(match[2]) <= MAX_SEED:
        raise InputError(
            "write the first and the last, such as 0-999.",
            where=repr(text[:60]),
            option="--seeds",
        )
    return int(match[1]), int(match[2])


def limit_of(text: str) -> tuple[int | None, float]:
    """Parse a budget: (None, seconds) or (runs, infinite). Raises InputError for other texts.

    >>> limit_of("5m"), limit_of("200")
    ((None, 300.0), (200, inf))
    """
    text = text.strip()
    match = TIME.fullmatch(text)
    if match is not None and float(match[1]) > 0.0:
        return None, float(match[1]) * UNITS[match[2]]
    if text.isdecimal() and text.isascii() and len(text) < 10 and int(text) > 0:
        return min(int(text), MAX_CELLS), math.inf
    raise InputError(
        "neither a time, such as 300s, 5m or 1h, nor a number of runs.",
        where=repr(text[:60]),
        option="--budget",
    )
