"""Keeps the screen at what the intent and the open runs resolve to.

One tick reads new frames, lets the cursor play, resolves, compares with what is shown, and tells
only the views that change. The timer runs only while there is something to do.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from app.errors import LOG
from app.playback.applying import apply
from app.playback.calculator import Calculator
from app.playback.endings import lost_sentence, notes_about, sentence_about
from app.playback.pace import TICK_MS, TickPace
from app.playback.reading import READ_SECONDS, awaits, read_on
from app.playback.slot import PanelSlot
from app.state.intent import START, Intent
from app.state.resolve import ResolvedView, advanced, has_room, resolve
from app.state.session import Growth, OpenRun, Session
from core.errors import MarginscopeError

if TYPE_CHECKING:
    from app.state.display import DisplayData
    from app.views.links import LinkedRanges

# After a stall the cursor goes on from where it was instead of leaping.
LONGEST_TICK_S = 0.1
UNDRAWN = 0.5  # seconds for which a moment that somebody waits for is read without being drawn
# For each of two panels, with the painting of what is drawn; for all of them while something is
# trained. All seven views of a run at once would take 65 ms of every tick (docs/decisions/0014).
DRAW_SECONDS, MANY = 0.012, 2
NOT_BEGUN = "Stopped before it began; press Run to train it."
READING_FAILED = "could not be read any further; the log has the details."


@final
class DisplayController(QObject):
    """Owner of the intent. `changed` follows every view that differs from the one before, also by
    its moment or a node; `intent_changed` follows views with other wishes, and `frames_read` the
    reading of further frames.

    `message` carries a sentence; `runs_changed` tells that other runs are open, or one of them
    began or ended; `zoomed` that somebody has zoomed; `crowded` that so many panels are needed.
    """

    changed = Signal()
    intent_changed = Signal()
    frames_read = Signal()
    runs_changed = Signal()
    message = Signal(str)
    zoomed = Signal()
    crowded = Signal(int)

    def __init__(self, session: Session, intent: Intent, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.intent = intent
        self.slots: tuple[PanelSlot, ...] = ()
        self.view: ResolvedView = resolve(intent, session.snapshot())
        self._shown: ResolvedView | None = None
        self._links: LinkedRanges | None = None
        self.calculator = Calculator(self)
        self.calculator.computed.connect(self._computed)
        self._noted: dict[int, tuple[str, ...]] = {}
        self._last, self._ended = time.monotonic(), False
        self._drawn = self._last
        self._pace = TickPace()
        # Qt's usual kind of timer may be off by a twentieth.
        self._timer = QTimer(self, timerType=Qt.TimerType.PreciseTimer, interval=TICK_MS)
        self._timer.setObjectName("display")
        self._timer.timeout.connect(self.tick)

    def add_slots(self, slots: Sequence[PanelSlot]) -> None:
        """More panels to show runs in, from left to right."""
        self.slots += tuple(slots)
        for slot in slots:
            slot.hovered.connect(self._hovered)
            slot.clicked.connect(self._clicked)
            slot.selected.connect(self._selected)
            slot.panel.requested.connect(self.calculator.wake)
        from app.views.links import LinkedRanges

        self._links = self._links or LinkedRanges(self)
        for slot in slots:
            self._links.add(slot.panel)
            slot.panel.zoomed.connect(self._on_zoom)  # after the links: all plots have the zoom
        self.rearrange()

    # ------------------------------------------------------------------------------ requests

    def ask(self, **changes: Any) -> None:
        """Change what is asked for, and show it at once."""
        self.intent = replace(self.intent, **changes)
        self.refresh()

    def show(self, intent: Intent) -> None:
        """Ask for all of it anew."""
        self.intent = intent
        self.refresh()

    def _on_zoom(self) -> None:
        self.zoomed.emit()

    def unpin(self) -> None:
        """Let go of all pinned nodes."""
        self.ask(pinned=frozenset())

    def _hovered(self, key: int, node: int) -> None:
        self.ask(hovered=None if node < 0 else (key, node))

    def _clicked(self, key: int, node: int) -> None:
        mine = frozenset(mark for mark in self.intent.pinned if mark[0] == key)
        others = self.intent.pinned - mine
        if node < 0:
            self.ask(pinned=others)
        else:
            # A click on a pinned node lets it go, on another one pins it too.
            self.ask(pinned=others | (mine ^ {(key, node)}))

    def _selected(self, key: int, nodes: frozenset[int]) -> None:
        others = frozenset(mark for mark in self.intent.pinned if mark[0] != key)
        self.ask(pinned=others | {(key, node) for node in nodes})

    # ------------------------------------------------------------------------------- runs

    def rearrange(self) -> None:
        """Show the session's runs, after some were opened or closed."""
        runs = tuple(self.session)
        if len(runs) > len(self.slots) > 0:
            self.crowded.emit(len(runs))  # and is here again, with panels for them
            return
        for place, slot in enumerate(self.slots):
            slot.set_run(runs[place] if place < len(runs) else None)
            # One stays without a run, to say how to get one.
            slot.panel.setVisible(place < max(len(runs), 1))
        self._watch()
        open_keys = {run.key for run in runs}
        hovered = self.intent.hovered
        self.intent = replace(
            self.intent,
            hovered=hovered if hovered is not None and hovered[0] in open_keys else None,
            pinned=frozenset(mark for mark in self.intent.pinned if mark[0] in open_keys),
        )
        self._shown = None  # the panels have other runs, and are told everything
        self.runs_changed.emit()
        self.refresh()

    def _watch(self) -> None:
        """What takes a while is computed for the runs that can be read."""
        self.calculator.watch([run.data.later for run in self.session if run.data is not None])

    def _computed(self) -> None:
        for slot in self.slots:
            slot.panel.computed()
        self._wake()

    def preparing(self, words: str) -> None:
        """What runs that have not begun wait for; empty once that is there."""
        for slot in self.slots:
            slot.set_waiting(words)

    def stood_in(self, key: int, path: Path) -> None:
        """A run must wait for its kernels: show a recording of it meanwhile."""
        run = self.session.get(key)
        if run is None or run.data is not None:  # its own file was there first
            return
        run.data = self._opened(run, path)
        run.stands_in = run.data is not None
        self._show_anew(run)

    def begun(self, key: int) -> None:
        """The file of a run exists: open it."""
        run = self.session.get(key)
        if run is None or (run.data is not None and not run.stands_in):  # closed, or open already
            return
        data = self._opened(run, run.path)
        if run.stands_in:
            run.coming = data
            self._wake()
            return
        run.data = data
        self._show_anew(run)

    def _opened(self, run: OpenRun, path: Path) -> DisplayData | None:
        from app.state.display import DisplayData
        from core.runs import open_run

        try:
            return DisplayData(open_run(path), self.intent.shown_plane)
        except MarginscopeError as error:
            self.failed(run.key, error.sentence)
            return None

    def _show_anew(self, run: OpenRun) -> None:
        """What is shown of a run comes from another file now."""
        if run.data is None:
            return
        if run.data.run.note:
            self.message.emit(run.data.run.note)
        self._watch()
        self._show_in_slot(run)
        self._shown = None
        self.runs_changed.emit()
        self.refresh()

    def _catch_up(self, run: OpenRun) -> None:
        """Read on in the file of a run; show it once it has come as far as the recording."""
        coming = run.coming
        if coming is None:
            return
        try:
            coming.update(READ_SECONDS)
        except (MarginscopeError, OSError):
            LOG.exception("A run cannot be read.")
            run.arrive()  # as it is: what is wrong with it is told when it is read again
            self._show_anew(run)
            return
        # Of one frame, at t = 0, the coordinate is a stand-in (app.state.display).
        there = float(coming.coordinate[-1]) if coming.frames > 1 else START
        # The cursor never moves back (docs/decisions/0014).
        if there >= self.view.cursor or (coming.complete and not run.live):
            run.arrive()
            self._show_anew(run)

    def grew(self, key: int, index: int) -> None:
        """Frames up to this index are in a run's file."""
        run = self.session.get(key)
        if run is not None:
            self._note(run)
            self._wake()

    def ended(self, key: int) -> None:
        """A run has ended, and all of it is in its file."""
        run = self.session.get(key)
        if run is not None:
            self._read(run)
            if run.data is None and not run.failure:
                run.failure = NOT_BEGUN
                self._show_in_slot(run)
            if words := sentence_about(run):
                self.message.emit(words)
            self._note(run)
            self.runs_changed.emit()
            self.refresh()

    def _note(self, run: OpenRun) -> None:
        """Tell once each thing that a dynamics says of itself."""
        told, notes = self._noted.get(run.key, ()), notes_about(run)
        self._noted[run.key] = notes
        for words in notes:
            if words not in told:
                self.message.emit(words)

    def renamed(self, run: OpenRun) -> None:
        """It stands otherwise with a run, which its heading says."""
        for slot in self.slots:
            if slot.run is run:
                slot.show_heading()

    def lost(self, key: int, sentence: str) -> None:
        """The file of another program's run cannot be read any more; what was seen of it stays."""
        run = self.session.get(key)
        if run is not None and run.growth is not Growth.LOST:
            run.growth = Growth.LOST
            self.renamed(run)
            self.message.emit(sentence)
            self.runs_changed.emit()
            self.refresh()

    def failed(self, key: int, sentence: str) -> None:
        """A run has ended because of something."""
        self.message.emit(sentence)
        run = self.session.get(key)
        if run is None:
            return
        run.failure = sentence
        if run.data is None:
            self._show_in_slot(run)
        self.ended(key)

    def _show_in_slot(self, run: OpenRun) -> None:
        for slot in self.slots:
            if slot.run is run:
                slot.set_run(run)

    # ------------------------------------------------------------------------------- ticks

    def refresh(self, at_once: bool = True) -> None:
        """Resolve and show, and keep ticking if there is more to come.

        Where it need not be at once, views follow in turn, as there is time.
        """
        self.view = resolve(self.intent, self.session.snapshot())
        if self.view != self._shown:
            linked = self.view.wishes.linked
            if self._links is not None and (not self._shown or self._shown.wishes.linked != linked):
                self._links.set_on(linked)
            apply(self.slots, self.view, self._shown, at_once)
            before, self._shown = self._shown, self.view
            self.changed.emit()
            if before is None or before.wishes != self.view.wishes:
                self.intent_changed.emit()
        self._wake()

    def tick(self) -> None:
        """Read, play, resolve, show."""
        now = time.monotonic()
        elapsed, self._last = min(now - self._last, LONGEST_TICK_S), now
        training = self.session.training
        # Where a moment is waited for nothing else is to be done between two readings.
        interval = 0 if self.awaited else self._pace.next(training)
        if interval != self._timer.interval():
            self._timer.setInterval(interval)
        for run in self.session:
            self._catch_up(run)
            if run.data is not None and (run.live or run.behind):
                self._read(run)
        if self.awaited and now - self._drawn < UNDRAWN:
            return
        self._drawn = now
        self.intent = advanced(self.intent, self.session.snapshot(), elapsed)
        few = len(self.session) <= MANY
        self.refresh(at_once=few and not training)
        behind = [slot.panel for slot in self.slots if slot.panel.owed]
        share = 1 if training else MANY  # of the panels that draw in a tick's time
        for panel in behind:
            panel.catch_up(DRAW_SECONDS * min(1.0, share / len(behind)))
        if not self._busy():
            self._timer.stop()

    def stop(self) -> None:
        """Tick and compute no more; what is shown stays until the next change."""
        self._ended = True
        self._timer.stop()
        self.calculator.close()

    @property
    def ticking(self) -> bool:
        """Whether the timer runs."""
        return self._timer.isActive()

    def _wake(self) -> None:
        if not self._ended and not self._timer.isActive() and self._busy():
            # What passed while the timer rested is no time that was played.
            self._last = time.monotonic()
            self._timer.start()

    def _busy(self) -> bool:
        if any(run.behind for run in self.session) or any(slot.panel.owed for slot in self.slots):
            return True
        return has_room(self.intent, self.session.snapshot())

    @property
    def awaited(self) -> bool:
        """Whether somebody waits for a moment that is still to be read. For any thread."""
        return any(awaits(run, self.intent) for run in self.session)

    def _read(self, run: OpenRun) -> None:
        if run.data is None or run.failure:
            return
        before = run.data.frames, run.data.past.left
        try:
            frames = read_on(run, run.data, self.intent), run.data.past.left
        except (MarginscopeError, OSError) as error:
            LOG.exception("A run cannot be read.")
            words = error.sentence if isinstance(error, MarginscopeError) else READING_FAILED
            if run.unfinished and run.data.frames:
                self.lost(run.key, lost_sentence(run, words))
            else:
                self._give_up(run, words)
            return
        if frames != before:
            for slot in self.slots:
                if slot.run is run:
                    slot.panel.data_grew()
            self.frames_read.emit()

    def _give_up(self, run: OpenRun, sentence: str) -> None:
        run.failure = sentence
        run.close()
        self._show_in_slot(run)
        self.message.emit(sentence)
