"""From the intent to the screen: resolves it for the open runs, and applies the differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QObject, Signal

from app.playback.calculator import Calculator
from app.state.intent import Intent
from app.state.resolve import ResolvedRun, ResolvedView, resolve
from app.state.session import OpenRun, Session
from core.figures.palette import PALETTES
from core.problem.schedule import coordinate

if TYPE_CHECKING:  # loads pyqtgraph, which must not delay the window
    from app.views.links import LinkedRanges
    from app.views.run_panel import RunPanel


def waits_for_frames(run: OpenRun, intent: Intent) -> bool:
    """Return True if the cursor is at an unread frame of a file, as after a link.

    Not while anything is trained or played. Thread-safe.
    """
    data = run.data
    if data is None or run.live or run.failure or intent.playing or intent.follow:
        return False
    # Use the file's own times: those read so far belong to the window's thread.
    read, times = data.frames, data.run.log10_time
    return 0 < read < len(times) and intent.cursor > float(coordinate(times[read - 1]))


@final
class DisplayController(QObject):
    """Owner of the intent and of the panels, one for each open run."""

    changed = Signal()
    """New view, its moment and nodes included; emitted at most 30 times a second."""
    intent_changed = Signal()
    """Other wishes are shown (`ResolvedView.wishes`), which no moment and no node is part of."""
    pins_changed = Signal()
    """Other nodes are pinned."""
    frames_read = Signal()
    """Further frames of a run were read."""
    runs_changed = Signal()
    """Other runs are open, or one of them began or ended."""
    zoomed = Signal()
    """Zoom of a plot by the user."""
    current_changed = Signal()
    """Another run is current: by a choice, or because runs were opened or closed."""
    panels_needed = Signal(int)
    """Number of open runs, which exceeds the number of panels."""

    def __init__(self, session: Session, intent: Intent, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.intent = intent
        self.panels: tuple[RunPanel, ...] = ()
        self.view: ResolvedView = resolve(intent, session.snapshot())
        self._shown: ResolvedView | None = None
        self._links: LinkedRanges | None = None
        self._key = self._newest = -1  # keys of the current run and of the newest run so far
        self.calculator = Calculator(self)
        self.calculator.values_computed.connect(self._on_computed)

    def add_panels(self, panels: Sequence[RunPanel]) -> None:
        """Add panels for runs, from left to right."""
        from app.views.links import LinkedRanges

        self.panels += tuple(panels)
        self._links = self._links or LinkedRanges(self)
        for panel in panels:
            panel.node_hovered.connect(self._on_node_hovered)
            panel.node_clicked.connect(self._on_node_clicked)
            panel.nodes_selected.connect(self._on_nodes_selected)
            panel.heading_clicked.connect(self._on_heading_clicked)
            panel.values_requested.connect(self.calculator.wake)
            self._links.add(panel)
            panel.zoomed.connect(self._on_zoom)  # after the links, so that all plots have the zoom
        self.rearrange()

    # -------------------------------------------------------------------------------- intent

    def update_intent(self, **changes: Any) -> None:
        """Change fields of the intent, and show the result at once."""
        self.set_intent(replace(self.intent, **changes))

    def refresh(self, at_once: bool = True) -> None:
        """Resolve the intent again, for other frames or runs."""
        self.set_intent(self.intent, at_once)

    def set_intent(self, intent: Intent, at_once: bool = True) -> None:
        """Set the intent, and apply the differences to the panels.

        Changes that are not urgent reach the views in turn, as time allows.
        """
        # Another choice of views ends the single one.
        if intent.filled and intent.views != self.intent.views:
            intent = replace(intent, filled="")
        self.intent = intent
        before, view = self._shown, resolve(intent, self.session.snapshot())
        self.view = view
        if intent.filled != view.wishes.filled:  # the single view is no longer chosen
            self.intent = replace(intent, filled="")
        if view == before:
            self._report_current()
            return
        has_new_wishes = before is None or before.wishes != view.wishes
        if has_new_wishes:
            self._apply_intent(view.wishes, before.wishes if before is not None else None)
        for panel, run, previous in self._changed_runs(view, before):
            if previous is None or previous.frame != run.frame:
                # Draw at once if the panel showed another run, whose picture must not remain.
                for one in panel.set_frame(run.frame, at_once or previous is None):
                    one.show_frame(panel.frame)
            if previous is None or (previous.hovered, previous.pinned) != (run.hovered, run.pinned):
                for one in panel.set_marked(run.hovered, run.pinned):
                    one.set_marked(run.hovered, run.pinned)
        self._shown = self.view
        self.changed.emit()
        if has_new_wishes:
            self.intent_changed.emit()
        if before is None or [run.pinned for run in before.runs] != [r.pinned for r in view.runs]:
            self.pins_changed.emit()
        self._report_current()

    def _report_current(self) -> None:
        """Mark the current run if it changed."""
        key = self.current.key if self.current is not None else -1
        if key != self._key:
            self._key = key
            self._mark_current()
            self.current_changed.emit()

    def _apply_intent(self, now: Intent, previous: Intent | None) -> None:
        """Apply changed options to all panels, and all options if `previous` is None."""
        if self._links is not None and (previous is None or previous.linked != now.linked):
            self._links.set_on(now.linked)
        for panel in self.panels:
            if previous is None or previous.palette != now.palette:
                panel.set_colours(PALETTES[now.palette])
            if previous is None or previous.plane != now.plane:
                panel.set_plane(now.shown_plane)
            panel.set_options(now)
            if previous is None or previous.shown_views != now.shown_views:
                panel.set_views(now.shown_views)

    def _changed_runs(
        self, view: ResolvedView, before: ResolvedView | None
    ) -> Iterator[tuple[RunPanel, ResolvedRun, ResolvedRun | None]]:
        """Yield panel, run and former run of each run whose frame or marks changed."""
        if view.wishes.compared is not None:  # a comparison covers the panels
            return
        # Update all panels at once when the comparison ends.
        previous_runs = before.runs if before is not None and before.wishes.compared is None else ()
        for place, (panel, run) in enumerate(zip(self.panels, view.runs, strict=False)):
            previous = previous_runs[place] if place < len(previous_runs) else None
            if run.frame >= 0 and run != previous:
                # Before its first frame no options were applied to the panel.
                yield panel, run, previous if previous is not None and previous.frame >= 0 else None

    @property
    def waits_for_frames(self) -> bool:
        """True while the cursor is at an unread frame. Thread-safe."""
        return any(waits_for_frames(run, self.intent) for run in self.session)

    # --------------------------------------------------------------------------------- neurons

    def _run_of_sender(self) -> OpenRun | None:
        """Return the run of the panel whose signal is being handled."""
        sender = self.sender()
        return next((panel.run for panel in self.panels if panel is sender), None)

    def _on_node_hovered(self, node: int) -> None:
        run = self._run_of_sender()
        if run is not None:
            self.set_intent(replace(self.intent, hovered=None if node < 0 else (run.key, node)))

    def _on_node_clicked(self, node: int) -> None:
        """Pin or unpin a neuron; unpin all neurons of the run if the click missed them (-1)."""
        run = self._run_of_sender()
        if run is None:
            return
        mine = frozenset(mark for mark in self.intent.pinned if mark[0] == run.key)
        pinned = self.intent.pinned - mine
        if node < 0:
            self.set_intent(replace(self.intent, pinned=pinned))
            return
        # A click toggles one neuron and leaves the other pinned neurons.
        pinned |= mine ^ {(run.key, node)}
        self.set_intent(replace(self.intent, pinned=pinned, current=run.key))

    def _on_nodes_selected(self, nodes: frozenset[int]) -> None:
        run = self._run_of_sender()
        if run is not None:
            unaffected = frozenset(mark for mark in self.intent.pinned if mark[0] != run.key)
            pinned = unaffected | {(run.key, node) for node in nodes}
            self.set_intent(replace(self.intent, pinned=pinned, current=run.key))

    def _on_heading_clicked(self) -> None:
        if (run := self._run_of_sender()) is not None:
            self.set_current(run.key)

    def unpin(self) -> None:
        """Unpin all neurons."""
        self.update_intent(pinned=frozenset())

    # ---------------------------------------------------------------------------------- runs

    @property
    def current(self) -> OpenRun | None:
        """Run that theory, numbers and branches are about: the chosen one, else the newest."""
        chosen = self.session.get(self.intent.current) if self.intent.current is not None else None
        return chosen or max(self.session, key=attrgetter("key"), default=None)

    def set_current(self, key: int) -> None:
        """Make an open run the current one."""
        self.update_intent(current=key)

    def _mark_current(self) -> None:
        """Mark the heading of the current run if several are open."""
        current, several = self.current, len(self.session) > 1
        for panel in self.panels:
            panel.heading.set_current(panel.run is current if several else None)

    def move_run(self, key: int, place: int) -> None:
        """Move an open run to a position from the left; the current run does not change."""
        current = self.current
        self.session.move(key, place)
        # By key: among reopened runs those further right are newer.
        self.intent = replace(self.intent, current=current.key if current is not None else None)
        self.rearrange()

    def rearrange(self) -> None:
        """Show the session's runs, after some were opened, closed or moved.

        A run that was opened becomes the current one.
        """
        runs = tuple(self.session)
        if len(runs) > len(self.panels) > 0:
            self.panels_needed.emit(len(runs))  # creates the panels and calls this method again
            return
        zooms = {panel.run.key: dict(panel.zooms()) for panel in self.panels if panel.run}
        for place, panel in enumerate(self.panels):
            panel.set_run(runs[place] if place < len(runs) else None)
            # One panel remains without a run and explains how to get one.
            panel.setVisible(place < max(len(runs), 1))
        self._watch()
        open_keys = {run.key for run in runs}
        hovered, newest = self.intent.hovered, max(open_keys, default=-1)
        opened, self._newest = newest > self._newest, max(newest, self._newest)
        chosen = None if opened or self.intent.current not in open_keys else self.intent.current
        self.intent = replace(
            self.intent,
            current=chosen,
            hovered=hovered if hovered is not None and hovered[0] in open_keys else None,
            pinned=frozenset(mark for mark in self.intent.pinned if mark[0] in open_keys),
        )
        self._shown = None  # the panels have other runs: apply everything again
        self._mark_current()
        self.runs_changed.emit()
        self.refresh()
        if not opened:  # runs were closed or moved: the others keep their zoom
            for panel in self.panels:
                panel.set_zooms(zooms.get(panel.run.key, {}) if panel.run else {})

    def panels_of(self, run: OpenRun) -> list[RunPanel]:
        """Return the panels that show a run: one, or none before they are made."""
        return [panel for panel in self.panels if panel.run is run]

    def show_run(self, run: OpenRun) -> None:
        """Set a run on its panels again, after its data arrived or failed."""
        for panel in self.panels_of(run):
            panel.set_run(run)

    def replace_data(self, run: OpenRun) -> None:
        """Show a run whose data now come from another file."""
        self._watch()
        self.show_run(run)
        self._shown = None
        self.runs_changed.emit()
        self.refresh()

    def update_frames(self, run: OpenRun) -> None:
        """Draw further frames of a run."""
        for panel in self.panels_of(run):
            panel.data_grew()
        self.frames_read.emit()

    def update_heading(self, run: OpenRun) -> None:
        """Update the heading after the run's name or status changed."""
        for panel in self.panels_of(run):
            panel.set_heading(run.full_heading)

    def update_own_names(self) -> None:
        """Show the names that the user gave the open runs, after some may have changed."""
        if self.session.update_own_names():
            for run in self.session:
                self.update_heading(run)
            self.runs_changed.emit()
            self.refresh()

    def set_waiting(self, words: str) -> None:
        """Set what runs that have not begun wait for, or ""."""
        for panel in self.panels:
            panel.set_waiting(words)

    def stop(self) -> None:
        """Stop computing; the screen remains until the next change."""
        self.calculator.close()

    def _watch(self) -> None:
        self.calculator.watch([run.data.background for run in self.session if run.data is not None])

    def _on_computed(self) -> None:
        for panel in self.panels:
            panel.on_values()

    def _on_zoom(self) -> None:
        self.zoomed.emit()
