"""A whole study in its window: run, held, cancelled, gone on with, looked at, saved."""

from __future__ import annotations

import csv
import json
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from app.shell.lifecycle import CONTINUE_RUNNING, STOP
from app.study import display as study_display
from app.study.options import AGAIN, ALL_DONE, CONTINUE, RUN
from app.study.runner import NO_ADDRESS
from app.study.window import StudyWindow
from app.study.workers import OUR_ERROR, StudyWorker, figure_drawn, run_sweep
from app.worker import Request
from core.cli.main import main
from core.errors import InputError
from core.figures.export import FigureProcess
from core.figures.palette import DARK
from core.observables.registry import OBSERVABLES
from core.runs import open_run
from core.studies.study import load_study
from core.studies.trials import trials_of
from core.studies.verdicts import judge
from core.sweep.plan import ledger_rows
from tests.app.mouse import click_on, press_in_box
from tests.app.shell.conftest import Opener
from tests.support.small_studies import BASE

GRID = (
    BASE.replace("A sweep", "A study of {cells}")
    + """
[window]
views = ["margins"]
[axes]
"data.n" = {n}
"run.seed" = [0, 1]
[sweep]
columns = ["hard_margin", "train_error"]
[[claims]]
text = "The norm stays below 10^9."
measure = "norm_squared"
over = "max"
compare = "<="
value = 1e9
[[claims]]
text = "No run has a margin above 9."
measure = "hard_margin"
over = "min"
compare = ">="
value = 9.0
"""
)
FIGURE = """
[[figure.panels]]
kind = "sweep"
x = "data.n"
y = "hard_margin"
x_label = "examples"
y_label = "margin"
"""


def text_of(until: float, n: list[int], figure: str = FIGURE) -> str:
    """Return the file of a study; without a layout it has a figure for at most six cells."""
    return (
        GRID.format(cells={4: "four", 6: "six", 8: "eight"}[2 * len(n)], until=until, n=n) + figure
    )


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """Return the file of a study of six quick cells."""
    path = tmp_path / "whole.toml"
    path.write_text(text_of(0.5, [8, 16, 24]))
    return path


def opened(program: Marginscope, qtbot: QtBot, jobs: int = 1) -> StudyWindow:
    """Return the window of the whole study, opened by its shortcut, with what is there read."""
    QTest.keyClick(program.window, Qt.Key.Key_F7)
    window = program.studies.runner.window
    qtbot.waitUntil(lambda: not program.studies.runner.reader.busy)
    window.options.jobs.setFocus()
    window.options.jobs.selectAll()
    QTest.keyClicks(window.options.jobs, f"{jobs}\t")
    qtbot.waitUntil(lambda: not program.studies.runner.reader.busy)
    qtbot.waitUntil(lambda: program.studies.runner.display.idle)
    return window


def click(button: QPushButton) -> None:
    assert button.isEnabled()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def finished(program: Marginscope) -> Callable[[], bool]:
    """Return True if the study has ended and all of it is shown."""
    return lambda: not program.studies.busy and program.studies.runner.display.idle


def begun(open_program: Opener, path: Path, qtbot: QtBot) -> Marginscope:
    """Return a main window with a study in its form, whose runs were stopped, painted once."""
    program = open_program(path)
    qtbot.waitUntil(lambda: program.action_state.views_made)
    program.window.setUpdatesEnabled(False)
    qtbot.waitUntil(lambda: bool(program.session))
    program.training.stop()
    qtbot.waitUntil(lambda: not program.session.live)
    return program


