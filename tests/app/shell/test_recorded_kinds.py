"""Runs of other programs in the window: networks and dynamics that are not trained here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

import marginscope as ms
from app.shell.application import Marginscope
from app.state.display import DisplayData
from core.figures.margin_curves import margin_traces
from core.runs import open_run
from tests.app.shell.conftest import Opener, trained
from tests.app.shell.shared_window import defer_painting
from tests.support.loops import loop, record_loop

KINDS: dict[str, dict[str, Any]] = {
    "tanh": {"activation": "tanh"},
    "unknown": {"activation": None},
    "standard": {},
    "gd": {"dynamics": "gd", "eta": 0.5},
}
WORDS = {
    "tanh": "tanh network",
    "unknown": "network with unknown activation",
    "standard": "standard network",
    "gd": "standard network, gradient descent",
}
REASONS = {
    "tanh": "cannot train it",
    "standard": "trained by another program with unknown dynamics",
}


def test_recorded_runs_in_one_window(
    tmp_path: Path,
    open_program: Opener,
    study: Path,
    qtbot: QtBot,
    subtests: pytest.Subtests,
) -> None:
    """Open a run of each kind in turn, and ask for all that may not be done with it."""
    program = open_program(study)
    qtbot.waitUntil(lambda: trained(program))
    program.display.update_intent(views=("margins",))
    with defer_painting(program.window):
        check_each_kind(program, tmp_path, qtbot, subtests)


def check_each_kind(
    program: Marginscope, tmp_path: Path, qtbot: QtBot, subtests: pytest.Subtests
) -> None:
    with subtests.test("compared"):
        check_comparison(program, tmp_path, qtbot)
    for kind in KINDS:
        path = tmp_path / f"{kind}.msrun"
        record_loop(path, 20, **KINDS[kind])
        program.files.open_files([str(path)])
        qtbot.waitUntil(lambda path=path: paths_of(program) == [path] and trained(program))
        with subtests.test("it says what it is", kind=kind):
            check_words(program, kind)
        with subtests.test("t counts steps, unless they have a length", kind=kind):
            check_times(program, kind == "gd", qtbot)
        if kind == "unknown":
            with subtests.test("no margin", kind=kind):
                check_that_no_margin_is_known(program)
        if kind in ("tanh", "standard"):
            for deed in ("run", "restart", "further", "seed", "weights"):
                with subtests.test("not trained", kind=kind, deed=deed):
                    check_that_it_is_not_trained(program, kind, deed)
        if kind != "unknown":
            with subtests.test("branch", kind=kind):
                check_branch(program, kind, qtbot)


def paths_of(program: Marginscope) -> list[Path]:
    return [run.path for run in program.session]


def check_words(program: Marginscope, kind: str) -> None:
    details = program.display.panels[0].details.toolTip()
    assert details.startswith(f"recorded by another program: {WORDS[kind]}")
    assert "recorded from Python" in details
    sections = program.window.form.sections
    for section, table in next(iter(program.session)).data.run.experiment:
        box = getattr(sections.get(section), "kinds", None)
        if box is not None:
            assert box.currentData() == table.kind


def check_times(program: Marginscope, timed: bool, qtbot: QtBot) -> None:
    """Axis, clock, pointer and facts say what t is; a step is typed as it is shown."""
    program.playback.seek_end()
    field, plot = program.window.transport.time, program.display.panels[0].view("margins").plot
    qtbot.waitUntil(lambda: field.text() == ("t = 10.0" if timed else "step 20"))
    assert plot.bottom.labelText == ("time t" if timed else "steps")
    told = plot.accessibleDescription().split(";")[0]
    assert told == ("t = 10" if timed else "step 20")
    if not timed:
        field.setText("step 7")
        field.setModified(True)
        qtbot.keyClick(field, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: field.text() == "step 7")
        assert not program.window.bar.text


def check_that_it_is_not_trained(program: Marginscope, kind: str, deed: str) -> None:
    program.window.bar.clear()
    program.actions[deed].trigger()
    words = REASONS[kind]
    words = "a new seed does not change them" if deed in ("seed", "weights") else words
    assert words.lower() in program.window.bar.text.lower()
    assert [path.stem for path in paths_of(program)] == [kind] and not program.session.live


def check_branch(program: Marginscope, kind: str, qtbot: QtBot) -> None:
    """A branch needs a network and dynamics of the program."""
    program.window.bar.clear()
    program.actions["branch"].trigger()
    if kind == "gd":
        edits = program.window.form.study().with_value("dynamics.step", 0.25)
        program.branches.train_offered(edits)
        qtbot.waitUntil(lambda: len(program.session) == 2 and trained(program))
        assert not program.window.bar.text
        return
    program.actions["run"].trigger()
    assert REASONS[kind].lower() in program.window.bar.text.lower()
    assert len(program.session) == 1


def check_that_no_margin_is_known(program: Marginscope) -> None:
    """An unknown activation is said in place of empty plots."""
    program.display.update_intent(views=("margins", "predictor"))
    data = next(iter(program.session)).data
    panel = program.display.panels[0]
    note = panel.view("margins").words(data, data.frames - 1).note
    assert note == "no margin: f is not known, as its activation is not"
    assert "f is not known" in margin_traces(data.run, data.frames - 1).why_none
    with open_run(data.run.path) as run:
        assert np.isnan(DisplayData(run).scalars(1)["hard_margin"])


def check_comparison(program: Marginscope, folder: Path, qtbot: QtBot) -> None:
    """A recording is compared with two runs that were trained here."""
    record_loop(folder / "mine.msrun", 20)
    program.files.open_files([str(folder / "mine.msrun")], True)
    qtbot.waitUntil(lambda: len(program.session) == 3 and trained(program))
    program.actions["compare"].trigger()
    qtbot.waitUntil(lambda: program.display.intent.compared is not None)
    assert len(program.display.intent.compared.runs) == 3
    assert not program.window.bar.text
    program.actions["compare"].trigger()


def test_the_end_is_known_where_it_was_said(tmp_path: Path) -> None:
    one = loop()
    for number, (settings, until) in enumerate(
        [
            ({}, -np.inf),
            ({"until": 1e4}, 4.0),
            ({"dynamics": "gd", "eta": 0.1}, -np.inf),
            ({"dynamics": "gd", "eta": 0.1, "until": 1e4}, 3.0),
            ({"time": "t", "until": 50.0}, np.log10(50.0)),
        ]
    ):
        path = tmp_path / f"{number}.msrun"
        with ms.record(path, one.x, one.y, loss="logistic", V0=one.V, a0=one.a, **settings):
            run = open_run(path)
        assert run.planned_end == pytest.approx(until)  # as it was when it was opened
        assert np.isfinite(DisplayData(run).planned_end)
        run.close()
