"""`marginscope.show`: a window on runs, in a process of its own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from core.errors import InputError
from marginscope._show.launch import show_link

MOST_BESIDE, MOST_COMPARED = 4, 10
END = "live"  # what a link calls the latest frame, whichever that will be
Time = str | float


def show(*runs: Any, at: Time | None = None, views: str | Sequence[str] | None = None) -> None:
    """Open a window on runs; the window that an earlier `show` has opened is used again.

    A run is a path, what `open` gives, or a recording, also one that is still growing: the window
    follows it. Up to four stand side by side, five to ten are compared in one plot. `at` is a time
    such as "10^2.5", 300 or 0, else the latest frame is shown, also of those to come. `views` are
    names such as "neurons" or "margins"; without them the window has those that suit the runs.

    The window is a process of its own, which this one neither waits for nor ends; it warns where
    an open window does not answer within two seconds. Raises InputError where there is no such
    file, time or view, no screen, or no PySide6.
    """
    paths = [_path(run) for run in runs]
    if not 1 <= len(paths) <= MOST_COMPARED:
        raise InputError(f"{len(paths)} runs cannot be shown; one to {MOST_COMPARED} can.")
    name = "run" if len(paths) <= MOST_BESIDE else "compare"
    pairs = [(name, str(path)) for path in paths]
    pairs.append(("t", END if at is None else _time(at)))
    chosen = [views] if isinstance(views, str) else list(views or ())
    pairs += [("views", str(view)) for view in chosen]
    show_link("marginscope://view?" + urlencode(pairs, quote_via=quote, safe="/:,^"))


def _path(run: Any) -> Path:
    given = getattr(run, "path", run)
    if not isinstance(given, str | os.PathLike):
        raise InputError(f"{type(run).__name__} is no run; give a path, a run or a recording.")
    path = Path(given).expanduser().absolute()
    try:
        there = path.is_file()
    except (OSError, ValueError):
        there = False
    if not there:
        raise InputError(f"There is no run file {path}; check the path.")
    return path


def _time(at: Time) -> str:
    if isinstance(at, bool) or not isinstance(at, str | int | float):
        try:
            at = float(at)  # NumPy's numbers
        except (TypeError, ValueError):
            raise InputError(f"at = {at!r:.60} is no time; 300 and '10^2.5' are.") from None
    return at if isinstance(at, str) else f"{float(at):.15g}"
