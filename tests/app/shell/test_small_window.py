"""A window with little room: panels fold, the tool bar loses texts before buttons."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.actions import ROWS, TOOL_BAR, TOOL_BAR_RIGHT
from app.settings import load_settings
from app.shell.appearance import is_open
from app.shell.application import Marginscope
from app.shell.main_window import MainWindow
from app.study.window import StudyWindow
from app.widgets import screen_room
from app.widgets.screen_room import TITLE_BAR, room_of
from core.figures.palette import LIGHT
from tests.app.shell.conftest import Opener, trained


def panels(program: Marginscope) -> tuple[bool, bool]:
    window = program.window
    return window.form.isVisibleTo(window), window.side.isVisibleTo(window)


def resized(program: Marginscope, width: int) -> tuple[bool, bool]:
    program.window.resize(width, 640)
    assert program.window.width() == width
    return panels(program)


@pytest.mark.usefixtures("restyles")
def test_a_window_with_little_room(
    open_program: Opener, plain_study: Path, qtbot: QtBot, subtests: pytest.Subtests
) -> None:
    """In one window; a lecture is begun and ended once, and closing after a run asks nothing."""
    program = open_program(plain_study)
    qtbot.waitUntil(lambda: trained(program))
    with subtests.test("panels fold by themselves"):
        fold_panels(program)
    with subtests.test("tools that do not fit", width=800):
        check_what_does_not_fit(program, 800, qtbot)
    resized(program, 1280)
    size = QApplication.font().pointSizeF()
    qtbot.keyClick(program.window, Qt.Key.Key_F11)
    with subtests.test("no panels in a lecture"):
        assert panels(program) == (False, False)
        assert not program.window.status.isVisible()
        assert QApplication.font().pointSizeF() > size
        assert resized(program, 1000) == (False, False)
    for width in (1024, 1280):
        with subtests.test("tools that do not fit in a lecture", width=width):
            check_what_does_not_fit(program, width, qtbot)
    resized(program, 1000)
    qtbot.keyClick(program.window, Qt.Key.Key_F11)
    with subtests.test("a lecture leaves the panels as they were"):
        assert panels(program) == (True, False)  # as fits the width by now
        assert resized(program, 1280) == (True, True)
        assert QApplication.font().pointSizeF() == size
    qtbot.keyClick(program.window, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert program.window.close()
    assert '"palette": "dark"' in program.places.settings.read_text()


def fold_panels(program: Marginscope) -> None:
    assert panels(program) == (True, True)
    assert resized(program, 1100) == (True, True)
    assert resized(program, 1099) == (True, False)
    assert resized(program, 899) == (False, False)
    marks = [program.actions[key].isChecked() for key in ("form", "inspector")]
    assert marks == [False, False]
    assert resized(program, 1280) == (True, True)


def test_what_is_chosen_by_hand_stays_at_such_a_size(
    open_program: Opener, plain_study: Path
) -> None:
    program = open_program(plain_study)
    resized(program, 1000)
    program.actions["inspector"].trigger()
    assert panels(program) == (True, True)
    assert resized(program, 1024) == (True, True)
    assert resized(program, 1280) == (True, True)
    program.actions["form"].trigger()
    assert panels(program) == (False, True)
    assert resized(program, 1000) == (False, True)
    assert resized(program, 800) == (False, True)
    program.actions["form"].trigger()
    assert panels(program) == (True, True)
    assert resized(program, 1280) == (False, True)
    program.shut_down()
    settings, _ = load_settings(program.places.settings)
    assert (settings.form_shown, settings.form_small) == (False, True)
    assert (settings.inspector_shown, settings.inspector_small) == (True, True)
    again = open_program(plain_study)
    assert resized(again, 1280) == (False, True)


def test_what_was_folded_by_itself_was_not_chosen() -> None:
    assert is_open("form", 1000, {})
    assert not is_open("inspector", 1000, {("inspector", False): True})
    assert is_open("inspector", 1200, {("inspector", True): False})


# ------------------------------------------------------------------------------------ tool bar


def unreachable(program: Marginscope) -> set[str]:
    bar, rect = program.window.tools, program.window.tools.rect()
    hidden = set()
    for key in (*TOOL_BAR, *TOOL_BAR_RIGHT):
        button = bar.widgetForAction(program.actions[key]) if key in program.actions else None
        if button is not None and not (button.isVisible() and rect.contains(button.geometry())):
            hidden.add(key)
    return hidden


@pytest.mark.parametrize("width", [1024, 1100, 1280, 1600])
def test_every_button_is_seen_at_usual_widths(
    program: Marginscope, qtbot: QtBot, width: int
) -> None:
    program.window.resize(width, 700)
    qtbot.waitUntil(lambda: program.window.tools.width() == width)
    QApplication.processEvents()
    assert unreachable(program) == set()
    named = {row.key for row in ROWS} & {*TOOL_BAR, *TOOL_BAR_RIGHT}
    assert len(named) > 14
    seed = program.window.tools.widgetForAction(program.actions["seed"])
    beside = seed.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonTextBesideIcon
    assert beside == (width >= 1280)


def check_what_does_not_fit(program: Marginscope, width: int, qtbot: QtBot) -> None:
    """It is behind a button that is seen."""
    program.window.resize(width, 700)
    qtbot.waitUntil(lambda: program.window.tools.width() == width)
    QApplication.processEvents()
    bar = program.window.tools
    extension = bar.extension
    assert (unreachable(program) == set()) == extension.isHidden()
    if not extension.isHidden():
        assert bar.rect().contains(extension.geometry())
        assert not extension.icon().isNull()
        assert extension.toolTip() == "More tools"
        here = QRect(extension.mapTo(program.window, QPoint(0, 0)), extension.size())
        image = program.window.grab(here).toImage()
        size = range(image.width()), range(image.height())
        colours = {image.pixelColor(x, y).name() for x in size[0] for y in size[1]}
        assert len(colours) > 2  # there is something to be seen in it
        QTest.mouseClick(extension, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: unreachable(program) == set())
        QTest.mouseClick(extension, Qt.MouseButton.LeftButton)


def test_no_window_opens_larger_than_its_screen(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen_room, "room_of", lambda _: QSize(1024, 608))
    for made in (MainWindow(LIGHT), StudyWindow(LIGHT, 2)):
        qtbot.addWidget(made)
        assert made.width() <= 1024 and made.height() <= 608


def test_the_frame_of_a_window_is_on_the_screen_too(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    room = window.screen().availableGeometry().size()
    assert room_of(window) == QSize(room.width(), room.height() - TITLE_BAR)


@pytest.mark.usefixtures("restyles")
def test_a_restored_window_fits_the_screen(
    open_program: Opener, plain_study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen_room, "room_of", lambda _: QSize(1024, 608))
    program = open_program(plain_study)
    assert program.window.width() <= 1024 and program.window.height() <= 608
