"""A whole window on a small study, in folders of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.application import Marginscope
from app.places import Places
from app.workers.judge import Judge
from app.workers.margin_worker import MarginWorker
from tests.app import theory_stand_ins as stand_ins

STUDY = """
title = "A small study"
[data]
d = 6
n = 12
[dynamics]
kind = "flow"
until_log10_time = 2.0
[recording]
frames = 60
[axes]
"network.m" = [8, 12]
"""
# Descent with so small a step that it is still going on whenever a test looks at it.
SLOW = """
title = "A slow study"
[data]
d = 20
n = 64
[network]
m = 256
[dynamics]
kind = "gd"
step = 1e-5
until_log10_time = 2.0
[recording]
frames = 400
"""
Opener = Callable[..., Marginscope]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """The file of a study of two small runs."""
    path = tmp_path / "small.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture
def slow_study(tmp_path: Path) -> Path:
    """The file of a study of one run that takes very long."""
    path = tmp_path / "slow.toml"
    path.write_text(SLOW)
    return path


@pytest.fixture
def open_program(qtbot: QtBot, tmp_path: Path) -> Iterator[Opener]:
    """Opens windows, and puts them away after the test."""
    programs: list[Marginscope] = []

    def stopped(window: object) -> None:
        for program in programs:
            program.experiment.stop()
            qtbot.waitUntil(_ended(program))

    def opened(*names: Path | str) -> Marginscope:
        program = Marginscope(
            Places.under(tmp_path / "user"),
            [str(name) for name in names],
            MarginWorker(None, stand_ins.references_of, stand_ins.compute),
            Judge(None, stand_ins.STATEMENTS.assess, stand_ins.STATEMENTS.alarms),
        )
        # The window is closed before fixtures end, and asks while something is trained.
        qtbot.addWidget(program.window, before_close_func=stopped)
        programs.append(program)
        program.start()
        return program

    yield opened
    for program in programs:
        assert program.worker.close()


def _ended(program: Marginscope) -> Callable[[], bool]:
    return lambda: not program.session.live


@pytest.fixture
def program(open_program: Opener, study: Path, qtbot: QtBot) -> Marginscope:
    """The window with the small study, trained and playing."""
    program = open_program(study)
    qtbot.waitUntil(lambda: trained(program))
    return program


def trained(program: Marginscope) -> bool:
    """Whether runs are open, ended and read to their ends, and the views have followed."""
    runs = list(program.session)
    return (
        bool(runs)
        and all(run.data is not None and not run.live and not run.behind for run in runs)
        and not any(slot.panel.owed for slot in program.display.slots)
    )
