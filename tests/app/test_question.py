"""Questions in boxes: answers, Return and Escape, and what is left of the boxes."""

from __future__ import annotations

from functools import partial

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from app.widgets.dialogs import Question, Role

ANSWERS = {"Stop": Role.DestructiveRole, "Later": Role.AcceptRole, "Cancel": Role.RejectRole}
WAYS = {"Stop": "Stop", "Return": "Later", "Escape": "Cancel", "close": ""}


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.show()
    return widget


def boxes(window: QWidget) -> list[QMessageBox]:
    """Return the boxes that a window has, answered ones that were not deleted included."""
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    return window.findChildren(QMessageBox)


def press(window: QWidget, way: str) -> None:
    (box,) = window.findChildren(QMessageBox)
    if way == "close":
        box.reject()
    elif way in ("Return", "Escape"):
        QTest.keyClick(box, getattr(Qt.Key, f"Key_{way}"))
    else:
        next(one for one in box.buttons() if one.text() == way).click()


def test_each_answer_comes_once_and_leaves_no_box(
    window: QWidget, subtests: pytest.Subtests
) -> None:
    question, answers = Question(window, "q"), list[str]()
    question.answer_given.connect(answers.append)
    for way, answer in WAYS.items():
        with subtests.test(way=way):
            question.show("Train?", "Or not.", ANSWERS, default="Later")
            press(window, way)
            assert boxes(window) == []
            assert answers == [answer]
            answers.clear()
    question.show("First?", "", ANSWERS, default="Later")
    question.show("Second?", "", ANSWERS, default="Later")
    assert [box.text() for box in boxes(window)] == ["Second?"]
    question.withdraw()
    assert boxes(window) == []
    assert answers == []


def test_a_question_that_is_waited_for_leaves_no_box(
    window: QWidget, subtests: pytest.Subtests
) -> None:
    question = Question(window, "q")
    for way, answer in WAYS.items():
        with subtests.test(way=way):
            QTimer.singleShot(0, window, partial(press, window, way))
            question.show("Close?", "", ANSWERS, default="Later", waits=True)
            assert question.answer == answer
            assert boxes(window) == []
