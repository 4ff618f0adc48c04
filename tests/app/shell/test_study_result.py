"""Drawer of a study's shipped result: its figure and verdicts, and runs that its points open."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QBuffer, QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from app.state.session import MOST_RUNS
from app.study.result import NONE_SHIPPED
from app.study.result_drawer import HINT, LINE_HINT
from app.training.studies import shipped_study_of
from app.widgets.study_picture import StudyPicture
from core.figures.palette import LIGHT
from core.studies.changes import is_derived_title
from core.studies.study import load_study
from tests.app.shell.conftest import Opener, trained

STUDY = "batchnorm-dyadic"
LEFT = Qt.MouseButton.LeftButton


def figure_shown(program: Marginscope) -> bool:
    return not program.window.result.picture.image.isNull()


def stop_training(program: Marginscope, qtbot: QtBot) -> None:
    """Stop the runs of a shipped study, whose ends a test does not need, at their first frames."""
    qtbot.waitUntil(lambda: any(run.data is not None for run in program.session))
    program.training.stop()
    qtbot.waitUntil(lambda: not program.session.live)


def spot_number(program: Marginscope, name: str) -> int:
    figure = program.result.shown
    assert figure is not None
    return next(k for k, spot in enumerate(figure.spots) if spot.name == name)


def click_spot(program: Marginscope, name: str) -> None:
    picture = program.window.result.picture
    place = picture.place_of(spot_number(program, name))
    picture.ensureVisible(place.x(), place.y())
    QTest.mouseMove(picture.canvas, place + QPoint(1, 0))
    QTest.mouseClick(picture.canvas, LEFT, pos=place)


def test_a_chosen_study_shows_its_figure_whose_points_open_runs(
    open_program: Opener, qtbot: QtBot
) -> None:
    program = open_program("telgarsky22-lemma-2-4-room")
    window = program.window
    stop_training(program, qtbot)
    assert not window.result.isVisible()  # opened by its name: nothing was chosen
    window.chooser.chosen.emit(STUDY)
    assert program.actions["result"].isChecked() and window.result.isVisible()
    qtbot.waitUntil(lambda: figure_shown(program) and trained(program))
    assert window.result.claims.words and "confirmed" in window.result.claims.words
    figure = program.result.shown
    assert figure is not None and len(figure.spots) >= 10
    opened = len(program.session)
    taken = {run.path.stem.split("__2")[0] for run in program.session}
    other = next(one.name for one in figure.spots if f"{STUDY}__{one.name}" not in taken)
    click_spot(program, other)
    qtbot.waitUntil(lambda: len(program.session) == opened + 1 and trained(program))
    added = list(program.session)[-1]
    assert added.path.stem.startswith(f"{STUDY}__{other}__")
    click_spot(program, other)  # is shown, and not trained a second time
    assert len(program.session) == opened + 1 <= MOST_RUNS
    assert program.display.current is added


@pytest.mark.usefixtures("restyles")
def test_the_figure_follows_the_colours_and_the_room(open_program: Opener, qtbot: QtBot) -> None:
    program = open_program(STUDY)
    program.actions["result"].trigger()
    stop_training(program, qtbot)
    qtbot.waitUntil(lambda: figure_shown(program))
    picture = program.window.result.picture
    light, wide = picture.image.pixelColor(2, 2), picture.image.width()
    program.actions["dark"].trigger()
    qtbot.waitUntil(lambda: picture.image.pixelColor(2, 2) != light)
    columns = program.window.columns
    columns.setSizes([560, columns.width() - 560])
    qtbot.waitUntil(lambda: picture.image.width() > wide)
    program.actions["dark"].trigger()
    run = next(iter(program.session))
    program.files.open_files([str(run.path)])  # as any run of the study does
    qtbot.waitUntil(lambda: program.result.shown is not None)
    assert picture.words != NONE_SHIPPED and program.window.result.claims.words
    assert program.result.shown and program.result.shown.result.runs > 1


def test_a_figure_of_curves_alone_offers_its_curves(open_program: Opener, qtbot: QtBot) -> None:
    """It said "Click a point", and had none."""
    program = open_program("tsilivis25-sampled-parity")
    program.actions["result"].trigger()
    stop_training(program, qtbot)
    qtbot.waitUntil(lambda: figure_shown(program))
    assert program.window.result.hint.text() == LINE_HINT
    assert HINT != LINE_HINT


def test_a_study_of_ones_own_has_claims_and_no_figure(program: Marginscope) -> None:
    program.actions["result"].trigger()
    QApplication.processEvents()
    drawer = program.window.result
    assert drawer.isVisible() and drawer.picture.words == NONE_SHIPPED
    assert drawer.title.text() == "A small study"
    assert not drawer.hint.isVisible()


def test_a_drawer_that_is_open_stays(program: Marginscope) -> None:
    program.actions["form"].trigger()
    program.training.offer(STUDY)
    program.result.offer()
    assert program.actions["form"].isChecked() and not program.actions["result"].isChecked()


def test_a_study_without_a_figure_shows_its_verdicts(open_program: Opener, qtbot: QtBot) -> None:
    program = open_program("telgarsky22-figure-1")
    stop_training(program, qtbot)
    program.actions["result"].trigger()
    drawer = program.window.result
    qtbot.waitUntil(lambda: "confirmed" in drawer.claims.words)
    assert "not checked yet" not in drawer.claims.words and not drawer.picture.isVisible()


def test_runs_with_a_title_of_an_older_version_belong_to_their_study() -> None:
    """Titles said node where they say neuron now."""
    for name in ("morwani24-width", "boursier25-alignment-times"):
        study = load_study(name)
        old = replace(study, id="recorded", title=study.title.replace("neurons", "nodes"))
        assert old.title != study.title
        assert shipped_study_of(old).id == name
        assert is_derived_title(f"m = 8 \u00b7 after {old.title}", study.title)
    assert shipped_study_of(replace(old, title="nodes of somebody")).id == "recorded"


def test_the_scroll_bar_of_a_high_figure_does_not_draw_it_again(qtbot: QtBot) -> None:
    """It narrowed the room by 8 pixels, for which the figure was drawn a second time."""
    picture = StudyPicture(LIGHT)
    qtbot.addWidget(picture)
    picture.resize(400, 300)
    picture.show()
    before = picture.pixels_wide()
    image = QImage(before, 4 * before, QImage.Format.Format_RGB32)
    data = QBuffer()
    image.save(data, "PNG")
    picture.show_png(bytes(data.data().data()))
    qtbot.waitUntil(picture.verticalScrollBar().isVisible)
    assert picture.pixels_wide() == before == picture.image.width()
    assert before < picture.viewport().width()
