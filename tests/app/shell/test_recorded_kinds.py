"""Runs of other programs in the window: networks and dynamics that are not trained here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

import marginscope as ms
from app.application import Marginscope
from app.state.display import DisplayData
from core.figures.margin_curves import margin_traces
from core.runs import open_run
from tests.app.shell.conftest import Opener, trained
from tests.python.loops import loop, recorded

KINDS: dict[str, dict[str, Any]] = {
    "tanh": {"activation": "tanh"},
    "unknown": {"activation": None},
    "standard": {},
    "gd": {"dynamics": "gd", "eta": 0.5},
}
WORDS = {
    "tanh": "tanh network",
    "unknown": "network of an unknown activation",
    "standard": "standard network",
    "gd": "standard network, gradient descent",
}
NETWORK, DYNAMICS = "none of those that are trained here", "how another program has trained"


def opened(kind: str, folder: Path, open_program: Opener, qtbot: QtBot) -> Marginscope:
    path = folder / f"{kind}.msrun"
    recorded(path, 20, **KINDS[kind])
    program = open_program(path)
    qtbot.waitUntil(lambda: trained(program))
    return program


@pytest.mark.parametrize("kind", KINDS)
def test_a_recorded_run_says_what_it_is(
    kind: str, tmp_path: Path, open_program: Opener, qtbot: QtBot
) -> None:
    program = opened(kind, tmp_path, open_program, qtbot)
    details = program.display.slots[0].panel.details.toolTip()
    assert details.startswith(f"recorded by another program: {WORDS[kind]}")
    assert "recorded from Python" in details
    sections = program.window.form.sections
    for section, table in next(iter(program.session)).data.run.experiment:
        box = getattr(sections.get(section), "kinds", None)
        if box is not None:
            assert box.currentText() == table.kind


@pytest.mark.parametrize("deed", ["run", "restart", "further", "seed", "weights"])
@pytest.mark.parametrize("kind", ["tanh", "standard"])
def test_what_cannot_be_trained_is_told_and_stays_open(
    kind: str, deed: str, tmp_path: Path, open_program: Opener, qtbot: QtBot
) -> None:
    program = opened(kind, tmp_path, open_program, qtbot)
    program.actions[deed].trigger()
    words = NETWORK if kind == "tanh" else DYNAMICS
    words = "nothing to draw anew" if deed in ("seed", "weights") else words
    assert words.lower() in program.window.bar.text.lower()
    assert [run.path.stem for run in program.session] == [kind] and not program.session.live


@pytest.mark.parametrize(("kind", "words"), [("tanh", NETWORK), ("standard", DYNAMICS), ("gd", "")])
def test_a_branch_needs_a_network_and_dynamics_of_the_program(
    kind: str, words: str, tmp_path: Path, open_program: Opener, qtbot: QtBot
) -> None:
    program = opened(kind, tmp_path, open_program, qtbot)
    program.actions["branch"].trigger()
    if not words:
        edits = program.window.form.study().with_value("dynamics.step", 0.25)
        program.experiment.aside.take(edits)
        qtbot.waitUntil(lambda: len(program.session) == 2 and trained(program))
        assert not program.window.bar.text
        return
    program.actions["run"].trigger()
    assert words.lower() in program.window.bar.text.lower()
    assert len(program.session) == 1


def test_an_unknown_activation_is_told_in_place_of_empty_plots(
    tmp_path: Path, open_program: Opener, qtbot: QtBot
) -> None:
    program = opened("unknown", tmp_path, open_program, qtbot)
    program.display.ask(views=("margins", "predictor"))
    data = next(iter(program.session)).data
    panel = program.display.slots[0].panel
    note = panel.view("margins").words(data, data.frames - 1).note
    assert note == "no margin: f is not known, as its activation is not"
    assert "f is not known" in margin_traces(data.run, data.frames - 1).why_none
    with open_run(data.run.path) as run:
        assert np.isnan(DisplayData(run).scalars(1)["hard_margin"])


@pytest.mark.usefixtures("own_window")
def test_recordings_and_own_runs_are_compared(
    tmp_path: Path, program: Marginscope, qtbot: QtBot
) -> None:
    recorded(tmp_path / "mine.msrun", 20)
    program.files.open_files([str(tmp_path / "mine.msrun")], True)
    qtbot.waitUntil(lambda: len(program.session) == 3 and trained(program))
    program.actions["compare"].trigger()
    qtbot.waitUntil(lambda: program.display.intent.compared is not None)
    assert len(program.display.intent.compared.runs) == 3
    assert not program.window.bar.text


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
        assert run.until == pytest.approx(until)  # as it was when it was opened
        assert np.isfinite(DisplayData(run).until)
        run.close()
