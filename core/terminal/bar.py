"""Lines and progress bars on standard error, away from what scripts read."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, final

from core.terminal.text import escape_controls


@final
class Bar:
    """Progress of a command on tqdm's bar; without one only `print_above` shows anything."""

    def __init__(self, bar: Any = None) -> None:
        self._bar = bar

    def set_done(self, n_done: int, text: str = "") -> None:
        """Show the number of finished steps, and `text` after the bar; "" leaves the text."""
        if self._bar is None:
            return
        if text:
            self._bar.set_postfix_str(escape_controls(text), refresh=False)
        self._bar.update(n_done - self._bar.n)

    def print_above(self, text: str) -> None:
        """Print a line on standard error, above the bar if it is visible."""
        if self._bar is not None:
            self._bar.clear()
        print_notice(text)
        if self._bar is not None:
            self._bar.refresh()

    def set_progress(self, n_done: int, total: int) -> None:
        """Set the total, and show the number of finished steps."""
        if self._bar is not None:
            self._bar.total = total
        self.set_done(n_done)

    def add(self, count: int) -> None:
        """Add `count` to the number of finished steps."""
        if self._bar is not None:
            self._bar.update(count)


@contextmanager
def progress_bar(label: str, total: int, is_visible: bool, unit: str = "frame") -> Iterator[Bar]:
    """Draw a progress bar on standard error within the block, and erase it at the end.

    Parameters
    ----------
    label : str
        Text before the bar.
    total : int
        Number of steps.
    is_visible : bool
        Draw the bar; if False, the `Bar` draws none.
    unit : str
        Name of a step.

    Yields
    ------
    Bar
    """
    if not is_visible:
        yield Bar()
        return
    from tqdm import tqdm

    # A subclass without tqdm's monitor thread leaves the bars of other programs unchanged.
    quiet: Any = type("tqdm", (tqdm,), {"monitor_interval": 0})
    label = escape_controls(label)
    with quiet(total=total, desc=label, unit=unit, leave=False, file=sys.stderr) as bar:
        yield Bar(bar)


def print_notice(text: str) -> None:
    """Print a line for the person at the terminal on standard error.

    Names and titles come from strangers: characters that would steer the terminal are escaped.
    """
    with suppress(OSError):  # the terminal is gone
        print(escape_controls(text.replace("\n", " ")), file=sys.stderr, flush=True)
