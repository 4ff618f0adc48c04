"""What the window shows before there is a run: the study that is to come, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from core.studies.study import load_study
from tests.app.shell.conftest import Opener


def watched_titles(program: Marginscope) -> list[str]:
    """Return what the chooser shows, each time it is painted."""
    seen: list[str] = []

    class Watch(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Paint:
                box = program.window.chooser.box
                seen.append(box.currentText() or box.placeholderText())
            return False

    watch = Watch(program.window)
    program.window.chooser.box.installEventFilter(watch)
    return seen


@pytest.mark.parametrize("named", [True, False])
def test_the_chooser_shows_no_other_study_before(
    open_program: Opener, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    name = "telgarsky22-figure-2" if named else "telgarsky22-figure-1"
    seen: list[str] = []
    start = Marginscope.start

    def watching(program: Marginscope) -> None:
        nonlocal seen
        seen = watched_titles(program)
        start(program)

    monkeypatch.setattr(Marginscope, "start", watching)
    program = open_program(*([name] if named else []))
    qtbot.waitUntil(lambda: bool(program.session))
    qtbot.waitUntil(lambda: bool(seen))
    assert set(seen) == {load_study(name).title}


def test_a_run_that_is_opened_is_named_until_it_is_there(
    open_program: Opener, qtbot: QtBot, tmp_path: Path
) -> None:
    program = open_program(tmp_path / "nowhere.msrun")
    box = program.window.chooser.box
    assert (box.currentIndex(), box.placeholderText()) == (-1, "Opening nowhere.msrun ...")
    qtbot.waitUntil(lambda: program.window.bar.isVisible())
    assert box.currentText() == load_study("telgarsky22-figure-1").title
