"""Page of compared runs in tests of the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from app.library.compared_runs import ComparedValues
from app.shell.application import Marginscope
from app.shell.curve_picker import USER
from app.state.session import RunSnapshot

if TYPE_CHECKING:  # load pyqtgraph, for which the start does not wait
    from app.library.compare_page import ComparePanel
    from app.views.compare import CompareView

Key = Qt.Key


def page(program: Marginscope) -> ComparePanel:
    assert program.compare.page is not None
    return program.compare.page


def view(program: Marginscope) -> CompareView:
    """Return the first plot."""
    return next(iter(page(program).grid.plots.values()))


def answer(program: Marginscope) -> ComparedValues | None:
    """Return what is known about the first plot."""
    name = next(iter(page(program).grid.plots))
    return program.compare.model.answers.get(name)


def snapshots(program: Marginscope) -> tuple[RunSnapshot, ...]:
    """Return the moments of the runs that were computed."""
    known = answer(program)
    return known.snapshots if known is not None else ()


def is_settled(program: Marginscope) -> bool:
    """Return True if the values of all frames are there, in every plot."""
    model = program.compare.model
    answers = [model.answers.get(name) for name in page(program).grid.plots]
    count = [run.run.frames for run in model.runs]
    return not model.calculator.busy and all(
        known is not None
        and (
            known.answer.question.is_by_rank
            or [one.coordinates.size for one in known.snapshots] == count
        )
        for known in answers
    )


def settled(program: Marginscope, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: is_settled(program))


def choose(program: Marginscope, box: QComboBox, data: str, qtbot: QtBot) -> None:
    box.setFocus()
    box.setCurrentIndex(max(box.findData(data) - 1, 0))
    if box.findData(data) == 0:
        box.setCurrentIndex(1)
    QTest.keyClick(box, Key.Key_Up if box.findData(data) == 0 else Key.Key_Down)
    settled(program, qtbot)


def lines(program: Marginscope) -> list[tuple[np.ndarray, np.ndarray]]:
    known = answer(program)
    assert known is not None
    return [(line.places, line.values) for line in known.answer.lines]


def choose_observables(program: Marginscope, qtbot: QtBot, *names: str) -> None:
    """Tick some observables in the picker, and untick all others."""
    QTest.mouseClick(page(program).observables, Qt.MouseButton.LeftButton)
    picker = program.curve_choice.picker
    assert picker is not None
    qtbot.waitUntil(picker.isVisible)
    items = {item.data(USER): item for item in picker._items()}
    before = program.display.intent.compared.observables
    for name in (*(x for x in names if x not in before), *(x for x in before if x not in names)):
        picker.list.scrollToItem(items[name])
        box = picker.list.visualItemRect(items[name])
        QTest.mouseClick(picker.list.viewport(), Qt.MouseButton.LeftButton, pos=box.center())
    picker.close()
    settled(program, qtbot)
