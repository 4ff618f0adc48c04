"""Reads the files of the open runs as they appear, grow and end, and moves the cursor.

One tick reads new frames, moves the cursor, and draws the views that are behind. The timer runs
only while it has something to do.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from app.errors import LOG
from app.one_core import limit_to_one_core
from app.playback.display import DisplayController, waits_for_frames
from app.playback.run_status import lost_sentence, notes_about, sentence_about
from app.state.intent import START, Intent
from app.state.resolve import advance, has_room
from app.state.session import OpenRun, RecordingState
from core.errors import MarginscopeError
from core.problem.schedule import coordinate

if TYPE_CHECKING:
    from app.state.display import DisplayData

# 30 ticks a second if they are cheap, and at least 12 (docs/decisions/0015).
TICK_MS, LONGEST_MS = 33, 80
SHARE = 0.35  # share of a core for the window's thread during training
# After a stall the cursor continues where it was instead of jumping ahead.
LONGEST_TICK_S = 0.1
UNDRAWN = 0.5  # seconds for which frames before a requested moment are read without being drawn
# For each of two panels, painting included; for all panels together during training. Drawing all
# seven views of a run at once would take 65 ms of every tick (docs/decisions/0014).
DRAW_SECONDS, MANY = 0.012, 2
# A quarter of a tick: a file of thousands of frames is read over several ticks.
READ_SECONDS = 0.008
LONG_READ = 0.1
# Two threads read a gigabyte twice as fast; more than four wait for the file.
HANDS = min(os.cpu_count() or 1, 4)
NOT_STARTED = "Stopped before it began. Press Run to train it."
READING_FAILED = "could not be read any further. Details are in the log."


@final
class TickRateLimiter:
    """Milliseconds between ticks, from the CPU time of the window's thread since the last tick.

    Painting holds the interpreter, which the training needs between two chunks, and takes memory
    and a core from it. While something is trained the window ticks less often where a tick is
    expensive.
    """

    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        """`clock` returns the CPU seconds of this thread."""
        self._clock = clock
        self._last = clock()
        self._taken = 0.0  # running mean of a tick's time in seconds, painting included

    def next(self, yielding: bool) -> int:
        """Return the milliseconds to the next tick; call it at the beginning of a tick."""
        now = self._clock()
        elapsed, self._last = now - self._last, now
        if not yielding:
            self._taken = 0.0
            return TICK_MS
        # Averaged over some four ticks: a single expensive one must not slow down the display.
        self._taken = elapsed if self._taken == 0.0 else 0.75 * self._taken + 0.25 * elapsed
        return round(min(max(1000.0 * self._taken / SHARE, TICK_MS), LONGEST_MS))


def read_frames(run: OpenRun, data: DisplayData, intent: Intent) -> int:
    """Read further frames of a file; return how many are read by now.

    A little in each tick; longer and by several threads where the cursor waits for frames. Raises
    RunFileError for a file that is no longer a run.
    """
    if not waits_for_frames(run, intent):
        return data.update(READ_SECONDS)
    import numpy as np  # loaded with the first run, not with the window

    # Up to the cursor, and one frame after it.
    max_frames = int(np.searchsorted(coordinate(data.run.log10_time), intent.cursor)) + 1
    if HANDS == 1:
        return data.update(LONG_READ, until=max_frames)
    with limit_to_one_core(), ThreadPoolExecutor(HANDS, "marginscope-reading") as hands:
        return data.update(LONG_READ, hands, max_frames)


@final
class OpenRunController(QObject):
    """Owner of the open runs' files, which shows their changes on the display."""

    message = Signal(str)
    """A sentence for the user."""
    pending_shown = Signal()
    """Pending runs have frames, and are open in place of the others."""

    def __init__(
        self,
        display: DisplayController,
        in_words: Callable[[str], str],
        parent: QObject | None = None,
    ) -> None:
        """`in_words` puts the form's labels into a sentence, for the keys of settings."""
        super().__init__(parent)
        self._display, self._session = display, display.session
        self._in_words = in_words
        self._noted: dict[int, tuple[str, ...]] = {}
        self._last, self._ended = time.monotonic(), False
        self._drawn = self._last
        self._rate = TickRateLimiter()
        # Qt's default timer may be off by 5 %.
        self._timer = QTimer(self, timerType=Qt.TimerType.PreciseTimer, interval=TICK_MS)
        self._timer.setObjectName("ticks")
        self._timer.timeout.connect(self.tick)
        display.changed.connect(self._wake)
        display.calculator.values_computed.connect(self._wake)

    # --------------------------------------------------------------------------------- files

    def on_replaced(self, key: int, path: Path) -> None:
        """Show a recording of a run that must wait for its kernels."""
        run = self._session.get(key)
        if run is None or run.data is not None:  # its own file was opened first
            return
        run.data = self._open(run, path)
        run.stands_in = run.data is not None
        self._show_data(run)

    def on_started(self, key: int) -> None:
        """Open the file of a run, which now exists."""
        run = self._session.get(key)
        if run is None or (run.data is not None and not run.stands_in):  # closed, or open already
            return
        data = self._open(run, run.path)
        if run.stands_in:
            run.coming = data
            self._wake()
            return
        run.data = data
        self._show_data(run)

    def on_frames(self, key: int, index: int) -> None:
        """Let the next tick read the frames up to an index, which are now in the file."""
        run = self._session.get(key)
        if run is not None:
            self._report_notes(run)
            self._wake()

    def on_finished(self, key: int) -> None:
        """Show the end of a run, which is now in its file."""
        run = self._session.get(key)
        if run is None:
            return
        self._read(run)
        if run.data is None and not run.failure:
            run.failure = NOT_STARTED
            self._display.show_run(run)
        self._show_pending()
        if words := sentence_about(run):
            self.message.emit(self._in_words(words))
        self._report_notes(run)
        self._display.runs_changed.emit()
        self._refresh()

    def on_failed(self, key: int, sentence: str) -> None:
        """Report what ended a run."""
        sentence = self._in_words(sentence)
        self.message.emit(sentence)
        run = self._session.get(key)
        if run is None:
            return
        run.failure = sentence
        if run.data is None:
            self._display.show_run(run)
        self.on_finished(key)

    def on_lost(self, key: int, sentence: str) -> None:
        """Report another program's file that became unreadable; its frames remain."""
        run = self._session.get(key)
        if run is not None and run.growth is not RecordingState.LOST:
            run.growth = RecordingState.LOST
            self._display.update_heading(run)
            self.message.emit(sentence)
            self._display.runs_changed.emit()
            self._refresh()

    def _open(self, run: OpenRun, path: Path) -> DisplayData | None:
        """Open a file for a run; on failure show the reason in the run, and return None."""
        from app.state.display import DisplayData
        from core.runs import open_with_history

        try:
            return DisplayData(open_with_history(path), self._display.intent.shown_plane)
        except MarginscopeError as error:
            self.on_failed(run.key, error.sentence)
            return None

    def _show_data(self, run: OpenRun) -> None:
        if run.data is None:
            return
        if run.data.run.note:
            self.message.emit(run.data.run.note)
        if run in self._session.pending:
            self._show_pending()
            return
        self._display.replace_data(run)
        self._wake()

    def _show_pending(self) -> None:
        """Show the pending runs once none is starting; if all failed, keep the open ones."""
        session = self._session
        if not session.is_starting and any(run.data is not None for run in session.pending):
            session.show_pending()
            self.pending_shown.emit()
            self._wake()

    def _read_replacement(self, run: OpenRun) -> None:
        """Read a run's file; show it in place of the recording once it reaches it."""
        coming = run.coming
        if coming is None:
            return
        try:
            coming.update(READ_SECONDS)
        except (MarginscopeError, OSError):
            LOG.exception("A run cannot be read.")
            run.arrive()  # errors of the file are reported when it is read again
            self._show_data(run)
            return
        # The coordinate of a single frame, at t = 0, is a placeholder (app.state.display).
        end = float(coming.coordinate[-1]) if coming.frames > 1 else START
        # The cursor never moves back (docs/decisions/0014).
        if end >= self._display.view.cursor or (coming.complete and not run.live):
            run.arrive()
            self._show_data(run)

    def _read(self, run: OpenRun) -> None:
        """Read new frames of a run for a tick, and show them; or why it cannot be read."""
        if run.data is None or run.failure:
            return
        before = run.data.frames, run.data.past.has_unread
        try:
            read = read_frames(run, run.data, self._display.intent), run.data.past.has_unread
        except (MarginscopeError, OSError) as error:
            LOG.exception("A run cannot be read.")
            words = error.sentence if isinstance(error, MarginscopeError) else READING_FAILED
            if run.is_unfinished and run.data.frames:
                self.on_lost(run.key, lost_sentence(run, words))
            else:
                run.failure = words
                run.close()
                self._display.show_run(run)
                self.message.emit(words)
            return
        if read != before:
            self._display.update_frames(run)

    def _report_notes(self, run: OpenRun) -> None:
        """Report once each note of a run's dynamics."""
        reported, notes = self._noted.get(run.key, ()), notes_about(run)
        self._noted[run.key] = notes
        for words in notes:
            if words not in reported:
                self.message.emit(self._in_words(words))

    # --------------------------------------------------------------------------------- ticks

    def tick(self) -> None:
        """Read, play, resolve, draw."""
        display, session, now = self._display, self._session, time.monotonic()
        elapsed, self._last = min(now - self._last, LONGEST_TICK_S), now
        training = session.training
        # While the cursor waits for frames, read again without a pause.
        interval = 0 if display.waits_for_frames else self._rate.next(training)
        if interval != self._timer.interval():
            self._timer.setInterval(interval)
        for run in session:
            self._read_replacement(run)
            if run.data is not None and (run.live or run.has_unread_frames):
                self._read(run)
        if display.waits_for_frames and now - self._drawn < UNDRAWN:
            return
        self._drawn = now
        few = len(session) <= MANY
        intent = advance(display.intent, session.snapshot(), elapsed)
        display.set_intent(intent, at_once=few and not training)
        pending = [panel for panel in display.panels if panel.pending]
        share = 1 if training else MANY  # number of panels that share a tick's drawing time
        for panel in pending:
            panel.draw_pending(DRAW_SECONDS * min(1.0, share / len(pending)))
        if not self._is_busy():
            self._timer.stop()

    def stop(self) -> None:
        """Stop ticking."""
        self._ended = True
        self._timer.stop()

    @property
    def is_ticking(self) -> bool:
        """True while the timer runs."""
        return self._timer.isActive()

    def _refresh(self) -> None:
        self._display.refresh()
        self._wake()

    def _wake(self) -> None:
        """Start the ticks if there is something to read, draw or play."""
        if not self._ended and not self._timer.isActive() and self._is_busy():
            # Time during which the timer was stopped does not count as played.
            self._last = time.monotonic()
            self._timer.start()

    def _is_busy(self) -> bool:
        display, session = self._display, self._session
        if any(run.has_unread_frames for run in session) or any(
            panel.pending for panel in display.panels
        ):
            return True
        return has_room(display.intent, session.snapshot())
