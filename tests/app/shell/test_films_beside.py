"""Films from the window: another process draws them, and ends with what asked for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QStandardPaths, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.export.controller import CANCELLED, PREVIEW_MS
from app.export.jobs import open_run_files
from app.export.pictures import FilmJob
from app.shell.application import Marginscope
from core.figures import export
from core.figures.film import save_film
from tests.app.mouse import keys, pixel, wheel
from tests.app.shell.conftest import Opener
from tests.processes import draw_for_long, fail, workers

CTRL, LEFT = Qt.KeyboardModifier.ControlModifier, Qt.MouseButton.LeftButton
SHIFT = CTRL | Qt.KeyboardModifier.ShiftModifier
NEVER = 1_000_000

pytestmark = pytest.mark.usefixtures("own_pen")


@pytest.fixture(autouse=True)
def films(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "films"
    folder.mkdir()
    monkeypatch.setattr(QStandardPaths, "writableLocation", lambda place: str(folder))
    monkeypatch.setattr(export.FigureProcess, "prestart", lambda process: None)
    return folder


@pytest.fixture
def drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let films take longer than a test, at no cost."""
    monkeypatch.setattr(export, "_save_film", draw_for_long)


def asked(program: Marginscope, qtbot: QtBot, seconds: float, suffix: str = ".gif") -> FilmJob:
    program.export._preview_timer.setInterval(NEVER)  # its process would be a second one
    keys(qtbot, program.window, Qt.Key.Key_E, SHIFT)
    dialog = program.export.dialog
    dialog.form.panel.setCurrentIndex(dialog.form.panel.findData("margins"))
    dialog.form.format.setCurrentIndex([".gif", ".webp"].index(suffix))
    dialog.form.seconds.setValue(seconds)
    QTest.mouseClick(dialog.save, LEFT)
    program.export._preview_timer.setInterval(PREVIEW_MS)
    job = program.export._job
    assert isinstance(job, FilmJob)
    return job


def test_a_film_of_the_window_is_drawn_by_another_process(
    program: Marginscope, qtbot: QtBot, films: Path
) -> None:
    """With zoom, pins, bounds and reference margins, as it would be drawn here."""
    run = next(iter(program.session))
    known = program.theory.results
    qtbot.waitUntil(lambda: bool(known(run.key).margins) and bool(known(run.key).judgement))
    program.display.update_intent(
        playing=False, views=("margins",), pinned=frozenset({(run.key, 3)})
    )
    qtbot.waitUntil(lambda: program.display.panels[0].names == ("margins",))
    plot = program.display.panels[0].view("margins").plot
    wheel(plot, pixel(plot, 0.5, 0.5), 3)
    qtbot.waitUntil(lambda: plot.zoom is not None)
    with qtbot.waitSignal(program.export.finished) as told:
        job = asked(program, qtbot, 0.2)
    assert told.args == [f"Saved {job.path}."] and list(films.iterdir()) == [job.path]
    assert (
        any(job.options.references)
        and job.options.view.pinned[0] == {3}
        and job.path.parent == films
    )
    assert not workers()
    with open_run_files(job.runs) as runs:
        assert save_film(runs, films / "here.gif", job.options, **job.film_arguments())
    assert (films / "here.gif").read_bytes() == job.path.read_bytes()


@pytest.mark.usefixtures("drawing")
def test_cancelling_ends_the_process(program: Marginscope, qtbot: QtBot, films: Path) -> None:
    with qtbot.waitSignal(program.export.worker.progress):
        asked(program, qtbot, 300.0, ".webp")
    assert workers() and list(films.iterdir())
    progress = program.export.progress
    qtbot.waitUntil(progress.isVisible)
    assert progress.bar.maximum() == 6000
    with qtbot.waitSignal(program.export.finished) as told:
        QTest.mouseClick(progress.cancel, LEFT)
    assert told.args == [CANCELLED]
    assert not workers() and list(films.iterdir()) == []
    assert program.export.progress is None and not program.export.busy


@pytest.mark.usefixtures("own_window", "drawing")
def test_closing_the_window_ends_the_process(
    program: Marginscope, qtbot: QtBot, films: Path
) -> None:
    with qtbot.waitSignal(program.export.worker.progress):
        asked(program, qtbot, 300.0)
    assert list(films.iterdir())
    program.window.close()
    qtbot.waitUntil(lambda: not workers() and not list(films.iterdir()))


@pytest.mark.usefixtures("drawing")
def test_a_process_that_is_ended_by_others_is_one_sentence(
    program: Marginscope, qtbot: QtBot, films: Path
) -> None:
    with qtbot.waitSignal(program.export.worker.progress):
        asked(program, qtbot, 300.0)
    assert list(films.iterdir())
    with qtbot.waitSignal(program.export.error) as told:
        workers()[0].kill()
    assert told.args[0].startswith("The film was not written: its worker process was killed")
    assert told.args[0].endswith("and try again.")
    assert told.args[0] in program.window.bar.text and list(films.iterdir()) == []


def test_an_error_of_the_program_there_is_logged_here(
    program: Marginscope, qtbot: QtBot, films: Path, monkeypatch: pytest.MonkeyPatch, caplog
) -> None:
    monkeypatch.setattr(export, "_save_film", fail)
    with qtbot.waitSignal(program.export.error) as told:
        asked(program, qtbot, 1.0)
    assert "internal error" in told.args[0]
    assert "ZeroDivisionError there" in caplog.text and list(films.iterdir()) == []


def test_a_film_of_a_run_that_is_still_trained(
    open_program: Opener, slow_study: Path, qtbot: QtBot, films: Path
) -> None:
    program = open_program(slow_study)
    program.display.update_intent(views=("margins",))
    qtbot.waitUntil(lambda: any(run.has_started and run.data for run in program.session.live))
    program.actions["pause"].trigger()
    with qtbot.waitSignal(program.export.finished) as told:
        job = asked(program, qtbot, 0.2)
    assert told.args == [f"Saved {job.path}."] and list(films.iterdir()) == [job.path]
    assert program.session.live
