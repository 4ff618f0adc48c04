"""More than two runs side by side: where they stand, what they share, and how they come and go."""

from __future__ import annotations

from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pyqtgraph as pg
import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from app import style
from app.shell.application import Marginscope
from app.state.display import DisplayData
from app.state.session import MOST_RUNS
from app.state.views import VIEWS
from app.style import LEAST_PLOT
from app.views.run_panel import RunPanel
from app.widgets.plot_item import Plot
from tests.app.mouse import wheel
from tests.app.shell.conftest import Opener, trained
from tests.app.shell.shared_window import defer_painting, skip_style_sheet
from tests.support.run_files import record, small_problem


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"run{m}.msrun" for m in range(3, 13)]
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


def shown_panels(program: Marginscope) -> list[RunPanel]:
    return [panel for panel in program.display.panels if panel.isVisible()]


def drawn(program: Marginscope) -> bool:
    """Return True if all views are drawn, and no panel is still to be placed."""
    grid = program.window.views
    return (
        trained(program)
        and all(panel.frame >= 0 for panel in shown_panels(program))
        and not (grid._soon.isActive() or grid._placed.isActive())
    )


def says(axis: pg.AxisItem, text: str) -> bool:
    return bool(axis.labelText == text)


def places(program: Marginscope) -> list[tuple[int, int]]:
    """Return row and column of each run that is shown, by where its panel is seen."""
    window = program.window
    corners = [panel.mapTo(window, QPoint(0, 0)) for panel in shown_panels(program)]
    rows = sorted({corner.y() for corner in corners})
    columns = sorted({corner.x() for corner in corners})
    return [(rows.index(one.y()), columns.index(one.x())) for one in corners]


def plots(program: Marginscope) -> list[list[Plot]]:
    """Return the plots of the runs that are shown, a list for each run."""
    return [[view.plot for view in panel.views] for panel in shown_panels(program)]


def check_one_view_of_four_runs_is_a_square(
    program: Marginscope, qtbot: QtBot, files: list[str]
) -> None:
    program.files.open_files(files[:4])
    qtbot.waitUntil(lambda: widths(program) == [3, 4, 5, 6])
    qtbot.waitUntil(lambda: places(program) == [(0, 0), (0, 1), (1, 0), (1, 1)])
    qtbot.waitUntil(lambda: drawn(program))
    for panel, run in zip(program.display.panels, program.session, strict=True):
        assert panel.run is run
        assert panel.names == program.display.panels[0].names
    sizes = [plot.view.rect().size() for row in plots(program) for plot in row]
    assert max(s.width() for s in sizes) - min(s.width() for s in sizes) <= 2
    assert max(s.height() for s in sizes) - min(s.height() for s in sizes) <= 2


def check_ten_open_beside_each_other(program: Marginscope, qtbot: QtBot, files: list[str]) -> None:
    program.files.open_files(files[:1])
    for count, name in enumerate(files[1:4], start=2):
        program.files.open_files([name], add=True)
        qtbot.waitUntil(lambda count=count: len(widths(program)) == count)
    assert widths(program) == [3, 4, 5, 6]
    program.files.open_files(files[4:], add=True)
    qtbot.waitUntil(lambda: widths(program) == list(range(3, 13)))
    assert len(program.session) == MOST_RUNS == 10
    qtbot.waitUntil(lambda: drawn(program))
    assert all(isinstance(run.data, DisplayData) for run in program.session)
    # A run that is chosen by its chip or key is brought into sight.
    before = program.display.intent.views
    program.display.update_intent(views=("margins", "norms"))
    qtbot.waitUntil(lambda: program.window.views.verticalScrollBar().maximum() > 0)
    for number in (9, 1):
        program.actions[f"run_{number}"].trigger()
        assert not program.display.panels[number - 1].visibleRegion().isEmpty()
    program.window.chips.setCurrentIndex(9)
    assert not program.display.panels[9].visibleRegion().isEmpty()
    program.display.update_intent(views=before)
    # The last one makes room for one more.
    program.files.open_files([files[0]], add=True)
    qtbot.waitUntil(lambda: widths(program) == [*range(3, 12), 3])
    program.files.open_files(files[:2])
    qtbot.waitUntil(lambda: widths(program) == [3, 4])


def check_runs_are_rows_of_aligned_views(
    program: Marginscope, qtbot: QtBot, files: list[str]
) -> None:
    program.window.resize(1600, 1000)
    program.display.update_intent(views=("margins", "neurons", "norms"))
    program.files.open_files(files[:3])
    qtbot.waitUntil(lambda: places(program) == [(0, 0), (1, 0), (2, 0)])
    qtbot.waitUntil(lambda: drawn(program))
    rows = plots(program)
    for column in zip(*rows, strict=True):
        lefts = {plot.mapTo(program.window, QPoint(0, 0)).x() for plot in column}
        assert len(lefts) == len({plot.width() for plot in column}) == 1
        assert [plot.bottom.titled for plot in column] == [False, False, True]
        heights = [plot.view.rect().height() for plot in column]
        assert max(heights) - min(heights) <= 2.0
    headers = [[view.header.height() for view in panel.views] for panel in shown_panels(program)]
    assert headers[0][0] > headers[1][0] == headers[2][0]


