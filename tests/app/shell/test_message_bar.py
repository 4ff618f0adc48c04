"""The message bar lies in a corner of the plots: nothing moves when it comes, and it is easily
closed."""

from __future__ import annotations

import re

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from app.data.drawing_window import DrawingWindow
from app.export.controller import BUSY
from app.shell.application import Marginscope
from app.shell.messages import MessagesDialog
from app.study.window import StudyWindow
from app.training.first_start import NEW, RECORDING
from app.widgets.message_bar import APART, MOST_RECENT, MessageBar
from core.figures.palette import LIGHT
from tests.app.mouse import pick
from tests.app.shell.test_theory import settled

LONG = "This is a sentence about a file that could not be read, and about what to do next. " * 4


def places(window: QWidget, bar: MessageBar) -> dict[QWidget, QRect]:
    """Return where everything stands in a window, but for the bar and its parts."""
    return {
        one: QRect(one.mapTo(window, QPoint(0, 0)), one.size())
        for one in window.findChildren(QWidget)
        if one.isVisible() and one.window() is window
        if one is not bar and not bar.isAncestorOf(one)
    }


def at_rest(qtbot: QtBot, window: QWidget, bar: MessageBar) -> dict[QWidget, QRect]:
    """Return the places of all widgets once the layouts are done, after some turns of the loop."""
    seen = [places(window, bar)]

    def rests() -> bool:
        QTest.qWait(50)
        seen.append(places(window, bar))
        return seen[-1] == seen[-2]

    qtbot.waitUntil(rests)
    return seen[-1]


@pytest.mark.parametrize("size", [(1024, 640), (1280, 800)])
def test_nothing_moves_when_something_is_said(
    program: Marginscope, qtbot: QtBot, size: tuple[int, int]
) -> None:
    window, bar = program.window, program.window.bar
    # Rows come in the side and on the theorem time line as theory is computed.
    qtbot.waitUntil(lambda: settled(program))
    window.resize(*size)
    program.display.update_intent(playing=False)
    bar.clear()
    before = at_rest(qtbot, window, bar)
    assert len(before) > 50
    for words in ("Short.", LONG):
        bar.show_message(words)
        QTest.qWait(50)
        assert places(window, bar) == before
        assert bar.isVisible()
        box = QRect(bar.mapTo(window, QPoint(0, 0)), bar.size())
        plots = before[window.pages]
        assert plots.contains(box) and box.width() < plots.width()
        assert plots.bottomRight() - box.bottomRight() == QPoint(APART, APART)
        assert not box.intersects(before[window.transport])
        label = bar.findChild(QLabel)
        assert label.height() >= label.heightForWidth(label.width())
        # It is on top: the place belongs to it.
        assert bar.isAncestorOf(window.childAt(box.center()))
    bar.show_message("Short.")
    window.resize(size[0] + 60, size[1])
    qtbot.waitUntil(lambda: bar.geometry().right() > before[window.pages].right() - APART)
    bar.clear()
    assert not bar.isVisible()


def test_escape_closes_the_bar_before_it_lets_go_of_nodes(
    program: Marginscope, qtbot: QtBot
) -> None:
    window, bar = program.window, program.window.bar
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    key = next(iter(program.session)).key
    program.display.update_intent(playing=False, pinned=frozenset({(key, 1)}))
    bar.show_message("Something went wrong.")
    QTest.keyClick(window.transport.slider, Qt.Key.Key_Escape)
    assert not bar.isVisible()
    assert program.display.intent.pinned
    QTest.keyClick(window.transport.slider, Qt.Key.Key_Escape)
    assert not program.display.intent.pinned


def test_its_button_closes_the_bar(program: Marginscope) -> None:
    bar = program.window.bar
    bar.show_message("Something went wrong.")
    button = bar.findChild(QToolButton)
    assert button is not None
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert not bar.isVisible()
    assert not bar.text


