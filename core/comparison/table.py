"""Compared runs as a table in text."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from core.comparison.alignment import shown
from core.comparison.comparison import Comparison


def table(found: Sequence[Comparison]) -> str:
    """A row for each place of each line; `low` and `high` are those of bands."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    against = found[0].question.against if found else "log10_time"
    across = f"log10_{against}" if against in ("step", "norm_squared", "risk") else against
    writer.writerow(("observable", "line", across, "value", "low", "high"))
    for comparison in found:
        name = comparison.question.observable
        for line in comparison.lines:
            places = shown(line.places, against).tolist()
            low = line.low.tolist() if line.banded else [""] * len(places)
            high = line.high.tolist() if line.banded else [""] * len(places)
            for row in zip(places, line.values.tolist(), low, high, strict=True):
                writer.writerow((name, line.label, *row))
    return text.getvalue()