def test_what_is_chosen_before_a_run_and_found_after_it(
    open_program: Opener,
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    subtests: pytest.Subtests,
) -> None:
    """In two windows; the cost is measured before any cell is there that says what it took.

    No process draws a figure of eight cells, which would take two thirds of the test's time.
    """
    monkeypatch.setattr("core.figures.study_figure.MOST_ROWS", 6)
    path = tmp_path / "whole.toml"
    path.write_text(text_of(0.5, [8, 16, 24, 32], figure=""))
    program = begun(open_program, path, qtbot)
    window = opened(program, qtbot)
    with subtests.test("what there is to run"):
        check_what_there_is(program, window)
    with subtests.test("the cost"):
        check_cost(program, window, qtbot)
    for address, words in (("", NO_ADDRESS), ("tcp://127.0.0.1:9", "no Dask")):
        with subtests.test("a wrong address", address=address):
            check_wrong_address(program, window, qtbot, address, words)
    with subtests.test("run in this process"):
        window.options.jobs.setValue(1)
        qtbot.waitUntil(lambda: not program.studies.runner.reader.busy)
        click(window.progress.run)
        qtbot.waitUntil(finished(program))
        assert window.progress.words.text() == ALL_DONE
    program.studies.close()
    program.window.activateWindow()
    qtbot.waitUntil(program.window.isActiveWindow)
    window = opened(program, qtbot)
    with subtests.test("all is there when it is opened again"):
        assert window.progress.words.text() == ALL_DONE
        assert window.claims.words == ("confirmed", "refuted")
    with subtests.test("a wrong folder"):
        check_wrong_folder(program, window, qtbot, tmp_path)
    with subtests.test("an edited study"):
        check_folder_of_edited_study(program, window, qtbot)


def check_what_there_is(program: Marginscope, window: StudyWindow) -> None:
    assert window.isVisible()
    assert "A study of eight" in window.windowTitle()
    assert window.options.count.text() == "8 runs"
    assert window.progress.run.text() == RUN
    assert window.claims.words == ("not checked yet", "not checked yet")
    assert program.places.runs in Path(window.options.folder.text()).parents
    assert window.table.model_.rowCount() == 8
    # The main window says where the others are.
    assert "Run whole study" in [button.text() for button in program.window.bar.buttons]


def check_cost(program: Marginscope, window: StudyWindow, qtbot: QtBot) -> None:
    click(window.options.estimate)
    qtbot.waitUntil(lambda: not program.studies.runner.cost.busy)
    assert "About" in window.options.count.text()
    assert "on 1 core" in window.options.count.text()


def check_wrong_address(
    program: Marginscope, window: StudyWindow, qtbot: QtBot, address: str, words: str
) -> None:
    """A sentence says what is wrong; then cells are to run on this computer again."""
    window.options.place.setFocus()
    QTest.keyClick(window.options.place, Qt.Key.Key_Down)
    assert window.options.cluster.isVisible()
    assert not window.options.jobs.isVisible()
    window.options.cluster.setFocus()
    QTest.keyClicks(window.options.cluster, f"{address}\t")
    qtbot.waitUntil(lambda: not program.studies.runner.reader.busy)
    if address:
        click(window.progress.run)
        qtbot.waitUntil(finished(program))
        assert words in window.bar.text
        assert not window.bar.text.startswith("--")
        assert program.studies.stored_options[0] == address
    else:
        qtbot.waitUntil(lambda: window.options.problem.text() == words)
        assert not window.progress.run.isEnabled()
    window.options.place.setFocus()
    QTest.keyClick(window.options.place, Qt.Key.Key_Up)
    qtbot.waitUntil(finished(program))
    qtbot.waitUntil(lambda: not program.studies.runner.reader.busy)


