"""From intent and runs to what is shown: rules that hold for all of them. No Qt."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.state.intent import START, Intent
from app.state.resolve import (
    PLAY_SECONDS,
    advance,
    clamp,
    find_next_moment,
    has_room,
    resolve,
    span_of,
)
from app.state.session import RunSnapshot, Snapshot
from core.problem.schedule import coordinate, inverse_coordinate

moments = st.floats(-8.0, 9.0, allow_nan=False)


@st.composite
def runs(draw: st.DrawFn, key: int) -> RunSnapshot:
    count = draw(st.integers(0, 30))
    first = draw(st.floats(-6.0, 1.0))
    places = first + np.cumsum(draw(st.lists(st.floats(0.01, 0.5), min_size=count, max_size=count)))
    end = float(places[-1]) if count else first
    until = end + draw(st.floats(0.0, 3.0))
    return RunSnapshot(key, np.array(places), until, draw(st.booleans()), draw(st.integers(1, 9)))


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    return Snapshot(tuple(draw(runs(key)) for key in range(1, 1 + draw(st.integers(0, 2)))))


@st.composite
def intents(draw: st.DrawFn) -> Intent:
    marks = st.tuples(st.integers(1, 3), st.integers(0, 12))
    return Intent(
        cursor=draw(moments | st.just(START)),
        playing=draw(st.booleans()),
        pace=draw(st.sampled_from([0.1, 1.0, 10.0])),
        loop=draw(st.booleans()),
        follow=draw(st.booleans()),
        hovered=draw(st.none() | marks),
        pinned=frozenset(draw(st.lists(marks, max_size=4))),
    )


@given(intents(), snapshots())
def test_what_is_shown_exists(intent: Intent, snapshot: Snapshot) -> None:
    view = resolve(intent, snapshot)
    assert view == resolve(intent, snapshot)
    assert view.span.low <= view.cursor <= view.span.edge <= view.span.high + 1e-5
    assert [run.key for run in view.runs] == [run.key for run in snapshot.runs]
    for shown, run in zip(view.runs, snapshot.runs, strict=True):
        assert -1 <= shown.frame < run.coordinates.size
        assert (shown.frame < 0) == (run.coordinates.size == 0)
        assert shown.hovered < run.m
        assert all(node < run.m for node in shown.pinned)
        if shown.frame > 0:
            assert run.coordinates[shown.frame] <= view.cursor + 1e-5


@given(intents(), snapshots(), st.floats(0.01, 1.0))
def test_frames_that_arrive_move_nothing_unless_followed(
    intent: Intent, snapshot: Snapshot, more: float
) -> None:
    intent = replace(intent, cursor=clamp(intent.cursor, span_of(snapshot)), follow=False)
    before = resolve(intent, snapshot)
    grown = []
    for run in snapshot.runs:
        places = run.coordinates
        if run.live and places.size > 1:
            places = np.append(places, places[-1] + more)
        until = max([run.until, *places[-1:]])
        grown.append(replace(run, coordinates=places, until=until))
    after = resolve(intent, Snapshot(tuple(grown)))
    assert after.cursor == before.cursor
    followed = resolve(replace(intent, follow=True), Snapshot(tuple(grown)))
    assert followed.cursor == followed.span.edge


@given(intents(), snapshots(), st.floats(0.0, 0.1))
def test_playing_goes_forward_and_never_beyond_what_there_is(
    intent: Intent, snapshot: Snapshot, seconds: float
) -> None:
    later = advance(intent, snapshot, seconds)
    before, after = resolve(intent, snapshot), resolve(later, snapshot)
    if not intent.playing or intent.follow:
        assert later == intent
    elif later.cursor != START:
        assert after.cursor >= before.cursor - 1e-9
    if later.playing != intent.playing:  # only the end of all runs ends playing
        assert not after.span.live
        assert after.cursor == after.span.edge


def _run(count: int = 401, live: bool = False, until: float = 3.0) -> RunSnapshot:
    return RunSnapshot(1, np.linspace(-2.0, 2.0, count), until, live, 4)


def test_a_whole_run_plays_in_ten_seconds_of_log_time() -> None:
    snapshot = Snapshot((_run(until=2.0),))
    intent = Intent(playing=True)
    elapsed, times = 0.0, []
    while intent.playing:
        intent = advance(intent, snapshot, 0.033)
        times.append(float(inverse_coordinate(resolve(intent, snapshot).cursor)))
        elapsed += 0.033
    assert elapsed == pytest.approx(PLAY_SECONDS, abs=0.05)
    steps = np.diff(times[:-1])
    assert steps == pytest.approx(steps[0], rel=1e-6)


def test_playing_waits_at_the_live_edge_and_goes_on_when_frames_come() -> None:
    short, longer = Snapshot((_run(live=True),)), Snapshot((_run(live=False, until=2.0),))
    intent = Intent(cursor=1.99999, playing=True, pace=10.0)
    waiting = advance(intent, short, 0.1)
    assert waiting.playing
    assert waiting.cursor == 2.0
    assert not has_room(waiting, short)
    assert has_room(waiting, longer)
    assert not advance(waiting, longer, 0.1).playing


def test_a_loop_begins_again() -> None:
    intent = Intent(cursor=1.99999, playing=True, loop=True, pace=10.0)
    assert advance(intent, Snapshot((_run(),)), 0.1).cursor == START


@given(snapshots(), st.integers(1, 40))
def test_steps_forward_and_back_visit_frames(snapshot: Snapshot, count: int) -> None:
    intent = Intent()
    for direction in [1] * count + [-1] * (count + 2):
        before = resolve(intent, snapshot)
        intent = replace(intent, cursor=find_next_moment(intent, snapshot, direction))
        after = resolve(intent, snapshot)
        assert (after.cursor - before.cursor) * direction >= -1e-9
    assert resolve(intent, snapshot).cursor == span_of(snapshot).low


@given(st.floats(-8.0, 1e6))
def test_moments_are_those_of_the_schedule(log10_time: float) -> None:
    moment = float(coordinate(log10_time))
    by_hand = log10_time if log10_time <= 1.0 else 1.0 + math.log(log10_time)
    assert moment == pytest.approx(by_hand, abs=1e-12)
    assert moment == float(coordinate(np.array([log10_time]))[0])
    # The error of exp is that of its argument, which is 15 at most.
    assert float(inverse_coordinate(moment)) == pytest.approx(log10_time, rel=1e-13, abs=1e-12)


@given(st.floats(0.0, 1.0), st.sampled_from([2.0, 3.3, 12.0]))
def test_shares_of_the_slider_are_inverted(share: float, high: float) -> None:
    span = span_of(Snapshot((RunSnapshot(1, np.linspace(-2.0, high, 9), high, False, 3),)))
    assert span.share(span.moment(share)) == pytest.approx(share, abs=1e-9)


def test_the_hovered_node_is_inspected_before_the_pinned_ones() -> None:
    snapshot = Snapshot((_run(), replace(_run(), key=2)))
    intent = Intent(pinned=frozenset({(1, 3), (1, 2)}))
    assert resolve(intent, snapshot).inspected == (1, 2)
    assert resolve(replace(intent, hovered=(2, 1)), snapshot).inspected == (2, 1)
    assert resolve(replace(intent, hovered=(9, 1)), snapshot).inspected == (1, 2)
    assert resolve(Intent(), snapshot).inspected is None


def test_what_is_wanted_of_theory_is_resolved_and_compared_like_the_rest() -> None:
    snapshot = Snapshot((_run(),))
    plain = resolve(Intent(), snapshot)
    assert (plain.wishes.hidden_margins, plain.wishes.shown_bounds) == (frozenset(), frozenset())
    for wish in ("hidden_margins", "shown_bounds"):
        view = resolve(replace(Intent(), **{wish: frozenset({"gamma_gl"})}), snapshot)
        assert getattr(view.wishes, wish) == {"gamma_gl"}
        assert view != plain
