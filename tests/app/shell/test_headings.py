"""Headings say what differs, files that are not opened are named, two times are told apart."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.shell.action_state import EDITED
from app.shell.application import Marginscope
from app.training.study_edits import Edits
from core.numbers import raise_powers, time_text
from tests.app.shell.conftest import STUDY, Opener, trained


def test_runs_in_the_window_are_headed_by_what_differs(
    open_program: Opener, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "seeds.toml"
    path.write_text(
        STUDY.replace('"network.m" = [8, 12]', '"network.m" = [8]\n"run.seed" = [0, 1]')
    )
    program = open_program(path)
    qtbot.waitUntil(lambda: trained(program))
    assert [panel.heading.text() for panel in program.display.panels] == ["seed 0", "seed 1"]
    check_names_of_reopened_runs(program)
    check_files_for_which_there_is_no_room(program, monkeypatch)


def check_names_of_reopened_runs(program: Marginscope) -> None:
    """Runs are called the same before they are closed and after they are opened again."""
    names = [run.heading for run in program.session]
    paths = [run.path for run in program.session]
    program.files.replace(paths[1:])
    alone = [run.heading for run in program.session]
    program.files.replace([])
    program.files.replace(paths[1:])
    assert [run.heading for run in program.session] == alone
    program.files.replace(paths)
    assert [run.heading for run in program.session] == names
    assert [panel.heading.text() for panel in program.display.panels] == names


def check_files_for_which_there_is_no_room(
    program: Marginscope, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.training.files.MOST_RUNS", 4)
    runs = [run.path for run in program.session]
    copies = [runs[0].with_name(f"copy{k}.msrun") for k in range(5)]
    for copy in copies:
        copy.write_bytes(runs[0].read_bytes())
    said: list[str] = []
    program.files.message.connect(said.append)
    two = copies[:2]
    program.files.open_files([*map(str, runs), *map(str, copies[:3])])
    assert said[-1] == "At most 4 runs can be open at once; copy2.msrun was not opened."
    program.files.open_files([*map(str, runs), *map(str, two + copies)])
    assert said[-1] == (
        "At most 4 runs can be open at once; copy0.msrun, copy1.msrun, copy2.msrun and 2 more were "
        "not opened."
    )
    assert [run.path for run in program.session] == runs + two
    said.clear()
    program.files.open_files([*map(str, runs)])
    assert said == [""]
    program.files.open_files([str(copies[0]), "telgarsky22-figure-2"])
    assert said[-1] == (
        "telgarsky22-figure-2 is a study and replaces all open runs; copy0.msrun was not opened."
    )


def test_what_is_trained_and_what_is_shown_are_told_apart(
    playing_program: Marginscope, qtbot: QtBot
) -> None:
    program = playing_program  # whose runs were trained, and not opened
    program.playback.seek_start()
    line = program.window.status.line
    run = list(program.session)[-1]
    status = run.control.status
    moment = raise_powers(time_text(status.log10_time))
    words = f"Trained to step {status.step}, {moment}"
    # Until the texts' next turn, the line may have the last step that was seen in training.
    qtbot.waitUntil(lambda: words in line.toolTip().replace("\u202f", ""))
    assert program.window.transport.time.text() == "t = 0"


def test_a_file_that_cannot_be_read_is_named_with_the_reason(
    program: Marginscope, tmp_path: Path
) -> None:
    garbage, wrong = tmp_path / "garbage.msrun", tmp_path / "bad.toml"
    garbage.write_bytes(b"garbage\0\1")
    wrong.write_text("title = 'bad'\nm = \n")
    for path, words in (
        (garbage, "garbage.msrun is damaged or not a run file: it does not begin as one;"),
        (wrong, "bad.toml, line 2: invalid value."),
    ):
        program.files.open_files([str(path)])
        assert words in program.window.bar.text


@pytest.mark.drawer("form")
def test_edited_is_said_of_edits_alone(program: Marginscope, qtbot: QtBot) -> None:
    """It stayed for another study, and came with settings that the open runs have."""
    form, training = program.window.form, program.training
    row = next(row for row in form.sections["data"].rows if row.field.name == "n")
    before = row.field.key, row.control.text()
    study, status = form.edits, program.window.status
    row.text_edited.emit(row.field.key, "14")
    qtbot.waitUntil(lambda: status.text == EDITED)
    row.text_edited.emit(*before)
    qtbot.waitUntil(lambda: status.text != EDITED)
    row.text_edited.emit(row.field.key, "14")
    qtbot.waitUntil(lambda: status.text == EDITED)
    training.offer("telgarsky22-figure-2")
    qtbot.waitUntil(lambda: status.text != EDITED)
    assert study is not None
    # Of a study of n = 14 it is an edit that the open runs have.
    other = study.base.with_value("data.n", 14)
    training.show_edits(Edits(other, texts=(before,)))
    form.changed.emit()
    qtbot.waitUntil(lambda: not program.readout._stale)
    assert status.text != EDITED
    training.show_edits(Edits(study.base))
