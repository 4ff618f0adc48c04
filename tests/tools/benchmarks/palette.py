"""Command palette with ten thousand runs: the time to open it, and to filter per key."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence

from app.shell.commands import MADE_AT_ONCE, run_entries
from app.state.text_search import make_entry
from core.library.entry import Entry
from tests.tools.benchmarks.measure import row

TYPED = "figure m = 64"
OTHERS = 250  # actions, studies, observables and views


def main(entries: Sequence[Entry]) -> None:
    """Measure from the shortcut to the picture, with listed runs; then letter by letter."""
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication, QWidget

    from app.shell.command_palette import CommandPalette

    application = QApplication.instance() or QApplication([])
    window = QWidget()
    window.resize(1280, 800)
    window.show()
    runs, turns = [], []
    for first in range(0, len(entries), MADE_AT_ONCE):
        begun = time.perf_counter()
        runs += run_entries(entries[first : first + MADE_AT_ONCE])
        turns.append(time.perf_counter() - begun)
    others = [make_entry(f"action:{k}", "File", f"Export figure {k} ...") for k in range(OTHERS)]
    palette = CommandPalette(window)
    opened, filtered = [], []
    for _ in range(10):
        begun = time.perf_counter()
        palette.open([*others, *runs], ("action:7",))
        application.processEvents()
        opened.append(time.perf_counter() - begun)
        for letter in TYPED:
            begun = time.perf_counter()
            QTest.keyClicks(palette.line, letter)
            application.processEvents()
            filtered.append(time.perf_counter() - begun)
        palette.close()
    window.close()
    window.deleteLater()
    row(
        "palette of 10,000 runs: opened",
        f"{1e3 * statistics.median(opened):.0f} ms",
        asked="50 ms",
    )
    row(
        "  their entries made: a turn of the loop; all",
        f"{1e3 * max(turns):.1f} ms",
        f"{1e3 * sum(turns):.0f} ms",
        asked="10 ms",
    )
    row(
        "filtered and painted, a key: median; most",
        f"{1e3 * statistics.median(filtered):.0f} ms",
        f"{1e3 * max(filtered):.0f} ms",
        asked="50 ms",
    )
