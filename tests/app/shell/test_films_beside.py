"""Films from the window: another process draws them, and ends with what asked for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QStandardPaths, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.application import Marginscope
from app.controllers.export import CANCELLED
from app.panels.export_dialogs import FilmDialog
from app.state.exports import FilmJob
from core.compiled import beside
from marginscope._files.machine import machine_name
from tests.app.mouse import keys, pixel, wheel
from tests.app.shell.conftest import Opener
from tests.processes import starts

CTRL, LEFT = Qt.KeyboardModifier.ControlModifier, Qt.MouseButton.LeftButton
SHIFT = CTRL | Qt.KeyboardModifier.ShiftModifier


@pytest.fixture(autouse=True)
def films(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where films are saved."""
    folder = tmp_path / "films"
    folder.mkdir()
    monkeypatch.setattr(QStandardPaths, "writableLocation", lambda place: str(folder))
    return folder


# Stands for the process where a test is about the window: a film that takes longer than a test,
# with the file that it has begun as its first answer.
DRAWS = """
import json, os, pathlib, sys
path = pathlib.Path(json.loads(sys.stdin.readline())["path"])
place = path.with_name(f".{path.name}.%s-{os.getpid()}-01234567.part{path.suffix}")
place.touch()
print('{"done": 1, "of": 6000}', flush=True)
sys.stdin.read()
place.unlink()
"""


@pytest.fixture
def drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Films are those of DRAWS, which neither end nor cost anything."""
    command = [sys.executable, "-S", "-c", DRAWS % machine_name()]
    monkeypatch.setattr(beside, "headless", lambda name: [*command, name])


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[str]]:
    """Every process that was started for a film."""
    return starts(monkeypatch, "draw-film")


def asked(program: Marginscope, qtbot: QtBot, seconds: float, suffix: str = ".gif") -> FilmJob:
    """Ask for a film of the margins by keys and press Save; the job as it is done."""
    keys(qtbot, program.window, Qt.Key.Key_E, SHIFT)
    dialog = program.export.dialog
    assert isinstance(dialog, FilmDialog)
    dialog.panel.setCurrentIndex(dialog.panel.findData("margins"))
    dialog.format.setCurrentIndex([".gif", ".webp"].index(suffix))
    dialog.seconds.setValue(seconds)
    QTest.mouseClick(dialog.save, LEFT)
    job = program.export._job
    assert isinstance(job, FilmJob)
    return job


def test_a_film_of_the_window_is_drawn_by_another_process(
    program: Marginscope, qtbot: QtBot, films: Path, started
) -> None:
    """With zoom, pins, bounds and reference margins, as it would be drawn here."""
    run = next(iter(program.session))
    known = program.theory.known
    qtbot.waitUntil(lambda: bool(known(run.key).margins) and bool(known(run.key).judgement))
    program.display.ask(playing=False, views=("margins",), pinned=frozenset({(run.key, 3)}))
    qtbot.waitUntil(lambda: program.display.slots[0].panel.names == ("margins",))
    plot = program.display.slots[0].panel.view("margins").plot
    wheel(plot, pixel(plot, 0.5, 0.5), 3)
    qtbot.waitUntil(lambda: plot.zoom is not None)
    with qtbot.waitSignal(program.export.finished) as told:
        job = asked(program, qtbot, 0.2)
    assert told.args == [f"Saved {job.path}."] and list(films.iterdir()) == [job.path]
    assert any(job.references) and job.look.pinned[0] == {3} and job.path.parent == films
    (process,) = started
    assert process.returncode is not None
    here = job.request().model_copy(update={"path": films / "here.gif"})
    assert here.save(lambda done, total: None, bool)
    assert (films / "here.gif").read_bytes() == job.path.read_bytes()


@pytest.mark.usefixtures("drawing")
def test_cancelling_ends_the_process(
    program: Marginscope, qtbot: QtBot, films: Path, started
) -> None:
    with qtbot.waitSignal(program.export.worker.progress):
        asked(program, qtbot, 300.0, ".webp")
    (process,) = started
    assert process.poll() is None and list(films.iterdir())
    progress = program.export.progress
    assert progress is not None
    qtbot.waitUntil(progress.isVisible)
    assert progress.bar.maximum() == 6000
    with qtbot.waitSignal(program.export.finished) as told:
        QTest.mouseClick(progress.cancel, LEFT)
    assert told.args == [CANCELLED]
    assert process.returncode is not None and list(films.iterdir()) == []
    assert program.export.progress is None and not program.export.busy


@pytest.mark.usefixtures("own_window", "drawing")
def test_closing_the_window_ends_the_process(
    program: Marginscope, qtbot: QtBot, films: Path, started
) -> None:
    with qtbot.waitSignal(program.export.worker.progress):
        asked(program, qtbot, 300.0)
    assert list(films.iterdir())
    program.window.close()
    qtbot.waitUntil(lambda: started[0].returncode is not None)
    qtbot.waitUntil(lambda: not list(films.iterdir()))


@pytest.mark.usefixtures("drawing")
def test_a_process_that_is_ended_by_others_is_one_sentence(
    program: Marginscope, qtbot: QtBot, films: Path, started
) -> None:
    with qtbot.waitSignal(program.export.worker.progress):
        asked(program, qtbot, 300.0)
    assert list(films.iterdir())
    with qtbot.waitSignal(program.export.error) as told:
        started[0].kill()
    assert told.args[0].startswith("The film was not written, as the process that drew it was")
    assert told.args[0].endswith("or a smaller picture.")
    assert told.args[0] in program.window.bar.text and list(films.iterdir()) == []


def test_an_error_of_the_program_there_is_logged_here(
    program: Marginscope, qtbot: QtBot, films: Path, monkeypatch: pytest.MonkeyPatch, caplog
) -> None:
    code = 'import sys; sys.stdin.readline(); print(\'{"bug": "ZeroDivisionError there"}\')'
    monkeypatch.setattr(beside, "headless", lambda name: [sys.executable, "-S", "-c", code])
    with qtbot.waitSignal(program.export.error) as told:
        asked(program, qtbot, 1.0)
    assert "error in the program" in told.args[0]
    assert "ZeroDivisionError there" in caplog.text and list(films.iterdir()) == []


def test_a_film_of_a_run_that_is_still_trained(
    open_program: Opener, slow_study: Path, qtbot: QtBot, films: Path
) -> None:
    program = open_program(slow_study)
    program.display.ask(views=("margins",))
    qtbot.waitUntil(lambda: any(run.begun and run.data for run in program.session.live))
    program.actions["pause"].trigger()
    with qtbot.waitSignal(program.export.finished) as told:
        job = asked(program, qtbot, 0.2)
    assert told.args == [f"Saved {job.path}."] and list(films.iterdir()) == [job.path]
    assert program.session.live
