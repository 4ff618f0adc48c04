"""The schedule of frames: fixed beforehand, increasing, with the marks on it exactly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.errors import InputError
from core.problem.schedule import (
    coordinate,
    descent_schedule,
    even_schedule,
    first_log10_time,
    inverse_coordinate,
    log10_schedule,
)
from core.runs import open_run
from core.study_file.descent import GradientDescent
from core.study_file.experiment import Experiment, Recording
from core.study_file.validation import build_experiment
from tests.recording import recorded


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


@given(
    last=st.floats(-8, 15),
    frames=st.integers(2, 2000),
    marks=st.lists(st.floats(-8, 15), max_size=10),
    pairs=st.booleans(),
)
def test_even_schedules(last: float, frames: int, marks: list[float], pairs: bool) -> None:
    assume(len(set(marks)) <= frames - 2)
    before = 10.0**last / 1e4 if pairs else 0.0
    times = even_schedule(last, frames, tuple(marks), before)
    assert 1 <= times.size <= frames - 1
    assert (np.diff(times) > 0).all()
    assert times[-1] == last
    assert {mark for mark in marks if mark <= last} <= set(times.tolist())


@pytest.mark.parametrize(
    ("spacing", "expected"),
    [
        ("even", [0, 50, 100, 150, 200]),
        ("pairs", [0, 99, 100, 199, 200]),
        ("log", [0, 2, 10, 44, 200]),
    ],
)
def test_frames_are_evenly_spaced_in_steps(
    tmp_path: Path, spacing: str, expected: list[int]
) -> None:
    """200 steps of .05: the last is at t = 10."""
    sets = ["dynamics.kind=gd", "dynamics.step=0.05", "dynamics.until_log10_time=1"]
    path = tmp_path / "run.msrun"
    frames = ["recording.frames=5", "recording.log10_times=[]", f"recording.spacing={spacing}"]
    recorded(path, *sets, *frames)
    with open_run(path) as run:
        assert run.steps[: run.frames].tolist() == expected
        assert run.experiment.recording.spacing == spacing


def test_usual_frames_are_written_as_before() -> None:
    """So that settings of runs, and what tells cells apart, stay as they were."""
    assert Recording().to_file_values() == {"frames": 400, "log10_times": []}
    assert Recording(spacing="even").to_file_values()["spacing"] == "even"
    experiment = Experiment(recording=Recording(spacing="pairs"), dynamics=GradientDescent())
    table = experiment.to_file_values()["recording"]
    assert Recording(**table).spacing == "pairs"


@pytest.mark.parametrize(
    ("kind", "recording", "words"),
    [
        ("flow", {"spacing": "even"}, 'spacing = "even" needs equal steps, and dynamics.kind'),
        ("gd", {"spacing": "twice"}, "spacing"),
    ],
)
def test_frames_that_cannot_be(kind: str, recording: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        tables = {"network": {"m": 4}, "dynamics": {"kind": kind}, "recording": recording}
        build_experiment(tables, "a study")


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
