"""Resolution of intent and open runs to the screen's content: pure, and without Qt.

All moments are coordinates of core.problem.schedule. The slider's span reaches from the first frame
to the planned end, so that it does not move while a run grows; the edge is the last moment that can
be shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import final

import numpy as np

from app.state.intent import START, Intent, with_proposals
from app.state.session import RunSnapshot, Snapshot
from app.state.view_options import MOST_RINGS, Mark
from app.state.views import FIGURE_1, known_views
from core.problem.schedule import PLAIN_HORIZON, coordinate, inverse_coordinate

PLAY_SECONDS = 10.0
# Length of the slider until a frame after t = 0 gives the start of the run's own time
# (core.problem.schedule.first_log10_time).
UNKNOWN_SPAN = 8.0
# Coordinates may be stored as float32.
NEAR = 1e-6
# Up to this time frames are equally spaced in log10 t itself.
PLAIN_END = float(coordinate(PLAIN_HORIZON))


@final
@dataclass(frozen=True, slots=True)
class TimeSpan:
    """Ends of the slider, and the last available moment; `live`: the span will grow."""

    low: float
    high: float
    edge: float
    live: bool

    @property
    def plain(self) -> bool:
        """True if moments are spread in log10 t itself, like the frames."""
        return self.high <= PLAIN_END + NEAR

    def share(self, moment: float) -> float:
        """Return the position of a moment between the ends, 0 to 1."""
        low, high, place = self._spread(self.low, self.high, moment)
        return min(max((place - low) / (high - low), 0.0), 1.0)

    def moment(self, share: float) -> float:
        """Return the moment at a position between the ends, 0 to 1."""
        low, high = self._spread(self.low, self.high)
        place = low + min(max(share, 0.0), 1.0) * (high - low)
        return float(coordinate(place)) if self.plain else place

    def _spread(self, *moments: float) -> Sequence[float]:
        """Return moments in the coordinate in which the slider is even."""
        # In one call: NumPy takes 5 us for a few numbers, and the slider requests all its marks.
        return inverse_coordinate(np.array(moments)).tolist() if self.plain else moments


@final
@dataclass(frozen=True, slots=True)
class ResolvedRun:
    """Run on the screen: its frame (-1: none yet) and its marked neurons."""

    key: int
    frame: int
    hovered: int
    pinned: frozenset[int]

    @property
    def selected_nodes(self) -> frozenset[int]:
        """Pinned neurons if they form a selection, which dims all others."""
        return selection(self.pinned)


@final
@dataclass(frozen=True, slots=True)
class ResolvedView:
    """State of the screen.

    `inspected`: the neuron whose numbers are shown. `wishes`: the intent without cursor, neurons
    and current run, and with views that exist.
    """

    runs: tuple[ResolvedRun, ...]
    span: TimeSpan
    cursor: float
    inspected: Mark | None
    wishes: Intent


def span_of(snapshot: Snapshot) -> TimeSpan:
    """Return the span of the open and the compared runs together."""
    runs = snapshot.all_runs
    high = max((_run_end(run) for run in runs), default=1.0)
    starts = [float(run.coordinates[0]) for run in runs if run.coordinates.size > 1]
    low = min(starts, default=high - UNKNOWN_SPAN)
    live = [run for run in runs if run.live]
    ends = [_last_moment(run, low) for run in live or runs]
    # The slowest run being trained limits the span in which all can be shown.
    edge = (min if live else max)(ends, default=low)
    return TimeSpan(low, max(high, low + NEAR), max(edge, low), bool(live))


def _run_end(run: RunSnapshot) -> float:
    """Return the coordinate of a run's planned end, or of a later last frame."""
    return max(run.until, _last_moment(run, run.until))


def _last_moment(run: RunSnapshot, otherwise: float) -> float:
    """Return the last coordinate, `otherwise` before any frame after t = 0.

    The moment at which the run continues another one counts too.
    """
    return float(run.coordinates[-1]) if run.coordinates.size > 1 else max(otherwise, run.since)


def frame_at(run: RunSnapshot, cursor: float) -> int:
    """Return the last frame not after a moment: 0 before all moments, -1 without frames."""
    if run.coordinates.size == 0:
        return -1
    after = int(np.searchsorted(run.coordinates, cursor + NEAR, side="right"))
    return max(after - 1, 0)


def clamp(cursor: float, span: TimeSpan) -> float:
    """Return the nearest moment that can be shown; the start remains START."""
    return START if cursor <= span.low else min(cursor, span.edge)


def _cursor(intent: Intent, span: TimeSpan) -> float:
    """Return the coordinate to show: the last available one if the intent follows."""
    return span.edge if intent.follow else max(clamp(intent.cursor, span), span.low)


