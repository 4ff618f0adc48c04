"""Stories in the window: made by mouse and by keys, saved, opened, played and exported."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from app.stories import player
from app.stories.editor import StoryDialog
from app.stories.moment_list import MomentList
from core.library.entry import Bookmark, MomentNote, RunNotes
from core.library.run_notes import change_about
from core.problem.schedule import coordinate
from core.stories.story import Story, StoryMoment
from core.stories.story_file import load_story, save_story
from tests.app.mouse import keys, pick
from tests.app.shell.conftest import Opener, trained
from tests.app.shell.test_moments import current_path
from tests.support.pages import data_of, flat

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
SHIFT, ALT, CTRL = (
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ControlModifier,
)
Key = Qt.Key
MOST_ACTIONS = 25  # of a person who makes and exports a story of five moments
TIMES = (0.0, 0.5, 1.0, 1.5, 2.0)


@pytest.fixture(autouse=True)
def short_motion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player, "GLIDE_MS", 150)


@pytest.fixture
def save_to(monkeypatch: pytest.MonkeyPatch):
    """Answer the next dialogs for a file with a path."""

    def choose(path: Path) -> None:
        def get_name(*_: Any) -> tuple[str, str]:
            return str(path), ""

        for name in ("getSaveFileName", "getOpenFileName"):
            monkeypatch.setattr(QFileDialog, name, get_name)

    return choose


def seconds_between(program: Marginscope, log10_time: float) -> float:
    return abs(program.display.view.cursor - float(coordinate(log10_time)))


def opened(program: Marginscope, qtbot: QtBot) -> StoryDialog:
    pick(qtbot, program.window, "Play", "Story ...")
    dialog = program.stories.dialog
    assert dialog is not None
    qtbot.waitUntil(dialog.isVisible)
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow)
    return dialog


def center(moments: MomentList, row: int) -> QPoint:
    return moments.visualItemRect(moments.item(row)).center()


def pull(source: MomentList, row: int, target: MomentList, gap: int) -> None:
    """Drag a row of a list to a gap of the same or another list."""
    here = center(source, row)
    if target.count() == 0:
        end = target.viewport().rect().center()
    elif gap < target.count():
        end = target.visualItemRect(target.item(gap)).topLeft() + QPoint(20, 1)
    else:
        end = target.visualItemRect(target.item(gap - 1)).bottomLeft() + QPoint(20, 0)
    there = source.viewport().mapFromGlobal(target.viewport().mapToGlobal(end))
    QTest.mousePress(source.viewport(), LEFT, NONE, here)
    QTest.mouseMove(source.viewport(), here + QPoint(15, 0))
    QTest.mouseMove(source.viewport(), there)
    QTest.mouseRelease(source.viewport(), LEFT, NONE, there)


def sentences(dialog: StoryDialog) -> list[str]:
    return [one.sentence for one in dialog.story.moments]


def with_marks(program: Marginscope) -> None:
    """Write three bookmarks and a note beside the current run."""
    marks = tuple(Bookmark(f"mark {k}", time) for k, time in enumerate(TIMES[:3]))
    notes = (MomentNote(2.0, "a note <b>"),)
    change_about(current_path(program), lambda _: RunNotes(bookmarks=marks, moments=notes))


# ---------------------------------------------------------------------------------- making


def test_a_story_of_five_moments_is_made_and_exported_by_few_actions(
    program: Marginscope, qtbot: QtBot, tmp_path: Path, save_to
) -> None:
    """A click, a drag, and a typed sentence count as one action each."""
    actions, slider = 0, program.window.transport.slider
    dialog = opened(program, qtbot)
    actions += 2  # the menu and its entry
    for number, time in enumerate(TIMES):
        x = round(slider.position_of(float(coordinate(time))))
        QTest.mouseClick(slider, LEFT, NONE, QPoint(x, 14))
        QTest.mouseClick(dialog.buttons["present"], LEFT)
        assert dialog.sentence.isEnabled()
        QTest.keyClicks(dialog.sentence, f"Sentence {number}.")
        actions += 3
    pull(dialog.moments, 4, dialog.moments, 0)
    actions += 1
    assert sentences(dialog) == [f"Sentence {k}." for k in (4, 0, 1, 2, 3)]
    out = tmp_path / "talk.html"
    save_to(out)
    QTest.mouseClick(dialog.buttons["export"], LEFT)
    actions += 2  # with the dialog for the file
    qtbot.waitUntil(lambda: out.exists() and not program.export.busy, timeout=60_000)
    data = data_of(out.read_text())
    assert [flat(one["text"]) for one in data["story"]] == sentences(dialog)
    times = [one.log10_time for one in dialog.story.moments]
    assert times[1:] == pytest.approx(list(TIMES[:4]), abs=0.05)
    assert actions <= MOST_ACTIONS
    dialog.hide()


def test_bookmarks_and_notes_are_dragged_into_a_story_and_about(
    program: Marginscope, qtbot: QtBot
) -> None:
    with_marks(program)
    dialog = opened(program, qtbot)
    assert dialog.marked.count() == 4
    pull(dialog.marked, 0, dialog.moments, 0)
    pull(dialog.marked, 2, dialog.moments, 1)
    pull(dialog.marked, 3, dialog.moments, 1)
    assert sentences(dialog) == ["mark 0", "a note <b>", "mark 2"]
    pull(dialog.moments, 0, dialog.moments, 3)
    assert sentences(dialog) == ["a note <b>", "mark 2", "mark 0"]
    pull(dialog.moments, 2, dialog.moments, 1)
    assert sentences(dialog) == ["a note <b>", "mark 0", "mark 2"]
    # A drop outside the list, and a click that moves a little, change nothing.
    here = center(dialog.moments, 0)
    QTest.mousePress(dialog.moments.viewport(), LEFT, NONE, here)
    QTest.mouseMove(dialog.moments.viewport(), QPoint(-200, -200))
    QTest.mouseRelease(dialog.moments.viewport(), LEFT, NONE, QPoint(-200, -200))
    assert sentences(dialog) == ["a note <b>", "mark 0", "mark 2"]
    QTest.mouseClick(dialog.moments.viewport(), LEFT, NONE, center(dialog.moments, 2))
    assert dialog.place == 2
    assert seconds_between(program, 1.0) < 1e-6  # the window shows the moment
    dialog.hide()


def test_everything_is_done_by_keys_with_undo(program: Marginscope, qtbot: QtBot) -> None:
    with_marks(program)
    dialog = opened(program, qtbot)
    for row in (0, 1, 2):
        dialog.marked.setCurrentRow(row)
        QTest.keyClick(dialog.buttons["add"], Key.Key_Space)
    assert sentences(dialog) == ["mark 0", "mark 1", "mark 2"]
    QTest.keyClick(dialog.moments, Key.Key_Up, ALT)
    assert sentences(dialog) == ["mark 0", "mark 2", "mark 1"]
    QTest.keyClick(dialog.moments, Key.Key_Up, ALT)
    QTest.keyClick(dialog.moments, Key.Key_Up, ALT)  # it is the first
    assert sentences(dialog) == ["mark 2", "mark 0", "mark 1"]
    QTest.keyClick(dialog.moments, Key.Key_Down, ALT)
    assert sentences(dialog) == ["mark 0", "mark 2", "mark 1"]
    QTest.keyClick(dialog.moments, Key.Key_Delete)
    assert sentences(dialog) == ["mark 0", "mark 1"]
    dialog.sentence.selectAll()
    QTest.keyClicks(dialog.sentence, "typed")
    assert sentences(dialog) == ["mark 0", "typed"]
    dialog.undo()  # what was typed is one change
    assert sentences(dialog) == ["mark 0", "mark 1"]
    for _ in range(4):
        QTest.mouseClick(dialog.buttons["undo"], LEFT)
    assert sentences(dialog) == ["mark 0", "mark 1", "mark 2"]
    dialog.hide()


# --------------------------------------------------------------------------------- playing


def two_moments(program: Marginscope) -> Story:
    runs = program.stories._runs()
    moments = (
        StoryMoment(-math.inf, "It starts <b>."),
        StoryMoment(1.0, "gamma_gl. " + "A long sentence. " * 11 + "End.", ("margins",)),
        StoryMoment(2.0, "It ends.", ("neurons", "margins"), "neurons"),
    )
    return Story("A talk", moments, runs)


def started(program: Marginscope, qtbot: QtBot) -> None:
    program.stories.story = two_moments(program)
    program.window.activateWindow()
    qtbot.waitUntil(program.window.isActiveWindow)
    pick(qtbot, program.window, "Play", "Play story")
    assert program.stories.player.is_playing


def test_a_story_is_played_by_keys_and_ends_as_it_began(program: Marginscope, qtbot: QtBot) -> None:
    caption, display = program.window.caption, program.display
    before = display.view.wishes.views
    started(program, qtbot)
    assert caption.sentence.text() == "It starts &lt;b&gt;."
    height = caption.height()
    cursors: list[float] = []
    display.changed.connect(lambda: cursors.append(display.view.cursor))
    keys(qtbot, program.window, Key.Key_Space, NONE)
    assert not display.intent.playing
    qtbot.waitUntil(lambda: seconds_between(program, 1.0) < 1e-6)
    assert len(set(cursors)) > 2  # it moved there
    assert display.view.wishes.views == ("margins",)
    assert caption.sentence.text().startswith("\u03b3<sub>gl</sub>")
    keys(qtbot, program.window, Key.Key_Right, NONE)
    qtbot.waitUntil(lambda: seconds_between(program, 2.0) < 1e-6)
    assert display.view.wishes.filled == "neurons"
    keys(qtbot, program.window, Key.Key_Space, NONE)  # the last moment stays
    assert program.stories.player.place == 2
    keys(qtbot, program.window, Key.Key_Space, SHIFT)
    keys(qtbot, program.window, Key.Key_Left, NONE)
    assert program.stories.player.place == 0
    assert caption.height() == height
    assert caption.geometry().bottom() <= program.window.transport.geometry().top()
    assert program.window.pages.mapTo(
        program.window, QPoint(0, program.window.pages.height())
    ).y() <= (caption.mapTo(program.window, QPoint(0, 0)).y())
    keys(qtbot, program.window, Key.Key_Escape, NONE)
    assert not caption.isVisible()
    assert display.view.wishes.views == before
    keys(qtbot, program.window, Key.Key_Space, NONE)  # plays again
    assert display.intent.playing
    display.update_intent(playing=False)


def test_a_story_is_played_by_mouse_and_in_lecture_mode(
    program: Marginscope, qtbot: QtBot, restyles: None
) -> None:
    caption = program.window.caption
    started(program, qtbot)
    program.actions["lecture"].setChecked(True)
    QTest.mouseClick(caption.next, LEFT)
    qtbot.waitUntil(lambda: seconds_between(program, 1.0) < 1e-6)
    heights = {panel.view("margins").height() for panel in program.display.panels[:2]}
    QTest.mouseClick(caption.back, LEFT)
    assert program.stories.player.place == 0
    assert not caption.back.isEnabled()
    QTest.mouseClick(caption.next, LEFT)
    assert {panel.view("margins").height() for panel in program.display.panels[:2]} == heights
    program.actions["lecture"].setChecked(False)
    assert caption.isVisible()
    QTest.mouseClick(caption.stop, LEFT)
    assert not program.stories.player.is_playing


def test_without_motion_the_slider_jumps(
    program: Marginscope, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(player, "is_motion_reduced", lambda: True)
    started(program, qtbot)
    keys(qtbot, program.window, Key.Key_Space, NONE)
    assert seconds_between(program, 1.0) < 1e-6
    program.stories.player.stop()


def test_closing_the_runs_ends_a_story(program: Marginscope, qtbot: QtBot) -> None:
    started(program, qtbot)
    program.training.close_runs()
    assert not program.stories.player.is_playing
    assert program.actions["play"].shortcut().toString() == "Space"


# ----------------------------------------------------------------------------------- files


def test_a_story_is_saved_and_opened_again(
    program: Marginscope, qtbot: QtBot, tmp_path: Path, save_to
) -> None:
    program.stories.story = story = two_moments(program)
    paths = [run.path for run in program.session]
    dialog = opened(program, qtbot)
    path = paths[0].parent / "talk.story.json"
    save_to(path)
    QTest.mouseClick(dialog.buttons["save"], LEFT)
    saved = load_story(path)
    assert saved.moments == story.moments
    assert [run.path for run in saved.runs] == [one.name for one in paths]
    assert all(run.name for run in saved.runs)
    dialog.hide()
    program.training.close_runs()
    program.files.open_files([str(path)])
    qtbot.waitUntil(lambda: program.stories.player.is_playing)
    assert [run.path.name for run in program.session] == [one.name for one in paths]
    assert program.window.caption.isVisible()
    program.stories.player.stop()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not valid JSON"),
        ('{"kind": "marginscope story", "version": 1, "study": "x"}', "no story here"),
        (
            '{"kind": "marginscope story", "version": 1, "runs": [{"path": "gone.msrun"}]}',
            "does not exist",
        ),
    ],
)
def test_other_files_are_refused_in_the_bar(
    program: Marginscope, qtbot: QtBot, tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "a.story.json"
    path.write_text(text)
    program.files.open_files([str(path)])
    assert words in program.window.bar.text
    assert not program.stories.player.is_playing


def test_a_shipped_story_trains_its_study(open_program: Opener, qtbot: QtBot, plain_study) -> None:
    program = open_program(plain_study, plays=True)
    qtbot.waitUntil(lambda: trained(program))
    pick(qtbot, program.window, "Play", "Stories of studies", "A linear network leaves its saddle")
    qtbot.waitUntil(lambda: program.stories.player.is_playing, timeout=60_000)
    titles = {run.data.run.title for run in program.session if run.data is not None}
    assert titles == {"Saxe et al. 2014: exact paths of linear networks"}
    assert "106 degrees" in program.window.caption.sentence.text()
    # Runs that replace others play by themselves, sometimes after the story has begun.
    program.training.runs_replaced.emit()
    intent, view = program.display.intent, program.display.view
    assert not intent.playing and view.cursor <= view.span.low
    program.stories.player.stop()
    program.help.set_welcome_shown(True)
    (button,) = [
        one for one in program.window.welcome._stories.buttons if "linear" in one.accessibleName()
    ]
    program.window.welcome.ensureWidgetVisible(button)
    QTest.mouseClick(button, LEFT)
    assert program.stories.player.is_playing
    program.stories.player.stop()


def test_the_drawer_of_a_study_with_a_story_plays_and_exports_it(
    open_program: Opener, qtbot: QtBot, plain_study, tmp_path: Path, save_to
) -> None:
    program = open_program(plain_study, plays=True)
    qtbot.waitUntil(lambda: trained(program))
    drawer, bar = program.window.result, program.window.bar
    program.actions["result"].setChecked(True)
    assert not drawer.story.isVisible() and not drawer.story_buttons["play_story"].isVisible()
    # The study is in the form, and the runs of another one are open.
    program.training.offer("saxe14-modes")
    assert drawer.story.isVisible()
    assert drawer.story.text() == (
        "This study has a story: A linear network leaves its saddle (5 moments)."
    )
    play, export = (drawer.story_buttons[key] for key in ("play_story", "story_page"))
    assert export.isVisible() and export.isEnabled()
    QTest.mouseClick(export, LEFT)
    assert bar.text.startswith("Play the story first")
    QTest.mouseClick(play, LEFT)
    qtbot.waitUntil(lambda: program.stories.player.is_playing, timeout=60_000)
    assert "106 degrees" in program.window.caption.sentence.text()
    qtbot.waitUntil(lambda: trained(program), timeout=60_000)
    program.stories.player.stop()
    save_to(out := tmp_path / "story.html")
    QTest.mouseClick(export, LEFT)
    qtbot.waitUntil(lambda: out.exists() and not program.export.busy, timeout=60_000)
    story = data_of(out.read_text())["story"]
    assert len(story) == 5 and "106 degrees" in flat(story[0]["text"])
    program.training.close_runs()
    assert drawer.story.isVisible()  # its runs can be trained again
    assert not export.isEnabled()


def test_an_own_story_comes_before_that_of_the_study(program: Marginscope, qtbot: QtBot) -> None:
    program.actions["result"].setChecked(True)
    drawer = program.window.result
    before = drawer.story.text()
    assert "story" not in before
    dialog = opened(program, qtbot)
    dialog.title.setText("")
    QTest.keyClicks(dialog.title, "A <b>talk</b>")
    QTest.mouseClick(dialog.buttons["present"], LEFT)
    assert drawer.story.text() == "Your story: A <b>talk</b> (1 moment)."
    assert drawer.story.textFormat() is Qt.TextFormat.PlainText
    dialog.hide()
    QTest.mouseClick(drawer.story_buttons["play_story"], LEFT)
    assert program.stories.player.is_playing
    assert program.window.caption.count.text() == "1 / 1"
    program.stories.player.stop()
    program.training.close_runs()
    assert not drawer.story.isVisible()


def test_a_story_from_a_file_is_no_markup(
    program: Marginscope, qtbot: QtBot, tmp_path: Path
) -> None:
    runs = program.stories._runs()
    hostile = "<img src=x onerror=alert(1)> & <b>"
    path = Path(runs[0].path).parent / "a.story.json"
    save_story(Story(hostile, (StoryMoment(1.0, hostile),), runs), path)
    program.files.open_files([str(path)])
    assert (
        program.window.caption.sentence.text()
        == "&lt;img src=x onerror=alert(1)&gt; &amp; &lt;b&gt;"
    )
    program.stories.player.stop()
