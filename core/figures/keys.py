"""Keys of panels: how many entries fit into a line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.figures.layout import LETTER_MM, SAMPLE_MM
from core.figures.primitives import KeyEntry


def key_columns(entries: Sequence[KeyEntry], width_mm: float) -> int:
    """Return how many entries of a key fit side by side in millimetres; 0 for all."""
    for columns in range(len(entries), 1, -1):
        longest = sum(
            max(len(_visible_part(entry.text)) for entry in entries[k::columns])
            for k in range(columns)
        )
        if LETTER_MM * longest + SAMPLE_MM * columns <= width_mm:
            return 0 if columns == len(entries) else columns
    return 1 if len(entries) > 1 else 0


def _visible_part(text: str) -> str:
    """Return the visible part of a text, a letter for each sign."""
    letters = re.sub(
        r"\\(,|mathrm|log|[A-Za-z]+)", lambda m: "o" * (m[1] not in (",", "mathrm")), text
    )
    return "".join(char for char in letters if char not in "${}^_")
