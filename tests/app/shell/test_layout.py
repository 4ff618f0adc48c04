"""Layout of the window: plots first, one drawer at a time, and nothing that moves by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.actions import RAIL, TRAINING
from app.settings import load_settings
from app.shell.application import Marginscope
from app.shell.drawers import DRAWERS
from app.shell.main_window import MainWindow
from app.shell.run_chips import NARROWEST
from app.shell.top_bar import TopBar
from app.study.chooser import LEAST_WIDTH
from app.study.window import StudyWindow
from app.style import line_scale
from app.widgets import screen_room
from app.widgets.drawers import LEAST_PAGE
from app.widgets.inputs import text_width
from app.widgets.screen_room import TITLE_BAR, room_of
from core.figures.palette import LIGHT
from tests.app.shell.conftest import Opener, trained
from tests.app.shell.test_theory import settled


def place_of(widget: QWidget, window: QWidget) -> QRect:
    return QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())


def views_of(program: Marginscope) -> list[QWidget]:
    panels = [panel for panel in program.display.panels if panel.run is not None]
    return [view for panel in panels for view in panel.views]


def open_drawers(program: Marginscope) -> list[str]:
    """Return the drawers that are seen, which must be those whose actions are checked."""
    window = program.window
    pages: dict[str, QWidget | None] = {
        "form": window.form,
        "inspector": window.theory,
        "numbers": window.inspector,
        "result": window.result,
        "library": program.library.panel,
    }
    seen = [key for key, page in pages.items() if page is not None and page.isVisible()]
    assert seen == [key for key in DRAWERS if program.actions[key].isChecked()]
    return seen


@pytest.mark.parametrize(("size", "least"), [((1280, 800), 0.75), ((1024, 640), 0.65)])
def test_most_of_the_window_is_plots(
    program: Marginscope, qtbot: QtBot, size: tuple[int, int], least: float
) -> None:
    window = program.window
    window.resize(*size)
    qtbot.waitUntil(lambda: window.size() == QSize(*size) and trained(program))
    QApplication.processEvents()
    boxes = [place_of(view, window) for view in views_of(program)]
    assert boxes and all(window.rect().contains(box) for box in boxes)
    covered = sum(box.width() * box.height() for box in boxes)
    assert covered >= least * window.width() * window.height()
    pairs = [(a, b) for number, a in enumerate(boxes) for b in boxes[:number]]
    assert not any(a.intersects(b) for a, b in pairs)


def test_one_drawer_is_open_and_none_covers_a_plot(program: Marginscope, qtbot: QtBot) -> None:
    window = program.window
    assert open_drawers(program) == []
    for key in (*DRAWERS, "form"):
        QTest.mouseClick(window.rail.buttons[key], Qt.MouseButton.LeftButton)
        assert open_drawers(program) == [key]
        qtbot.waitUntil(lambda: window.pages.width() < window.width() - 200)
        drawer, plots = window.columns.widget(0), window.pages
        assert not place_of(drawer, window).intersects(place_of(plots, window))
        assert plots.width() >= LEAST_PAGE
    QTest.mouseClick(window.rail.buttons["form"], Qt.MouseButton.LeftButton)
    assert open_drawers(program) == []


def test_a_closed_drawer_widens_no_open_one(
    open_program: Opener, plain_study: Path, qtbot: QtBot
) -> None:
    """The buttons of a story in the closed drawer Study moved the plots by 26 pixels."""
    program = open_program(plain_study)
    window = program.window
    program.actions["form"].setChecked(True)
    qtbot.waitUntil(lambda: window.form.isVisible() and window.form.width() > 100)
    before = window.form.width()
    window.result.layout().addWidget(QLabel("", window.result, minimumWidth=2 * before))
    window.result.layout().activate()
    window.result.updateGeometry()
    window.form.updateGeometry()
    QApplication.processEvents()
    QApplication.processEvents()
    assert window.form.width() == before


def test_each_drawer_keeps_its_width_also_for_the_next_start(
    open_program: Opener, plain_study: Path
) -> None:
    program = open_program(plain_study)
    columns = program.window.columns
    program.actions["form"].trigger()
    usual = columns.widget(0).width()
    columns.setSizes([usual + 60, columns.width() - usual - 60])
    columns.splitterMoved.emit(usual + 60, 1)
    program.actions["inspector"].trigger()
    assert columns.widget(0).width() == usual
    program.actions["form"].trigger()
    wide = columns.widget(0).width()
    assert wide == usual + 60
    program.shut_down()
    settings, _ = load_settings(program.places.settings)
    assert settings.drawer == "form" and settings.drawer_widths == {"form": wide}
    again = open_program(plain_study)
    assert open_drawers(again) == ["form"]
    assert again.window.columns.widget(0).width() == wide


@pytest.mark.usefixtures("restyles")
def test_a_lecture_is_plots_and_slider(
    open_program: Opener, plain_study: Path, qtbot: QtBot
) -> None:
    program = open_program(plain_study)
    window = program.window
    qtbot.waitUntil(lambda: trained(program))
    program.actions["inspector"].trigger()
    program.actions["times"].trigger()
    size = QApplication.font().pointSizeF()
    qtbot.keyClick(window, Qt.Key.Key_F11)
    assert open_drawers(program) == []
    assert not any(part.isVisible() for part in (window.top, window.rail, window.times))
    assert window.transport.slider.isVisible() and not window.menuBar().isVisible()
    assert QApplication.font().pointSizeF() > size and line_scale() > 1.5
    assert "F11" in window.bar.text
    qtbot.keyClick(window, Qt.Key.Key_F11)
    assert open_drawers(program) == ["inspector"]
    assert all(part.isVisible() for part in (window.top, window.rail, window.times))
    assert window.menuBar().isVisible() and line_scale() == 1.0 and "F11" not in window.bar.text
    assert QApplication.font().pointSizeF() == size
    qtbot.keyClick(window, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert window.close()
    assert '"palette": "dark"' in program.places.settings.read_text()


@pytest.mark.parametrize("width", [800, 1024, 1280, 1600])
def test_every_button_is_seen(program: Marginscope, qtbot: QtBot, width: int) -> None:
    window = program.window
    window.resize(width, 640)
    qtbot.waitUntil(lambda: window.size() == QSize(width, 640))
    QApplication.processEvents()
    assert list(window.rail.buttons) == list(RAIL)
    assert [one.defaultAction().objectName() for one in window.top.training] == list(TRAINING)
    assert not window.top.cells.isVisible()  # all runs of the study are open
    others = [one for one in window.top.buttons if one is not window.top.cells]
    buttons = [*others, *window.rail.buttons.values(), window.chooser.box]
    for button in buttons:
        box = place_of(button, window)
        assert button.isVisible() and window.rect().contains(box), button.accessibleName()
        assert button.width() >= button.minimumSizeHint().width(), button.accessibleName()


@pytest.mark.parametrize(("width", "whole"), [(800, False), (1200, True)])
def test_the_title_of_the_study_is_shortened_before_names_of_runs(
    qtbot: QtBot, width: int, whole: bool
) -> None:
    """Four chips read "1 ...on" to "4...n" beside the whole title."""
    window = QWidget()
    qtbot.addWidget(window)
    bar = TopBar(window)
    window.resize(width, 80)
    bar.resize(width, 48)
    box, chips = bar.chooser.box, bar.chips
    box.addItem("Somebody et al. 2026: " + "a long title of a study, " * 6)
    box.setCurrentIndex(box.count() - 1)
    chips.show_runs(list(enumerate(("Muon", "Signum", "normalised", "sign"))), 0)
    with qtbot.waitExposed(window):
        window.show()
    QApplication.processEvents()
    hints = [chips.tabSizeHint(k).width() for k in range(chips.count())]
    least = hints if whole else [min(hint, NARROWEST) for hint in hints]
    assert all(chips.tabRect(k).width() >= one for k, one in enumerate(least))
    assert LEAST_WIDTH <= bar.chooser.width() < min(text_width(box), width // 2)
    assert text_width(box) > width // 2


def test_nothing_moves_while_a_run_is_trained_and_judged(
    open_program: Opener, plain_study: Path, qtbot: QtBot
) -> None:
    """From the first frame to the last verdict, with a message, a pinned node and a new run."""
    program = open_program(plain_study)
    window = program.window
    program.actions["times"].setChecked(True)
    qtbot.waitUntil(lambda: bool(views := views_of(program)) and views[0].width() > 200)
    fixed = [window.transport, window.transport.slider, window.top, window.rail, window.times]
    fixed += [*window.rail.buttons.values(), *window.top.training, window.status]

    def places() -> list[QRect]:
        return [place_of(one, window) for one in (*views_of(program), *fixed)]

    QApplication.processEvents()
    before = places()
    qtbot.waitUntil(lambda: trained(program))
    assert places() == before
    qtbot.waitUntil(lambda: settled(program))
    assert window.status.text
    assert places() == before
    window.bar.show_message("A sentence about something that went wrong.")
    key = next(iter(program.session)).key
    program.display.update_intent(playing=False, pinned=frozenset({(key, 1)}))
    program.actions["end"].trigger()
    QApplication.processEvents()
    assert places() == before
    program.actions["restart"].trigger()
    qtbot.waitUntil(lambda: trained(program) and settled(program))
    assert places() == before


# ----------------------------------------------------------------------------------- screens


def test_no_window_opens_larger_than_its_screen(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen_room, "room_of", lambda _: QSize(1024, 608))
    for made in (MainWindow(LIGHT), StudyWindow(LIGHT, 2)):
        qtbot.addWidget(made)
        assert made.width() <= 1024 and made.height() <= 608


def test_the_window_of_a_study_fits_a_small_screen_in_large_type(qtbot: QtBot) -> None:
    window = StudyWindow(LIGHT, 2)
    qtbot.addWidget(window)
    font = window.font()
    font.setPointSizeF(1.5 * font.pointSizeF())
    window.setFont(font)
    least = window.minimumSizeHint()
    assert least.width() <= 1024 and least.height() <= 640


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


@pytest.mark.usefixtures("restyles")
def test_a_lecture_that_is_made_again_leaves_to_what_was_open(
    open_program: Opener, plain_study: Path, qtbot: QtBot
) -> None:
    program = open_program(plain_study)
    qtbot.waitUntil(lambda: trained(program))
    for key in ("inspector", "lecture", "undo", "redo", "lecture"):
        program.actions[key].trigger()
        qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
    assert open_drawers(program) == ["inspector"]


def test_a_width_that_is_none_costs_no_other_setting(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"drawer_widths": {"form": -5, "numbers": 300, "x": "y"}, "jobs": 3}')
    settings, warning = load_settings(path)
    assert settings.drawer_widths == {"numbers": 300} and settings.jobs == 3 and not warning