def check_wrong_folder(
    program: Marginscope, window: StudyWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    window.options.folder.setFocus()
    window.options.folder.selectAll()
    QTest.keyClicks(window.options.folder, f"{tmp_path / 'file'}\t")
    qtbot.waitUntil(lambda: not program.studies.runner.reader.busy)
    if window.progress.run.isEnabled():
        click(window.progress.run)
        qtbot.waitUntil(finished(program))
        assert "file" in window.bar.text
        assert "Traceback" not in window.bar.text
    window.options.folder.selectAll()
    window.options.folder.setFocus()
    QTest.keyClick(window.options.folder, Qt.Key.Key_Delete)
    QTest.keyClick(window.options.folder, Qt.Key.Key_Tab)
    assert "folder" in window.options.problem.text()
    assert not window.progress.run.isEnabled()


def check_folder_of_edited_study(program: Marginscope, window: StudyWindow, qtbot: QtBot) -> None:
    """The folder is named after the study and its size, and after its text where it was edited."""
    chooser = window.options.chooser
    chooser.box.setFocus()
    QTest.keyClicks(chooser.box, load_study("wei19-figure-1").title)
    qtbot.waitUntil(lambda: not program.studies.runner.reader.busy)
    assert Path(window.options.folder.text()).name == "wei19-figure-1__quick"
    window.options.size_choice.setFocus()
    QTest.keyClick(window.options.size_choice, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: not program.studies.runner.reader.busy)
    assert Path(window.options.folder.text()).name == "wei19-figure-1__paper"
    edited = load_study("wei19-figure-1").with_value("data.d", 24)
    program.studies.runner.adopt(edited)
    qtbot.waitUntil(lambda: not program.studies.runner.reader.busy)
    name = Path(window.options.folder.text()).name
    assert name.startswith("wei19-figure-1__")
    assert name != "wei19-figure-1__paper"
    assert window.options.size_name is None


@pytest.mark.usefixtures("restyles")
def test_a_study_is_run_and_looked_at(
    open_program: Opener,
    qtbot: QtBot,
    whole: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    subtests: pytest.Subtests,
) -> None:
    """In one window; two processes run its cells, and another one draws its figure."""
    program = begun(open_program, whole, qtbot)
    done = opened(program, qtbot, jobs=2)
    seen = watched(done)
    click(done.progress.run)
    assert program.studies.busy
    assert not done.options.size_choice.isEnabled()
    qtbot.waitUntil(finished(program))
    with subtests.test("cells run in two processes"):
        first = next(shown for shown in seen if "running" in shown)
        assert first.count("running") == 2
        assert "running" not in states(done)
        check_order(seen)
        assert "" not in {row.worker for row in program.studies.runner.worker.latest.rows.values()}
    with subtests.test("every cell is shown and judged"):
        check_cells(done, whole)
    with subtests.test("a figure that nobody waits for"):
        give_up_figure(program)
    with subtests.test("figure and tables are saved"):
        save_figure_and_table(program, done, qtbot, monkeypatch, tmp_path)
    with subtests.test("another size"):
        resize_figure(program, done, qtbot)
    with subtests.test("another palette"):
        click_on(program, "dark")
        qtbot.waitUntil(lambda: done.picture.image.pixelColor(0, 0) == QColor(DARK.background))
        qtbot.waitUntil(finished(program))
    with subtests.test("a row"):
        open_a_row(program, done, qtbot)
    with subtests.test("a point of one run"):
        open_a_single_run(program, done, qtbot)
    with subtests.test("a point of several"):
        choose_a_run_of_a_point(program, done, qtbot)
    with subtests.test("cells that fail"):
        fail_cells(program, tmp_path, qtbot)
    with subtests.test("another study takes no verdicts of the one before"):
        adopt_another(program, done, qtbot)


def check_cells(done: StudyWindow, whole: Path) -> None:
    study = load_study(str(whole))
    folder = Path(done.options.folder.text())
    paths, rows = ledger_rows(study, folder)
    assert sorted(rows) == sorted(cell.name for cell in study.cells())
    assert done.progress.words.text() == ALL_DONE
    assert not done.progress.run.isEnabled()
    judged = judge(study, trials_of(study, rows, paths), None)
    assert done.claims.words == tuple(one.verdict for one in judged) == ("confirmed", "refuted")
    (line,) = done.plot.shown.lines
    margins: dict[int, list[float]] = {}
    for cell in study.cells():
        with open_run(paths[cell.name]) as run:
            value = OBSERVABLES["hard_margin"].value_at(run, run.frames - 1)
            margins.setdefault(cell.values["data.n"], []).append(float(value))
    np.testing.assert_allclose(line.x, [8, 16, 24])
    np.testing.assert_allclose(line.mean, [np.mean(margins[n]) for n in (8, 16, 24)])
    sd = [np.std(margins[n], ddof=1) for n in (8, 16, 24)]
    np.testing.assert_allclose(0.5 * (line.high - line.low), sd)
    assert not done.picture.image.isNull()
    assert done.picture.image.pixelColor(0, 0) == QColor("#ffffff")


def resize_figure(program: Marginscope, done: StudyWindow, qtbot: QtBot) -> None:
    """The figure of a study that rests follows its window."""
    display, before = program.studies.runner.display, done.picture.image.width()
    assert before == done.picture.pixels_wide()
    done.picture.resized.emit()
    assert display.idle  # it is as wide as before
    done.resize(done.width() + 200, done.height())
    qtbot.waitUntil(lambda: not display.idle)
    assert display._draw.interval() == study_display.RESIZED_MS
    qtbot.waitUntil(lambda: display.idle)
    assert before < done.picture.image.width() == done.picture.pixels_wide()


def choose_a_run_of_a_point(program: Marginscope, done: StudyWindow, qtbot: QtBot) -> None:
    axis = done.axes.axis
    axis.setFocus()
    QTest.keyClick(axis, Qt.Key.Key_Up)
    assert done.axes.axis_name == "data.n"
    done.tabs.setCurrentIndex(1)
    qtbot.waitUntil(lambda: done.plot.isVisible())
    (line,) = done.plot.shown.lines
    point = line.points[1]
    place = done.plot.plot.pixels(np.array([[line.x[1], line.mean[1]]]))[0]
    spot = QPoint(round(place[0]), round(place[1]))
    QTest.mouseMove(done.plot.plot.viewport(), spot)
    QTest.mouseClick(done.plot.plot.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    menu = done.plot.menu
    qtbot.waitUntil(menu.isVisible)
    assert [action.data() for action in menu.actions()] == [
        str(run.path) for run in sorted(point.runs, key=lambda run: run.value)
    ]
    QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    wanted = Path(menu.actions()[0].data())
    qtbot.waitUntil(lambda: [run.path for run in program.session] == [wanted])
    assert "over 2 runs" in done.plot.tip_of(point)
    QTest.keyClick(
        program.window, Qt.Key.Key_F7
    )  # the form has the run's settings now, not a study's
    assert "A study of six" in done.windowTitle()


def open_a_single_run(program: Marginscope, done: StudyWindow, qtbot: QtBot) -> None:
    done.tabs.setCurrentIndex(1)
    axis = done.axes.axis
    axis.setFocus()
    QTest.keyClick(axis, Qt.Key.Key_Down)
    assert done.axes.axis_name == "run.seed"
    assert len(done.plot.shown.lines) == 3
    line = done.plot.shown.lines[2]
    place = done.plot.plot.pixels(np.array([[line.x[0], line.mean[0]]]))[0]
    spot = QPoint(round(place[0]), round(place[1]))
    QTest.mouseClick(done.plot.plot.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    qtbot.waitUntil(lambda: [run.path for run in program.session] == [line.points[0].runs[0].path])
    assert not done.plot.menu.isVisible()


def open_a_row(program: Marginscope, done: StudyWindow, qtbot: QtBot) -> None:
    done.tabs.setCurrentIndex(2)
    table = done.table
    table.sortByColumn(0, Qt.SortOrder.DescendingOrder)
    index = table.model().index(0, 0)
    assert table.model().data(index) == "24"
    table.setCurrentIndex(index)
    QTest.keyClick(table, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(program.session) == 1)
    (run,) = program.session
    assert "data.n=24" in run.path.name


def save_figure_and_table(
    program: Marginscope,
    done: StudyWindow,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    export = program.studies.runner.display.export
    click(done.figure)
    export.dialog.form.format.setCurrentIndex(1)
    export.dialog.form.choose_preset("one column")
    export.dialog.path.setText(str(tmp_path / "f.svg"))
    export.dialog.path.textEdited.emit(str(tmp_path / "f.svg"))
    click(export.dialog.copy)
    words = shlex.split(QGuiApplication.clipboard().text())
    with qtbot.waitSignal(export.finished):
        click(export.dialog.save)
    words[words.index("--out") + 1] = str(tmp_path / "again.svg")
    assert main([*words[3:], "--quiet"]) == 0
    assert (tmp_path / "again.svg").read_bytes() == (tmp_path / "f.svg").read_bytes()
    for name, button in (("t.csv", done.numbers), ("t", done.numbers)):
        answer = (str(tmp_path / name), "NPZ (*.npz)")
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, answer=answer: answer)
        click(button)
        qtbot.waitUntil(lambda: not program.studies.runner.display.export.busy)
    figure = (tmp_path / "f.svg").read_text()
    assert "A study of six" in figure and 'width="240.94' in figure  # 85 mm in points
    with (tmp_path / "t.csv").open() as file:
        read = list(csv.DictReader(file))
    assert [row["data.n"] for row in read] == ["8", "8", "16", "16", "24", "24"]
    with np.load(tmp_path / "t.npz") as arrays:
        assert arrays["hard_margin"].tolist() == [float(row["hard_margin"]) for row in read]
    answer = (str(tmp_path / "m"), "Means over seeds, CSV (*.csv)")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, answer=answer: answer)
    click(done.numbers)
    qtbot.waitUntil(lambda: not program.studies.runner.display.export.busy)
    with (tmp_path / "m.csv").open() as file:
        means = [float(row["hard_margin_mean"]) for row in csv.DictReader(file)]
    np.testing.assert_allclose(means, done.plot.shown.lines[0].mean, rtol=1e-15)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "t.doc"), ""))
    click(done.numbers)
    qtbot.waitUntil(lambda: not program.studies.runner.display.export.busy)
    assert "ends in .csv" in done.bar.text
    assert "--" not in done.bar.text