def check_a_small_window_scrolls_and_does_not_grow(
    program: Marginscope, qtbot: QtBot, files: list[str]
) -> None:
    program.window.resize(1024, 640)
    program.display.update_intent(views=tuple(VIEWS))
    program.files.open_files(files[:4])
    qtbot.waitUntil(lambda: places(program) == [(0, 0), (1, 0), (2, 0), (3, 0)])
    area = program.window.views
    bar = area.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0 and drawn(program))
    assert (program.window.width(), program.window.height()) == (1024, 640)
    for plot in chain(*plots(program)):
        assert plot.width() >= LEAST_PLOT[0] and plot.height() >= LEAST_PLOT[1]
    bar.setValue(bar.maximum())
    last = shown_panels(program)[-1]
    bottom = last.mapTo(area.viewport(), QPoint(0, last.height())).y()
    assert bottom <= area.viewport().height()


def check_views_are_drawn_as_they_come_into_sight(
    program: Marginscope, qtbot: QtBot, files: list[str]
) -> None:
    """Every view of every run was drawn: ten runs took 117 ms a frame."""
    program.window.resize(1024, 640)
    program.display.update_intent(views=tuple(VIEWS), playing=False)
    program.files.open_files(files[:4])
    qtbot.waitUntil(lambda: places(program) == [(0, 0), (1, 0), (2, 0), (3, 0)])
    bar = program.window.views.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0 and drawn(program))
    program.playback.seek_start()
    first, *_, last = shown_panels(program)
    for at, seen, unseen in ((0, first.views[0], last), (bar.maximum(), last.views[-1], first)):
        bar.setValue(at)
        program.playback.step_forward()
        qtbot.waitUntil(lambda: not any(one.pending for one in shown_panels(program)))
        assert seen.frame == unseen.frame
        assert unseen.frame not in {view.frame for view in unseen.views}
        bar.setValue(bar.maximum() - at)
        assert unseen.frame in {view.frame for view in unseen.views}


def check_nothing_jumps_while_it_plays(
    program: Marginscope, qtbot: QtBot, files: list[str]
) -> None:
    program.window.resize(1280, 800)
    program.display.update_intent(views=("neurons", "curves"))
    program.files.open_files(files[:2])
    qtbot.waitUntil(lambda: widths(program) == [3, 4])
    qtbot.waitUntil(lambda: drawn(program) and len(shown_panels(program)) == 2)
    program.display.update_intent(playing=False)
    program.actions["times"].setChecked(False)  # its rows come while the runs are judged
    area = program.window.views
    qtbot.waitUntil(lambda: not area._soon.isActive())
    seen = set()
    for direction in (
        program.playback.seek_start,
        program.playback.step_forward,
        program.playback.seek_end,
    ):
        direction()
        QApplication.processEvents()
        every = list(chain(*plots(program)))
        corners = [plot.mapTo(area, QPoint(0, 0)) for plot in every]
        titled = [plot.bottom.titled for plot in every]
        seen.add(repr((corners, [plot.size() for plot in every], titled)))
    assert len(seen) == 1
    program.actions["times"].setChecked(True)


def check_ranges_and_zoom_are_shared(program: Marginscope, qtbot: QtBot, files: list[str]) -> None:
    program.files.open_files(files[:4])
    qtbot.waitUntil(lambda: widths(program) == [3, 4, 5, 6])
    program.display.update_intent(playing=False)
    qtbot.waitUntil(lambda: drawn(program))
    drawn_plots = [panel.view("margins").plot for panel in shown_panels(program)]
    qtbot.waitUntil(
        lambda: all(one.visible_range() == drawn_plots[0].visible_range() for one in drawn_plots)
    )
    wheel(drawn_plots[2], QPoint(60, 60), 3)
    assert drawn_plots[2].zoom is not None
    assert [one.zoom for one in drawn_plots] == [drawn_plots[2].zoom] * 4


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


def check_that_a_new_look_deletes_nothing(
    program: Marginscope, qtbot: QtBot, files: list[str]
) -> None:
    """It ended in a segmentation fault while Qt went through all widgets, when runs moved."""
    program.window.resize(1600, 900)
    program.files.open_files(files[:3])
    qtbot.waitUntil(lambda: places(program) == [(0, 0), (1, 0), (2, 0)])
    real, deleted = style.apply, []

    def watched(*arguments: Any) -> None:
        widgets = QApplication.allWidgets()
        real(*arguments)
        deleted.extend(widget for widget in widgets if not isValid(widget))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(style, "apply", watched)
        for _ in range(2):
            program.actions["lecture"].trigger()
            qtbot.waitUntil(lambda: places(program) == [(0, 0), (1, 0), (2, 0)])
    assert not deleted


CHECKS = (
    (
        check_one_view_of_four_runs_is_a_square,
        check_ranges_and_zoom_are_shared,
        check_runs_are_rows_of_aligned_views,
        check_nothing_jumps_while_it_plays,
        check_a_small_window_scrolls_and_does_not_grow,
        check_views_are_drawn_as_they_come_into_sight,
    ),
    (check_ten_open_beside_each_other,),
    (check_wishes_of_later_panels, check_that_a_new_look_deletes_nothing),
)


@pytest.mark.parametrize("checks", CHECKS, ids=["places", "ten", "looks"])
def test_runs_side_by_side_in_one_window(
    program: Marginscope, qtbot: QtBot, files: list[str], subtests: pytest.Subtests, checks: Any
) -> None:
    """The first check of each window finds it with two panels, as a window begins."""
    assert len(program.display.panels) == 2  # others are made when they are needed
    program.display.update_intent(views=("margins",))
    for check in checks:
        with subtests.test(check.__name__), defer_painting(program.window):
            check(program, qtbot, files)
