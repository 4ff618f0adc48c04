"""Page of compared runs in tests of the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from app.state.session import RunSnapshot

if TYPE_CHECKING:  # load pyqtgraph, for which the start does not wait
    from app.library.compare_page import ComparePanel
    from app.views.compare import CompareView

Key = Qt.Key


def page(program: Marginscope) -> ComparePanel:
    assert program.compare.panel is not None
    return program.compare.panel


def view(program: Marginscope) -> CompareView:
    assert program.compare.view is not None
    return program.compare.view


def snapshots(program: Marginscope) -> tuple[RunSnapshot, ...]:
    """Return the moments of the runs that were computed."""
    known = program.compare._known
    return known.snapshots if known is not None else ()


def settled(program: Marginscope, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not program.compare._calculator.busy)
    if view(program)._comparison is not None and page(program).against.key == "rank":
        return
    count = [run.run.frames for run in program.compare._open]
    qtbot.waitUntil(lambda: [one.coordinates.size for one in snapshots(program)] == count)


def choose(program: Marginscope, box: QComboBox, data: str, qtbot: QtBot) -> None:
    box.setFocus()
    box.setCurrentIndex(max(box.findData(data) - 1, 0))
    if box.findData(data) == 0:
        box.setCurrentIndex(1)
    QTest.keyClick(box, Key.Key_Up if box.findData(data) == 0 else Key.Key_Down)
    settled(program, qtbot)


def lines(program: Marginscope) -> list[tuple[np.ndarray, np.ndarray]]:
    answer = program.compare._known.answer if program.compare._known else None
    return [(line.places, line.values) for line in answer.lines]
