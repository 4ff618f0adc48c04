"""Open runs of the window, and a frozen snapshot of them for `resolve`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from app.state.headings import headings_of
from app.state.intent import START
from core.problem.schedule import coordinate
from core.training.control import Control, RunState

if TYPE_CHECKING:  # loads core.runs and with it scipy, which would delay the start
    from app.state.display import DisplayData
    from core.comparison.names import RunDescription

# Runs shown at once.
MOST_RUNS = 10
# Cells shown of a study of many: two, as the widths of Figure 1.
MOST_CELLS = 2


@final
@dataclass(frozen=True, slots=True, eq=False)
class RunSnapshot:
    """One run at one moment: the coordinates of the frames read so far, (T,), increasing.

    `until`: coordinate of the planned end; `live`: more frames may come; `since`: coordinate at
    which the run continues another one, -inf from t = 0.
    """

    key: int
    coordinates: NDArray[Any]
    until: float
    live: bool
    m: int
    since: float = -math.inf


@final
@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """Open runs at one moment, from left to right, and compared ones."""

    runs: tuple[RunSnapshot, ...] = ()
    compared: tuple[RunSnapshot, ...] = ()

    @property
    def all_runs(self) -> tuple[RunSnapshot, ...]:
        """Open and compared runs."""
        return self.runs + self.compared


class RecordingState(Enum):
    """State of the file of a run that another program trains.

    ENDED: finished, or not polled yet. GROWS: another program records it. RESTS: not finished, and
    no frames come. LEFT: its program has stopped. LOST: the file was deleted or replaced.
    """

    ENDED = auto()
    GROWS = auto()
    RESTS = auto()
    LEFT = auto()
    LOST = auto()


RECORDED = " \u2013 shipped recording"
HEADINGS = {
    RecordingState.GROWS: " \u2013 being recorded",
    RecordingState.RESTS: " \u2013 unfinished",
    RecordingState.LEFT: " \u2013 interrupted",
    RecordingState.LOST: " \u2013 file deleted",
}


@final
@dataclass(slots=True)
class OpenRun:
    """Run on the screen: trained here, with a Control, or opened from a file, without one.

    `heading` is its name among the open runs. While `stands_in`, `data` is a shipped recording of
    it; `coming` is its own file, which replaces the recording once it has as many frames. `since`:
    moment at which it continues another run, -inf from t = 0.
    """

    key: int
    path: Path
    description: RunDescription
    until: float
    control: Control | None = None
    data: DisplayData | None = None
    failure: str = ""
    stands_in: bool = False
    since: float = -math.inf
    coming: DisplayData | None = None
    growth: RecordingState = RecordingState.ENDED
    heading: str = ""

    @property
    def source(self) -> Path:
        """Path of the shown file."""
        return self.data.run.path if self.stands_in and self.data is not None else self.path

    @property
    def full_heading(self) -> str:
        """Heading with the state of the recording."""
        return f"{self.heading}{RECORDED if self.stands_in else HEADINGS.get(self.growth, '')}"

    @property
    def first_moment(self) -> float:
        """Coordinate at which playing starts: `START`, or where this window continued the run."""
        if self.data is None or self.control is None or not self.data.run.frames_before:
            return START
        return float(coordinate(self.data.run.log10_time[self.data.run.frames_before]))

    @property
    def has_started(self) -> bool:
        """True once training has produced a frame."""
        return self.control is None or self.control.status.state is not RunState.IDLE

    @property
    def live(self) -> bool:
        """True while this window records it."""
        if self.control is None or self.failure:
            return False
        return self.control.status.state is not RunState.FINISHED

    @property
    def grows(self) -> bool:
        """True while frames come from this window or another program."""
        return self.live or self.growth is RecordingState.GROWS

    @property
    def is_unfinished(self) -> bool:
        """True for a file of another program that has not finished."""
        if self.control is not None or self.data is None or self.growth is RecordingState.LOST:
            return False
        return self.data.run.status != "finished"

    @property
    def counts_steps(self) -> bool:
        """True if the run's time counts steps; False without data."""
        return self.data is not None and self.data.run.counts_steps

    @property
    def is_outdated(self) -> bool:
        """True if its path now leads to another file, or to none."""
        if self.data is None:
            return bool(self.failure)
        return self.growth is RecordingState.LOST or self.data.run.is_replaced

    @property
    def training(self) -> bool:
        """True while it is computed, and not paused. Thread-safe."""
        return self.control is not None and self.control.status.state is RunState.RUNNING

    @property
    def has_unread_frames(self) -> bool:
        """True while committed frames are not read yet."""
        if self.data is None or self.growth is RecordingState.LOST:
            return False
        if self.stands_in:  # poll its own file until it arrives
            return self.coming is not None or self.data.frames < self.data.run.frames
        # The recorder reports frames before the file is polled again.
        committed = self.control.status.committed + 1 if self.control is not None else 0
        committed += self.data.run.frames_before  # frames of the runs that it continues
        if self.data.past.has_unread and self.data.frames:
            return True
        return self.data.frames < max(committed, self.data.run.frames)

    def close(self) -> None:
        """Close its files; the owner of a recording stops it."""
        for data in (self.data, self.coming):
            if data is not None:
                data.run.close()
        self.data = self.coming = None

    def arrive(self) -> None:
        """Replace the shipped recording by the run's own file."""
        if self.data is not None:
            self.data.run.close()
        self.data, self.coming, self.stands_in = self.coming, None, False

    def snapshot(self) -> RunSnapshot:
        """Return the frames read so far; without data no frames and m = 0."""
        if self.data is None:
            return RunSnapshot(self.key, np.empty(0), self.until, self.live, 0, self.since)
        # An unfinished file counts as growing until the first poll, otherwise playing would stop
        # for good.
        is_unpolled = self.is_unfinished and self.growth is RecordingState.ENDED
        growing = self.grows or self.has_unread_frames or is_unpolled
        coordinate = self.data.coordinate
        return RunSnapshot(self.key, coordinate, self.until, growing, self.data.m, self.since)


