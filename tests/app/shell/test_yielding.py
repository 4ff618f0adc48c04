"""The window leaves what is trained its core: it looks less often, and draws in turn."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from app.playback.open_runs import LONGEST_MS, SHARE, TICK_MS, TickRateLimiter
from app.shell.application import Marginscope
from app.state.views import VIEWS
from app.views.run_panel import RunPanel
from app.views.view import RunView
from core.training.control import RunState
from tests.app.shell.conftest import Opener


class Clock:
    """Seconds that a thread has worked, as told."""

    def __init__(self) -> None:
        self.now = 5.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("work", [0.001, 0.015, 0.02, 0.2])
def test_the_window_takes_its_share_while_something_is_trained(work: float) -> None:
    clock = Clock()
    pace = TickRateLimiter(clock)
    intervals = []
    for _ in range(40):
        clock.now += work
        intervals.append(pace.next(yielding=True))
    assert all(TICK_MS <= interval <= LONGEST_MS for interval in intervals)
    if TICK_MS < 1000.0 * work / SHARE < LONGEST_MS:
        assert 1000.0 * work / intervals[-1] == pytest.approx(SHARE, rel=0.02)
    clock.now += work
    assert pace.next(yielding=False) == TICK_MS


def test_the_timer_follows_the_pace(
    open_program: Opener, slow_study: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = open_program(slow_study)
    qtbot.waitUntil(lambda: program.session.training)
    check_that_a_paused_run_is_not_computed(program, qtbot)
    program.training.pause(False)
    qtbot.waitUntil(lambda: program.session.training)
    asked: list[bool] = []

    def following(pace: TickRateLimiter, yielding: bool) -> int:
        asked.append(yielding)
        return 71 if yielding else TICK_MS

    monkeypatch.setattr(TickRateLimiter, "next", following)
    timer = program.open_runs.findChild(QTimer, "ticks")
    qtbot.waitUntil(lambda: timer.interval() == 71)
    program.training.stop()
    qtbot.waitUntil(lambda: not program.session.training)
    program.open_runs.tick()
    assert timer.interval() == TICK_MS
    assert asked[-1] is False


def check_that_a_paused_run_is_not_computed(program: Marginscope, qtbot: QtBot) -> None:
    program.training.pause(True)
    qtbot.waitUntil(lambda: not program.session.training)
    assert program.session.live
    control = program.session.live[0].control
    assert control.status.state is RunState.PAUSED


def test_frames_that_come_while_training_are_drawn_in_turn(
    program: Marginscope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tick while something is trained tells the panels only to catch up."""
    at_once: list[bool] = []
    plainly = RunPanel.set_frame

    def noted(panel: RunPanel, index: int, now: bool = True) -> Sequence[RunView]:
        at_once.append(now)
        return plainly(panel, index, now)

    monkeypatch.setattr(RunPanel, "set_frame", noted)
    program.playback.seek(0.5)
    program.display.update_intent(playing=False, follow=False)
    assert at_once
    assert all(at_once)
    del at_once[:]
    program.display.intent = replace(program.display.intent, cursor=1.0)
    program.display.refresh(at_once=False)
    assert at_once
    assert not any(at_once)
    panels = list(program.display.panels)
    assert all(panel.pending for panel in panels)
    for panel in panels:
        panel.draw_pending()
        assert {view.frame for view in panel.views} == {panel.frame}


@pytest.mark.usefixtures("own_window")
def test_a_panel_draws_as_many_views_as_there_is_time_for(program: Marginscope) -> None:
    program.display.update_intent(views=tuple(VIEWS))
    panel = program.display.panels[0]
    for view in panel.views:
        view.plot.paint_seconds = 0.004
    panel.data_grew()
    panel.draw_pending()  # each view is known to take as long from here on
    panel.data_grew()
    waiting = panel.pending
    assert waiting == len(VIEWS)
    panel.draw_pending(0.003)  # no time at all: one of them
    assert panel.pending == waiting - 1
    panel.draw_pending(0.003)
    assert panel.pending == waiting - 2
    while panel.pending:
        panel.draw_pending(0.003)


@pytest.mark.usefixtures("own_window")
def test_the_collector_leaves_what_is_loaded_alone(program: Marginscope) -> None:
    """All threads wait while it looks through everything, a tenth of a second."""
    gc.unfreeze()  # what tests.conftest has frozen
    before = gc.get_freeze_count()
    try:
        program.settle()
        assert gc.get_freeze_count() > before + 50_000
        later: list[int] = []
        program.settle()
        assert any(item is later for item in gc.get_objects())  # once is enough
    finally:
        gc.unfreeze()
        gc.freeze()
