"""What cannot be trained is refused before it begins, and what is very large or long is asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from app.training import controller
from app.training.field_row import FieldRow
from app.training.run_questions import CANCEL, TRAIN
from app.training.studies import with_playback_frames
from core.studies.cell_selection import worth_seeing
from core.studies.study import load_study
from core.studies.summaries import shipped_summaries
from core.study_file.experiment import Experiment
from core.study_file.validation import build_experiment
from core.study_file.weight import (
    MachineLimits,
    blocking_reason,
    estimate_resources,
    resource_warnings,
    room_at,
)
from tests.app.mouse import keys, pick
from tests.app.shell.conftest import Opener, trained

CTRL = Qt.KeyboardModifier.ControlModifier
SMALL = MachineLimits(memory=16e9, free=8e9, disk=50e9)


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a machine of usual size, whatever the tests run on."""
    monkeypatch.setattr(controller, "room_at", lambda _folder: SMALL)


def row(program: Marginscope, key: str) -> FieldRow:
    section = key.split(".")[0]
    return next(one for one in program.window.form.sections[section].rows if one.field.key == key)


def type_into(program: Marginscope, key: str, text: str) -> None:
    control = row(program, key).control
    control.setFocus()
    control.selectAll()
    QTest.keyClicks(control, text)


def box() -> QMessageBox | None:
    widget = QApplication.activeModalWidget()
    return widget if isinstance(widget, QMessageBox) else None


def answer(qtbot: QtBot, words: str) -> None:
    asked = box()
    button = next(one for one in asked.buttons() if one.text().replace("&", "") == words)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: box() is None)


def test_what_cannot_be_is_refused_at_the_field(program: Marginscope, qtbot: QtBot) -> None:
    before = [run.key for run in program.session]
    type_into(program, "data.n", "1000000")
    type_into(program, "network.m", "1000000")
    words = program.window.form.scale
    qtbot.waitUntil(lambda: "TB of memory" in words.text())
    assert words.property("problem")
    assert "16.0 GB" in words.toolTip()
    pick(qtbot, program.window, "Experiment", "Run")
    said = "m = 1000000 and n = 1000000 take about 32.0 TB of memory, but this machine has 16.0 GB"
    assert program.window.bar.text == f"{said}; choose a smaller m or n."
    assert row(program, "network.m").problem == program.window.bar.text
    assert box() is None
    assert [run.key for run in program.session] == before
    # Lowered, it is said no more, and can be trained.
    type_into(program, "data.n", "12")
    type_into(program, "network.m", "8")
    qtbot.waitUntil(lambda: "under a minute" in words.text())
    assert not words.property("problem")
    assert not row(program, "network.m").problem
    pick(qtbot, program.window, "Experiment", "Run")
    qtbot.waitUntil(lambda: [run.key for run in program.session] != before and trained(program))


def test_what_is_large_is_asked(program: Marginscope, qtbot: QtBot) -> None:
    before = [run.key for run in program.session]
    type_into(program, "data.n", "40000")
    type_into(program, "network.m", "5000")
    for key in (None, CANCEL):
        keys(qtbot, program.window, Qt.Key.Key_R, CTRL)
        asked = box()
        assert asked.text().endswith("?")
        told = asked.informativeText()
        assert "of memory, of 8.0 GB free; choose a smaller m or n." in told
        if key is None:  # Escape
            QTest.keyClick(asked, Qt.Key.Key_Escape)
            qtbot.waitUntil(lambda: box() is None)
        else:
            answer(qtbot, key)
        assert [run.key for run in program.session] == before


def test_what_is_agreed_to_is_trained(
    program: Marginscope, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [run.key for run in program.session]
    monkeypatch.setattr(controller, "room_at", lambda _folder: replace(SMALL, disk=1e6))
    pick(qtbot, program.window, "Experiment", "New seed")
    asked = box()
    assert "of 1.0 MB free" in asked.informativeText()
    answer(qtbot, TRAIN)
    qtbot.waitUntil(lambda: [run.key for run in program.session] != before and trained(program))


def test_a_question_goes_with_the_window(
    open_program: Opener, plain_study: Path, qtbot: QtBot
) -> None:
    program = open_program(plain_study)
    qtbot.waitUntil(lambda: program.window.form.study() is not None)
    type_into(program, "data.n", "40000")
    type_into(program, "network.m", "5000")
    pick(qtbot, program.window, "Experiment", "Run")
    assert box() is not None
    program.shutdown.close_now()
    assert box() is None


def experiment(tables: dict[str, dict[str, object]]) -> Experiment:
    return build_experiment({"network": {"m": 8}, **tables}, "a study")


@pytest.mark.parametrize(
    ("tables", "room", "words"),
    [
        (
            {"data": {"n": 50_000}, "network": {"m": 50_000}},
            SMALL,
            "network.m = 50000 and data.n = 50000 take about",
        ),
        (
            {"network": {"m": 20_000}, "recording": {"frames": 2000}},
            MachineLimits(disk=5e9),
            "network.m = 20000 and recording.frames = 2000 take about 7.3 GB on disk, but 5.0 GB",
        ),
        ({"network": {"m": 256}}, SMALL, ""),
        ({"data": {"n": 50_000}, "network": {"m": 50_000}}, MachineLimits(), ""),
    ],
)
def test_refusals(tables: dict[str, dict[str, object]], room: MachineLimits, words: str) -> None:
    sentence = blocking_reason(estimate_resources([experiment(tables)]), room)
    assert sentence.startswith(words)
    assert bool(sentence) is bool(words)


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        (
            {"network": {"m": 20_000}, "recording": {"frames": 2000}},
            ["The file takes about 7.3 GB, of 50.0 GB"],
        ),
        (
            {"data": {"n": 20_000}, "network": {"m": 20_000}},
            ["of memory, of 8.0 GB", "Training may take about 15 h"],
        ),
        (
            {"data": {"n": 12_000}, "network": {"m": 12_000}},
            ["of memory", "until_log10_time, network.m or data.n."],
        ),
        (
            {"dynamics": {"kind": "gd", "step": 1e-6, "until_log10_time": 6}},
            ["choose a smaller dynamics.until_log10_time"],
        ),
        ({"network": {"m": 256}}, []),
    ],
)
def test_concerns(tables: dict[str, dict[str, object]], words: list[str]) -> None:
    told = resource_warnings(estimate_resources([experiment(tables)]), SMALL)
    assert len(told) == len(words)
    assert all(part in sentence for part, sentence in zip(words, told, strict=True))


def test_no_shipped_study_is_asked_about_but_the_longest() -> None:
    asked = set()
    for summary in shipped_summaries():
        cells = worth_seeing(load_study(summary.id), 2, ())
        weight = estimate_resources([with_playback_frames(cell.experiment) for cell in cells])
        assert blocking_reason(weight, SMALL) == ""
        if resource_warnings(weight, SMALL):
            asked.add(summary.id)
    assert asked <= {"frei23-figure-2"}


def test_what_the_machine_has_is_known(tmp_path: Path) -> None:
    room = room_at(tmp_path / "not" / "there")
    assert 1e8 < room.free <= room.memory
    assert room.disk > 0
