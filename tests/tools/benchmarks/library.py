"""Ten thousand runs: how long they take to list from the index, and to filter."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from core.library.entry import Entry
from core.library.index import Row, run_files
from core.library.library import Library
from tests.support.made_up_library import chosen, entry
from tests.tools.benchmarks import palette
from tests.tools.benchmarks.measure import heading, median_row, row

COUNT = 10_000
SETTINGS = 18  # and three more: as many as a run of the first study has
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
        facts = replace(one.facts, run=f"{number:016x}")
        if number % 4 == 3:  # every fourth is a branch of the one before
            parent, name = f"{number - 1:016x}", f"{number - 1:06d}.msrun"
            said = {"parent": name, "parent_run": parent, "changes": "dynamics.step = 0.1"}
            facts = replace(facts, left=2.5, **said)
        rows[found.path] = Row(found.stamp, facts)
    library.index.save_rows(rows)
    library.close()


def _typed(entries: Sequence[Entry]) -> float:
    """Seconds from a condition in the window to the table that shows what it finds, sorted."""
    from PySide6.QtWidgets import QApplication

    from app.library.panel import LibraryPanel
    from core.figures.palette import LIGHT

    application = QApplication.instance() or QApplication([])
    panel = LibraryPanel(LIGHT)
    panel.resize(1000, 300)
    panel.show()
    panel.show_entries(entries)
    application.processEvents()
    begun = time.perf_counter()
    panel.show_entries(chosen(entries, CONDITION))
    application.processEvents()
    taken = time.perf_counter() - begun
    panel.close()
    panel.deleteLater()
    return taken


def _median(work: Callable[[], object], rounds: int) -> float:
    seconds = []
    for _ in range(rounds + 1):
        begun = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begun)
    return statistics.median(seconds[1:])


def main(rounds: int) -> None:
    """List anew from the index as at a start, list again, and filter by words and a condition."""
    heading("10,000 runs in the library", "ours", "beside")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _filled(folder)

        first = []
        for _ in range(rounds + 1):
            library = Library(folder / "runs", folder / "library.sqlite")
            told: list[float] = []
            begun = time.perf_counter()
            # The window shows what it is told; texts to search in are made after that.
            library.refresh(lambda _, told=told: told.append(time.perf_counter()))
            first.append(told[0] - begun)
            library.close()
        again = _median(library.refresh, rounds)
        entries = library.refresh().entries
        condition = _median(lambda: chosen(entries, CONDITION), rounds)
        # With texts that were never looked at, as for the first words after a start.
        fresh = [[replace(one) for one in entries] for _ in range(rounds + 1)]
        words = _median(lambda: chosen(fresh.pop(), WORDS), rounds)
        library.close()
        seconds = [_typed(entries) for _ in range(rounds)]
    median_row("listed; again", first[1:], f"{again:.2f} s", asked="1 s")
    row(
        "filtered by a condition; by words",
        f"{1e3 * condition:.0f} ms",
        f"{1e3 * words:.0f} ms",
        asked="100 ms",
    )
    painted = "filtered, sorted and painted in the window"
    median_row(painted, seconds, digits=0, unit="ms", scale=1e3, asked="100 ms")
    palette.main(entries)