# ------------------------------------------------------------------------ held, cancelled, resumed


@pytest.fixture
def long(open_program: Opener, tmp_path: Path, qtbot: QtBot) -> Marginscope:
    """Open a study of six cells of about half a second each; the first ones take longer."""
    path = tmp_path / "long.toml"
    path.write_text(text_of(4.8, [64, 20, 16]))
    return begun(open_program, path, qtbot)


def some(program: Marginscope) -> Callable[[], bool]:
    """Return True if some cells are done, and not all."""

    def are_done() -> bool:
        status = program.studies.runner.worker.control.status
        return 0 < status.done < status.total

    return are_done


def states(window: StudyWindow) -> list[str]:
    model = window.table.model_
    names = [model.headerData(k, Qt.Orientation.Horizontal) for k in range(model.columnCount())]
    column = names.index("state")
    return [str(model.index(row, column).data()) for row in range(model.rowCount())]


def watched(window: StudyWindow) -> list[list[str]]:
    """Return a list that collects the states of all cells after each change of the table."""
    assert states(window) == ["waiting"] * 6
    seen: list[list[str]] = []
    window.table.model_.dataChanged.connect(lambda: seen.append(states(window)))
    return seen


def check_order(seen: list[list[str]]) -> None:
    """Every cell waits, then runs, then is done."""
    order = ["waiting", "running", "done"]
    for cell in zip(*seen, strict=True):
        assert sorted(cell, key=order.index) == list(cell)


