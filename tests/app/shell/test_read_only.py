"""Folders of the user that cannot be written: the window trains, and says what is not kept."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.places import Places, writable_places
from core.files import FOLDER
from tests.app.shell.conftest import Opener, trained


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that `os.access` calls read-only, since root may write anywhere."""
    folder, real = tmp_path / "user", os.access
    folder.mkdir()

    def access(path: Path, mode: int) -> bool:
        return not Path(path).is_relative_to(folder) and real(path, mode)

    monkeypatch.setattr(os, "access", access)
    return folder


def test_places_that_can_be_written_stay(tmp_path: Path) -> None:
    places = Places.in_folder(tmp_path / "deep" / "user")
    assert writable_places(places) == (places, "")
    assert list(tmp_path.iterdir()) == []


def test_runs_go_where_they_can_be_written(read_only: Path, temporary: Path) -> None:
    places, said = writable_places(Places.in_folder(read_only))
    assert places.runs.is_relative_to(temporary)
    assert places.session.parent == places.library.parent == places.runs.parent
    assert str(read_only) in said and str(places.runs.parent) in said
    assert "Settings are not remembered" in said
    (folder,) = temporary.iterdir()
    assert not FOLDER.fullmatch(folder.name)  # no later program takes it for one of a crash
    if os.name == "posix":
        assert folder.stat().st_mode & 0o077 == 0


def test_a_file_in_place_of_the_folder(tmp_path: Path, temporary: Path) -> None:
    (tmp_path / "user").touch()
    places, said = writable_places(Places.in_folder(tmp_path / "user"))
    assert places.runs.is_relative_to(temporary)
    assert "cannot write to" in said


def test_the_window_trains_and_says_it_once(
    open_program: Opener, read_only: Path, temporary: Path, study: Path, qtbot: QtBot
) -> None:
    program = open_program(study)
    qtbot.waitUntil(lambda: trained(program))
    assert "cannot write to" in program.window.bar.text
    assert all(run.path.is_relative_to(temporary) for run in program.session)
