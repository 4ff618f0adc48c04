"""The window follows a file that another program records; every recorder here is a real process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.playback import live_files
from app.shell.application import Marginscope
from app.state.resolve import span_of
from app.state.session import OpenRun, RecordingState
from app.state.views import FIGURE_1
from core.errors import RunFileError
from core.run_files.active_recorders import held_elsewhere
from core.runs import open_run
from tests.app.shell.conftest import Opener, trained
from tests.support.foreign_loop import LoopProcess

# Where the system tells who has a file open.
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs the list of locks")

Followed = Callable[..., Marginscope]


def only(program: Marginscope) -> OpenRun:
    return next(iter(program.session))


def is_readable(path: Path) -> bool:
    """Return whether a file is a run already: its tables are made after the file itself."""
    try:
        with open_run(path):
            return True
    except RunFileError:
        return False


def has(program: Marginscope, frames: int) -> Callable[[], bool]:
    return lambda: len(program.session) == 1 and only(program).data.frames == frames


@pytest.fixture
def follow(show_files: Opener, program: Marginscope, qtbot: QtBot) -> Followed:
    """Open a file that is being recorded, with one view unless a test is about what is drawn."""

    def opened(loop: LoopProcess, *views: str) -> Marginscope:
        program.display.update_intent(views=views or ("margins",))
        show_files(loop.path, plays=True)
        qtbot.waitUntil(lambda: only(program).path == loop.path and only(program).grows)
        return program

    return opened


def test_frames_come_while_another_program_records(
    tmp_path: Path, follow: Followed, qtbot: QtBot
) -> None:
    with LoopProcess(tmp_path / "mine.msrun") as loop:
        program = follow(loop, *FIGURE_1)
        heading = program.display.panels[0].heading
        for count in (3, 20, 400):  # the last: more than are planned without an end
            qtbot.waitUntil(has(program, loop.frames(count)))
        assert heading.text() == "mine \u2013 being recorded"
        qtbot.waitUntil(lambda: "being recorded by another program" in program.window.status.text)
        assert not program.session.live  # nothing here could pause or stop it
        assert program.display.view.span.live
        loop.stop()
        qtbot.waitUntil(lambda: only(program).growth is RecordingState.ENDED)
    assert not Path(f"{loop.path}-wal").exists()
    qtbot.waitUntil(lambda: trained(program))
    assert only(program).data.frames == 424 and heading.text() == "mine"
    assert program.following.interval == 0
    assert program.display.view.span.high == program.display.view.span.edge


def test_the_end_is_stayed_at_and_other_moments_are_stayed_at_too(
    tmp_path: Path, follow: Followed, qtbot: QtBot
) -> None:
    with LoopProcess(tmp_path / "mine.msrun") as loop:
        program = follow(loop)
        qtbot.waitUntil(has(program, loop.frames(9)))
        program.actions["end"].trigger()
        qtbot.waitUntil(has(program, loop.frames(9)))
        qtbot.waitUntil(lambda: program.display.view.runs[0].frame == 18)
        program.actions["back"].trigger()
        held = program.display.view.runs[0].frame
        qtbot.waitUntil(has(program, loop.frames(9)))
        assert program.display.view.runs[0].frame == held == 17


def test_the_axis_of_time_ends_where_the_loop_is_or_was_to_end(
    tmp_path: Path, follow: Followed, qtbot: QtBot, subtests: pytest.Subtests
) -> None:
    loops: list[dict[str, object]] = [
        {},
        {"time": "t", "until": 1e6},
        {"dynamics": "gd", "eta": 0.1},
    ]
    for number, settings in enumerate(loops):
        with (
            subtests.test(**settings),
            LoopProcess(tmp_path / f"{number}.msrun", **settings) as loop,
        ):
            program = follow(loop)
            qtbot.waitUntil(has(program, loop.frames(30)))
            span = span_of(program.session.snapshot())
            panel = program.display.panels[0]
            panel.draw_pending()
            right = dict(panel.regions())["margins"][1]
            last = float(only(program).data.log10_time[-1])
            if "until" in settings:
                assert right > 6.0 and span.high > span.edge
            else:
                assert right == pytest.approx(last, abs=0.1) and span.high == span.edge


def test_a_run_of_the_command_line_is_followed(
    tmp_path: Path, show_files: Opener, slow_study: Path, qtbot: QtBot
) -> None:
    folder = tmp_path / "runs"
    command = [sys.executable, "-m", "core", "run", str(slow_study), "--out", str(folder)]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=quiet, stderr=quiet, stdin=quiet)
    try:
        qtbot.waitUntil(lambda: any(map(is_readable, folder.glob("*.msrun"))))
        program = show_files(next(folder.glob("*.msrun")))
        qtbot.waitUntil(lambda: len(program.session) == 1 and only(program).grows)
        seen = only(program).data.frames
        qtbot.waitUntil(lambda: only(program).data.frames > max(seen, 1) + 2)
    finally:
        process.kill()
        process.wait(60)
    qtbot.waitUntil(lambda: only(program).growth in (RecordingState.LEFT, RecordingState.RESTS))


@linux
def test_a_loop_that_is_killed_is_told_once_and_its_frames_stay(
    tmp_path: Path, follow: Followed, qtbot: QtBot
) -> None:
    with LoopProcess(tmp_path / "mine.msrun") as loop:
        program = follow(loop)
        frames = loop.frames(9)
        qtbot.waitUntil(has(program, frames))
        loop.kill()
        qtbot.waitUntil(lambda: only(program).growth is RecordingState.LEFT)
    assert "was interrupted" in program.window.bar.text
    assert f"The {frames} frames" in program.window.bar.text
    assert program.display.panels[0].heading.text() == "mine \u2013 interrupted"
    assert only(program).data.frames == frames and not program.display.view.span.live
    assert program.following.interval == live_files.REST_MS
    program.actions["end"].trigger()
    qtbot.waitUntil(lambda: not program.open_runs.is_ticking)


def frames_in(path: Path) -> int:
    with open_run(path) as run:
        return run.frames


@linux
def test_a_file_that_a_crash_left_is_not_taken_for_one_that_grows(
    tmp_path: Path, show_files: Opener, qtbot: QtBot
) -> None:
    with LoopProcess(tmp_path / "mine.msrun") as loop:
        frames = loop.frames(9)
        qtbot.waitUntil(lambda: frames_in(loop.path) == frames)  # a thread writes them
        loop.kill()
    for suffix in ("", "-wal"):
        os.utime(f"{loop.path}{suffix}", (1e9, 1e9))
    program = show_files(loop.path, plays=True)
    qtbot.waitUntil(
        lambda: len(program.session) == 1 and only(program).growth is RecordingState.LEFT
    )
    qtbot.waitUntil(lambda: not program.display.view.span.live)
    text = program.window.bar.text
    assert "was interrupted. The 10 frames up to step 9 are safe." in text
    assert "interrupted" in program.display.panels[0].heading.text()


def test_a_file_that_is_taken_away_leaves_what_was_seen(
    tmp_path: Path, follow: Followed, qtbot: QtBot, subtests: pytest.Subtests
) -> None:
    """The file of a recording is deleted, or another one has its name."""
    with LoopProcess(tmp_path / "other.msrun") as another:
        another.frames(3)
        another.stop()
    for other in (another.path, None):
        name = tmp_path / f"mine-{other is None}.msrun"
        with subtests.test(other=other is not None), LoopProcess(name) as loop:
            take_away(loop, other, follow, qtbot)


def take_away(loop: LoopProcess, other: Path | None, follow: Followed, qtbot: QtBot) -> None:
    program = follow(loop)
    frames = loop.frames(9)
    qtbot.waitUntil(has(program, frames))
    if other is None:
        loop.path.unlink()
    else:  # at once, so that no look finds the place empty
        Path(shutil.copy(other, loop.path.with_suffix(".copy"))).replace(loop.path)
    for suffix in ("-wal", "-shm"):
        Path(f"{loop.path}{suffix}").unlink()
    qtbot.waitUntil(lambda: only(program).growth is RecordingState.LOST)
    words = "does not exist" if other is None else "was replaced by another file"
    assert words in program.window.bar.text and "read so far can be used" in program.window.bar.text
    program.actions["start"].trigger()
    program.actions["forward"].trigger()
    assert program.display.view.runs[0].frame == 1 and only(program).data.frames == frames
    assert program.following.interval == 0


def test_a_recording_that_replaces_an_old_one_is_followed_to_its_name(
    tmp_path: Path, follow: Followed, qtbot: QtBot
) -> None:
    path = tmp_path / "mine.msrun"
    with LoopProcess(path) as old:
        old.frames(2)
        old.stop()
    with LoopProcess(path, overwrite=True) as loop:
        assert loop.path != path
        program = follow(loop)
        qtbot.waitUntil(has(program, loop.frames(9)))
        loop.stop()
        qtbot.waitUntil(lambda: only(program).growth is RecordingState.ENDED and trained(program))
    assert only(program).path == path and not program.window.bar.text
    assert only(program).data.run.status == "finished"


def test_a_file_that_is_dropped_is_followed(
    tmp_path: Path, program: Marginscope, qtbot: QtBot
) -> None:
    with LoopProcess(tmp_path / "mine.msrun") as loop:
        mime = QMimeData()
        mime.setUrls([QUrl.fromLocalFile(str(loop.path))])
        how = Qt.DropAction.CopyAction, mime, Qt.MouseButton.LeftButton
        keys = Qt.KeyboardModifier.NoModifier
        window = program.window
        QApplication.sendEvent(window, QDragEnterEvent(QPoint(500, 300), *how, keys))
        QApplication.sendEvent(window, QDropEvent(QPointF(500, 300), *how, keys))
        qtbot.waitUntil(has(program, loop.frames(5)))
        program.training.close_runs()
        assert program.following.interval == 0
        loop.frames(5)
        loop.stop()  # nothing here holds on to the file
    assert not Path(f"{loop.path}-wal").exists()


@linux
def test_locks_tell_who_has_a_file_open(tmp_path: Path) -> None:
    with LoopProcess(tmp_path / "mine.msrun") as loop:
        assert held_elsewhere(loop.path) is True
        loop.stop()
        assert held_elsewhere(loop.path) is False
    assert held_elsewhere(tmp_path / "none.msrun") is None
