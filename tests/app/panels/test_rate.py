"""Remaining time of a run, and its status in words."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from app.playback import readout
from app.playback.readout import Rate
from app.playback.run_status import titled_status
from app.state.session import OpenRun
from core.comparison.names import RunDescription
from core.problem.schedule import coordinate
from core.training.control import Control, Status


@pytest.fixture
def rate(monkeypatch: pytest.MonkeyPatch) -> Rate:
    """Return a rate whose looks are two seconds apart."""
    moments = iter(range(0, 100, 2))
    monkeypatch.setattr(readout.time, "monotonic", lambda: next(moments))
    return Rate()


def test_descent_takes_equal_times_for_equal_t(rate: Rate) -> None:
    """From t = 100 to 200 in 2 s: 9,800 more to t = 1e4 take 98 times as long."""
    until = float(coordinate(4.0))
    rate.update(1, Status(step=1000, log10_time=2.0), until, log_time=False)
    rate.update(1, Status(step=2000, log10_time=math.log10(200.0)), until, log_time=False)
    assert rate.steps == 500.0
    assert rate.seconds == pytest.approx(196.0)


def test_a_flow_takes_equal_times_for_equal_parts_of_the_slider(rate: Rate) -> None:
    rate.update(1, Status(log10_time=0.0), 3.0)
    rate.update(1, Status(log10_time=0.5), 3.0)
    assert rate.seconds == pytest.approx(10.0)


def test_another_run_or_the_first_look_tells_nothing(rate: Rate) -> None:
    rate.update(1, Status(log10_time=0.0), 3.0)
    assert math.isnan(rate.seconds)
    rate.update(2, Status(log10_time=0.5), 3.0)
    assert math.isnan(rate.seconds)


def test_a_status_has_no_colon_before_the_run_has_a_heading() -> None:
    run = OpenRun(1, Path("a.msrun"), RunDescription({}, "A study"), 1.0, control=Control())
    assert titled_status(run) == "Preparing"
    run.heading = "m = 8"
    assert titled_status(run) == "m = 8: preparing"
