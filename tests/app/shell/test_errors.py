"""Errors that nobody caught: a sentence in the window, the traceback in the log."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from app.actions import MENUS, ROWS, TIPS
from app.errors import LOG, LOG_FILE, Reporter, open_log, sentence_of
from app.widgets.message_bar import MessageBar
from core.errors import InputError


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    handler = open_log(tmp_path / "logs")
    yield tmp_path / "logs" / LOG_FILE
    LOG.removeHandler(handler)
    handler.close()


def test_an_error_is_told_and_logged(log: Path, qtbot: QtBot) -> None:
    reporter, told = Reporter(log), []
    reporter.message.connect(told.append)
    try:
        raise ValueError("inner words")
    except ValueError as error:
        reporter.report(error)
    assert told == [f"Internal error (ValueError). Details are in {log}."]
    assert "Traceback" in log.read_text()
    assert "inner words" in log.read_text()


def test_errors_of_other_threads_arrive_too(log: Path, qtbot: QtBot) -> None:
    reporter, told = Reporter(log), []
    reporter.message.connect(told.append)
    before = sys.excepthook, threading.excepthook
    reporter.install()
    try:
        thread = threading.Thread(target=lambda: 1 / 0)
        thread.start()
        thread.join()
        qtbot.waitUntil(lambda: len(told) == 1)
    finally:
        reporter.uninstall()
    assert (sys.excepthook, threading.excepthook) == before
    assert "ZeroDivisionError" in log.read_text()


def test_sentences() -> None:
    log = Path("the.log")
    assert sentence_of(InputError("d = 0 is too small."), log) == "d = 0 is too small."
    assert "memory" in sentence_of(MemoryError(), log)


def test_where_no_log_can_be_written_nothing_stops(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert open_log(tmp_path / "file") is None


def test_the_bar_is_there_only_with_something_to_say(qtbot: QtBot) -> None:
    bar = MessageBar()
    qtbot.addWidget(bar)
    assert not bar.isVisible()
    bar.show_message("The disk is full.")
    assert bar.isVisible()
    qtbot.mouseClick(bar.findChild(QToolButton), Qt.MouseButton.LeftButton)
    assert not bar.isVisible()
    assert bar.text == ""


def test_no_two_actions_share_a_key_or_a_shortcut() -> None:
    keys = [row.key for row in ROWS]
    shortcuts = [row.shortcut for row in ROWS if row.shortcut]
    assert len(set(keys)) == len(keys)
    assert len(set(shortcuts)) == len(shortcuts)
    assert set(TIPS) <= set(keys)
    shown = [(menu, row.text) for menu, rows in MENUS.items() for row in rows if row is not None]
    letters = [(menu, text[text.index("&") + 1].lower()) for menu, text in shown]
    assert len(set(letters)) == len(letters), sorted(letters)