def test_a_study_is_held_cancelled_and_goes_on_where_it_stopped(
    long: Marginscope, qtbot: QtBot, subtests: pytest.Subtests
) -> None:
    window = opened(long, qtbot)
    seen = watched(window)
    click(window.progress.run)
    qtbot.waitUntil(lambda: any("done" in shown for shown in seen))
    with subtests.test("cells that run are not called waiting"):
        assert max(shown.count("running") for shown in seen) <= 2  # one, and one whose row is due
        first = next(shown for shown in seen if "running" in shown)
        assert first.index("running") == 0  # before any is done
        check_order(seen)
    with subtests.test("held"):
        hold(long, window, qtbot)
    click(window.progress.cancel)
    qtbot.waitUntil(finished(long))
    with subtests.test("cancelled"):
        assert "running" not in states(window)
        assert window.progress.pause.text() == "Pause"
        assert window.progress.run.text() == CONTINUE
        assert "so far" in window.claims.note.text()
    with subtests.test("gone on with"):
        go_on(long, window, qtbot)


def hold(long: Marginscope, window: StudyWindow, qtbot: QtBot) -> None:
    """Pause for longer than a cell takes."""
    click(window.progress.pause)
    assert window.progress.pause.text() == "Resume"
    assert "paused" in window.progress.words.text()
    control = long.studies.runner.worker.control
    qtbot.wait(300)
    before = control.status.done
    qtbot.wait(900)
    assert control.status.done == before
    click(window.progress.pause)
    qtbot.waitUntil(lambda: control.status.done > before)


