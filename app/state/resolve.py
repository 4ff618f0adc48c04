"""From what was asked for and what is open to what the screen shows: pure, and without Qt.

All moments are coordinates of core.problem.schedule. The span of the slider goes from the first
frame to the planned end, so that it does not move while a run grows; the edge is how far one may
look.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from app.state.intent import FIGURE_1, START, Intent, Mark
from app.state.session import RunSnapshot, Snapshot
from app.state.views import VIEWS

PLAY_SECONDS = 10.0
UNKNOWN_SPAN = 8.0
# Coordinates may be stored as float32.
NEAR = 1e-6
# The coordinate of log10 t = 10: frames of runs up to there are equally spaced in log10 t itself.
PLAIN_END = 1.0 + math.log(10.0)


def log10_of(moment: float) -> float:
    """log10 t of a coordinate: core.problem.schedule.inverse_coordinate of one number."""
    return moment if moment <= 1.0 else math.exp(moment - 1.0)


def moment_of(log10_time: float) -> float:
    """The coordinate of log10 t: core.problem.schedule.coordinate of one number."""
    return log10_time if log10_time <= 1.0 else 1.0 + math.log(log10_time)


@final
@dataclass(frozen=True, slots=True)
class Span:
    """The slider's two ends, and the last moment that can be shown now; `live` if it will grow."""

    low: float
    high: float
    edge: float
    live: bool

    @property
    def plain(self) -> bool:
        """Whether moments are spread in log10 t itself, as the frames are."""
        return self.high <= PLAIN_END + NEAR

    def share(self, moment: float) -> float:
        """Where a moment lies between the ends, 0 to 1."""
        low, high, place = (self._spread(one) for one in (self.low, self.high, moment))
        return min(max((place - low) / (high - low), 0.0), 1.0)

    def moment(self, share: float) -> float:
        """The moment at a share of the way."""
        low, high = self._spread(self.low), self._spread(self.high)
        place = low + min(max(share, 0.0), 1.0) * (high - low)
        return moment_of(place) if self.plain else place

    def _spread(self, moment: float) -> float:
        return log10_of(moment) if self.plain else moment


@final
@dataclass(frozen=True, slots=True)
class ResolvedRun:
    """One run on the screen: its frame (-1: none yet) and its marked nodes."""

    key: int
    frame: int
    hovered: int
    pinned: frozenset[int]


@final
@dataclass(frozen=True, slots=True)
class ResolvedView:
    """Everything the screen shows. `inspected` is the node whose numbers are shown, if any."""

    runs: tuple[ResolvedRun, ...]
    span: Span
    cursor: float
    playing: bool
    pace: float
    loop: bool
    follow: bool
    inspected: Mark | None
    coordinates: tuple[int, int]
    margin_axis: str
    views: tuple[str, ...]
    curves: tuple[str, ...]
    palette: str
    hidden_margins: frozenset[str] = frozenset()
    shown_bounds: frozenset[str] = frozenset()


def span_of(snapshot: Snapshot) -> Span:
    """The span of the open runs together."""
    runs = snapshot.runs
    high = max((_end(run) for run in runs), default=1.0)
    starts = [float(run.coordinates[0]) for run in runs if run.coordinates.size > 1]
    low = min(starts, default=high - UNKNOWN_SPAN)
    live = [run for run in runs if run.live]
    ends = [_last(run, low) for run in live or runs]
    edge = (min if live else max)(ends, default=low)
    return Span(low, max(high, low + NEAR), max(edge, low), bool(live))


def _end(run: RunSnapshot) -> float:
    return max(run.until, _last(run, run.until))


def _last(run: RunSnapshot, otherwise: float) -> float:
    """The last coordinate; the stand-in for t = 0 alone does not count as one."""
    return float(run.coordinates[-1]) if run.coordinates.size > 1 else otherwise


def frame_at(run: RunSnapshot, cursor: float) -> int:
    """The last frame not after a moment, the first one before all moments, -1 without frames."""
    if run.coordinates.size == 0:
        return -1
    after = int(np.searchsorted(run.coordinates, cursor + NEAR, side="right"))
    return max(after - 1, 0)


