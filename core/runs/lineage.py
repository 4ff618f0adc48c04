"""What a run file says of the run that it goes on from, checked: it may be a stranger's file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from core.problem.schedule import time_text
from core.run_files.meta import printable
from core.run_files.schema import MAX_LOG10_TIME, MAX_NAME, MIN_LOG10_TIME

LONGEST, MOST_CHANGES, MOST_HEADED = 200, 40, 3
Changes = Mapping[str, tuple[Any, Any]]  # by dotted keys what was and what is, None where nothing


@final
@dataclass(frozen=True, slots=True)
class Lineage:
    """The parent of a run: its file, its random name ("" where it has none), and the frame.

    `log10_time` is that of the frame: -inf at t = 0, NaN where the file does not say. `changes`
    say what a branch changed; they are empty for a continued run.
    """

    file: str
    run: str
    frame: int
    log10_time: float
    changes: str

    @property
    def moment(self) -> str:
        """When, in a few letters."""
        known = not math.isnan(self.log10_time)
        return f"t = {time_text(self.log10_time)}" if known else f"frame {self.frame}"

    @property
    def heading(self) -> str:
        """What was changed and since when, as the heading of a branch; empty for other runs."""
        parts = []
        for change in self.changes.split(", ") if self.changes else ():
            key, _, value = change.partition(" = ")
            section, _, name = key.partition(".")
            parts.append(f"{section if name == 'kind' else name or section} = {value}")
        more = ["..."] if len(parts) > MOST_HEADED else []
        return f"{', '.join([*parts[:MOST_HEADED], *more])} from {self.moment}" if parts else ""

    @property
    def words(self) -> str:
        """What the run is, as a phrase."""
        if not self.changes:
            return f"continued from {self.file} at {self.moment}"
        return f"branched from {self.file} at {self.moment}: {self.changes}"


def lineage_of(continues: Mapping[str, Any] | None) -> Lineage | None:
    """The lineage that `meta.start.continues` tells of; None for a run of its own.

    >>> told = {"file": "a.msrun", "frame": 3, "log10_time": 2.5, "changes": {"loss.l2": [0, 1]}}
    >>> lineage_of(told).words
    'branched from a.msrun at t = 316: loss.l2 = 1'
    >>> lineage_of(told).heading
    'l2 = 1 from t = 316'
    >>> lineage_of({"file": "a.msrun", "frame": 3}).words
    'continued from a.msrun at frame 3'
    """
    if continues is None:
        return None
    frame, time = continues.get("frame"), continues.get("log10_time", math.nan)
    if time is None:  # as JSON has no -inf
        time = -math.inf
    real = isinstance(time, int | float) and type(time) is not bool
    if not real or not (time == -math.inf or MIN_LOG10_TIME <= time <= MAX_LOG10_TIME):
        time = math.nan
    return Lineage(
        _text(continues.get("file"), LONGEST),
        _text(continues.get("run"), MAX_NAME),
        frame if type(frame) is int and frame >= 0 else 0,
        float(time),
        _changes(continues.get("changes")),
    )


def _text(value: object, longest: int) -> str:
    # Control characters would steer a reader's terminal.
    return printable(value)[:longest].replace("\n", " ") if isinstance(value, str) else ""


def _changes(value: object) -> str:
    if not isinstance(value, Mapping) or len(value) > MOST_CHANGES:
        return ""
    pairs = {key: pair for key, pair in value.items() if isinstance(pair, list) and len(pair) == 2}
    words = changes_text({key: (before, now) for key, (before, now) in pairs.items()})
    return _text(words, 4 * LONGEST)


def changes_text(changes: Changes) -> str:
    """Changes as they are named to users.

    >>> changes_text({"dynamics.step": (0.5, 0.25), "loss.kind": ("exponential", "logistic")})
    'dynamics.step = 0.25, loss.kind = logistic'
    >>> changes_text({"data.points": ([[0.5, 1], [1, -1]], [[0.5, -1], [1, 1]])})
    'data.points = 2 rows'
    """
    return ", ".join(f"{key} = {_short(now)}" for key, (_, now) in changes.items())


def _short(value: object) -> str:
    if isinstance(value, list | tuple) and value and isinstance(value[0], list | tuple):
        return f"{len(value)} rows"
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 40 else f"{text[:40]} ..."
