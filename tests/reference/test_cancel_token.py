"""A computation that shares its core sleeps the rest of the time, and can be cancelled there."""

from __future__ import annotations

import threading

import pytest

from core.reference import cancel_token as module
from core.reference.cancel_token import CancelledError, CancelToken


class Clock:
    """A clock on which work and sleep take what they say, in place of the machine's."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()

    def slept(self: threading.Event, timeout: float | None = None) -> bool:
        made.now += timeout or 0.0
        return self.is_set()

    monkeypatch.setattr(module, "time", made)
    monkeypatch.setattr(threading.Event, "wait", slept)
    return made


def _work(clock: Clock, watch: CancelToken, looks: int, seconds: float) -> None:
    for _ in range(looks):
        clock.now += seconds
        watch.check()


@pytest.mark.parametrize("share", [0.1, 0.5])
@pytest.mark.parametrize("step", [0.001, 0.02, 0.05])
def test_it_takes_its_share(clock: Clock, share: float, step: float) -> None:
    watch = CancelToken(share=lambda: share)
    _work(clock, watch, 1000, step)
    worked = 1000 * step
    # Rests are put off until there are 5 ms of work.
    assert worked / clock.now == pytest.approx(share, rel=0.01)
    assert watch.seconds == pytest.approx(worked)


def test_alone_it_takes_all(clock: Clock) -> None:
    for watch in (CancelToken(), CancelToken(share=lambda: 1.0)):
        before = clock.now
        _work(clock, watch, 100, 0.05)
        assert clock.now - before == pytest.approx(5.0)


def test_sleep_does_not_make_it_late(clock: Clock) -> None:
    watch = CancelToken(limit=1.0, share=lambda: 0.1)
    _work(clock, watch, 19, 0.05)
    assert clock.now > 9.0
    assert not watch.timed_out
    _work(clock, watch, 2, 0.05)
    assert watch.timed_out


def test_a_part_keeps_to_the_share_and_the_sleep_of_the_whole(clock: Clock) -> None:
    watch = CancelToken(share=lambda: 0.1)
    _work(clock, watch, 20, 0.05)
    slept = clock.now - watch.seconds
    part = watch.with_timeout(2.0)
    assert (part.limit, part.timed_out) == (pytest.approx(watch.seconds + 2.0), False)
    _work(clock, part, 39, 0.05)
    assert not part.timed_out
    assert clock.now - part.seconds == pytest.approx(slept + 39 * 0.45)
    assert watch.seconds == part.seconds  # of which the whole knows, so that it does not rest again
    _work(clock, part, 2, 0.05)
    assert part.timed_out


def test_it_wakes_up_when_it_may_have_all(clock: Clock) -> None:
    watch = CancelToken(share=lambda: 0.01 if clock.now < 0.2 else 1.0)
    _work(clock, watch, 1, 0.05)
    assert clock.now < 0.05 + 3 * module.NAP_S


def test_a_sleeper_is_cancelled(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = CancelToken(share=lambda: 0.001)
    naps: list[float] = []

    def slept(self: threading.Event, timeout: float) -> bool:
        naps.append(timeout)
        clock.now += timeout
        if len(naps) == 2:
            watch.cancel()
        return self.is_set()

    monkeypatch.setattr(threading.Event, "wait", slept)
    with pytest.raises(CancelledError):
        _work(clock, watch, 1, 0.05)
    assert len(naps) == 2
    assert sum(naps) < module.LONGEST_S
