"""Which runs of a study of many are trained in the window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from tests.app.mouse import keys
from tests.app.shell.conftest import STUDY, Opener, trained

CTRL, NONE = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.NoModifier


def widths(program: Marginscope) -> list[int]:
    return [run.data.m for run in program.session if run.data is not None]


def test_other_runs_are_chosen_by_search_and_marks(
    open_program: Opener, tmp_path: Path, qtbot: QtBot
) -> None:
    """Four runs: a window of its own, since it keeps the panels that it makes for them."""
    path = tmp_path / "many.toml"
    path.write_text(STUDY.replace("[8, 12]", "[3, 4, 5, 6]\n'run.seed' = [0, 1, 2]"))
    program = open_program(path)
    told: list[str] = []
    program.training.notice.connect(told.append)
    qtbot.waitUntil(lambda: trained(program))
    assert widths(program) == [3, 4]  # and not two seeds of one
    assert ["Showing 2 of 12 runs" in words for words in told] == [True]
    keys(qtbot, program.window, Qt.Key.Key_F6, NONE)
    dialog = program.cell_runs.dialog
    assert set(dialog.chosen) == {"network.m=3__run.seed=0", "network.m=4__run.seed=0"}
    for words in ("m=6 seed=2", "m = 5 seed = 1", "m=3 seed=2"):
        dialog.search.clear()
        QTest.keyClicks(dialog.search, words)
        assert dialog.list.count() == 1
        dialog.list.setCurrentRow(0)
        QTest.keyClick(dialog.list, Qt.Key.Key_Space)
    dialog.search.clear()
    QTest.keyClicks(dialog.search, "m=3 seed=0")
    dialog.list.setCurrentRow(0)
    QTest.keyClick(dialog.list, Qt.Key.Key_Space)  # no longer
    assert set(dialog.chosen) == {
        "network.m=4__run.seed=0",
        "network.m=6__run.seed=2",
        "network.m=5__run.seed=1",
        "network.m=3__run.seed=2",
    }
    QTest.mouseClick(dialog.train, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: trained(program) and widths(program) == [3, 4, 5, 6])
    # They stay chosen for this study.
    keys(qtbot, program.window, Qt.Key.Key_R, CTRL)
    qtbot.waitUntil(lambda: trained(program))
    assert widths(program) == [3, 4, 5, 6]


def test_one_run_that_is_chosen_is_trained_alone(
    show_files: Opener, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "many.toml"
    path.write_text(STUDY.replace("[8, 12]", "[3, 4, 5, 6, 7]"))
    program = show_files(path)
    qtbot.waitUntil(lambda: trained(program))
    keys(qtbot, program.window, Qt.Key.Key_F6, NONE)
    dialog = program.cell_runs.dialog
    dialog.list.setCurrentRow(0)
    QTest.keyClick(dialog.list, Qt.Key.Key_Space)  # no longer marked
    assert dialog.chosen == ("network.m=4",)
    QTest.mouseClick(dialog.train, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: trained(program) and widths(program) == [4])


def test_all_runs_of_a_small_study_are_trained(
    show_files: Opener, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "four.toml"
    path.write_text(STUDY.replace("[8, 12]", "[3, 4, 5, 6]"))
    program = show_files(path)
    qtbot.waitUntil(lambda: trained(program))
    assert widths(program) == [3, 4, 5, 6]


def test_a_study_of_one_run_has_none_to_choose(
    show_files: Opener, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "one.toml"
    path.write_text(STUDY.split("[axes]")[0] + "[network]\nm = 4\n")
    program = show_files(path)
    qtbot.waitUntil(lambda: trained(program))
    keys(qtbot, program.window, Qt.Key.Key_F6, NONE)
    assert program.cell_runs.dialog is None
    assert "has a single run" in program.window.bar.text


def test_the_top_bar_says_how_many_runs_of_the_study_are_open(
    program: Marginscope, qtbot: QtBot, tmp_path: Path
) -> None:
    button = program.window.top.cells
    assert not button.isVisible()  # both runs of the small study are open
    path = tmp_path / "many.toml"
    path.write_text(STUDY.replace("[8, 12]", "[3, 4, 5, 6]\n'run.seed' = [0, 1, 2]"))
    program.files.open_files([str(path)])
    qtbot.waitUntil(lambda: trained(program))
    assert button.isVisible() and button.text() == "2 of 12 runs"
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert program.cell_runs.dialog.isVisible()
    program.cell_runs.dialog.reject()
