"""Figures from the window: another process draws them, is kept for a while, and ends with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from PySide6.QtCore import QStandardPaths, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.export.controller import CANCELLED
from app.export.export_dialog import ExportDialog
from app.export.figure_form import FigureForm
from app.export.film_form import PageForm
from app.export.jobs import COPY_FORMATS
from app.export.pictures import CopyJob, _scene
from app.shell.application import Marginscope
from core.figures import draw, export, scene
from core.figures.export import figure_bytes
from core.figures.primitives import FigureScene
from core.processes import KillableProcess
from tests.app.mouse import keys
from tests.processes import fail, workers

CTRL, LEFT = Qt.KeyboardModifier.ControlModifier, Qt.MouseButton.LeftButton
DPI = 60.0  # of copies, which are drawn in an eighth of the time
SHIFT = CTRL | Qt.KeyboardModifier.ShiftModifier

pytestmark = pytest.mark.usefixtures("own_pen")


@pytest.fixture(autouse=True)
def figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where figures are saved; the window's own process draws none."""

    def refused(*_: object) -> NoReturn:
        raise AssertionError("the window draws a figure itself")

    folder = tmp_path / "figures"
    folder.mkdir()
    monkeypatch.setattr(QStandardPaths, "writableLocation", lambda place: str(folder))
    monkeypatch.setattr(draw, "draw_scene", refused)
    monkeypatch.setattr("app.export.pictures.COPY_DPI", DPI)
    return folder


def show_one_view(program: Marginscope, qtbot: QtBot) -> None:
    """Show the margins alone: figures of one view are drawn sooner."""
    program.display.update_intent(views=("margins",))
    qtbot.waitUntil(lambda: program.display.panels[0].names == ("margins",))


def dialog_of(program: Marginscope, qtbot: QtBot) -> ExportDialog:
    keys(qtbot, program.window, Qt.Key.Key_E, CTRL)
    dialog = program.export.dialog
    assert dialog is not None and isinstance(dialog.form, FigureForm)
    qtbot.waitUntil(lambda: not dialog.preview.image.isNull())
    # A preview that is given up takes the process along.
    qtbot.waitUntil(
        lambda: not (program.export._preview_timer.isActive() or program.export.waited_for())
    )
    return dialog


def test_a_copied_figure_is_drawn_by_another_process(
    program: Marginscope, qtbot: QtBot, monkeypatch
) -> None:
    show_one_view(program, qtbot)
    jobs: list[CopyJob] = []
    with qtbot.waitSignal(program.export.finished) as told:
        keys(qtbot, program.window, Qt.Key.Key_C, SHIFT)
        jobs.append(program.export._job)
    assert told.args == ["Figure copied."]
    assert len(workers()) == 1 and set(jobs[0].contents) == set(COPY_FORMATS.values())
    data = QGuiApplication.clipboard().mimeData()
    monkeypatch.undo()
    for suffix, media in COPY_FORMATS.items():
        assert bytes(data.data(media).data()) == figure_bytes(_scene(jobs[0]), suffix, DPI)


def test_a_process_is_kept_for_a_while(program: Marginscope, qtbot: QtBot, figures) -> None:
    """From the preview to the file and the next preview."""
    show_one_view(program, qtbot)
    dialog = dialog_of(program, qtbot)
    (process,) = workers()
    with qtbot.waitSignal(program.export.finished):
        QTest.mouseClick(dialog.save, LEFT)
    program.actions["page"].trigger()
    page = program.export.dialog
    assert page is not None and isinstance(page.form, PageForm)
    qtbot.waitUntil(lambda: not page.preview.image.isNull())
    page.reject()
    assert len(list(figures.iterdir())) == 1 and workers() == [process]
    qtbot.waitUntil(lambda: not program.export.waited_for())


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give figures very many panels, so that they take as long as the test waits."""
    build = scene.build_scene

    def built(*given: Any, **named: Any) -> FigureScene:
        made = build(*given, **named)
        return replace(made, panels=made.panels * 100)

    monkeypatch.setattr(scene, "build_scene", built)


@pytest.mark.usefixtures("many")
def test_cancelling_ends_the_process(program: Marginscope, qtbot: QtBot) -> None:
    keys(qtbot, program.window, Qt.Key.Key_C, SHIFT)
    progress = program.export.progress
    qtbot.waitUntil(lambda: progress.isVisible() and bool(workers()))
    with qtbot.waitSignal(program.export.finished) as told:
        QTest.mouseClick(progress.cancel, LEFT)
    assert told.args == [CANCELLED] and not workers()


@pytest.mark.usefixtures("many")
@pytest.mark.usefixtures("own_window")
def test_closing_the_window_ends_the_process(program: Marginscope, qtbot: QtBot) -> None:
    keys(qtbot, program.window, Qt.Key.Key_C, SHIFT)
    qtbot.waitUntil(lambda: bool(workers()))
    program.window.close()
    qtbot.waitUntil(lambda: not workers())


@pytest.mark.usefixtures("many")
def test_leaving_the_dialog_ends_a_preview(
    program: Marginscope, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted = []

    def submit(process: KillableProcess, function: Any, *given: Any) -> Any:
        future = real(process, function, *given)
        submitted.append(function)
        return future

    real = KillableProcess._submit
    monkeypatch.setattr(KillableProcess, "_submit", submit)
    keys(qtbot, program.window, Qt.Key.Key_E, CTRL)
    dialog = program.export.dialog
    assert dialog is not None
    # The prestart, then the preview: a process that draws nothing is kept for a while.
    qtbot.waitUntil(lambda: len(submitted) == 2)
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not workers())
    qtbot.waitUntil(lambda: not program.export.waited_for())


@pytest.mark.usefixtures("many")
def test_a_process_that_others_end_is_one_sentence(program: Marginscope, qtbot: QtBot) -> None:
    keys(qtbot, program.window, Qt.Key.Key_C, SHIFT)
    qtbot.waitUntil(lambda: bool(workers()))
    with qtbot.waitSignal(program.export.error) as told:
        workers()[0].kill()
    assert told.args[0].startswith("The figure was not written: its worker process was killed")
    assert told.args[0] in program.window.bar.text


def test_an_error_of_the_program_there_is_logged_here(
    program: Marginscope, qtbot: QtBot, monkeypatch, caplog
) -> None:
    monkeypatch.setattr(export, "figure_bytes", fail)
    with qtbot.waitSignal(program.export.error) as told:
        keys(qtbot, program.window, Qt.Key.Key_C, SHIFT)
    assert "internal error" in told.args[0] and "ZeroDivisionError there" in caplog.text
