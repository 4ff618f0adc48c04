"""Thumbnails of the shipped studies and the CPU time of a run of each.

`python -m tests.tools.thumbnails` computes them; this module reads them on demand.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, final

from core.numbers import number_text, whole_text
from core.program import RESOURCES


@final
@dataclass(frozen=True, slots=True)
class Thumbnail:
    """Thumbnail of a shipped study: the hard margin over the frames of its first run.

    `heights` draw the run that is worth seeing first (core.library.reading and
    core.studies.cell_selection).
    `seconds` is the CPU time of that run where the picture was made; `whole` is true if the run
    reached its end. `runs` counts the cells of the study, under "" at its own size and under the
    names of its sizes.
    """

    heights: bytes = b""
    seconds: float = math.nan
    whole: bool = True
    runs: Mapping[str, int] = field(default_factory=dict)

    @property
    def cost(self) -> str:
        """Number of runs, and the CPU time of one, in words.

        >>> Thumbnail(b"", 2.1, True, {"": 90, "quick": 12}).cost
        '90 runs (quick: 12), about 2.1 s of CPU time each'
        """
        if not self.runs:
            return ""
        sizes = ", ".join(
            f"{name}: {whole_text(count)}" for name, count in self.runs.items() if name
        )
        text = _count_text(self.runs[""]) + (f" ({sizes})" if sizes else "")
        if math.isnan(self.seconds):
            return text
        time = (
            f"{'about' if self.whole else 'more than'} {number_text(self.seconds, 2)} s of CPU time"
        )
        return f"{text}, {time}" if self.runs[""] == 1 else f"{text}, {time} each"


def _count_text(count: int) -> str:
    return "1 run" if count == 1 else f"{whole_text(count)} runs"


@cache
def thumbnails() -> Mapping[str, Thumbnail]:
    """Return the thumbnails of the shipped studies by id; none for a missing or damaged file."""
    place = RESOURCES.joinpath("thumbnails", "studies.json")
    try:
        table: dict[str, dict[str, Any]] = json.loads(place.read_text(encoding="utf-8"))
        return {name: _parse(one) for name, one in table.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _parse(one: Mapping[str, Any]) -> Thumbnail:
    runs = {str(name): int(count) for name, count in one["runs"].items()}
    heights = bytes.fromhex(one["heights"])
    return Thumbnail(heights, float(one["seconds"]), bool(one["whole"]), runs)


def sentence(note: str) -> str:
    """Return the first sentence of a study's note.

    >>> sentence("Printed (F.1): m = .5, by e.g. SGD. More. And more.")
    'Printed (F.1): m = .5, by e.g. SGD.'
    """
    text = " ".join(note.split())
    start = 0
    while (end := text.find(". ", start)) >= 0:
        word = text[:end].rpartition(" ")[2]
        shortened = "." in word and word[-1:].isalpha()  # such as "e.g."
        if text[end + 2].isupper() and not shortened:
            return text[: end + 1]
        start = end + 1
    return text
