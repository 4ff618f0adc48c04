"""The system's size of type is respected: no words are cut off by controls that are too small."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.library.panel import LibraryPanel
from app.scenes.scene import Scene
from app.shell.application import Marginscope
from app.shell.tour import TourController
from app.training import controller
from app.widgets.header import ViewHeader
from app.widgets.inputs import text_width
from app.widgets.labels import ElidedLabel
from core.study_file.weight import MachineLimits
from tests.app.mouse import LEFT
from tests.app.shell.conftest import STUDY, Opener, trained

PLAIN = (QPushButton, QCheckBox, QRadioButton)
DIALOGS = ("shortcuts", "preview", "draw", "whole", "cells", "studies", "figure film data", "page")
OF_DIALOGS = (9.0, 18.0)  # points; dialogs are as large as they like, the largest type decides
FIELDS = (QLineEdit, QComboBox)  # what they hold may be longer than they are


@pytest.fixture(params=[9.0, 11.0, 14.0, 18.0])
def points(request: pytest.FixtureRequest) -> Iterator[float]:
    """Yield a size of the system's type, in points, that lasts for a test."""
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    before = application.font()
    font = application.font()
    font.setPointSizeF(request.param)
    application.setFont(font)
    yield request.param
    application.setFont(before)


def needs(widget: QWidget) -> tuple[int, int]:
    """Return the width and height without which words are cut; (0, 0) where there are none."""
    hint = widget.sizeHint()
    if isinstance(widget, ElidedLabel):
        return 0, hint.height()
    if isinstance(widget, QLabel) and widget.text():
        if widget.wordWrap():
            return 0, widget.heightForWidth(widget.width())
        return (0 if widget.minimumWidth() == 1 else hint.width()), hint.height()
    if isinstance(widget, PLAIN) and widget.text():
        return hint.width(), hint.height()
    if isinstance(widget, FIELDS):
        return 0, hint.height()
    if isinstance(widget, QToolButton) and isinstance(widget.parent(), ViewHeader):
        metrics = widget.fontMetrics()
        return metrics.horizontalAdvance(widget.text()), metrics.height()
    if isinstance(widget, QToolButton) and widget.text() and widget.icon().isNull():
        return hint.width(), hint.height()
    return 0, 0


def cut(top: QWidget) -> list[str]:
    """Return the words below a widget that have too little room."""
    found = []
    for widget in top.findChildren(QWidget):
        if widget.isVisible():
            width, height = needs(widget)
            if widget.width() < width or widget.height() < height:
                what = getattr(widget, "text", str)() or widget.objectName()
                size = (widget.width(), widget.height())
                found.append(f"{type(widget).__name__} {what!r}: {size}, not {(width, height)}")
    return found + hidden(top)


def hidden(top: QWidget) -> list[str]:
    """Return what is scrolled up and down alone, and yet wider than what is seen of it."""
    off = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
    areas = [*top.findChildren(QScrollArea), *([top] if isinstance(top, QScrollArea) else [])]
    found = []
    for area in areas:
        content = area.widget()
        if content is None or not area.isVisible() or area.horizontalScrollBarPolicy() is not off:
            continue
        if content.width() > area.viewport().width():
            sizes = content.width(), area.viewport().width()
            found.append(f"{type(area.parent()).__name__}'s {type(area).__name__}: {sizes}")
    return found


def whole(qtbot: QtBot, top: QWidget) -> None:
    """Assert that nothing is cut once the layouts are done, after some turns of the loop."""
    with contextlib.suppress(TimeoutError):
        qtbot.waitUntil(lambda: cut(top) == [], timeout=3000)
    assert cut(top) == []


