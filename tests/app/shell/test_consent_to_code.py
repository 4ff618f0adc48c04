"""A study that carries code is not trained when it is opened or dropped: it asks first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.places import Places
from app.playback.display import DisplayController
from app.state.intent import Intent
from app.state.session import Session
from app.training.controller import TrainingController
from app.training.experiment_form import ExperimentForm
from app.training.files import FileController
from app.training.run_questions import RunQuestions
from app.training.run_worker import RunWorker
from core import trust
from core.studies.study import Study

CODE = "def initial(generator, m, d, k): ...\ndef outputs(parameters, x): ...\n"


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(trust, "trust_folder", lambda: tmp_path / "trusted")
    path = tmp_path / "mine.toml"
    path.write_text(f'[network]\nkind = "custom"\nm = 3\ncode = {json.dumps(CODE)}\n')
    return str(path)


def make_training(folder: Path, qtbot: QtBot) -> tuple[QWidget, RunQuestions, TrainingController]:
    """Make a training controller whose thread is not started, in an empty window."""
    window = QWidget()
    qtbot.addWidget(window)
    display, questions = DisplayController(Session(), Intent()), RunQuestions(window)
    worker, form = RunWorker(window), ExperimentForm(window)
    places = Places.in_folder(folder)
    return window, questions, TrainingController(display, worker, form, questions, places, window)


def test_a_dropped_study_with_code_asks_first(
    study: str, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, questions, training = make_training(tmp_path, qtbot)
    places = Places.in_folder(tmp_path)
    files = FileController(Session(), training, None, questions, places, window)
    said: list[str] = []
    trained: list[Study] = []
    for source in (training, files):
        source.message.connect(said.append)
    monkeypatch.setattr(training, "train", trained.append)
    files.ready()
    files.open_files([study], add=False)
    files.open_files([study])
    assert trained == []
    assert [sentence for sentence in said if sentence] == [said[-1]] * 2
    assert f"core trust {study}" in said[-1]
    trust.trust(CODE)
    files.open_files([study], add=False)
    assert [one.id for one in trained] == ["mine"]


def test_a_chosen_study_with_code_asks_first(
    study: str, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, controller = make_training(tmp_path, qtbot)
    said: list[str] = []
    trained: list[Study] = []
    controller.message.connect(said.append)
    monkeypatch.setattr(controller, "train", trained.append)
    controller.choose(study)
    assert trained == []
    assert "core trust" in said[-1]
    trust.trust(CODE)
    controller.choose(study)
    assert len(trained) == 1
