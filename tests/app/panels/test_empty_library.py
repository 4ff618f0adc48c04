"""Library without rows: it says why, and offers what can be done."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.library.empty_page import NO_MATCH, NO_RUNS, NO_TRASH
from app.library.panel import LibraryPanel
from core.figures.palette import LIGHT
from tests.support.made_up_library import entry

LEFT = Qt.MouseButton.LeftButton


def test_a_library_without_rows_says_why_and_what_can_be_done(qtbot: QtBot) -> None:
    panel = LibraryPanel(LIGHT)
    qtbot.addWidget(panel)
    panel.resize(360, 500)
    panel.show()
    panel.show_entries([])
    panel.show_empty(searching=False)
    page = panel.empty
    assert page.isVisible() and not panel.table.isVisible()
    assert page.sentence.text() == NO_RUNS
    for button, signal in ((page.run, page.run_requested), (page.open, page.open_requested)):
        with qtbot.waitSignal(signal):
            qtbot.mouseClick(button, LEFT)
    panel.search.setText("m = 7")
    panel.show_empty(searching=True)
    assert page.sentence.text() == NO_MATCH
    assert not page.run.isVisible() and not page.open.isVisible()
    qtbot.mouseClick(page.clear, LEFT)
    assert not panel.search.text()
    panel.trash.setChecked(True)
    panel.show_empty(searching=False)
    assert page.sentence.text() == NO_TRASH and not page.clear.isVisible()
    panel.show_entries([entry(0)])
    assert panel.table.isVisible() and not page.isVisible()