def go_on(long: Marginscope, window: StudyWindow, qtbot: QtBot) -> None:
    """Run the cells that are left, and no other."""
    folder = Path(window.options.folder.text())
    ledger = json.loads(next(folder.glob("*.sweep.json")).read_text())
    kept = [name for name, cell in ledger["cells"].items() if cell["state"] == "done"]
    assert 0 < len(kept) < 6
    times = {name: (folder / f"long__{name}.msrun").stat().st_mtime_ns for name in kept}
    click(window.progress.run)
    qtbot.waitUntil(finished(long))
    assert window.progress.words.text() == ALL_DONE
    assert times == {name: (folder / f"long__{name}.msrun").stat().st_mtime_ns for name in kept}


def test_a_hidden_study_goes_on_and_closing_asks(long: Marginscope, qtbot: QtBot) -> None:
    window = opened(long, qtbot)
    click(window.progress.run)
    qtbot.waitUntil(some(long))
    window.close()
    qtbot.waitUntil(lambda: "of 6 runs" in long.window.status.text)
    press_in_box(CONTINUE_RUNNING)
    assert not long.window.close()
    assert long.studies.busy
    press_in_box(STOP)
    assert long.window.close()
    assert not long.studies.busy
    assert '"jobs": 1' in long.places.settings.read_text()


# -------------------------------------------------------------------------------- wrong input


def fail_cells(program: Marginscope, tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "failing.toml"
    path.write_text(text_of(0.5, [16, 1]))
    program.files.open_files([str(path)])
    qtbot.waitUntil(lambda: not program.session.live and bool(program.session))
    program.window.activateWindow()
    qtbot.waitUntil(program.window.isActiveWindow)
    window = opened(program, qtbot)
    click(window.progress.run)
    qtbot.waitUntil(finished(program))
    assert "2 runs failed. First failure: " in window.bar.text
    assert "a study needs both classes" in window.bar.text
    assert window.progress.run.text() == AGAIN
    table = window.table.model()
    states = [table.data(table.index(row, 2)) for row in range(4)]
    assert states == ["done", "done", "failed", "failed"]
    why = table.data(table.index(3, table.columnCount() - 1))
    assert "a study needs both classes" in why


def adopt_another(program: Marginscope, done: StudyWindow, qtbot: QtBot) -> None:
    runner = program.studies.runner
    runner.display.show_runs(runner.shown.runs, resting=True)  # judged once more
    runner.adopt(load_study("wei19-figure-1"))
    qtbot.waitUntil(finished(program))
    qtbot.waitUntil(lambda: not program.studies.runner.reader.busy)
    qtbot.waitUntil(finished(program))
    assert set(done.claims.words) == {"not checked yet"}
    assert done.picture.image.isNull()
    assert "Wei et al." in done.windowTitle()


def test_an_error_of_ours_is_a_sentence(qtbot: QtBot) -> None:
    worker = StudyWorker("study", run_sweep)
    with qtbot.waitSignal(worker.finished) as signal:
        worker.start(object())
    assert signal.args == [OUR_ERROR.format(what="study")]
    worker.close()


def test_no_menu_stays_open() -> None:
    assert not [w for w in QApplication.topLevelWidgets() if isinstance(w, QMenu) and w.isVisible()]


def give_up_figure(program: Marginscope) -> None:
    runs = program.studies.runner.shown.runs
    silent = {name: replace(row, bytes=0) for name, row in runs.rows.items()}  # of other files
    request = Request(None, (), print)
    request.cancel()
    with pytest.raises(InputError, match="no longer needed"):
        figure_drawn(request, replace(runs, rows=silent), "light", 400, FigureProcess())
