"""Run while something is trained asks; a changed study says so wherever it is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from app.training.run_questions import CANCEL, QUEUE, STOP
from core.runs import open_run
from tests.app.mouse import keys
from tests.app.shell.conftest import Opener, trained

CTRL = Qt.KeyboardModifier.ControlModifier


def box() -> QMessageBox | None:
    widget = QApplication.activeModalWidget()
    return widget if isinstance(widget, QMessageBox) else None


def answer(qtbot: QtBot, words: str) -> None:
    qtbot.waitUntil(lambda: box() is not None)
    asked = box()
    button = next(one for one in asked.buttons() if one.text().replace("&", "") == words)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: box() is None)


def recording(program: Marginscope, qtbot: QtBot) -> Path:
    """Wait until a run is being recorded; its file."""
    qtbot.waitUntil(lambda: any(run.has_started and run.data for run in program.session.live))
    return next(iter(program.session)).path


def test_run_during_a_run_asks(
    open_program: Opener, slow_study: Path, study: Path, qtbot: QtBot
) -> None:
    program = open_program(slow_study)
    first = recording(program, qtbot)
    for words in (CANCEL, None):
        keys(qtbot, program.window, Qt.Key.Key_R, CTRL)
        if words:
            answer(qtbot, words)
        else:  # Escape is the same
            qtbot.waitUntil(lambda: box() is not None)
            QTest.keyClick(QApplication.activeModalWidget(), Qt.Key.Key_Escape)
            qtbot.waitUntil(lambda: box() is None)
        assert [run.path for run in program.session] == [first]
        assert program.session.live
    # Asked for another one meanwhile, it waits.
    program.files.open_files([str(study)])
    answer(qtbot, QUEUE)
    assert "A small study is next" in program.window.bar.text
    assert [run.path for run in program.session] == [first]
    QTest.keyClick(program.window, Qt.Key.Key_Period, CTRL)
    qtbot.waitUntil(lambda: len(program.session) == 2)
    qtbot.waitUntil(lambda: trained(program))
    assert first.exists()
    program.files.open_files([str(slow_study)])
    check_stop_and_train(program, qtbot)


def check_stop_and_train(program: Marginscope, qtbot: QtBot) -> None:
    first = recording(program, qtbot)
    keys(qtbot, program.window, Qt.Key.Key_R, CTRL)
    answer(qtbot, STOP)
    qtbot.waitUntil(lambda: next(iter(program.session)).path != first)
    second = recording(program, qtbot)
    assert second != first
    with open_run(first) as run:  # what was recorded stays
        assert run.frames > 0
    # What waits is not begun by a window that is closed.
    keys(qtbot, program.window, Qt.Key.Key_R, CTRL)
    answer(qtbot, QUEUE)
    there = set(second.parent.glob("*.msrun"))
    program.shutdown.close_now()
    assert set(second.parent.glob("*.msrun")) == there


def test_nothing_is_asked_when_nothing_is_trained(program: Marginscope, qtbot: QtBot) -> None:
    before = [run.path for run in program.session]
    keys(qtbot, program.window, Qt.Key.Key_R, CTRL)
    assert box() is None
    qtbot.waitUntil(lambda: trained(program))
    assert [run.path for run in program.session] != before


@pytest.mark.drawer("form")
def test_a_changed_study_is_named_so_everywhere(
    program: Marginscope, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.training.studies.WATCHED_FRAMES", 30)  # more than the study's own
    form = program.window.form
    row = next(row for row in form.sections["data"].rows if row.field.name == "n")
    assert form.modified.text() == "" and not form.reset.isVisible()
    places = [part.geometry() for part in (row.control, form.scale)]
    words = "n = 14 \u00b7 after A small study"
    for back in (True, False):
        row.control.setFocus()
        row.control.selectAll()
        qtbot.keyClicks(row.control, "14")
        assert form.modified.text() == "1 setting changed"
        assert form.modified.toolTip() == words
        assert [
            part.geometry() for part in (row.control, form.scale)
        ] == places  # nothing has moved
        if back:
            qtbot.mouseClick(form.reset, Qt.MouseButton.LeftButton)
            assert row.control.text() == "12" and form.modified.text() == ""
    qtbot.keyClick(row.control, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: trained(program))
    assert program.window.windowTitle() == f"m = 8 | m = 12 \u2013 {words} \u2013 Marginscope"
    for run in program.session:
        assert run.data.run.title == words  # as figures, films and the library have it
        assert run.path.name.startswith("small-modified__data.n=14__network.m=")
        assert run.data.frames == 30


@pytest.mark.drawer("form")
def test_the_form_has_a_run_button_that_stays_in_sight(program: Marginscope, qtbot: QtBot) -> None:
    form, window = program.window.form, program.window
    before = [run.path for run in program.session]
    window.resize(1024, 640)
    qtbot.waitUntil(lambda: window.height() == 640)
    assert form.run.isVisible() and form.rect().contains(form.run.geometry())
    qtbot.mouseClick(form.run, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: [run.path for run in program.session] != before)
    qtbot.waitUntil(lambda: trained(program))