def clamped(cursor: float, span: Span) -> float:
    """The nearest moment that can be shown; the start stays the start, wherever it will lie."""
    return START if cursor <= span.low else min(cursor, span.edge)


def resolve(intent: Intent, snapshot: Snapshot) -> ResolvedView:
    """What the screen shows."""
    span = span_of(snapshot)
    cursor = span.edge if intent.follow else max(clamped(intent.cursor, span), span.low)
    runs = tuple(_run(run, intent, cursor) for run in snapshot.runs)
    return ResolvedView(
        runs=runs,
        span=span,
        cursor=cursor,
        playing=intent.playing,
        pace=intent.pace,
        loop=intent.loop,
        follow=intent.follow,
        inspected=_inspected(intent, runs, snapshot.runs),
        coordinates=intent.coordinates,
        margin_axis=intent.margin_axis,
        views=tuple(name for name in VIEWS if name in intent.views) or FIGURE_1,
        curves=intent.curves,
        palette=intent.palette,
        hidden_margins=intent.hidden_margins,
        shown_bounds=intent.shown_bounds,
    )


def _run(run: RunSnapshot, intent: Intent, cursor: float) -> ResolvedRun:
    hovered = -1
    if intent.hovered is not None and intent.hovered[0] == run.key:
        hovered = intent.hovered[1] if intent.hovered[1] < run.m else -1
    pinned = frozenset(node for key, node in intent.pinned if key == run.key and node < run.m)
    return ResolvedRun(run.key, frame_at(run, cursor), hovered, pinned)


def _inspected(
    intent: Intent, runs: Sequence[ResolvedRun], snapshots: Sequence[RunSnapshot]
) -> Mark | None:
    """The hovered node, else the one pinned node; of several pinned ones the smallest index."""
    shown = {run.key for run in runs if run.frame >= 0}
    for run in runs:
        if run.hovered >= 0 and run.key in shown:
            return run.key, run.hovered
    for run in runs:
        if run.pinned and run.key in shown:
            return run.key, min(run.pinned)
    return None


def advanced(intent: Intent, snapshot: Snapshot, seconds: float) -> Intent:
    """The intent after so much time: playing moves the cursor and waits at the live edge."""
    if not intent.playing or intent.follow or not snapshot.runs:
        return intent
    span = span_of(snapshot)
    before = max(clamped(intent.cursor, span), span.low)
    share = span.share(before) + intent.pace * seconds / PLAY_SECONDS
    cursor = span.moment(share)
    if share < 1.0 and cursor < span.edge:
        return replace(intent, cursor=cursor)
    if span.live:
        return replace(intent, cursor=clamped(span.edge, span))
    if intent.loop:
        return replace(intent, cursor=START)
    return replace(intent, cursor=clamped(span.edge, span), playing=False)


def has_room(intent: Intent, snapshot: Snapshot) -> bool:
    """Whether playing would move anything now: False at the live edge, where frames must come."""
    if not intent.playing or intent.follow or not snapshot.runs:
        return False
    span = span_of(snapshot)
    return not span.live or max(intent.cursor, span.low) < span.edge - NEAR


def stepped(intent: Intent, snapshot: Snapshot, direction: int) -> float:
    """The nearest moment after (1) or before (-1) the cursor at which any run has a frame."""
    span = span_of(snapshot)
    cursor = span.edge if intent.follow else max(clamped(intent.cursor, span), span.low)
    found: list[float] = []
    for run in snapshot.runs:
        places = run.coordinates
        if direction > 0:
            index = int(np.searchsorted(places, cursor + NEAR, side="right"))
            found += [float(places[index])] if index < places.size else []
        else:
            index = int(np.searchsorted(places, cursor - NEAR, side="left")) - 1
            found += [float(places[index])] if index >= 0 else []
    if not found:
        return clamped(cursor, span)
    return clamped(min(found) if direction > 0 else max(found), span)
