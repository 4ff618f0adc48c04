"""Which runs are compared, and by what: one frozen value beside the other wishes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from core.comparison.question import CompareQuestion


@final
@dataclass(frozen=True, slots=True)
class Compared:
    """`runs` are the names of run files, the first one that of which others are differences."""

    runs: tuple[str, ...]
    question: CompareQuestion
