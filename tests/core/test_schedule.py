"""The schedule of frames: fixed beforehand, increasing, with the marks on it exactly."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from core.problem.schedule import (
    coordinate,
    descent_schedule,
    first_log10_time,
    inverse_coordinate,
    log10_schedule,
)


@given(x=st.floats(-20, 1e200))
def test_the_coordinate_can_be_inverted(x: float) -> None:
    there = coordinate(np.array([x]))
    assert np.isclose(inverse_coordinate(there)[0], x, rtol=1e-9, atol=1e-12)


def test_the_coordinate_is_smooth_at_the_joint() -> None:
    step = 1e-6
    low, middle, high = coordinate(np.array([1 - step, 1.0, 1 + step]))
    assert np.isclose((middle - low) / step, 1.0)
    assert np.isclose((high - middle) / step, 1.0, atol=1e-5)


@given(
    first=st.floats(-8, 3),
    last=st.one_of(st.floats(-8, 15), st.floats(10, 1e200)),
    frames=st.integers(2, 2000),
    marks=st.lists(st.floats(-8, 1e6), max_size=10),
)
def test_schedules(first: float, last: float, frames: int, marks: list[float]) -> None:
    assume(len(set(marks)) <= frames - 2)
    times = log10_schedule(first, last, frames, tuple(marks))
    assert 1 <= times.size <= frames - 1
    assert (np.diff(times) > 0).all()
    assert times[-1] == last
    assert {mark for mark in marks if mark <= last} <= set(times.tolist())


@given(step=st.floats(1e-4, 100), last=st.floats(-2, 4))
def test_descent_lands_on_the_first_step_not_before(step: float, last: float) -> None:
    times = log10_schedule(-2.0, max(last, -1.9), 50, ())
    steps = descent_schedule(times, step)
    assert (np.diff(steps) > 0).all()
    assert steps[0] >= 1
    for time in times:
        here = steps[np.searchsorted(steps * step, 10**time * (1 - 2e-9))]
        assert here == 1 or (here - 1) * step < 10**time * (1 - 0.5e-9)


def test_the_first_frame_follows_the_start() -> None:
    assert first_log10_time(2.2) == -2.0
    assert first_log10_time(0.139) == -1.0
    assert first_log10_time(0.0) == -1.0
    assert first_log10_time(float("inf")) == -1.0
    assert first_log10_time(1e30) == -8.0
