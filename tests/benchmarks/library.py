"""Ten thousand runs: how long they take to list from the index, and to filter."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from core.library.index import Row
from core.library.library import Library, Listing
from core.library.query import chosen
from core.library.scan import run_files
from tests.benchmarks.measure import row
from tests.library.made_up import entry

COUNT = 10_000
SETTINGS = 40  # of a run of the first study there are 34
CONDITION = "m >= 256 and hard_margin > .9 * gamma_gl / 2"
WORDS = "figure 1 talk"


def _filled(folder: Path) -> None:
    """Empty run files, and an index that knows them as runs."""
    runs = folder / "runs"
    runs.mkdir()
    for number in range(COUNT):
        (runs / f"telgarsky22-figure-1__network.m=256__{number:06d}.msrun").touch()
    library = Library(runs, folder / "library.sqlite")
    rows = {}
    for number, found in enumerate(run_files(runs)):
        settings = {f"data.setting_{k}": k for k in range(SETTINGS)} | {"data.n": number % 5}
        one = entry(
            number % 1000,
            settings | {"network.m": 1 << number % 11},
            {"hard_margin": number / COUNT * 0.05, "risk": 1e-9, "l1_margin": 0.1},
            {"gamma_gl": 0.08},
        )
        rows[found.path] = Row(found.stamp, one.facts)
    library.index.put(rows)
    library.close()


def _median(work: Callable[[], object], rounds: int) -> float:
    seconds = []
    for _ in range(rounds + 1):
        begun = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begun)
    return statistics.median(seconds[1:])


def main(rounds: int) -> None:
    """List anew from the index as at a start, list again, and filter by words and a condition."""
    print()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _filled(folder)

        told: list[Listing] = []

        def listed() -> Library:
            library = Library(folder / "runs", folder / "library.sqlite")
            library.refresh(told.append)
            library.close()
            return library

        library = listed()
        first = _median(listed, rounds)
        again = _median(library.refresh, rounds)
        entries = library.refresh().entries
        condition = _median(lambda: chosen(entries, CONDITION), rounds)
        # With texts that were never looked at, as for the first words after a start.
        fresh = [[replace(one) for one in entries] for _ in range(rounds + 1)]
        words = _median(lambda: chosen(fresh.pop(), WORDS), rounds)
        library.close()
    row("10,000 runs: listed; again", f"{first:.2f} s", f"{again:.2f} s", "", "asked: 1 s")
    row(
        "filtered by a condition; by words",
        f"{1e3 * condition:.0f} ms",
        f"{1e3 * words:.0f} ms",
        "",
        "asked: 100 ms",
    )
