"""More than two runs side by side: where they stand, what they share, and how they come and go."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pyqtgraph as pg
import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QSplitterHandle, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from app import style
from app.shell.application import Marginscope
from app.shell.run_grid import RunGrid, columns_of
from app.state.session import MOST_RUNS
from tests.app.mouse import wheel
from tests.app.shell.conftest import Opener, trained
from tests.app.shell.shared_window import defer_painting, skip_style_sheet
from tests.support.run_files import record, small_problem


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"run{m}.msrun" for m in range(3, 8)]
    for m, path in enumerate(paths, start=3):
        record(path, small_problem(m=m))
    return [str(path) for path in paths]


@pytest.fixture
def program(qtbot: QtBot, open_program: Opener, study: Path) -> Marginscope:
    program = open_program(study)
    qtbot.waitUntil(lambda: trained(program))
    program.window.resize(1280, 800)
    return program


def widths(program: Marginscope) -> list[int]:
    return [run.data.m for run in program.session if run.data is not None]


def drawn(program: Marginscope) -> bool:
    return all(panel.frame >= 0 for panel in program.display.panels)


def says(axis: pg.AxisItem, text: str) -> bool:
    return bool(axis.labelText == text)


def places(program: Marginscope) -> list[tuple[int, int]]:
    """Row and column of each run that is shown, by where its panel is seen."""
    window = program.window
    panels = [panel for panel in program.display.panels if panel.isVisible()]
    corners = [panel.mapTo(window, QPoint(0, 0)) for panel in panels]
    rows = sorted({corner.y() for corner in corners})
    columns = sorted({corner.x() for corner in corners})
    return [(rows.index(one.y()), columns.index(one.x())) for one in corners]


def check_four_in_two_rows(program: Marginscope, qtbot: QtBot, files: list[str]) -> None:
    program.files.open_files(files[:4])
    qtbot.waitUntil(lambda: widths(program) == [3, 4, 5, 6])
    qtbot.waitUntil(lambda: places(program) == [(0, 0), (0, 1), (1, 0), (1, 1)])
    qtbot.waitUntil(lambda: drawn(program))
    for panel, run in zip(program.display.panels, program.session, strict=True):
        assert panel.run is run
        assert panel.names == program.display.panels[0].names
    sizes = [panel.size() for panel in program.display.panels]
    assert max(s.width() for s in sizes) - min(s.width() for s in sizes) <= 2
    assert max(s.height() for s in sizes) - min(s.height() for s in sizes) <= 2


def check_opened_beside_until_there_is_no_room(
    program: Marginscope, qtbot: QtBot, files: list[str]
) -> None:
    program.files.open_files(files[:1])
    for count, name in enumerate(files[1:4], start=2):
        program.files.open_files([name], beside=True)
        qtbot.waitUntil(lambda count=count: len(widths(program)) == count)
    assert widths(program) == [3, 4, 5, 6]
    # The one at the right makes room for one more.
    program.files.open_files([files[4]], beside=True)
    qtbot.waitUntil(lambda: widths(program) == [3, 4, 5, 7])
    assert len(program.session) == MOST_RUNS
    program.files.open_files(files[:2])
    qtbot.waitUntil(lambda: widths(program) == [3, 4])
    qtbot.waitUntil(lambda: places(program) == [(0, 0), (0, 1)])


def check_three_in_a_row(program: Marginscope, qtbot: QtBot, files: list[str]) -> None:
    program.files.open_files(files[:3])
    qtbot.waitUntil(lambda: places(program) == [(0, 0), (0, 1), (1, 0)])
    program.window.resize(2560, 1200)
    qtbot.waitUntil(lambda: places(program) == [(0, 0), (0, 1), (0, 2)])
    assert columns_of(3, program.window.views.width()) == 3
    program.window.resize(1280, 800)


def check_a_small_window_does_not_grow(
    program: Marginscope, qtbot: QtBot, files: list[str]
) -> None:
    program.window.resize(1024, 640)
    program.display.update_intent(
        views=("neurons", "margins", "norms", "rotations")
    )  # too high for it
    program.files.open_files(files[:4])
    qtbot.waitUntil(lambda: places(program) == [(0, 0), (0, 1), (1, 0), (1, 1)])
    assert (program.window.width(), program.window.height()) == (1024, 640)
    views = program.window.views
    bar = views.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    bar.setValue(bar.maximum())
    last = program.display.panels[3]
    bottom = last.mapTo(views.viewport(), QPoint(0, last.height())).y()
    assert bottom <= views.viewport().height()


def check_ranges_and_zoom_are_shared(program: Marginscope, qtbot: QtBot, files: list[str]) -> None:
    program.files.open_files(files[:4])
    qtbot.waitUntil(lambda: widths(program) == [3, 4, 5, 6])
    program.display.update_intent(playing=False)
    plots = [panel.view("margins").plot for panel in program.display.panels]
    qtbot.waitUntil(lambda: all(plot.shown() == plots[0].shown() for plot in plots))
    wheel(plots[2], QPoint(60, 60), 3)
    assert plots[2].zoom is not None
    assert [plot.zoom for plot in plots] == [plots[2].zoom] * 4


def check_wishes_of_later_panels(program: Marginscope, qtbot: QtBot, files: list[str]) -> None:
    program.actions["equal"].setChecked(True)
    with skip_style_sheet():
        program.appearance.set_dark(True)
    program.display.update_intent(views=("margins", "curves"), margin_axis="step")
    program.files.open_files(files[:4])
    qtbot.waitUntil(lambda: widths(program) == [3, 4, 5, 6])
    qtbot.waitUntil(lambda: drawn(program))
    first, *others = list(program.display.panels)
    qtbot.waitUntil(partial(says, first.view("margins").plot.bottom, "step"))
    for panel in others:
        assert panel.names == first.names == ("margins", "curves")
        for name in panel.names:
            own, text = panel.view(name).plot.bottom, first.view(name).plot.bottom.labelText
            qtbot.waitUntil(partial(says, own, text))  # views draw in turn
        assert panel._palette is first._palette
        assert panel.options.equal


def test_a_new_size_moves_panels_only_afterwards(qtbot: QtBot) -> None:
    grid = RunGrid()
    qtbot.addWidget(grid)
    for _ in range(3):
        grid.add(QWidget())
    grid.resize(1000, 600)
    grid.show()
    qtbot.waitUntil(lambda: len(rows_of(grid)) == 2)
    handles = grid.findChildren(QSplitterHandle)
    grid.resize(1600, 600)
    assert all(isValid(handle) for handle in handles)
    qtbot.waitUntil(lambda: len(rows_of(grid)) == 1)


def test_panels_that_are_shown_move_only_afterwards(qtbot: QtBot) -> None:
    """It ended in a segmentation fault: Qt shows children by a list that has the handles too."""
    grid = RunGrid()
    qtbot.addWidget(grid)
    panels = [QWidget() for _ in range(4)]
    for panel in panels:
        grid.add(panel)
        panel.hide()
    grid.resize(1000, 600)
    grid.show()
    qtbot.waitUntil(lambda: not rows_of(grid))
    handles = grid.findChildren(QSplitterHandle)
    for panel in panels:
        panel.show()
    assert all(isValid(handle) for handle in handles)
    qtbot.waitUntil(lambda: len(rows_of(grid)) == 2)


def rows_of(grid: RunGrid) -> set[int]:
    panels = [panel for panel in grid._panels if panel.isVisible()]
    return {panel.mapTo(grid, QPoint(0, 0)).y() for panel in panels}


def check_that_a_new_look_deletes_nothing(
    program: Marginscope, qtbot: QtBot, files: list[str]
) -> None:
    """It ended in a segmentation fault while Qt went through all widgets: in the lecture's look
    three runs find room in one row."""
    program.window.resize(1600, 900)
    program.files.open_files(files[:3])
    qtbot.waitUntil(lambda: places(program) == [(0, 0), (0, 1), (1, 0)])
    real, deleted = style.apply, []

    def watched(*arguments: Any) -> None:
        widgets = QApplication.allWidgets()
        real(*arguments)
        deleted.extend(widget for widget in widgets if not isValid(widget))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(style, "apply", watched)
        program.actions["lecture"].trigger()
        qtbot.waitUntil(lambda: places(program) == [(0, 0), (0, 1), (0, 2)])
        program.actions["lecture"].trigger()
        qtbot.waitUntil(lambda: places(program) == [(0, 0), (0, 1), (1, 0)])
    assert not deleted


CHECKS = (
    (
        check_four_in_two_rows,
        check_ranges_and_zoom_are_shared,
        check_opened_beside_until_there_is_no_room,
        check_three_in_a_row,
        check_a_small_window_does_not_grow,
    ),
    (check_wishes_of_later_panels, check_that_a_new_look_deletes_nothing),
)


@pytest.mark.parametrize("checks", CHECKS, ids=["places", "looks"])
def test_runs_side_by_side_in_one_window(
    program: Marginscope, qtbot: QtBot, files: list[str], subtests: pytest.Subtests, checks: Any
) -> None:
    """The first check of each window finds it with two panels, as a window begins."""
    assert len(program.display.panels) == 2  # others are made when they are needed
    program.display.update_intent(views=("margins",))
    for check in checks:
        with subtests.test(check.__name__), defer_painting(program.window):
            check(program, qtbot, files)
