"""Legend of compared runs: ticks, order, removal and runs dropped in; labels at the lines' ends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.export.jobs import CompareCopyJob
from app.library.compare import LAST_TWO
from app.library.legend_table import NAME, REMOVE, VALUE, LegendTable
from app.library.panel import LibraryPanel
from app.shell.application import Marginscope
from core.comparison.question import CompareQuestion
from core.figures.palette import LIGHT, run_colour
from core.figures.primitives import FigureScene
from core.problem.schedule import coordinate
from core.reference.margin import Bracket, ReferenceMargin
from core.reference.registry import REFERENCES
from tests.app.shell.comparing import choose_observables, lines, page, settled, view
from tests.recording import recorded
from tests.support.made_up_library import entry

Key, Modifier = Qt.Key, Qt.KeyboardModifier
TITLE = "Telgarsky 2022, Figure 1"  # of recorded runs


def rows(program: Marginscope) -> list[str]:
    table = page(program).table
    return [table.item(row, NAME).text() for row in range(table.rowCount())]


def click(table: LegendTable, row: int, column: int) -> None:
    box = table.visualItemRect(table.item(row, column))
    # Right of the tick, which the click would change.
    place = QPoint(box.right() - 4, box.center().y())
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_the_legend_hides_moves_and_emphasises_runs(comparing: Marginscope, qtbot: QtBot) -> None:
    program, table = comparing, page(comparing).table
    opened, colours = program.compare.model.runs, view(program).colours()
    program.playback.seek(float(coordinate(1.0)))
    click(table, 1, NAME)
    assert view(program)._emphasised == {1}
    widths = [pen.widthF() for _, pen in view(program).strong.curves]
    assert widths[1] > widths[0]
    table.setFocus()
    QTest.keyClick(table, Key.Key_Up, Modifier.AltModifier)
    assert rows(program) == ["m = 12", "m = 8"]
    assert view(program).colours() == colours[::-1]  # each run keeps its own
    assert [one.name for one in program.compare.model.runs] == [one.name for one in opened[::-1]]
    assert set(program.compare.model.runs) == set(opened)  # whose files were not opened again
    table.move_to(0, table.visualItemRect(table.item(1, NAME)).center())
    assert rows(program) == ["m = 8", "m = 12"]
    table.item(0, NAME).setCheckState(Qt.CheckState.Unchecked)
    assert view(program).colours() == colours[1:]
    assert [label.text for label in view(program).labels.labels][:1] == ["m = 12"]
    assert not table.item(0, VALUE).text() and table.item(1, VALUE).text()
    assert rows(program) == ["m = 8", "m = 12"]
    with qtbot.waitSignal(program.compare.message):
        table.removal_requested.emit((0,))  # no comparison of one run
    assert program.window.bar.text == LAST_TWO
    table.item(0, NAME).setCheckState(Qt.CheckState.Checked)
    assert view(program).colours() == colours


def test_runs_are_dropped_in_and_removed(
    comparing: Marginscope, qtbot: QtBot, tmp_path: Path
) -> None:
    program, table = comparing, page(comparing).table
    first = str(next(iter(program.session)).path)
    path = tmp_path / "dropped__network.m=16__2026-11-25T19-47-57.msrun"
    recorded(path, "recording.frames=9", "network.m=16", "loss.kind=logistic")
    files = QMimeData()
    files.setUrls([QUrl.fromLocalFile(str(path)), QUrl.fromLocalFile(first)])
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    event = QDropEvent(QPointF(9, 9), copy, files, left, Modifier.NoModifier)
    page(program).dropEvent(event)
    assert event.isAccepted()
    settled(program, qtbot)
    assert table.rowCount() == 3
    assert "2026-11-25" not in "".join(rows(program))
    tip = table.item(2, NAME).toolTip()
    assert str(path) in tip and "Recorded 20" in tip
    # Values are never pushed out of sight, however long the names are.
    assert table.columnViewportPosition(VALUE) + table.columnWidth(VALUE) < table.width()
    click(table, 2, REMOVE)
    assert table.rowCount() == 2
    program.compare.add_runs([str(path)])
    settled(program, qtbot)
    click(table, 0, VALUE)
    QTest.keyClick(table, Key.Key_Delete)
    assert table.rowCount() == 2 and first not in program.display.intent.compared.runs


def test_reference_margins_are_lines_of_compared_margins(
    comparing: Marginscope, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = comparing
    reference = REFERENCES["gamma_gl"]
    sure = ReferenceMargin(reference, Bracket(0.1, 0.1, 0.1, True, "exact"), 0.0)
    program.compare.model.references = (sure,)
    program.compare._answer()
    (level,) = view(program)._levels
    assert level.value == pytest.approx(0.1 * reference.factor)
    assert view(program).labels.labels[-1].text == reference.label
    choose_observables(program, qtbot, "log10_risk")
    assert view(program)._levels == ()


def test_labels_at_the_ends_of_lines_do_not_overlap(comparing: Marginscope) -> None:
    shown = view(comparing)
    shown.grab()
    assert [label.text for label in shown.labels.labels] == ["m = 8", "m = 12"]
    assert len(shown.labels.boxes) == 2
    one, other = shown.labels.boxes
    assert not one.intersects(other.adjusted(0.0, 0.5, 0.0, -0.5))
    inside = shown.plot.plot_area()
    ends = shown.plot.pixels(np.array([[line[0][-1], line[1][-1]] for line in lines(comparing)]))
    assert (ends[:, 0] < one.left()).all() and one.right() <= inside.right() + 0.5


def test_an_exported_comparison_has_the_colours_of_the_window(tmp_path: Path) -> None:
    path = tmp_path / "a.msrun"
    recorded(path, "recording.frames=5")
    scenes = []

    def draw(scene: FigureScene, *_: object) -> bytes:
        scenes.append(scene)
        return b""

    job = CompareCopyJob((path,) * 3, (CompareQuestion(),), shown=(0, 2), slots=(3, 0, 1))
    job.work(lambda *_: None, lambda: False, draw)
    (panel,) = scenes[0].panels
    assert [key.colours for key in panel.key] == [(run_colour(k, LIGHT),) for k in (3, 1)]
    assert [key.text for key in panel.key] == [f"{TITLE}{mark}" for mark in ("", " (3)")]


@pytest.mark.usefixtures("restyles")
def test_labels_at_the_ends_grow_in_a_lecture(comparing: Marginscope, qtbot: QtBot) -> None:
    """They kept the size from before."""
    shown = view(comparing)
    size = shown.labels.font.pointSizeF()
    comparing.actions["lecture"].setChecked(True)
    assert shown.labels.font == shown.plot.lettering()[1]
    assert shown.labels.font.pointSizeF() > size
    comparing.actions["lecture"].setChecked(False)
    qtbot.waitUntil(lambda: shown.labels.font.pointSizeF() == size)


def test_settings_of_the_legend_have_the_names_of_the_form(comparing: Marginscope) -> None:
    table = page(comparing).table
    assert table.horizontalHeaderItem(VALUE + 1).text() == "m"  # network.m before


def test_actions_of_the_library_have_buttons_that_say_why_they_are_disabled(qtbot: QtBot) -> None:
    panel = LibraryPanel(LIGHT)
    qtbot.addWidget(panel)
    panel.show_entries([entry(k) for k in range(3)])
    panel.show()
    shown = [name for name, button in panel.buttons.items() if button.isVisible()]
    assert shown == ["open", "compare", "tags", "trash"]
    assert panel.buttons["trash"].toolTip() == "Select a run in the table."
    assert panel.run_actions["rename"].toolTip() == "Select a run in the table."
    panel._select({panel.model.entry(0).path}, None)
    assert panel.buttons["compare"].toolTip() == "Select 2 to 10 runs."
    with qtbot.waitSignal(panel.action_requested) as asked:
        panel.buttons["tags"].click()
    assert asked.args == ["tags"]
    panel.table.selectAll()
    assert panel.buttons["compare"].toolTip() == "Show the selected runs in one picture"
    assert panel.run_actions["rename"].toolTip() == "Select a single run."
    panel.trash.setChecked(True)
    shown = [name for name, button in panel.buttons.items() if button.isVisible()]
    assert shown == ["open", "compare", "restore", "purge"]
    assert panel.more.menu().actions() == list(panel.run_actions.values())


def test_rows_of_the_library_are_dragged_as_files_and_compared_by_a_button(qtbot: QtBot) -> None:
    panel = LibraryPanel(LIGHT)
    qtbot.addWidget(panel)
    panel.show_entries([entry(k) for k in range(3)])
    model, table = panel.model, panel.table
    cells = [model.index(row, column) for row in (0, 2) for column in (0, 1)]
    names = [url.toLocalFile() for url in model.mimeData(cells).urls()]
    assert names == [str(model.entry(row).path) for row in (0, 2)]
    assert table.dragEnabled() and model.flags(cells[0]) & Qt.ItemFlag.ItemIsDragEnabled
    assert not panel.buttons["compare"].isEnabled()
    table.selectAll()
    with qtbot.waitSignal(panel.action_requested) as asked:
        panel.buttons["compare"].click()
    assert asked.args == ["compare"]
