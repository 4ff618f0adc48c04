"""What was typed into the form, as one frozen value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from core.studies.study import Study

Pairs = tuple[tuple[str, str], ...]


@final
@dataclass(frozen=True, slots=True)
class Edits:
    """A study and what was changed of it, in the order in which it was.

    `kinds`: (section, kind). `texts`: (dotted key, what stands in its field, right or wrong).
    `latest`: keys in the order of their last edit, by which refusals find the field they are about.
    """

    base: Study
    kinds: Pairs = ()
    texts: Pairs = ()
    latest: tuple[str, ...] = ()