@final
class Session:
    """Open runs from left to right, at most MOST_RUNS; keys are never reused.

    Pending runs are started already, and replace the open ones once each has a frame or has failed.
    Where all have failed they stay pending until others are started or opened.
    """

    def __init__(self) -> None:
        self._runs: list[OpenRun] = []
        self.pending: tuple[OpenRun, ...] = ()
        self._keys = 0
        self.compared: tuple[RunSnapshot, ...] = ()

    def __iter__(self) -> Iterator[OpenRun]:
        # A copy: runs may be opened and closed during the iteration.
        return iter(tuple(self._runs))

    def __len__(self) -> int:
        return len(self._runs)

    def new_key(self) -> int:
        """Return a key that no run of this session had."""
        self._keys += 1
        return self._keys

    def get(self, key: int) -> OpenRun | None:
        """Return the open or pending run with a key, or None."""
        return next((run for run in self.all_runs if run.key == key), None)

    @property
    def all_runs(self) -> tuple[OpenRun, ...]:
        """Open and pending runs."""
        return (*self._runs, *self.pending)

    @property
    def is_starting(self) -> bool:
        """True while a pending run has neither a frame nor failed."""
        return any(run.data is None and not run.failure for run in self.pending)

    def prepare(self, runs: Sequence[OpenRun]) -> None:
        """Replace the pending runs, and close earlier ones; show them if no open run has data."""
        for run in self.pending:
            run.close()
        self.pending = tuple(runs)
        if not any(run.data is not None for run in self):
            self.show_pending()

    def show_pending(self) -> None:
        """Show the pending runs in place of the open ones."""
        runs, self.pending = self.pending, ()
        self.replace(runs)

    def add(self, run: OpenRun) -> None:
        """Add a run at the right, and close the rightmost one if there are too many."""
        if len(self._runs) == MOST_RUNS:
            self._runs.pop().close()
        self._runs.append(run)
        self._name()

    def close_others(self, key: int) -> None:
        """Close all runs except the one with a key; none if that run is not open."""
        if self.get(key) is not None:
            self.replace([run for run in self if run.key == key])

    def other_live_runs(self, key: int) -> list[OpenRun]:
        """Return the live runs except the one with a key; none if that run is not open."""
        is_open = self.get(key) is not None
        return [run for run in self.live if is_open and run.key != key]

    def remove(self, key: int) -> None:
        """Close the run with a key; pending runs remain."""
        pending, self.pending = self.pending, ()
        self.replace([run for run in self if run.key != key])
        self.pending = pending

    def move(self, key: int, place: int) -> None:
        """Move a run to a place from the left, counted from 0 without the run itself."""
        runs = [run for run in self if run.key != key]
        self._runs = runs[:place] + [run for run in self if run.key == key] + runs[place:]

    def replace(self, runs: Sequence[OpenRun]) -> None:
        """Show these runs, from left to right, and close all others, pending ones too."""
        before, self._runs, self.pending = self.all_runs, list(runs), ()
        for run in before:
            if run not in self._runs:
                run.close()
        self._name()

    def _name(self) -> None:
        """Name the runs by their differences; reopened runs get the same names."""
        headings = headings_of([run.description for run in self._runs])
        for run, heading in zip(self._runs, headings, strict=True):
            run.heading = heading

    def update_own_names(self) -> bool:
        """Read the names that the user gave the open runs; return True if one has changed."""
        from core.comparison.own_name import own_name_of

        before = [run.description for run in self._runs]
        for run in self._runs:
            name = own_name_of(run.path)
            if name != run.description.own_name:
                run.description = replace(run.description, own_name=name)
        changed = [run.description for run in self._runs] != before
        if changed:
            self._name()
        return changed

    def clear(self) -> None:
        """Close all runs, pending ones too."""
        self.replace(())

    @property
    def live(self) -> tuple[OpenRun, ...]:
        """Runs being recorded, pending ones included."""
        return tuple(run for run in self.all_runs if run.live)

    @property
    def training(self) -> bool:
        """True while any run is computed. Thread-safe."""
        return any(run.training for run in self.all_runs)

    def snapshot(self) -> Snapshot:
        """Return the open and compared runs, without pending ones."""
        return Snapshot(tuple(run.snapshot() for run in self._runs), self.compared)
