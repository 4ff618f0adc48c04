"""A comparison is taken away from the window: figure, table, copy, and the command that does it."""

from __future__ import annotations

import csv
import io
import math
import shlex
from pathlib import Path

import pytest
from PySide6.QtCore import QStandardPaths, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app import actions
from app.export.export_dialog import ExportDialog
from app.export.jobs import CompareJob
from app.shell.application import Marginscope
from app.state.comparison import ComparedRuns
from app.state.resolve import span_of
from core.cli.main import main
from core.comparison.question import CompareQuestion
from core.comparison.setting_differences import compare_runs
from core.runs import open_run
from tests.app.mouse import keys
from tests.app.shell.comparing import answer

Key, Modifier = Qt.Key, Qt.KeyboardModifier
CTRL = Modifier.ControlModifier


@pytest.fixture
def comparing(
    program: Marginscope, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Marginscope:
    """Return the window that compares its two runs; documents are in a folder of the test."""
    monkeypatch.setattr(QStandardPaths, "writableLocation", lambda place: str(tmp_path))
    program.display.update_intent(playing=False)
    keys(qtbot, program.window, Key.Key_M, CTRL | Modifier.ShiftModifier)
    qtbot.waitUntil(lambda: program.display.intent.compared is not None)
    return program


def asked(
    program: Marginscope, qtbot: QtBot, modifiers: Qt.KeyboardModifier = CTRL
) -> ExportDialog:
    keys(qtbot, program.window, Key.Key_E, modifiers)
    dialog = program.export.dialog
    assert isinstance(dialog, ExportDialog)
    assert not dialog.run_boxes  # all that are compared
    return dialog


def saved(program: Marginscope, dialog: ExportDialog, qtbot: QtBot) -> Path:
    (path,) = dialog.targets()
    with qtbot.waitSignal(program.export.finished):
        QTest.keyClick(dialog, Key.Key_Return)
    assert path.is_file()
    return path


def again(dialog: ExportDialog, folder: Path) -> tuple[list[str], Path]:
    """Return the words of the command that is copied, done with another file to write."""
    QTest.mouseClick(dialog.copy, Qt.MouseButton.LeftButton)
    words = shlex.split(QGuiApplication.clipboard().text())
    QGuiApplication.clipboard().clear()
    assert words[:4] == ["python", "-m", "core", "compare"]
    folder.mkdir()
    place = words.index("--out") + 1
    other = folder / Path(words[place]).name
    words[place] = str(other)
    assert main([*words[3:], "--quiet"]) == 0
    return words, other


def test_the_figure_is_that_of_the_comparison(
    comparing: Marginscope, qtbot: QtBot, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """As PDF, SVG and PNG, dark and 85 mm wide, all drawn by one process; and it is copied."""
    for steps, suffix in enumerate((".pdf", ".svg", ".png")):
        with subtests.test(suffix=suffix):
            save_figure(comparing, qtbot, tmp_path / suffix[1:], steps, suffix)
    with subtests.test("copied"), qtbot.waitSignal(comparing.export.finished):
        keys(qtbot, comparing.window, Key.Key_C, CTRL | Modifier.ShiftModifier)
    data = QGuiApplication.clipboard().mimeData()
    assert b"2 runs compared" in bytes(data.data("image/svg+xml").data())
    QGuiApplication.clipboard().clear()


def save_figure(
    comparing: Marginscope, qtbot: QtBot, folder: Path, steps: int, suffix: str
) -> None:
    """The command that is copied draws the same bytes."""
    dialog = asked(comparing, qtbot)
    QTest.keyClick(dialog.form.format, Key.Key_Home)
    for _ in range(steps):
        QTest.keyClick(dialog.form.format, Key.Key_Down)
    QTest.keyClick(dialog.form.size_choice, Key.Key_Home)
    QTest.keyClick(dialog.form.size_choice, Key.Key_Down)
    QTest.keyClick(dialog.form.palette_choice, Key.Key_End)
    (path,) = dialog.targets()
    assert path.name == f"comparison-hard_margin{suffix}"
    words, other = again(dialog, folder)
    assert words[words.index("--size") + 1] == "85mm" and "--dark" in words
    assert saved(comparing, dialog, qtbot).read_bytes() == other.read_bytes()


def test_the_table_is_that_of_the_comparison(
    comparing: Marginscope, qtbot: QtBot, tmp_path: Path
) -> None:
    compared = comparing.display.intent.compared
    question = CompareQuestion("distance", "step", "differences")
    comparing.display.update_intent(compared=ComparedRuns(compared.runs, question))
    dialog = asked(comparing, qtbot, CTRL | Modifier.AltModifier)
    assert dialog.targets() == (tmp_path / "comparison-distance.csv",)
    _, other = again(dialog, tmp_path / "again")
    content = saved(comparing, dialog, qtbot).read_bytes()
    assert content == other.read_bytes()
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    with open_run(Path(compared.runs[0])) as one, open_run(Path(compared.runs[1])) as two:
        (line,) = compare_runs(question, [one, two]).lines
    assert [float(row["value"]) for row in rows] == line.values.tolist()
    assert {row["observable"] for row in rows} == {"distance"}


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_nodes_are_compared_at_the_moment_shown(
    comparing: Marginscope, qtbot: QtBot, tmp_path: Path, share: float
) -> None:
    compared = comparing.display.intent.compared
    cursor = span_of(comparing.session.snapshot()).moment(share)
    question = CompareQuestion("rotation", "rank")
    comparing.display.update_intent(cursor=cursor, compared=ComparedRuns(compared.runs, question))
    dialog = asked(comparing, qtbot, CTRL | Modifier.AltModifier)
    words, other = again(dialog, tmp_path / "again")
    assert ("--at" in words) == (share < 1.0)
    content = saved(comparing, dialog, qtbot).read_bytes()
    assert content == other.read_bytes()
    values = [float(row["value"]) for row in csv.DictReader(io.StringIO(content.decode()))]

    def drawn_as_asked() -> bool:
        known = answer(comparing)
        return known is not None and known.answer.question == question

    qtbot.waitUntil(drawn_as_asked)
    known = answer(comparing)
    drawn = [x for line in known.answer.lines for x in line.values.tolist()]
    assert values == pytest.approx(drawn)


def test_there_is_no_film_while_runs_are_compared(comparing: Marginscope, qtbot: QtBot) -> None:
    film = comparing.actions["film"]
    qtbot.waitUntil(lambda: not film.isEnabled())
    assert "comparison" in actions.disabled_reason("film")
    keys(qtbot, comparing.window, Key.Key_E, CTRL | Modifier.ShiftModifier)
    assert comparing.export.dialog is None
    keys(qtbot, comparing.window, Key.Key_M, CTRL | Modifier.ShiftModifier)
    qtbot.waitUntil(film.isEnabled)


def test_an_impossible_width_is_a_sentence(comparing: Marginscope, qtbot: QtBot) -> None:
    dialog = asked(comparing, qtbot)
    QTest.keyClick(dialog.form.size_choice, Key.Key_End)
    dialog.form.wide.setFocus()
    dialog.form.wide.selectAll()
    QTest.keyClicks(dialog.form.wide, "9")
    QTest.keyClick(dialog.form.wide, Key.Key_Tab)
    assert "9 mm wide" in dialog.problem.text()
    assert not dialog.save.isEnabled() and not dialog.copy.isEnabled()
    QTest.keyClick(dialog, Key.Key_Escape)


def test_a_cancelled_comparison_writes_nothing(comparing: Marginscope, tmp_path: Path) -> None:
    compared = comparing.display.intent.compared
    runs, told = tuple(Path(name) for name in compared.runs), []
    job = CompareJob(runs, tmp_path / "x.svg", compared.questions)
    assert job.work(lambda done, total: told.append((done, total)), lambda: len(told) > 2) == ""
    assert not (tmp_path / "x.svg").exists()
    assert [done for done, _ in told] == [1, 2, 3] and told[0][1] > 3
    assert job.log10_time == math.inf


@pytest.mark.parametrize(("size", "said"), [("9mm", "60 to 400 mm"), ("85x80", "give a width")])
def test_the_command_refuses_a_size(
    comparing: Marginscope, tmp_path: Path, capsys: pytest.CaptureFixture[str], size: str, said: str
) -> None:
    compared = comparing.display.intent.compared
    out = tmp_path / "x.pdf"
    assert main(["compare", *compared.runs, "--out", str(out), "--size", size]) == 2
    assert said in capsys.readouterr().err
    assert not out.exists()


def test_the_form_of_a_comparison_has_no_field_without_a_row(
    comparing: Marginscope, qtbot: QtBot
) -> None:
    form = asked(comparing, qtbot).form
    assert not form.high.isVisible()  # heights follow the plots
    QTest.keyClick(comparing.export.dialog, Key.Key_Escape)
