"""Tells the panels of runs what differs from the view before."""

from __future__ import annotations

from collections.abc import Sequence

from app.playback.slot import PanelSlot
from app.state.resolve import ResolvedRun, ResolvedView
from core.figures.palette import PALETTES


def apply(
    slots: Sequence[PanelSlot], view: ResolvedView, before: ResolvedView | None, at_once: bool
) -> None:
    """Tell each panel what differs from the view before; all of it where there was none."""
    now, then = view.wishes, before.wishes if before is not None else None
    # Runs that others cover are not drawn, and all at once when they are seen again.
    covered, again = now.compared is not None, then is not None and then.compared is not None
    for place, slot in enumerate(slots):
        if then is None or then.palette != now.palette:
            slot.panel.set_colours(PALETTES[now.palette])
        if then is None or then.plane != now.plane:
            slot.panel.set_plane(now.shown_plane)
        if then != now:
            slot.panel.set_options(now)
        if then is None or then.views != now.views:
            slot.panel.set_views(now.views)
        run = view.runs[place] if place < len(view.runs) else None
        old = before.runs[place] if before and place < len(before.runs) else None
        if run is not None and run.frame >= 0 and not covered and (again or run != old):
            _show(slot, run, None if again else old, at_once)


def _show(slot: PanelSlot, run: ResolvedRun, old: ResolvedRun | None, at_once: bool) -> None:
    if old is None or old.frame != run.frame:
        # At once where the panel had another run, whose picture must not stay.
        slot.panel.show_frame(run.frame, at_once or old is None)
    if old is None or (old.hovered, old.pinned) != (run.hovered, run.pinned):
        slot.panel.set_marked(run.hovered, run.pinned)
