"""Compared observables as small multiples: one grid, one cursor, one legend."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.export.commands import command_words
from app.export.jobs import CompareJob
from app.export.snapshot import _shown_comparison
from app.library.legend_table import VALUE
from app.scenes.scene_texts import link_of, parse_link
from app.shell.application import Marginscope
from app.state.comparison import MOST_OBSERVABLES, ComparedRuns
from app.style import LEAST_PLOT
from app.widgets.screen_text import shown_number
from core.cli.main import main
from core.comparison.question import CompareQuestion
from core.observables.registry import OBSERVABLES
from core.problem.schedule import coordinate
from tests.app.mouse import LEFT, choose, view_menu
from tests.app.shell.comparing import choose_observables, page, settled
from tests.app.shell.test_view_menu import drag

TWO = ("hard_margin", "log10_risk")


def plots(program: Marginscope) -> tuple[str, ...]:
    return tuple(page(program).grid.plots)


def test_a_comparison_overlays_the_views_that_were_shown(
    program: Marginscope, qtbot: QtBot
) -> None:
    program.display.update_intent(views=("neurons", "rotations", "norms", "margins"))
    program.actions["compare"].trigger()
    settled(program, qtbot)
    assert plots(program) == ("rotation", "relative_norm", "hard_margin")
    program.compare.leave()


def test_each_observable_has_a_plot_a_column_and_the_same_cursor(
    comparing: Marginscope, qtbot: QtBot
) -> None:
    choose_observables(comparing, qtbot, *TWO)
    assert plots(comparing) == TWO
    comparing.playback.seek(float(coordinate(1.0)))
    grid, table = page(comparing).grid, page(comparing).table
    headings = [table.horizontalHeaderItem(VALUE + k).text() for k in (0, 1)]
    assert headings == ["hard margin", "log\u2081\u2080 of the risk"]
    for column, (name, plot) in enumerate(grid.plots.items()):
        known = comparing.compare.model.answers[name]
        at = np.array(known.values_at(comparing.display.view.cursor, 2))
        np.testing.assert_allclose(plot.dots.points[:, 1], at)
        assert all(table.item(row, VALUE + column).text() for row in (0, 1))
    one, other = grid.plots.values()
    assert one.colours() == other.colours()
    assert one.plot.home.left == other.plot.home.left and one._common == other._common


def test_values_at_t_0_are_those_of_the_first_frames(comparing: Marginscope, qtbot: QtBot) -> None:
    """A logarithmic axis has no t = 0: values there were missing, and t was not 0."""
    choose_observables(comparing, qtbot, "hard_margin", "rotation")
    settled(comparing, qtbot)
    qtbot.waitUntil(lambda: "rotation" in comparing.compare.model.answers)
    rotations = page(comparing).grid.plots["rotation"]
    lowest = rotations.plot.home.bottom  # of the moments that this window has shown
    comparing.playback.seek(comparing.display.view.span.low)
    qtbot.waitUntil(lambda: rotations.header.title.endswith("t = 0"))
    first = [float(OBSERVABLES["hard_margin"].value_at(x.data.run, 0)) for x in comparing.session]
    known = comparing.compare.model.answers["hard_margin"]
    cursor = comparing.display.view.cursor
    np.testing.assert_allclose(known.values_at(cursor, 2), first)
    assert np.isnan(known.places_at(cursor)).all()  # nothing of the lines is strong
    texts = [page(comparing).table.item(row, VALUE).text() for row in (0, 1)]
    assert texts == [shown_number(value, 4) for value in first]
    # All rotations are 1 at t = 0, which must not widen the range of later moments.
    assert rotations.plot.home.top == pytest.approx(1.06)
    assert rotations.plot.home.bottom == pytest.approx(min(lowest, 0.94))


def test_axes_are_named_once_in_each_column(comparing: Marginscope, qtbot: QtBot) -> None:
    comparing.compare.set_observables((*TWO, "norm_squared", "rotation"))
    settled(comparing, qtbot)
    qtbot.waitUntil(lambda: len(page(comparing).grid.plots) == MOST_OBSERVABLES)
    titled = [plot.plot.bottom.titled for plot in page(comparing).grid.plots.values()]
    assert titled == [False, True, True, True]  # below the second are ranks
    size = page(comparing).grid.plots["rotation"].plot.size()
    assert size.width() >= LEAST_PLOT[0] and size.height() >= LEAST_PLOT[1]


def test_a_plot_fills_the_page_moves_and_is_hidden(comparing: Marginscope, qtbot: QtBot) -> None:
    comparing.compare.set_observables(TWO)
    settled(comparing, qtbot)
    grid = page(comparing).grid
    qtbot.mouseClick(grid.plots["log10_risk"].header, LEFT)
    assert plots(comparing) == ("log10_risk",)
    assert _shown_comparison(comparing.display.view).observables == ("log10_risk",)
    comparing.actions["unpin"].trigger()
    assert plots(comparing) == TWO
    target = grid.plots["hard_margin"].plot
    drag(grid.plots["log10_risk"].header, target.mapToGlobal(target.rect().center()))
    assert plots(comparing) == TWO[::-1]
    assert comparing.display.intent.compared.question.observable == "log10_risk"
    choose(view_menu(comparing, grid.plots["log10_risk"].plot.viewport()), "Hide this plot")
    assert plots(comparing) == ("hard_margin",)


def test_numbers_and_pictures_of_a_plot_are_copied(comparing: Marginscope) -> None:
    plot = page(comparing).grid.plots["hard_margin"]
    choose(view_menu(comparing, plot.header), "Copy numbers")
    rows = list(csv.reader(QGuiApplication.clipboard().text().splitlines(), delimiter="\t"))
    assert rows[0] == ["time t, m = 8", "m = 8", "time t, m = 12", "m = 12"]
    assert float(rows[-1][1]) == pytest.approx(plot._comparison.lines[0].values[-1])
    choose(view_menu(comparing, plot.header), "Copy picture")
    assert QGuiApplication.clipboard().image().width() == 3 * plot.width()
    QGuiApplication.clipboard().clear()


def test_too_many_observables_leave_the_last_ones(comparing: Marginscope) -> None:
    names = ("hard_margin", "log10_risk", "norm_squared", "distance", "stable_rank")
    comparing.compare.set_observables(names)
    assert comparing.display.intent.compared.observables == names[-MOST_OBSERVABLES:]
    comparing.compare.set_observables(())
    assert comparing.display.intent.compared.observables == names[-MOST_OBSERVABLES:]


def test_links_and_commands_have_all_observables(comparing: Marginscope, tmp_path: Path) -> None:
    names = ("rotation", "hard_margin")
    comparing.compare.set_observables(names)
    scene = comparing.scenes.shareable_scene()
    again = parse_link(link_of(scene), scene)
    assert again.intent.compared == comparing.display.intent.compared
    assert again.intent.compared is not None
    compared = replace(again.intent.compared, question=CompareQuestion(names[1], "step"))
    runs = tuple(Path(name) for name in compared.runs)
    job = CompareJob(runs, tmp_path / "all.csv", compared.questions)
    (words,) = command_words(job, comparing.export._exportable())
    assert main(words) == 0
    with (tmp_path / "all.csv").open() as file:
        assert {row["observable"] for row in csv.DictReader(file)} == set(names)


def test_one_observable_is_told_as_before() -> None:
    compared = ComparedRuns(("a", "b"), CompareQuestion())
    assert compared.with_observables(("hard_margin",)) == compared
    assert compared.with_observables(("rotation",)).question == CompareQuestion("rotation", "rank")


@pytest.mark.usefixtures("restyles")
def test_the_legend_and_labels_grow_with_the_type(comparing: Marginscope) -> None:
    table, plot = page(comparing).table, next(iter(page(comparing).grid.plots.values()))
    before = table.rowHeight(0), table.columnWidth(VALUE), plot.labels.widest
    comparing.actions["lecture"].setChecked(True)
    after = table.rowHeight(0), table.columnWidth(VALUE), plot.labels.widest
    comparing.actions["lecture"].setChecked(False)
    assert all(new > 1.2 * old for new, old in zip(after, before, strict=True)), (before, after)
