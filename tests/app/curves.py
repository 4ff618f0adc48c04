"""The curve picker, opened by its action and used with the mouse."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from app.shell.curve_picker import CurvePicker


def open_picker(program: Marginscope, qtbot: QtBot) -> CurvePicker:
    program.actions["curves"].trigger()
    picker = program.curve_choice.picker
    assert picker is not None
    qtbot.waitUntil(picker.isVisible)
    return picker


def tick(picker: CurvePicker, title: str) -> None:
    """Find the curve with a title by searching, and click it."""
    picker.line.setText(title)
    item = next(one for one in picker._items() if one.text() == title)
    picker.list.scrollToItem(item)
    place = picker.list.visualItemRect(item).center()
    QTest.mouseClick(picker.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    picker.line.clear()


def pick_curve(program: Marginscope, qtbot: QtBot, *titles: str) -> None:
    """Tick or untick curves, and close the picker."""
    picker = open_picker(program, qtbot)
    for title in titles:
        tick(picker, title)
    picker.close()
