"""What is taken away is what the window shows: views, zoom, pins, moment, interval."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QSize, QStandardPaths, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.export.jobs import open_run_files
from app.export.pictures import FigureJob, FilmJob, complete_job
from app.shell.application import Marginscope
from app.state.resolve import span_of
from core.figures.film import save_film
from tests.app.mouse import keys, pick, pixel, wheel

CTRL, LEFT = Qt.KeyboardModifier.ControlModifier, Qt.MouseButton.LeftButton


@pytest.fixture(autouse=True)
def documents(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(QStandardPaths, "writableLocation", lambda place: str(tmp_path))


def held(program: Marginscope, share: float) -> None:
    span = span_of(program.session.snapshot())
    program.display.update_intent(playing=False, cursor=span.moment(share))


def test_a_figure_of_the_window_has_its_views_zoom_pins_and_moment(
    program: Marginscope, qtbot: QtBot
) -> None:
    held(program, 0.5)
    run = next(iter(program.session))
    program.display.update_intent(views=("norms", "curves"), pinned=frozenset({(run.key, 3)}))
    qtbot.waitUntil(lambda: program.display.panels[0].names == ("norms", "curves"))
    plot = program.display.panels[0].view("norms").plot
    wheel(plot, pixel(plot, 0.5, 0.5), 3)
    qtbot.waitUntil(lambda: plot.zoom is not None)
    keys(qtbot, program.window, Qt.Key.Key_E, CTRL)
    dialog = program.export.dialog
    QTest.keyClick(dialog.form.ranges, Qt.Key.Key_Space)
    assert dialog.form.ranges.isChecked() and dialog.form.moment.isChecked()
    job = dialog.job()
    assert isinstance(job, FigureJob)
    whole = complete_job(job, program.export._snapshot())
    assert isinstance(whole, FigureJob)
    assert whole.panels == ("norms", "curves") and whole.options.view.pinned[0] == {3}
    (mine,) = [one for one in whole.options.view.regions if (one.row, one.panel) == (0, "norms")]
    shown = plot.visible_range()
    assert (mine.left, mine.right) == (shown.left(), shown.right())
    assert (mine.bottom, mine.top) == (shown.top(), shown.bottom())
    frame = program.display.view.runs[0].frame
    scene = whole.scene()
    data = run.data
    assert data is not None and whole.until is not None
    assert 0 < frame < data.frames - 1
    curves = next(panel for panel in scene.panels if panel.kind == "curves")
    # As on the screen: the whole curves faint, and over them the part up to the moment.
    lengths = [curve.x.shape[1] for curve in curves.ink.curves]
    half = len(lengths) // 2
    assert lengths == half * [data.frames] + half * [frame + 1]
    assert all((curve.colours[:, 3] < 100).all() for curve in curves.ink.curves[:half])
    QTest.keyClick(dialog.form.rest, Qt.Key.Key_Space)
    bare = dialog.job()
    assert isinstance(bare, FigureJob) and not bare.rest
    panels = complete_job(bare, program.export._snapshot()).scene().panels
    curves = next(panel for panel in panels if panel.kind == "curves")
    assert [curve.x.shape[1] for curve in curves.ink.curves] == half * [frame + 1]
    QTest.keyClick(dialog.form.moment, Qt.Key.Key_Space)
    assert not dialog.form.rest.isEnabled()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)


def test_at_the_end_there_is_no_moment_to_choose(
    program: Marginscope, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dialog also fits on a small screen."""
    monkeypatch.setattr("app.widgets.screen_room.room_of", lambda window: QSize(1024, 608))
    held(program, 1.0)
    keys(qtbot, program.window, Qt.Key.Key_E, CTRL)
    dialog = program.export.dialog
    assert not dialog.form.moment.isEnabled() and not dialog.form.moment.isChecked()
    assert dialog.width() <= 1024 and dialog.height() <= 640
    QTest.keyClick(dialog, Qt.Key.Key_Escape)


def test_the_loop_is_the_interval_of_a_film(program: Marginscope, qtbot: QtBot) -> None:
    for share, key in ((0.3, Qt.Key.Key_I), (0.6, Qt.Key.Key_O)):
        held(program, share)
        qtbot.waitUntil(lambda: not program.display.intent.playing)
        keys(qtbot, program.window, key, Qt.KeyboardModifier.NoModifier)
    qtbot.waitUntil(lambda: program.display.intent.interval is not None)
    keys(qtbot, program.window, Qt.Key.Key_E, CTRL | Qt.KeyboardModifier.ShiftModifier)
    dialog = program.export.dialog
    QTest.mouseClick(dialog.copy, LEFT)
    words = shlex.split(QGuiApplication.clipboard().text())
    since, until = (words[words.index(name) + 1] for name in ("--since", "--until"))
    assert since.startswith("10^") and until.startswith("10^")
    assert float(since[3:]) < float(until[3:])
    assert dialog.height() <= 640
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    QGuiApplication.clipboard().clear()


def test_a_film_shows_the_open_views(program: Marginscope, qtbot: QtBot, tmp_path: Path) -> None:
    """Up to four of them: of more the dialog says what to do."""
    program.display.update_intent(playing=False, views=("spectrum", "margins", "curves"))
    qtbot.waitUntil(lambda: len(program.display.panels[0].names) == 3)
    shift = CTRL | Qt.KeyboardModifier.ShiftModifier
    keys(qtbot, program.window, Qt.Key.Key_E, shift)
    dialog = program.export.dialog
    assert dialog.form.panel.currentText() == "neurons"
    QTest.keyClick(dialog.form.panel, Qt.Key.Key_End)
    assert not dialog.form.range.isEnabled()  # no nodes are shown
    job = dialog.job()
    assert isinstance(job, FilmJob)
    assert job.panel.split(",") == list(program.display.panels[0].names)
    short = complete_job(
        replace(job, path=tmp_path / "film.gif", seconds=0.2, size=(640, 480)),
        program.export._snapshot(),
    )
    # Drawn here: tests.app.shell.test_films_beside has it drawn by another process.
    with open_run_files(short.runs) as runs:
        assert save_film(runs, short.path, short.options, **short.film_arguments())
    assert (tmp_path / "film.gif").stat().st_size > 0
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    program.display.update_intent(views=("neurons", "rotations", "norms", "margins", "curves"))
    qtbot.waitUntil(lambda: len(program.display.panels[0].names) == 5)
    keys(qtbot, program.window, Qt.Key.Key_E, shift)
    dialog = program.export.dialog
    QTest.keyClick(dialog.form.panel, Qt.Key.Key_End)
    assert "at most 4 panels, but 5 are given" in dialog.problem.text()
    assert not dialog.save.isEnabled()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)


def test_bibtex_of_what_is_shown_is_copied_from_the_menu(
    program: Marginscope, qtbot: QtBot
) -> None:
    pick(qtbot, program.window, "File", "Copy BibTeX")
    text = QGuiApplication.clipboard().text()
    assert "@misc{marginscope," in text
    QGuiApplication.clipboard().clear()
