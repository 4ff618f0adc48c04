"""Continue further: the window goes on with the run that was not interrupted, and says if not."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from app.training.branching import EARLIER
from app.training.studies import study_of
from core.library.run_notes import read_about
from core.observables.registry import OBSERVABLES
from core.problem.schedule import coordinate
from core.runs import Recorder, open_run
from core.training.trajectory import run
from tests.app.shell.conftest import Opener
from tests.problems import problem
from tests.support.continued_runs import assert_frames_agree, with_marks
from tests.support.run_files import tamper

MARKS = (-0.5, 0.0, 0.5, 1.0)
FURTHER = (*MARKS, 2.0)


def trained(program: Marginscope) -> bool:
    runs = list(program.session)
    return bool(runs) and all(not run.live and run.data is not None for run in runs)


@pytest.fixture
def run_path(tmp_path: Path) -> Path:
    """Return a flow that was recorded to its end, all of whose frames are marks."""
    run(with_marks(problem(), MARKS), partial(Recorder, tmp_path / "a.msrun"))
    return tmp_path / "a.msrun"


def go_further(program: Marginscope, qtbot: QtBot) -> Path:
    qtbot.waitUntil(lambda: trained(program))
    control_shift = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(program.window, Qt.Key.Key_F, control_shift)
    qtbot.waitUntil(
        lambda: trained(program) and [one.data.run.continues for one in program.session] != [None],
    )
    (one,) = program.session
    return one.path


def test_the_run_goes_on_exactly(
    open_program: Opener, run_path: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    program = open_program(run_path)
    path = go_further(program, qtbot)
    assert not program.window.bar.isVisible()
    with open_run(path) as part:
        marks = [*MARKS, *part.log10_time[1:].tolist()]
        run(with_marks(problem(), marks), partial(Recorder, tmp_path / "whole.msrun"))
        with open_run(tmp_path / "whole.msrun") as whole:
            assert_frames_agree(part, whole, 0.0)
            (one,) = program.session
            data = one.data
            assert data is not None
            # Parent and child are one line from t = 0 on.
            qtbot.waitUntil(lambda: data.frames == whole.frames)
            span = program.display.view.span
            assert span.low < coordinate(MARKS[0])
            # Playing goes on at the end of the parent; the test's window holds it there.
            assert program.display.view.cursor == coordinate(MARKS[-1])
            assert np.array_equal(data.log10_time, whole.log10_time)
            assert data.scalars(0)["distance"] == 0.0
            for frame in range(1, whole.frames):
                shown = data.scalars(frame)
                for name in ("distance", "balance_drift", "hard_margin"):
                    assert shown[name] == OBSERVABLES[name].value_at(whole, frame), (name, frame)
                turned = OBSERVABLES["rotation"].value_at(whole, frame).astype("float32")
                assert np.array_equal(data.values("rotation", frame), turned)


def test_branches_of_a_continued_run_begin_at_its_own_frames(
    open_program: Opener, run_path: Path, qtbot: QtBot
) -> None:
    program = open_program(run_path)
    path = go_further(program, qtbot)
    (one,) = program.session
    data = one.data
    assert data is not None
    qtbot.waitUntil(lambda: not one.has_unread_frames)
    started: list[int] = []
    program.branches.branch_started.connect(lambda _path, frame, _texts: started.append(frame))
    program.display.update_intent(cursor=float(data.coordinate[1]), playing=False)
    program.branches.offer()
    assert program.window.bar.text == EARLIER.format(name=run_path.stem)
    assert started == []
    program.display.update_intent(cursor=float(data.coordinate[-1]), playing=False)
    program.branches.offer()
    study = study_of(data.run, path.stem).with_value("dynamics.until_log10_time", 2.5)
    assert program.branches.train_offered(study)
    qtbot.waitUntil(lambda: bool(started))
    with open_run(path) as part:
        assert started == [part.frames - 1]


def test_bookmarks_of_a_continued_run_keep_their_moments_on_either_side_of_its_start(
    open_program: Opener, run_path: Path, qtbot: QtBot
) -> None:
    """A bookmark is a moment, not a frame of the file, which has only those since its start."""
    program = open_program(run_path)
    path = go_further(program, qtbot)
    (one,) = program.session
    data = one.data
    assert data is not None
    qtbot.waitUntil(lambda: not one.has_unread_frames)
    before, since = 1, data.run.frames_before + 1
    for frame in (before, since):
        program.display.update_intent(cursor=float(data.coordinate[frame]), playing=False)
        program.bookmarks.add(f"frame {frame}")
    marks = read_about(path).bookmarks
    assert [mark.log10_time for mark in marks] == data.log10_time[[before, since]].tolist()
    for frame in (since, before):
        program.playback.seek_end()
        program.bookmarks.show(f"frame {frame}")
        assert one.data.frame_at(program.display.view.cursor) == frame


def test_a_file_of_before_says_what_begins_anew(
    open_program: Opener, run_path: Path, qtbot: QtBot
) -> None:
    tamper(
        run_path,
        "UPDATE meta SET value = '0' WHERE key = 'state'",
        "DELETE FROM array WHERE name >= 'state_' AND name < 'state`'",
    )
    program = open_program(run_path)
    go_further(program, qtbot)
    qtbot.waitUntil(program.window.bar.isVisible)
    assert "steps restart" in program.window.bar.text
