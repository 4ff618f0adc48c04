"""Intervals, bookmarks and layouts, through the window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt, SignalInstance
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QInputDialog, QLineEdit
from pytestqt.qtbot import QtBot

from app.playback.time_slider import TimeSlider
from app.scenes.history import SceneHistory, UserChange, reduce
from app.scenes.scene import Scene
from app.scenes.scene_texts import LAYOUTS, apply_layout, check_layout_name, layout_of
from app.settings import load_settings
from app.shell.application import Marginscope
from app.state.resolve import TimeSpan, advance
from app.state.session import RunSnapshot, Snapshot
from core.errors import InputError
from core.figures.palette import LIGHT
from core.library.run_notes import notes_file, read_about
from core.observables.alarms import Alarm
from core.problem.schedule import coordinate, inverse_coordinate
from tests.app.mouse import keys, pick
from tests.app.shell.conftest import Opener, trained
from tests.app.shell.shared_window import defer_painting
from tests.app.shell.test_share import SHARE

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


def answer(qtbot: QtBot, text: str) -> None:
    qtbot.waitUntil(lambda: isinstance(QApplication.activeModalWidget(), QInputDialog))
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, QInputDialog)
    line = dialog.findChild(QLineEdit)
    line.selectAll()
    QTest.keyClicks(line, text)
    QTest.keyClick(line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: QApplication.activeModalWidget() is None)


# ------------------------------------------------------------------------------- intervals


def test_playing_goes_round_in_an_interval() -> None:
    run = RunSnapshot(1, np.linspace(-1.0, 1.0, 41), 1.0, False, 4)
    intent = replace(Scene().intent, playing=True, interval=(-0.5, 0.5))
    seen = []
    for _ in range(400):
        intent = advance(intent, Snapshot((run,)), 0.05)
        seen.append(intent.cursor)
    assert intent.playing
    assert min(seen) == pytest.approx(-0.5)
    # A step of 0.05 s is 1/200 of the slider, so that it comes as near to the end as that.
    assert 0.5 - 0.0100001 <= max(seen) < 0.5
    # Half of the slider in half of ten seconds: it comes round at 5, 10 and 15 of the 20 played.
    assert sum(after < before for before, after in pairwise(seen)) == 3


def test_an_interval_that_ends_with_the_run_goes_round_too() -> None:
    run = RunSnapshot(1, np.linspace(-1.0, 1.0, 41), 1.0, False, 4)
    intent = replace(Scene().intent, playing=True, interval=(0.0, 1.0), cursor=0.999)
    assert advance(intent, Snapshot((run,)), 0.05).cursor == 0.0
    # While frames are to come it waits at the live edge.
    live = RunSnapshot(1, np.linspace(-1.0, 0.5, 41), 1.0, True, 4)
    waiting = advance(replace(intent, cursor=0.5), Snapshot((live,)), 0.05)
    assert (waiting.cursor, waiting.playing) == (0.5, True)


def test_an_interval_is_drawn_with_shift_and_by_keys(program: Marginscope, qtbot: QtBot) -> None:
    slider = program.window.transport.slider
    program.display.update_intent(playing=False)
    start, end = QPoint(80, 12), QPoint(160, 12)
    QTest.mousePress(slider, LEFT, SHIFT, start)
    QTest.mouseMove(slider, end)
    QTest.mouseRelease(slider, LEFT, SHIFT, end)
    interval = program.display.intent.interval
    assert interval is not None
    assert interval == pytest.approx((slider.moment_at(80), slider.moment_at(160)))
    qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
    keys(qtbot, program.window, Qt.Key.Key_Z, CTRL)
    assert program.display.intent.interval is None
    program.playback.seek(slider.moment_at(100))
    keys(qtbot, program.window, Qt.Key.Key_I, Qt.KeyboardModifier.NoModifier)
    program.playback.seek(slider.moment_at(200))
    keys(qtbot, program.window, Qt.Key.Key_O, Qt.KeyboardModifier.NoModifier)
    now = program.display.intent.interval
    assert now is not None
    assert now == pytest.approx((slider.moment_at(100), slider.moment_at(200)))
    # Its end before its start: the start goes to that of the run.
    program.playback.seek(slider.moment_at(50))
    keys(qtbot, program.window, Qt.Key.Key_O, Qt.KeyboardModifier.NoModifier)
    assert program.display.intent.interval == pytest.approx(
        (program.display.view.span.low, slider.moment_at(50))
    )
    QTest.mouseClick(slider, LEFT, SHIFT, QPoint(120, 12))
    assert program.display.intent.interval is None


def test_other_runs_have_no_interval(program: Marginscope, study: Path, qtbot: QtBot) -> None:
    program.display.update_intent(interval=(0.0, 1.0))
    program.files.open_files([str(study)])
    qtbot.waitUntil(lambda: trained(program))
    assert program.display.intent.interval is None


# ------------------------------------------------------------------------------- bookmarks


def current_path(program: Marginscope) -> Path:
    run = program.display.current
    assert run is not None
    return run.path


def ribbon(slider: TimeSlider, name: str) -> QPoint:
    place = next(x for x in range(slider.width()) if slider.bookmark_at(x) == name)
    return QPoint(place + 4, 5)


def test_a_click_on_a_mark_that_moves_a_little_is_a_click(
    qtbot: QtBot, subtests: pytest.Subtests
) -> None:
    slider = TimeSlider(LIGHT)
    qtbot.addWidget(slider)
    slider.set_span(span := TimeSpan(0.0, 1.0, 1.0, False))
    slider.set_empty(False)
    slider.show()
    moment = (span.low + span.high) / 2
    when = float(inverse_coordinate(moment))
    # Beside the middle of the mark, as hands press.
    here = QPointF(slider.position_of(moment) + 3.0, 4.0).toPoint()
    far = here + QPoint(QApplication.startDragDistance() + 20, 0)
    marks: tuple[tuple[str, Callable[[], None], SignalInstance], ...] = (
        ("bookmark", partial(slider.set_bookmarks, [("mine", when)]), slider.bookmark_requested),
        (
            "alarm",
            partial(slider.set_alarms, [Alarm(0, "late", "It is so.", 0, when, 1.0)]),
            slider.time_requested,
        ),
    )
    for name, show_mark, signal in marks:
        with subtests.test(name):
            show_mark()
            asked: list[object] = []
            signal.connect(asked.append)
            dragged: list[float] = []
            QTest.mousePress(slider, LEFT, NONE, here)
            (wanted,) = asked
            assert wanted == "mine" or wanted == pytest.approx(moment)
            slider.time_requested.connect(dragged.append)
            QTest.mouseMove(slider, here + QPoint(1, 0))
            QTest.mouseMove(slider, here + QPoint(2, 1))
            assert dragged == []
            QTest.mouseMove(slider, far)  # a drag, which goes on back to where it began
            QTest.mouseMove(slider, here)
            assert dragged == pytest.approx([slider.moment_at(far.x()), slider.moment_at(here.x())])
            QTest.mouseRelease(slider, LEFT, NONE, here)
            signal.disconnect(asked.append)
            slider.time_requested.disconnect(dragged.append)
            slider.set_bookmarks([])
            slider.set_alarms([])


def test_bookmarks_that_cannot_be_kept_are_a_sentence(program: Marginscope, qtbot: QtBot) -> None:
    first = current_path(program)
    program.bookmarks.add("   ")
    assert "The name of a bookmark has" in program.window.bar.text
    notes_file(first).write_text('{"bookmarks": [["a", "soon", ""]]}')
    menu = program.window.bookmarks
    menu.aboutToShow.emit()
    assert "cannot be read" in program.window.bar.text
    program.bookmarks.add("now")
    assert [mark.name for mark in read_about(first).bookmarks] == ["now"]
    assert notes_file(first).with_name(f"{notes_file(first).name}.broken").exists()


def test_a_bookmark_of_another_program_is_its_time(program: Marginscope, qtbot: QtBot) -> None:
    first = current_path(program)
    notes_file(first).write_text(
        '{"bookmarks": [["late", 1.5, "from elsewhere"], ["t0", null, ""]]}'
    )
    program.window.bookmarks.aboutToShow.emit()
    program.bookmarks.show("late")
    assert program.display.view.cursor == pytest.approx(float(coordinate(1.5)))
    program.bookmarks.show("t0")
    assert all(run.frame == 0 for run in program.display.view.runs)


# --------------------------------------------------------------------------------- layouts


def test_every_layout_says_what_it_is_and_is_one_step() -> None:
    base = Scene(panels=frozenset({"form", "library"}))
    for name, layout in LAYOUTS.items():
        scene = apply_layout(base, layout)
        assert layout_of(apply_layout(Scene(), layout_of(scene))) == layout_of(scene), name
        assert len(reduce(SceneHistory(base), UserChange(scene, 0.0, name)).past) == 1


@pytest.mark.parametrize("name", ["", "  ", "Paper", "x" * 61])
def test_a_layout_needs_a_name_of_its_own(name: str) -> None:
    with pytest.raises(InputError):
        check_layout_name(name, {})


def check_that_a_bookmark_brings_its_picture_back(program: Marginscope, qtbot: QtBot) -> None:
    """It is kept with the run."""
    display = program.display
    display.update_intent(playing=False)
    program.playback.to_typed("10^1.25")
    display.update_intent(views=("margins",))
    display.panels[0].node_clicked.emit(4)
    qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
    before = program.scenes.shareable_scene()
    keys(qtbot, program.window, Qt.Key.Key_B, NONE)
    answer(qtbot, "the turn & back")
    first = current_path(program)
    (mark,) = read_about(first).bookmarks
    assert mark.name == "the turn & back"
    assert coordinate(mark.log10_time) == pytest.approx(coordinate(1.25), abs=1e-9)
    program.playback.seek_start()
    display.update_intent(views=("neurons",), pinned=frozenset())
    slider = program.window.transport.slider
    QTest.mouseClick(slider, LEFT, NONE, ribbon(slider, mark.name))
    assert program.scenes.shareable_scene() == before
    qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
    assert program.actions["undo"].text() == "&Undo Bookmark the turn && back"
    keys(qtbot, program.window, Qt.Key.Key_Z, CTRL)
    assert display.intent.views == ("neurons",)


def check_that_a_bookmark_is_there_and_removed(again: Marginscope, qtbot: QtBot) -> None:
    """In another window, from the menu."""
    first = next(iter(again.session)).path
    (mark,) = read_about(first).bookmarks
    again.playback.seek_start()
    entry = "the turn && back\tt = 17.8".replace("&", "")
    pick(qtbot, again.window, "Play", "Go to bookmark", entry)
    assert again.display.intent.views == ("margins",)
    assert again.display.view.cursor == pytest.approx(float(coordinate(1.25)), abs=1e-6)
    pick(
        qtbot,
        again.window,
        "Play",
        "Go to bookmark",
        "Remove bookmark",
        mark.name.replace("&", ""),
    )
    assert read_about(first).bookmarks == ()
    assert not notes_file(first).exists()


def check_that_layouts_are_chosen_and_kept(program: Marginscope, qtbot: QtBot) -> None:
    window, display = program.window, program.display
    pick(qtbot, window, "View", "Layouts", "Lecture")
    assert display.panels[0].names == ("neurons", "margins")
    assert not window.top.isVisible()
    keys(qtbot, window, Qt.Key.Key_Z, CTRL)
    assert window.top.isVisible()
    display.update_intent(views=("spectrum", "curves"), neuron_range="root")
    pick(qtbot, window, "View", "Curves against", SHARE)
    pick(qtbot, window, "View", "Layouts", "Save layout ...")
    answer(qtbot, "mine")
    pick(qtbot, window, "View", "Layouts", "Paper")
    assert display.intent.margin_unit == "share"  # those of the program leave it as it is
    pick(qtbot, window, "View", "Curves against", "Plain margins")
    pick(qtbot, window, "View", "Layouts", "mine")
    assert display.intent.margin_unit == "share"
    keys(qtbot, window, Qt.Key.Key_Z, CTRL)
    assert display.intent.margin_unit == "plain"
    assert "spectrum" not in display.panels[0].names


def check_that_a_layout_is_there_and_removed(again: Marginscope, qtbot: QtBot) -> None:
    pick(qtbot, again.window, "View", "Layouts", "mine")
    assert again.display.panels[0].names == ("spectrum", "curves")
    assert again.display.intent.neuron_range == "root"
    assert again.display.intent.margin_unit == "share"
    pick(qtbot, again.window, "View", "Layouts", "Remove layout", "mine")
    assert again.layouts.own == {}


@pytest.mark.usefixtures("restyles")
def test_bookmarks_and_layouts_are_there_in_another_window(
    program: Marginscope, qtbot: QtBot, open_program: Opener, subtests: pytest.Subtests
) -> None:
    with subtests.test("layouts"), defer_painting(program.window):
        check_that_layouts_are_chosen_and_kept(program, qtbot)
    with subtests.test("bookmark"), defer_painting(program.window):
        check_that_a_bookmark_brings_its_picture_back(program, qtbot)
    program.window.close()
    assert set(load_settings(program.places.settings)[0].layouts) == {"mine"}
    again = open_program()
    qtbot.waitUntil(lambda: trained(again))
    with subtests.test("bookmark in another window"):
        check_that_a_bookmark_is_there_and_removed(again, qtbot)
    with subtests.test("layout in another window"):
        check_that_a_layout_is_there_and_removed(again, qtbot)
