"""Library entries of runs that were never trained, and small recorded runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from core.library.entry import Entry, RunNotes, RunSummary, Setting
from core.library.headings import headings
from core.library.library import Library
from core.library.query import query


def entry(
    number: int = 0,
    settings: Mapping[str, Setting] | None = None,
    results: Mapping[str, float] | None = None,
    margins: Mapping[str, float] | None = None,
    about: RunNotes | None = None,
    **others: object,
) -> Entry:
    facts = RunSummary(
        title="Figure 1",
        source="telgarsky22",
        settings={"network.m": 2**number, "run.seed": number, **(settings or {})},
        results=dict(results or {}),
        margins=dict(margins or {}),
        factor=0.5,
        frames=10,
        created=f"2026-11-{1 + number % 28:02d}T10:00:00+00:00",
        status="finished",
        reason="completed",
    )
    values = {"size": 1000 * number, "modified": float(number), "state": "completed", **others}
    return Entry(
        Path(f"/runs/run-{number}.msrun"), facts=facts, about=about or RunNotes(), **values
    )


def with_headings(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return the runs, named by their differences."""
    some = list(entries)
    heads = headings([one.facts for one in some], [one.path.stem for one in some])
    return tuple(replace(one, heading=head) for one, head in zip(some, heads, strict=True))


def many_entries(count: int) -> tuple[Entry, ...]:
    """Return runs of which every third has no margin, and every fifth a margin that is NaN."""
    entries = []
    for number in range(count):
        results = {} if number % 3 == 0 else {"hard_margin": 0.001 * (number % 50)}
        if number % 5 == 0 and results:
            results["hard_margin"] = math.nan
        tags = ("talk",) if number % 7 == 0 else ()
        settings = {"network.m": 1 << (number % 11), "run.seed": number, "dynamics.kind": "flow"}
        margins = {"gamma_gl": 0.08} if number % 2 else {}
        entries.append(entry(number, settings, results, margins, RunNotes(tags=tags)))
    return with_headings(entries)


def library_of(folder: Path) -> Library:
    (folder / "runs").mkdir(exist_ok=True)
    return Library(folder / "runs", folder / "library.sqlite")


def chosen(entries: Iterable[Entry], text: str) -> list[Entry]:
    """Return the entries that match a query."""
    condition = query(text)
    return [entry for entry in entries if condition(entry)]