def resolve(intent: Intent, snapshot: Snapshot) -> ResolvedView:
    """Return the state of the screen: the intent limited to what the open runs have."""
    span = span_of(snapshot)
    cursor = _cursor(intent, span)
    runs = tuple(_run(run, intent, cursor) for run in snapshot.runs)
    views = known_views(intent.views) or known_views(intent.proposed) or FIGURE_1
    wishes = with_proposals(intent)
    plots = views if intent.compared is None else intent.compared.observables
    filled = intent.filled if intent.filled in plots else ""
    wishes = replace(wishes, cursor=START, hovered=None, pinned=frozenset(), views=views)
    wishes = replace(wishes, current=None, filled=filled)
    return ResolvedView(runs, span, cursor, _inspected_node(runs, intent.current), wishes)


def _run(run: RunSnapshot, intent: Intent, cursor: float) -> ResolvedRun:
    """Return the frame, hovered and pinned neurons of a run at the cursor; -1 is no neuron."""
    hovered = -1
    if intent.hovered is not None and intent.hovered[0] == run.key:
        hovered = intent.hovered[1] if intent.hovered[1] < run.m else -1
    # A run whose file is not open yet has m = 0 and no neurons.
    pinned = _pinned_of(intent.pinned, run.key, run.m)
    return ResolvedRun(run.key, frame_at(run, cursor), hovered, pinned)


# Cached: otherwise thousands of neurons would be collected at each tick, and compared by every
# receiver.
@lru_cache(maxsize=16)
def _pinned_of(pinned: frozenset[Mark], key: int, m: int) -> frozenset[int]:
    return frozenset(node for pinned_key, node in pinned if pinned_key == key and node < m)


def selection(pinned: frozenset[int]) -> frozenset[int]:
    """Return a run's pinned neurons if they are too many for rings, else none."""
    return pinned if len(pinned) > MOST_RINGS else frozenset()


def _inspected_node(runs: Sequence[ResolvedRun], current: int | None) -> Mark | None:
    """Return the hovered neuron, else the first pinned one, of the current run if it has any.

    The neurons of a selection are not inspected.
    """
    runs_ = sorted((run for run in runs if run.frame >= 0), key=lambda run: run.key != current)
    hovered = [(run.key, run.hovered) for run in runs_ if run.hovered >= 0]
    pinned = [(run.key, min(run.pinned)) for run in runs_ if run.pinned and not run.selected_nodes]
    return next(iter(hovered + pinned), None)


def advance(intent: Intent, snapshot: Snapshot, seconds: float) -> Intent:
    """Return the intent some seconds later: playing moves the cursor, and waits at the edge."""
    if not intent.playing or intent.follow or not snapshot.all_runs:
        return intent
    span = span_of(snapshot)
    position = _cursor(intent, span)
    # In fractions of the slider, so that the handle moves evenly in any coordinate.
    share = span.share(position) + intent.pace * seconds / PLAY_SECONDS
    cursor = span.moment(share)
    if intent.interval is not None:
        first, last = intent.interval
        # From outside the interval, or from its end, jump to its start.
        if not first - NEAR <= position <= last + NEAR or cursor >= min(last, span.high):
            return replace(intent, cursor=clamp(first, span))
    if share < 1.0 and cursor < span.edge:
        return replace(intent, cursor=cursor)
    if span.live:  # more frames will arrive: keep playing, and wait for them
        return replace(intent, cursor=clamp(span.edge, span))
    if intent.loop:
        return replace(intent, cursor=START)
    return replace(intent, cursor=clamp(span.edge, span), playing=False)


def has_room(intent: Intent, snapshot: Snapshot) -> bool:
    """Return False while playing waits for frames at the live edge, or nothing plays."""
    if not intent.playing or intent.follow or not snapshot.all_runs:
        return False
    span = span_of(snapshot)
    return not span.live or max(intent.cursor, span.low) < span.edge - NEAR


def find_next_moment(intent: Intent, snapshot: Snapshot, direction: int) -> float:
    """Return the nearest moment after (1) or before (-1) the cursor with a frame of any run."""
    span = span_of(snapshot)
    cursor = _cursor(intent, span)
    # The empty array: np.concatenate refuses an empty list, as there is without runs.
    moments = np.concatenate([np.empty(0), *(run.coordinates for run in snapshot.all_runs)])
    if direction > 0:
        nearest = min(moments[moments > cursor + NEAR], default=cursor)
    else:
        nearest = max(moments[moments < cursor - NEAR], default=cursor)
    return clamp(float(nearest), span)