def test_what_was_done_goes_by_itself_and_a_refusal_stays(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.widgets.message_bar.NOTICE_MS", 20)
    bar = MessageBar()
    qtbot.addWidget(bar)
    bar.show_notice("The table is saved.")
    assert bar.isVisible()
    qtbot.waitUntil(lambda: not bar.isVisible())
    bar.show_notice("The table is saved.")
    bar.show_message("The file cannot be written.")  # in its place, and for as long as it likes
    QTest.qWait(60)
    assert bar.text == "The file cannot be written."
    assert bar.isVisible()
    bar.show_notice("The table is saved.")  # and it comes back after a notice
    qtbot.waitUntil(lambda: bar.text == "The file cannot be written.")
    assert bar.isVisible()


@pytest.mark.parametrize("kind", ["study", "drawing"])
def test_nor_does_anything_move_in_other_windows(qtbot: QtBot, kind: str) -> None:
    window = StudyWindow(LIGHT, 2) if kind == "study" else DrawingWindow(LIGHT)
    qtbot.addWidget(window)
    window.show()
    before = at_rest(qtbot, window, window.bar)
    window.bar.show_message(LONG)
    QTest.qWait(50)
    assert window.bar.isVisible()
    assert places(window, window.bar) == before


def test_the_latest_messages_are_listed(program: Marginscope, qtbot: QtBot) -> None:
    bar = program.window.bar
    for number in range(MOST_RECENT + 5):
        bar.show_notice(f"Message {number} <b>of a file</b>.")
    bar.clear()
    pick(qtbot, program.window, "Help", "Recent messages ...")
    dialog = program.window.findChild(MessagesDialog)
    assert dialog is not None and dialog.isVisible()
    lines = dialog.text.toPlainText().splitlines()
    assert len(lines) == MOST_RECENT
    assert lines[0].endswith(f"Message {MOST_RECENT + 4} <b>of a file</b>.")
    assert re.match(r"\d\d:\d\d  ", lines[0])
    dialog.reject()
    qtbot.waitUntil(lambda: program.window.findChild(MessagesDialog) is None)


def test_a_message_offers_what_can_be_done_next(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    bar = MessageBar(window)
    first, other = QAction("&Choose runs ...", window), QAction("Undo", window)
    window.show()
    bar.show_message("It failed.", [other])
    bar.show_notice("Two of 16 runs are trained.", [first])
    (button,) = bar.buttons
    assert button.text() == "Choose runs"
    with qtbot.waitSignal(first.triggered):
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert bar.isHidden()
    bar.show_message("It failed.", [other])
    bar.show_notice("Saved.")
    assert bar.buttons == []
    bar._on_notice_read()  # the error comes back, with its button
    assert bar.text == "It failed." and [one.text() for one in bar.buttons] == ["Undo"]


def test_a_message_with_buttons_has_room_for_both(program: Marginscope) -> None:
    bar = program.window.bar
    bar.clear()
    for words in (NEW, RECORDING):  # while the bar is hidden, and while it is shown
        bar.show_message(words, [program.actions["tour"], program.actions["draw"]])
        QApplication.processEvents()
        assert bar.height() == bar.heightForWidth(bar.width())
        label = bar.findChild(QLabel)
        assert label.height() >= label.heightForWidth(label.width())
    bar.clear()


def test_an_export_during_another_one_is_refused_for_a_while(
    program: Marginscope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The refusal would come back after the export's own message, when it is wrong."""
    bar = program.window.bar
    bar.clear()
    monkeypatch.setattr(type(program.export.worker), "busy", property(lambda _worker: True))
    program.actions["export"].trigger()
    assert bar.text == BUSY
    bar._on_notice_read()
    assert not bar.text and bar.isHidden()


def test_a_new_user_is_shown_where_to_begin(program: Marginscope) -> None:
    program.window.bar.clear()
    program.first.greet()
    names = [button.text() for button in program.window.bar.buttons]
    assert program.window.bar.text == NEW and len(names) == 3
    program.window.bar.show_message("Something is wrong.")
    program.first.greet()  # less important
    assert program.window.bar.text == "Something is wrong." and not program.window.bar.buttons
    program.window.bar.clear()


def test_a_message_with_buttons_is_whole_after_one_without(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(900, 500)
    bar = MessageBar(window)
    bar.float_in_corner(window)
    window.show()
    bar.show_message("Short.")
    qtbot.waitUntil(bar.isVisible)
    bar.show_message(LONG, [QAction("Show it", window), QAction("Choose", window)])
    assert bar.height() >= bar.heightForWidth(bar.width())
    top = bar.buttons[0].mapTo(bar, QPoint(0, 0)).y()
    QTest.qWait(0)
    assert bar.buttons[0].geometry().bottom() < bar.height()
    assert bar._words.geometry().height() >= bar._words.heightForWidth(bar._words.width())
    assert top <= bar.height()


def test_messages_wait_for_what_lies_in_their_place(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    bar = MessageBar(window)
    bar.float_in_corner(window)
    window.show()
    bar.show_message("Before.")
    bar.set_held(True)
    assert not bar.isVisible()
    bar.show_message("Meanwhile.")
    assert not bar.isVisible()
    bar.set_held(False)
    assert bar.isVisible() and bar.text == "Meanwhile."
