"""Files and links that the system hands over to a program that runs, as macOS does."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QUrl
from PySide6.QtGui import QFileOpenEvent
from pytestqt.qtbot import QtBot

from app.qt_application import QtApplication
from app.shell.application import Marginscope
from tests.app.shell.conftest import Opener, trained
from tests.support.loops import record_loop


def hand_over(*names: str) -> None:
    """Send an event for each file, as the system does."""
    for name in names:
        given = QUrl(name) if "://" in name else QUrl.fromLocalFile(name)
        QCoreApplication.postEvent(QtApplication.instance(), QFileOpenEvent(given))


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{name} of mine.msrun" for name in ("first", "second")]
    for path in paths:
        record_loop(path, 4)
    return paths


def listening(program: Marginscope) -> Marginscope:
    QtApplication.instance().open_requested.connect(program.show_files)
    return program


def shown(program: Marginscope) -> list[Path]:
    return [run.path for run in program.session]


def test_files_that_come_together_are_opened_together_and_a_link_is_shown(
    program: Marginscope, paths: list[Path], qtbot: QtBot
) -> None:
    listening(program)
    hand_over(*map(str, paths))
    qtbot.waitUntil(lambda: shown(program) == paths and trained(program))
    hand_over(f"marginscope://view?run={paths[1].as_posix().replace(' ', '%20')}&views=margins")
    qtbot.waitUntil(lambda: shown(program) == paths[1:] and trained(program))
    assert program.display.view.wishes.views == ("margins",)


def test_what_is_handed_over_before_the_first_paint_is_opened_then(
    open_program: Opener, paths: list[Path], qtbot: QtBot
) -> None:
    program = open_program("telgarsky22-figure-1")
    program.show_files([str(path) for path in paths])
    qtbot.waitUntil(lambda: shown(program) == paths and trained(program))


@pytest.mark.parametrize("name", ["/no/such.msrun", "https://doi.org/a.msrun", "marginscope://"])
def test_what_cannot_be_opened_is_told(program: Marginscope, qtbot: QtBot, name: str) -> None:
    before = shown(program)
    program.window.bar.clear()
    listening(program)
    hand_over(name)
    qtbot.waitUntil(lambda: bool(program.window.bar.text))
    assert shown(program) == before
