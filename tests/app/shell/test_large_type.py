"""The system's size of type is respected: no words are cut off by controls that are too small."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.application import Marginscope
from app.widgets.elided import ElidedLabel
from app.widgets.header import ViewHeader
from tests.app.shell.conftest import Opener, trained

PLAIN = (QPushButton, QCheckBox, QRadioButton)
FIELDS = (QLineEdit, QComboBox)  # what they hold may be longer than they are


@pytest.fixture(params=[9.0, 14.0, 18.0])
def points(request: pytest.FixtureRequest) -> Iterator[float]:
    """A size of the system's type, in points, that lasts for a test."""
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    before = application.font()
    font = application.font()
    font.setPointSizeF(request.param)
    application.setFont(font)
    yield request.param
    application.setFont(before)


def needs(widget: QWidget) -> tuple[int, int]:
    """The width and height without which words are cut; (0, 0) where there are none."""
    hint = widget.sizeHint()
    if isinstance(widget, ElidedLabel):
        return 0, hint.height()
    if isinstance(widget, QLabel) and widget.text():
        if widget.wordWrap():
            return 0, widget.heightForWidth(widget.width())
        return (0 if widget.minimumWidth() == 1 else hint.width()), hint.height()
    if isinstance(widget, PLAIN) and widget.text():
        return hint.width(), hint.height()
    if isinstance(widget, FIELDS):
        return 0, hint.height()
    if isinstance(widget, QToolButton) and isinstance(widget.parent(), ViewHeader):
        metrics = widget.fontMetrics()
        return metrics.horizontalAdvance(widget.text()), metrics.height()
    if isinstance(widget, QToolButton) and widget.text() and widget.icon().isNull():
        return hint.width(), hint.height()
    return 0, 0


def cut(top: QWidget) -> list[str]:
    """The words below a widget that have too little room."""
    found = []
    for widget in top.findChildren(QWidget):
        if widget.isVisible():
            width, height = needs(widget)
            if widget.width() < width or widget.height() < height:
                what = getattr(widget, "text", str)() or widget.objectName()
                size = (widget.width(), widget.height())
                found.append(f"{type(widget).__name__} {what!r}: {size}, not {(width, height)}")
    return found


def whole(qtbot: QtBot, top: QWidget) -> None:
    """Nothing is cut once all layouts are done, which takes some turns of the loop."""
    with contextlib.suppress(TimeoutError):
        qtbot.waitUntil(lambda: cut(top) == [], timeout=5000)
    assert cut(top) == []


def test_nothing_is_cut_in_the_window(
    points: float, open_program: Opener, study: object, qtbot: QtBot
) -> None:
    program: Marginscope = open_program(str(study))
    qtbot.waitUntil(lambda: trained(program))
    program.display.ask(playing=False)
    program.window.resize(1280, 800)
    program.window.bar.say("A sentence that is said in a bar. " * 8)
    QTest.qWait(50)
    labels = [one for one in program.window.findChildren(QLabel) if one.isVisible()]
    assert len(labels) > 20
    assert max(one.fontInfo().pointSizeF() for one in labels) == pytest.approx(points, abs=0.6)
    whole(qtbot, program.window)
    program.window.bar.clear()
    program.window.side.tabs.setCurrentIndex(1)
    QTest.qWait(50)
    whole(qtbot, program.window.side)
    program.actions["welcome"].setChecked(True)
    QTest.qWait(50)
    assert program.window.welcome.isVisible()
    whole(qtbot, program.window.welcome)
    program.actions["welcome"].setChecked(False)
    program.actions["tour"].trigger()
    card = program.tour.card
    assert card is not None
    qtbot.waitUntil(card.isVisible)
    whole(qtbot, card)


@pytest.mark.parametrize("key", ["shortcuts", "preview", "draw", "whole", "cells"])
def test_nothing_is_cut_in_dialogs(
    points: float, key: str, open_program: Opener, study: object, qtbot: QtBot
) -> None:
    program: Marginscope = open_program(str(study))
    qtbot.waitUntil(lambda: trained(program))
    program.display.ask(playing=False)
    before = set(QApplication.topLevelWidgets())
    program.actions[key].trigger()

    def opened() -> list[QWidget]:
        return [
            one for one in QApplication.topLevelWidgets() if one.isVisible() and one not in before
        ]

    qtbot.waitUntil(lambda: bool(opened()))
    QTest.qWait(100)
    for window in opened():
        whole(qtbot, window)
        window.close()
