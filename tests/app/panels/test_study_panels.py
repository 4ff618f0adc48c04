"""Parts of the window of a whole study: the table of cells, the claims, the plot of points."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.study.cell_table import CellModel, CellTable
from app.study.claim_list import ClaimList
from app.study.options import SweepProgress
from app.study.sweep_lines import lines_of
from app.study.sweep_plot import NOTHING, SweepPlot
from app.study.window import SweepAxes
from app.widgets.study_picture import StudyPicture
from core.figures.palette import DARK, LIGHT
from core.studies.cell_table import Row, TableRow, rows_of
from core.studies.study import Study, parse_study
from core.studies.verdicts import JudgedClaim, judge
from core.sweep.control import SweepStatus

STUDY = """
title = "A grid"
[data]
kind = "parity"
d = 6
[axes]
"data.n" = [8, 16, 64]
"network.m" = [4, 8]
"run.seed" = [0, 1, 2]
[sweep]
columns = ["risk", "train_error"]
[[claims]]
text = "Of the order of d^2 and 10^-3, within +-1 of -2."
measure = "risk"
compare = "<="
value = 1.0
[[claims]]
text = "Only for paper."
measure = "risk"
compare = "<="
value = 1.0
sizes = ["paper"]
reason = "too few seeds"
[sizes.quick]
"run.seed" = [0, 1]
"""


@pytest.fixture
def study() -> Study:
    return parse_study(STUDY, "grid")


@pytest.fixture
def rows(study: Study) -> dict[str, Row]:
    """Return risk = (seed + 1) m / n; the widest do not fit at n = 64, and one cell failed."""
    found = {}
    for cell in study.cells():
        n, m, seed = (cell.values[key] for key in ("data.n", "network.m", "run.seed"))
        values = {"risk": (seed + 1) * m / n, "train_error": 0.5 if (n, m) == (64, 8) else 0.0}
        found[cell.name] = Row(cell.name, "done", "completed", 0.5, "", values)
    last = study.cells()[-1].name
    found[last] = Row(last, "failed", "the disk was struck by lightning")
    return found


def paths(study: Study) -> dict[str, Path]:
    return {cell.name: Path(f"{cell.name}.msrun") for cell in study.cells()}


def table_of(study: Study, rows: dict[str, Row]) -> list[TableRow]:
    return rows_of(study, rows)


# ------------------------------------------------------------------------------------- points


def test_lines_are_means_over_seeds(study: Study, rows: dict[str, Row]) -> None:
    found = lines_of(table_of(study, rows), paths(study), "data.n", "risk", {}, False)
    assert [dict(line.key) for line in found.lines] == [{"network.m": 4}, {"network.m": 8}]
    for line, m in zip(found.lines, (4, 8), strict=True):
        for k, n in enumerate((8, 16, 64)):
            seeds = 2 if (n, m) == (64, 8) else 3
            values = np.arange(1, seeds + 1) * m / n
            assert line.x[k] == n
            assert line.mean[k] == pytest.approx(values.mean())
            assert line.high[k] - line.mean[k] == pytest.approx(values.std(ddof=1))
            assert bool(line.hollow[k]) is ((n, m) == (64, 8))
    left = lines_of(table_of(study, rows), paths(study), "data.n", "risk", {"network.m": 8}, True)
    (line,) = left.lines
    assert math.isnan(line.mean[2])  # none of them fits, and those are left out


def test_an_axis_of_words_or_of_seeds_has_places(study: Study, rows: dict[str, Row]) -> None:
    found = lines_of(table_of(study, rows), paths(study), "run.seed", "risk", {"data.n": 8}, False)
    assert found.words == ("0", "1", "2")
    assert found.lines[0].x.tolist() == [0.0, 1.0, 2.0]


def test_the_plot_chooses_its_scales(qtbot: QtBot, study: Study, rows: dict[str, Row]) -> None:
    plot = SweepPlot(LIGHT)
    qtbot.addWidget(plot)
    assert plot.plot.overlay.note == NOTHING
    table = table_of(study, rows)
    plot.show_lines(lines_of(table, paths(study), "data.n", "risk", {}, False), "data.n", "risk")
    assert plot.logarithmic == (True, False)  # 8 to 64, and .12 to 2
    assert "m = 4" in plot.key.text().replace("\u00a0", " ")
    assert "1 standard deviation" in plot.note
    assert "Hollow" in plot.note
    low = plot.markers.points[:, 0].min()
    assert low == pytest.approx(np.log10(8.0))
    plot.set_logarithmic(False, True)
    assert plot.logarithmic == (False, True)
    assert plot.markers.points[:, 0].max() == 64.0
    plot.set_logarithmic(None, None)
    plot.set_colours(DARK)
    errors = lines_of(table, paths(study), "data.n", "train_error", {}, False)
    plot.show_lines(errors, "data.n", "train_error")
    assert plot.logarithmic == (True, False)  # errors go to 0
    plot.set_logarithmic(None, True)  # what is 0 has no place on a logarithmic axis
    assert np.isfinite(plot.markers.points).all()


def test_many_lines_are_narrowed_down_at_first(qtbot: QtBot) -> None:
    axes = SweepAxes()
    qtbot.addWidget(axes)
    grid = {"data.n": range(20), "data.d": range(9), "network.m": range(3), "run.seed": range(4)}
    axes.show_study(grid, ("train_error", "risk"))
    assert (axes.axis_name, axes.column_name) == ("data.n", "risk")
    assert axes.chosen == {"data.d": 0}
    axes.show_study({"data.d": [1, 2]}, ("risk",))
    assert (axes.axis_name, axes.chosen) == ("data.d", {})


# -------------------------------------------------------------------------------------- cells


def test_cells_are_sorted_with_what_is_missing_last(
    qtbot: QtBot, study: Study, rows: dict[str, Row]
) -> None:
    table = CellTable()
    qtbot.addWidget(table)
    table.show_cells(study.cells(), paths(study), study.sweep.columns)
    model = table.model()
    heads = [model.headerData(k, Qt.Orientation.Horizontal) for k in range(model.columnCount())]
    assert heads == ["n", "m", "run seed", "state", "risk", "train error", "seconds", "why"]
    assert model.data(model.index(0, 3)) == "waiting"
    table.show_rows(rows)
    risks = sorted(row.values["risk"] for row in rows.values() if row.state == "done")
    up, down = Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder
    for order, wanted in ((up, risks), (down, risks[::-1])):
        table.sortByColumn(4, order)
        named = [rows[table.model_.name(row)] for row in range(len(rows))]
        assert [row.values["risk"] for row in named[:-1]] == wanted
        assert named[-1].state == "failed"
    assert "lightning" in model.data(model.index(len(rows) - 1, 7))
    table.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
    assert [table.model_.name(row) for row in range(len(rows))] == list(rows)


def test_rows_stay_sorted_and_selected_as_cells_come(
    qtbot: QtBot, study: Study, rows: dict[str, Row]
) -> None:
    table = CellTable()
    qtbot.addWidget(table)
    table.show_cells(study.cells(), paths(study), study.sweep.columns)
    table.sortByColumn(4, Qt.SortOrder.DescendingOrder)
    names = list(rows)
    table.show_rows({name: rows[name] for name in names[:3]})
    table.selectRow(0)
    chosen = table.model_.name(0)
    table.show_rows(rows)
    (selected,) = table.selectionModel().selectedRows()
    assert table.model_.name(selected.row()) == chosen


def test_no_number_of_the_table_is_cut(qtbot: QtBot, study: Study, rows: dict[str, Row]) -> None:
    table = CellTable()
    qtbot.addWidget(table)
    cells, columns = study.cells(), ("risk", "train_error")
    table.resize(900, 200)
    table.show_cells(cells, paths(study), columns)
    table.show()
    first = cells[0].name
    table.show_rows({first: rows[first]})
    long = {name: replace(row, values={"risk": 3.924e-13}) for name, row in rows.items()}
    table.show_rows({**long, first: rows[first]})
    for column in range(table.model_.columnCount() - 1):
        assert table.columnWidth(column) >= table.sizeHintForColumn(column)


def test_a_cell_runs_until_its_row_comes_or_the_study_rests(
    study: Study, rows: dict[str, Row]
) -> None:
    model = CellModel()
    model.set_cells(study.cells(), study.sweep.columns)
    a, b, *_, bad = rows
    failed = Row(a, "failed", "the disk was full")
    states = {cell.name: row for row, cell in enumerate(study.cells())}

    def shown(*names: str) -> list[str]:
        return [model.index(states[name], 3).data() for name in names]

    model.set_rows({a: failed})
    model.set_at_work(frozenset({a, b}))
    assert shown(a, b) == ["running", "running"]
    model.set_at_work(frozenset({bad}))
    assert shown(a, b, bad) == ["running", "running", "running"]
    model.set_rows({a: rows[a]})
    model.set_at_work(frozenset({bad}))
    assert shown(a, b, bad) == ["done", "running", "running"]
    model.set_rows({a: rows[a], bad: rows[bad]})
    assert shown(bad) == ["running"]  # it is tried again
    model.set_at_work(frozenset())
    assert shown(a, b, bad) == ["done", "running", "failed"]
    model.set_resting()
    assert shown(a, b, bad) == ["done", "waiting", "failed"]


# ------------------------------------------------------------------------------------- claims


def judged_of(study: Study, size: str | None) -> list[JudgedClaim]:
    return judge(study, (), size)


def test_claims_read_like_mathematics(qtbot: QtBot, study: Study) -> None:
    claims = ClaimList(LIGHT)
    qtbot.addWidget(claims)
    claims.show_study(study)
    assert claims.words == ("not checked yet", "not checked yet")
    first = claims.texts[0]
    assert "d\u00b2" in first
    assert "10\u207b\u00b3" in first
    assert "\u00b11 of \u22122" in first
    claims.show_judged(judged_of(study, "quick"), "so far")
    assert claims.words == ("not testable at this size",) * 2
    assert claims.note.text() == "so far"
    second = claims.texts[1]
    assert "too few seeds" in second
    assert "nan" not in second
    claims.show_study(parse_study(STUDY.split("[[claims]]")[0], "none"))
    assert claims.words == ()
    assert "no claims" in claims.note.text()


# ------------------------------------------------------------------------------------- figure


def test_a_high_figure_is_scrolled_and_a_wide_one_fits(qtbot: QtBot, tmp_path: Path) -> None:
    from PIL import Image

    picture = StudyPicture(LIGHT)
    qtbot.addWidget(picture)
    picture.resize(400, 300)
    picture.show()
    for size, scrolled in (((400, 200), False), ((400, 900), True)):
        path = tmp_path / "p.png"
        Image.new("RGB", size).save(path)
        picture.show_png(path.read_bytes())
        qtbot.waitUntil(
            lambda wanted=scrolled: (picture.verticalScrollBar().maximum() > 0) is wanted
        )
    picture.show_words("nothing")
    assert (picture.image.isNull(), picture.words) == (True, "nothing")
    qtbot.waitUntil(lambda: picture.verticalScrollBar().maximum() == 0)


def test_who_runs_a_study_by_the_keyboard_can_pause_it_by_the_keyboard(qtbot: QtBot) -> None:
    progress = SweepProgress()
    qtbot.addWidget(progress)
    with qtbot.waitExposed(progress):
        progress.show()
    progress.show_idle(0, 0, 6, possible=True)
    progress.run.setFocus()
    with qtbot.waitSignal(progress.run.clicked):
        qtbot.keyClick(progress.run, Qt.Key.Key_Space)
    progress.show_status(SweepStatus(total=6), False, False)
    assert progress.pause.hasFocus()
    with qtbot.waitSignal(progress.pause.toggled):
        qtbot.keyClick(progress.pause, Qt.Key.Key_Space)
