"""Hops of Run: functions of the window between the click and the training thread."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import CodeType, FrameType

import pytest
from pytestqt.qtbot import QtBot

import app
from app.shell.application import Marginscope
from app.training.run_worker import RunWorker
from tests.app.shell.shared_window import trained

APP = str(Path(app.__file__).parent)
MOST_HOPS = 7


@contextmanager
def recorded_hops(code: CodeType) -> Iterator[list[list[str]]]:
    """Record for each call of a function the functions of the window that are entered, outermost
    first."""
    calls: list[list[str]] = []

    def profile(frame: FrameType, event: str, _argument: object) -> None:
        if event != "call" or frame.f_code is not code:
            return
        names: list[str] = []
        at: FrameType | None = frame
        while at is not None:
            if at.f_code.co_filename.startswith(APP):
                names.append(at.f_code.co_qualname)
            at = at.f_back
        calls.append(names[::-1])

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def run(program: Marginscope) -> None:
    program.actions["run"].trigger()


def run_a_branch(program: Marginscope) -> None:
    program.branches.offer()
    edits = program.window.form.edits
    assert edits is not None
    until = (("dynamics.until_log10_time", "1.5"),)
    program.training.show_edits(replace(edits, texts=until))
    program.actions["run"].trigger()


def train_another_seed(program: Marginscope) -> None:
    program.actions["seed"].trigger()


def continue_further(program: Marginscope) -> None:
    program.actions["further"].trigger()


@pytest.mark.parametrize("start", [run, run_a_branch, train_another_seed, continue_further])
def test_run_reaches_the_thread_in_few_hops(
    program: Marginscope, qtbot: QtBot, start: Callable[[Marginscope], None]
) -> None:
    qtbot.waitUntil(lambda: trained(program))
    with recorded_hops(RunWorker.submit.__code__) as calls:
        start(program)
    (hops,) = calls
    assert len(hops) <= MOST_HOPS, hops
    qtbot.waitUntil(lambda: trained(program))
