"""The record of a session: a script that does again what was done."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from app.shell.record import MOST_ENTRIES, RecordEntry, script, with_entry
from core.runs import open_run
from core.studies.tables import parse_setting, setting_text
from tests.app.mouse import pick
from tests.app.shell.conftest import trained

ROOT = Path(__file__).parents[3]


def test_studies_of_one_text_have_one_file_and_comments_stay_in_their_line() -> None:
    entries = [
        RecordEntry("10:00:00", "Train a\nrm -rf /", ("run", "STUDY"), "one"),
        RecordEntry("10:00:01", "Train it again", ("run", "STUDY"), "one"),
        RecordEntry("10:00:02", "Train another", ("run", "STUDY"), "two"),
        RecordEntry("10:00:03", "Open it", ("info", "it's; a $run.msrun")),
    ]
    text, files = script(entries, "title\nline", "s")
    assert files == {"s-1.toml": "one", "s-2.toml": "two"}
    commands = [line for line in text.splitlines() if line.startswith("python")]
    assert [line.split()[-1] for line in commands[:3]] == ["s-1.toml", "s-1.toml", "s-2.toml"]
    assert commands[3].endswith("""'it'"'"'s; a $run.msrun'""")
    assert not any(line.startswith("rm") for line in text.splitlines())


def test_the_record_is_bounded() -> None:
    entries: tuple[RecordEntry, ...] = ()
    for number in range(MOST_ENTRIES + 5):
        entries = with_entry(entries, RecordEntry("", str(number)))
    assert len(entries) == MOST_ENTRIES
    assert entries[0].words == "5"


@pytest.mark.parametrize(
    "value", [16, 0.1, 1e-300, "gd", "a 'b' \"c\" = #", [3, 8], [0.5, "x"], True]
)
def test_settings_are_read_back_as_they_were(value: object) -> None:
    assert parse_setting(setting_text("data.x", value)) == ("data.x", value)


def test_what_was_done_is_done_again_by_the_script(
    program: Marginscope, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.display.update_intent(palette="dark")
    qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
    place = tmp_path / "record" / "mine.sh"
    place.parent.mkdir()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(place), ""))
    pick(qtbot, program.window, "File", "Save session script ...")
    text = place.read_text()
    assert "Colours: dark" in text
    assert "run mine-1.toml" in text
    assert os.access(place, os.X_OK)
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["sh", str(place)], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    runs = [run.data.run for run in program.session if run.data is not None]
    shown = {(run.problem.dataset.d, run.network.m): run for run in runs}
    paths = list((place.parent / "runs").rglob("*.msrun"))
    assert len(paths) == len(shown) == 2
    for path in paths:
        with open_run(path) as again:
            first, last = shown[again.problem.dataset.d, again.network.m], again.frames - 1
            assert again.frames == first.frames
            assert (again.parameters(last) == first.parameters(last)).all()


def test_a_record_that_cannot_be_written_is_a_sentence(
    program: Marginscope, tmp_path: Path
) -> None:
    program.record.write(tmp_path / "nowhere" / "x.sh")
    assert "nowhere" in program.window.bar.text
    assert trained(program)


def test_a_number_that_is_typed_is_one_line(
    program: Marginscope, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A busy machine may need longer between two letters than people do between two changes.
    monkeypatch.setattr("app.scenes.history.PAUSE_S", 3600.0)
    row = program.window.form.sections["run"].rows[0]
    row.control.setFocus()
    for letter in "12":
        qtbot.keyClick(row.control, Qt.Key(ord(letter)))
        qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
    changes = [entry.words for entry in program.record.entries if entry.is_step]
    assert len(changes) == 1
    assert changes[0] == f"{row.field.name} = {row.text()}"


def test_saving_is_called_so_and_a_first_change_leaves_the_line_before_it(
    program: Marginscope, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.scenes.clear_history()  # nothing can be undone, as after the start
    place = tmp_path / "mine.toml"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(place), ""))
    pick(qtbot, program.window, "File", "Save study ...")
    program.display.update_intent(equal=True)
    qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
    assert [entry.words for entry in program.record.entries[-2:]] == [
        f"Save {place}",
        "Equal aspect",
    ]
    assert program.settings.values.recent[0] == str(place)


def test_only_the_line_of_a_step_is_replaced_when_the_step_goes_on(
    program: Marginscope, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.scenes.history.PAUSE_S", 3600.0)
    program.scenes.clear_history()
    program.display.update_intent(pace=2.0)
    qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
    program.export.finished.emit("figure.pdf is written.")
    program.display.update_intent(pace=4.0)
    qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
    words = [entry.words for entry in program.record.entries[-3:]]
    assert words == ["Speed 2\u00d7", "figure.pdf is written.", "Speed 4\u00d7"]


def test_a_change_that_is_reverted_at_once_leaves_no_line(
    program: Marginscope, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.scenes.history.PAUSE_S", 3600.0)
    program.scenes.clear_history()
    before = program.record.entries
    for equal in (True, False):
        program.display.update_intent(equal=equal)
        qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
    assert program.record.entries == before
