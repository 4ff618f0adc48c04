"""Nothing stays behind: windows opened and closed, runs opened and closed, calls of empty slots."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import SIGNAL, QCoreApplication, QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QDialog, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from app.places import Places
from app.qt_workarounds import ActionButtonSync
from app.shell.application import Marginscope
from core.library.entry import Entry
from core.studies.study import load_study
from tests.app.mouse import keys
from tests.app.shell.conftest import trained

RUNS = 50
WINDOWS = 20  # what one of them leaves behind stays as often as it is opened


class Caller(QObject):
    called = Signal(int)


class Receiver(QObject):
    def take(self, number: int) -> None:
        self.number = number


def kept_widgets() -> Counter[str]:
    """Return the widgets by their kind, less those that are garbage or wait to be deleted."""
    gc.collect()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    return Counter(type(one).__name__ for one in QApplication.allWidgets())


def test_a_void_slot_loses_no_reference_to_none(qtbot: QtBot) -> None:
    """PySide6 6.12.0 loses one with each call before Python 3.12, and aborts after some 5,000."""
    caller, receiver = Caller(), Receiver()
    caller.called.connect(receiver.take)
    before = sys.getrefcount(None)
    for number in range(20_000):
        caller.called.emit(number)
    assert receiver.number == 19_999
    assert sys.getrefcount(None) > before - 1000


@pytest.mark.slow
def test_runs_opened_and_closed_leave_no_widget(program: Marginscope, qtbot: QtBot) -> None:
    paths = [str(run.path) for run in program.session]

    def turn() -> None:
        program.files.open_files(paths)
        program.playback.seek_end()
        program.open_runs.tick()
        program.display.panels[0].node_clicked.emit(1)
        program.playback.seek_start()
        program.training.close_runs()
        QApplication.processEvents()

    qtbot.waitUntil(
        lambda: not program.theory.final_margins.busy
    )  # whose thread begins with its first question

    def told() -> bool:
        """Return True if the inspector no longer has the closed run's lines."""
        return not program.readout._timer.isActive()

    turn()
    qtbot.waitUntil(told)
    data = weakref.WeakSet()
    before, threads = kept_widgets(), threading.active_count()
    for _ in range(RUNS):
        turn()
        data.update(run.data for run in program.session)
    qtbot.waitUntil(told)
    assert kept_widgets() == before
    assert threading.active_count() == threads
    assert len(data) == 0
    program.files.open_files(paths)
    qtbot.waitUntil(lambda: trained(program))


@pytest.mark.slow
def test_windows_opened_and_closed_leave_nothing(qtbot: QtBot, tmp_path: Path) -> None:
    def turn(number: int) -> weakref.ref[Marginscope]:
        whole = number % 7 == 0  # the training thread and the views as well
        program = Marginscope(Places.in_folder(tmp_path), [str(tmp_path / "nothing.msrun")])
        program.start()
        if whole:
            qtbot.waitUntil(lambda: bool(program.window.bar.text))
        assert program.window.close()
        program.window.deleteLater()
        program.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        return weakref.ref(program)

    turn(0)
    gc.collect()
    before, threads = len(QApplication.allWidgets()), threading.active_count()
    left = [turn(number) for number in range(WINDOWS)]
    gc.collect()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert len(QApplication.allWidgets()) <= before
    assert threading.active_count() == threads
    assert not [one for one in left if one() is not None]


def test_questions_that_are_answered_leave_no_dialog(
    program: Marginscope, subtests: pytest.Subtests
) -> None:
    run = Entry(Path("mine.msrun"), 1000, 0.0)
    study = load_study("telgarsky22-figure-1")
    actions = program.library.actions
    questions: dict[str, Callable[[], None]] = {
        **{k: partial(actions.start, k, (run,)) for k in ("purge", "rename", "tags", "note")},
        "running": partial(program.questions.confirm_replacement, study.title, 1, print, print),
        "bookmark": program.bookmarks.request_name,
        "layout": program.layouts.request_name,
        "link": program.links.show_dialog,
        "data": program.export.data,
        "cells": program.cell_runs.choose_cells,
    }
    for name, ask in questions.items():
        with subtests.test(name):
            before = kept_dialogs(program)
            ask()
            dialog = QApplication.activeModalWidget()
            dialog.reject()
            assert kept_dialogs(program) == before
    actions.start("open", ())  # of no runs, so that none is chosen


def kept_dialogs(program: Marginscope) -> Counter[str]:
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    return Counter(type(one).__name__ for one in program.window.findChildren(QDialog))


def actions_on_buttons(part: QWidget) -> list[QAction]:
    shown = [button.actions() for button in part.findChildren(QToolButton)]
    return [action for actions in shown for action in actions]


def connections(action: QAction) -> int:
    return action.receivers(SIGNAL("changed()"))


def test_an_action_that_changes_collects_no_connections(program: Marginscope, qtbot: QtBot) -> None:
    keys(qtbot, program.window, Qt.Key.Key_F8, Qt.KeyboardModifier.ShiftModifier)
    drawing = program.drawing.window
    assert drawing is not None
    for part in (program.window.top, program.window.transport, drawing):
        before = {action: connections(action) for action in actions_on_buttons(part)}
        assert len(before) > 3
        for action in before:
            enabled = action.isEnabled()
            for number in range(10):
                action.setEnabled(number % 2 == 0)
            action.setEnabled(enabled)
        assert {action: connections(action) for action in before} == before


def test_a_button_follows_its_action(qtbot: QtBot) -> None:
    action, button = QAction("&Play"), QToolButton()
    qtbot.addWidget(button)
    button.setDefaultAction(action)
    ActionButtonSync(button)
    action.setText("Black && white")
    action.setToolTip("Both")
    action.setStatusTip("in the status line")
    action.setWhatsThis("What it is")
    action.setCheckable(True)
    action.setChecked(True)
    action.setEnabled(False)
    other = QToolButton()  # as Qt does it once
    qtbot.addWidget(other)
    other.setDefaultAction(action)
    for one in (button, other):
        assert one.text() == "Black && white"
        assert one.toolTip() == "Both"
        assert (one.statusTip(), one.whatsThis()) == ("in the status line", "What it is")
        assert one.isCheckable() and one.isChecked() and not one.isEnabled()
