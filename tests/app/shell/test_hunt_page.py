"""Hunts in the window of a whole study: asked, followed, stopped, gone on with, opened."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from app.shell.lifecycle import CONTINUE_RUNNING, STOP
from app.study.hunt_page import HuntPage
from app.study.window import HUNT, StudyWindow
from app.widgets.inputs import ChoiceBox
from core.extremes.question import Frames, Question
from core.observables.registry import last_values
from core.runs import open_run
from tests.app.mouse import press_in_box
from tests.app.shell.conftest import Opener
from tests.app.shell.test_whole_study import begun, click, opened
from tests.support.made_up_hunts import TEXT

LEFT = Qt.MouseButton.LeftButton
VIEW = '[window]\nviews = ["margins"]\n'
REAL_TARGETS = """
title = "Targets"
[data]
kind = "spurious"
[network]
m = 8
init = "balanced"
[loss]
kind = "least_squares"
[dynamics]
kind = "plain_flow"
until_log10_time = 0.5
[recording]
frames = 4
"""
OWN = """
[hunt]
maximise = "norm_squared"
over = "start"
at = 0.3
exclude_unfit = false
drawn = 3
runs = 4
"""


@pytest.fixture
def hunted(tmp_path: Path) -> Path:
    """Return the file of a small study that asks for nothing by itself."""
    path = tmp_path / "small.toml"
    path.write_text(TEXT + VIEW)
    return path


def page_of(program: Marginscope, qtbot: QtBot) -> tuple[StudyWindow, HuntPage]:
    window = opened(program, qtbot)
    bar = window.tabs.tabBar()
    place = next(k for k in range(bar.count()) if bar.tabText(k) == HUNT)
    QTest.mouseClick(bar, LEFT, pos=bar.tabRect(place).center())
    assert window.hunt.isVisible()
    return window, window.hunt


def typed(field: object, text: str) -> None:
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, text)


def chosen(box: ChoiceBox, words: str) -> None:
    box.setFocus()
    QTest.keyClicks(box, words[:7])
    assert box.currentText() == words


def shown(page: HuntPage, column: int) -> list[str]:
    model = page.table.model_
    return [str(model.index(row, column).data()) for row in range(model.rowCount())]


def folders(program: Marginscope) -> list[Path]:
    return sorted(program.studies.runner.shown.runs.folder.glob("hunt-*"))


def test_the_least_is_found_ranked_and_opened(
    open_program: Opener, hunted: Path, qtbot: QtBot
) -> None:
    program = begun(open_program, hunted, qtbot)
    window, page = page_of(program, qtbot)
    typed(page.limit, "5")
    typed(page.seeds, "0-40")
    click(page.hunt)
    assert not window.progress.run.isEnabled() and not page.what.isEnabled()
    qtbot.waitUntil(lambda: not program.studies.busy, timeout=60_000)
    assert page.problem.text() == ""
    assert shown(page, 0) == ["1", "2", "3", "4", "5"]
    assert page.words.text().startswith("5 runs; best ")
    assert window.progress.run.isEnabled() and page.hunt.isEnabled()
    (folder,) = folders(program)
    with (folder / "small.hunt.csv").open() as file:
        rows = list(csv.DictReader(file))
    values = [float(row["value"]) for row in rows]
    assert values == sorted(values) and len(values) == 5
    index = page.table.model_.index(0, 1)
    where = page.table.visualRect(index).center()
    QTest.mouseClick(page.table.viewport(), LEFT, pos=where)
    QTest.keyClick(page.table, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: [run.path.name for run in program.session] == [rows[0]["run_file"]])
    with open_run(folder / rows[0]["run_file"]) as run:
        assert last_values(run)["hard_margin"] == values[0]


def test_the_same_question_goes_on_and_another_one_has_a_folder_of_its_own(
    open_program: Opener, hunted: Path, qtbot: QtBot
) -> None:
    program = begun(open_program, hunted, qtbot)
    _, page = page_of(program, qtbot)
    typed(page.limit, "2")
    click(page.hunt)
    qtbot.waitUntil(lambda: not program.studies.busy, timeout=60_000)
    (folder,) = folders(program)
    ledger = folder / "small.hunt.json"
    before = json.loads(ledger.read_text())
    typed(page.limit, "4")
    QTest.keyClick(page.limit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not program.studies.busy, timeout=60_000)
    after = json.loads(ledger.read_text())
    assert len(shown(page, 0)) == 4 and folders(program) == [folder]
    # Row for row, with the seconds that each has taken: nothing was computed twice.
    cells = {name: cell for name, cell in after["cells"].items() if name in before["cells"]}
    assert cells == before["cells"] and len(after["cells"]) == 4
    chosen(page.sense, "Maximise")
    click(page.hunt)
    qtbot.waitUntil(lambda: not program.studies.busy, timeout=60_000)
    assert len(folders(program)) == 2
    values = [one.value for one in page.table.findings]
    assert values == sorted(values, reverse=True)


def test_a_study_s_own_question_stands_on_the_page(
    open_program: Opener, hunted: Path, qtbot: QtBot
) -> None:
    hunted.write_text(TEXT + VIEW + OWN)
    _, page = page_of(begun(open_program, hunted, qtbot), qtbot)
    own = Question("norm_squared", False, "start", Frames("last", 0.3), drawn=3)
    assert page.question() == own and page.limits()[0] == 4
    typed(page.what, "hard_margin")  # its moment is that of its own question
    assert page.question().frames == Frames()
    chosen(page.take, "minimum over frames")
    assert page.question().frames == Frames("least")


def test_a_regression_study_is_offered_the_risk(
    open_program: Opener, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "targets.toml"
    path.write_text(REAL_TARGETS)
    _, page = page_of(begun(open_program, path, qtbot), qtbot)
    assert page.question() == Question("risk")


WRONG = [
    ("what", "no such / 3", "'no such / 3' is not a formula; write one such as hard_margin"),
    ("what", "hard_margim", "hard_margin"),
    ("what", "slack:nothing", "nothing is not a statement"),
    ("seeds", "9-2", "'9-2': write the first and the last, such as 0-999."),
    ("limit", "soon", "'soon': neither a time, such as 300s, 5m or 1h, nor a number of runs."),
    ("limit", "0", "'0': neither a time"),
]
RIGHT = {"what": "hard_margin", "seeds": " ", "limit": "1"}


def test_a_wrong_question_is_one_sentence_and_begins_nothing(
    open_program: Opener, hunted: Path, qtbot: QtBot, subtests: pytest.Subtests
) -> None:
    program = begun(open_program, hunted, qtbot)
    _, page = page_of(program, qtbot)
    for field, text, sentence in WRONG:
        with subtests.test(field=field, text=text):
            typed(getattr(page, field), text)
            click(page.hunt)
            qtbot.waitUntil(lambda: not program.studies.busy)
            assert sentence in page.problem.text() and page.problem.isVisible()
            assert "--" not in page.problem.text()
            assert page.hunt.isEnabled() and not folders(program)
        typed(getattr(page, field), RIGHT[field])
    click(page.hunt)
    qtbot.waitUntil(lambda: not program.studies.busy, timeout=60_000)
    assert not page.problem.isVisible() and shown(page, 0) == ["1"]


def test_a_hunt_is_stopped_keeps_what_it_has_and_closing_ends_it(
    open_program: Opener, hunted: Path, qtbot: QtBot
) -> None:
    program = begun(open_program, hunted, qtbot)
    _, page = page_of(program, qtbot)
    typed(page.limit, "1h")
    click(page.hunt)
    qtbot.waitUntil(lambda: len(shown(page, 0)) >= 2, timeout=60_000)
    click(page.stop)
    qtbot.waitUntil(lambda: not program.studies.busy, timeout=60_000)
    found = len(shown(page, 0))
    assert found >= 2 and not page.stop.isEnabled()
    assert page.problem.text() == ""
    (folder,) = folders(program)
    assert (folder / "small.hunt.csv").is_file()
    click(page.hunt)  # the same question: it goes on
    qtbot.waitUntil(lambda: len(shown(page, 0)) > found, timeout=60_000)
    press_in_box(CONTINUE_RUNNING)
    program.window.close()
    assert program.window.isVisible() and program.studies.busy
    press_in_box(STOP)
    program.window.close()
    assert not program.window.isVisible() and not program.studies.busy


def test_a_table_takes_fewer_findings_as_well_as_more(qtbot: QtBot) -> None:
    from app.study.workers import Finding

    page = HuntPage()
    qtbot.addWidget(page)
    for count in (3, 12, 2, 0, 1):
        found = [Finding(k + 1, 0.1 * k, f"seed {k}", "drawn", "", "", None) for k in range(count)]
        page.table.show_findings(found)
        assert page.table.model_.rowCount() == count
        assert shown(page, 2) == [f"seed {k}" for k in range(count)]