@pytest.mark.usefixtures("restyles")
def test_nothing_is_cut(
    points: float,
    open_program: Opener,
    study: Path,
    qtbot: QtBot,
    subtests: pytest.Subtests,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In one window, which is put back after each part; layouts are done without painting it."""
    program = open_program(study)
    qtbot.waitUntil(lambda: program.action_state.views_made)  # with the first paint
    program.window.setUpdatesEnabled(False)
    qtbot.waitUntil(lambda: trained(program))
    program.window.resize(1280, 800)
    scene = program.scenes.scene
    form = program.window.form.edits
    monkeypatch.setattr(TourController, "_has_only_figure_1", lambda _controller: True)
    with subtests.test("window"):
        check_window(program, points, qtbot)
    for keys in DIALOGS if points in OF_DIALOGS else ():
        put_back(program, scene, qtbot)
        with subtests.test("dialogs", keys=keys):
            check_dialogs(program, keys, qtbot)
    put_back(program, scene, qtbot)
    with subtests.test("small screens"):
        check_small_screens(program, points)
    for kind in ("parity", "gaussian_mixture"):
        put_back(program, scene, qtbot)
        program.window.form.set_edits(form)
        with subtests.test("form", kind=kind):
            check_form(program, kind, qtbot)
    train_descent(program, study, qtbot)
    scene = program.scenes.scene
    with subtests.test("library"):
        check_library(program, points, qtbot)
    monkeypatch.setattr(
        controller, "room_at", lambda _: MachineLimits(memory=16e9, free=8e9, disk=1e6)
    )
    put_back(program, scene, qtbot)
    with subtests.test("branch"):
        check_branch(program, qtbot)
    put_back(program, scene, qtbot)
    with subtests.test("costs"):
        check_costs(program, qtbot)


def train_descent(program: Marginscope, study: Path, qtbot: QtBot) -> None:
    """Train runs that have a step, which those of the study have not."""
    path = study.with_name("descent.toml")
    path.write_text(STUDY.replace('kind = "flow"', 'kind = "gd"\nstep = 0.1'))
    program.files.open_files([str(path)])
    qtbot.waitUntil(lambda: trained(program))
    program.window.resize(1280, 800)
    qtbot.waitUntil(lambda: program.window.width() == 1280)


def put_back(program: Marginscope, scene: Scene, qtbot: QtBot) -> None:
    program.scenes.show(scene)
    program.window.resize(1280, 800)
    qtbot.waitUntil(lambda: program.window.width() == 1280)


def check_window(program: Marginscope, points: float, qtbot: QtBot) -> None:
    program.actions["form"].setChecked(True)
    program.window.bar.show_message("A sentence that is said in a bar. " * 8)
    QTest.qWait(50)
    parts = program.window.findChildren(QWidget)
    labels = [one for one in parts if isinstance(one, QLabel | QPushButton) if one.isVisible()]
    assert len(labels) > 20
    assert max(one.fontInfo().pointSizeF() for one in labels) == pytest.approx(points, abs=0.6)
    whole(qtbot, program.window)
    program.window.bar.clear()
    program.playback.seek_end()
    program.actions["inspector"].setChecked(True)
    QTest.qWait(50)
    assert program.window.width() == 1280  # with all that can be opened at its sides
    whole(qtbot, program.window.theory)
    QTest.mouseClick(program.window.rail.buttons["numbers"], LEFT)
    QTest.qWait(50)
    assert program.window.inspector.isVisible()
    whole(qtbot, program.window.inspector)
    numbers = program.window.inspector.scalars.value_labels()
    assert numbers
    qtbot.waitUntil(lambda: not program.readout._stale)
    assert [one.shown_text() for one in numbers] == [one.text() for one in numbers]
    program.window.set_recent([f"/a/{'A long name that somebody gave to a run, ' * 3}.msrun"])
    program.actions["welcome"].setChecked(True)
    QTest.qWait(50)
    assert program.window.welcome.isVisible()
    whole(qtbot, program.window.welcome)
    program.actions["welcome"].setChecked(False)
    program.actions["tour"].trigger()
    card = program.tour.card
    qtbot.waitUntil(card.isVisible)
    whole(qtbot, card)
    program.tour.stop()


def outside(program: Marginscope) -> list[str]:
    """Return the parts of the form that reach beyond its visible area, or cut their content."""
    form = program.window.form
    area = form.findChild(QScrollArea)
    found = []
    for widget in area.widget().findChildren(QWidget):
        if not widget.isVisible():
            continue
        right = widget.mapTo(area.viewport(), QPoint(widget.width(), 0)).x()
        if right > area.viewport().width() - 8:
            found.append(f"{widget.objectName()} ends at {right}")
        if isinstance(widget, FIELDS) and widget.width() < text_width(widget):
            found.append(f"{widget.objectName()} has {widget.width()}, not {text_width(widget)}")
    return found


def check_form(program: Marginscope, kind: str, qtbot: QtBot) -> None:
    window = program.window
    columns = window.columns.saveState()
    kinds = window.form.sections["data"].kinds
    kinds.setFocus()
    QTest.keyClick(kinds, Qt.Key.Key_Home)
    for _ in range(kinds.count()):
        if kinds.currentData() != kind:
            QTest.keyClick(kinds, Qt.Key.Key_Down)
    assert kinds.currentData() == kind
    QTest.mouseClick(window.form.sections["data"].more, LEFT)
    assert window.width() == 1280
    for narrow in (False, True):
        if narrow:  # as narrow as the divider lets it be
            window.columns.setSizes([1, 1000])
        with contextlib.suppress(TimeoutError):
            qtbot.waitUntil(lambda: outside(program) == [], timeout=3000)
        assert outside(program) == []
        whole(qtbot, window.form)
    window.columns.restoreState(columns)


@pytest.mark.drawer("form")
def test_a_field_that_is_too_narrow_for_its_text_stands_below_its_label(
    program: Marginscope, qtbot: QtBot
) -> None:
    window = program.window
    row = next(row for row in window.form.sections["data"].rows if row.field.name == "seed")
    window.form.setFixedWidth(400)
    qtbot.waitUntil(lambda: row.control.geometry().left() > row.label.geometry().right())
    beside = row.control.geometry()
    window.form.setFixedWidth(150)
    qtbot.waitUntil(lambda: row.control.geometry().top() > row.label.geometry().bottom())
    assert row.control.geometry().left() == row.label.geometry().left()
    window.form.setFixedWidth(400)
    qtbot.waitUntil(lambda: row.control.geometry().left() == beside.left())
    window.form.setMinimumWidth(0)
    window.form.setMaximumWidth(16_777_215)


def check_small_screens(program: Marginscope, points: float) -> None:
    window = program.window
    window.status.show_work("Computing the margin of the kernel, 3 of 4 ...")
    width, height = (1024, 640) if points < 12.0 else (1280, 800)
    window.resize(width, height)
    for panel in ("form", "inspector"):
        if points > 12.0 or panel == "form":
            program.actions[panel].setChecked(True)
    QTest.qWait(50)
    assert (window.width(), window.height()) == (width, height)
    window.status.show_work("")
    if points == 14.0:
        window.resize(1024, 640)
        QTest.qWait(50)
        bar = window.transport  # whose status took half of it
        assert bar.slider.width() >= 0.3 * bar.width()


def check_dialogs(program: Marginscope, keys: str, qtbot: QtBot) -> None:
    before = set(QApplication.topLevelWidgets())

    def opened() -> list[QWidget]:
        return [
            one for one in QApplication.topLevelWidgets() if one.isVisible() and one not in before
        ]

    for key in keys.split():
        program.actions[key].trigger()
        qtbot.waitUntil(lambda: bool(opened()))
        QTest.qWait(100)
        for window in opened():
            whole(qtbot, window)
            window.close()
        qtbot.waitUntil(lambda: not opened())


def check_branch(descent: Marginscope, qtbot: QtBot) -> None:
    """The line above the form, and the question for another step."""
    descent.actions["branch"].trigger()
    qtbot.waitUntil(descent.window.form.branch.isVisible)
    assert descent.window.width() == 1280
    whole(qtbot, descent.window.form)
    descent.actions["rewind"].trigger()
    qtbot.waitUntil(lambda: QApplication.activeModalWidget() is not None)
    asked = QApplication.activeModalWidget()
    whole(qtbot, asked)
    for text in ("half", "/ 4"):  # wrong, and right
        asked.line.setText(text)
        whole(qtbot, asked)
    asked.reject()


def check_costs(descent: Marginscope, qtbot: QtBot) -> None:
    """The question before what is too large for the disk."""
    descent.actions["run"].trigger()
    asked = QApplication.activeModalWidget()
    assert "of 1.0 MB free" in asked.informativeText()
    whole(qtbot, asked)
    asked.reject()


def check_library(descent: Marginscope, points: float, qtbot: QtBot) -> None:
    descent.actions["library"].setChecked(True)
    panel = descent.library.panel
    qtbot.waitUntil(lambda: len(panel.model.entries) == 4)
    assert descent.window.width() == 1280
    header = panel.table.horizontalHeader()
    for place in range(1, header.count()):  # of the pictures there is none
        if not header.isSectionHidden(place):
            words = header.fontMetrics().horizontalAdvance(header_words(panel, place))
            assert header.sectionSize(place) >= words, header_words(panel, place)
    whole(qtbot, panel)
    # Some rows are seen, and not the headings alone; on a low screen one.
    assert panel.table.viewport().height() >= 2 * panel.table.rowHeight(0)
    assert panel.total.isVisible()
    if points < 15.0:
        descent.window.resize(1024, 640)
        qtbot.waitUntil(lambda: panel.table.viewport().height() >= panel.table.rowHeight(0))
        whole(qtbot, panel)


def header_words(panel: LibraryPanel, place: int) -> str:
    return str(panel.model.headerData(place, Qt.Orientation.Horizontal) or "")
