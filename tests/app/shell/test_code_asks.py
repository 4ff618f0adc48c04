"""A study that carries code is not trained when it is opened or dropped: it asks first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.places import Places
from app.state.session import Session
from app.training.experiment import ExperimentController
from app.training.files import FileController
from core import trust
from core.studies.study import Study

CODE = "def initial(generator, m, d, k): ...\ndef outputs(parameters, x): ...\n"


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(trust, "trust_folder", lambda: tmp_path / "trusted")
    path = tmp_path / "mine.toml"
    path.write_text(f'[network]\nkind = "custom"\nm = 3\ncode = {json.dumps(CODE)}\n')
    return str(path)


def test_a_dropped_study_with_code_asks_first(
    study: str, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, places = QWidget(), Places.under(tmp_path)
    qtbot.addWidget(window)
    experiment = ExperimentController(Session(), None, None, places)
    files = FileController(Session(), experiment, None, places, window)
    said: list[str] = []
    trained: list[Study] = []
    for source in (experiment, files):
        source.message.connect(said.append)
    monkeypatch.setattr(experiment, "train", trained.append)
    files.ready()
    files.open_files([study], beside=False)
    files.open_files([study])
    assert trained == []
    assert [sentence for sentence in said if sentence] == [said[-1]] * 2
    assert f"core trust {study}" in said[-1]
    trust.trust(CODE)
    files.open_files([study], beside=False)
    assert [one.id for one in trained] == ["mine"]


def test_a_chosen_study_with_code_asks_first(
    study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    controller = ExperimentController(Session(), None, None, Places.under(tmp_path))
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
