"""What is remembered, and that nothing in a settings file stops the start."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.places import Places
from app.settings import Settings, load_settings, save_settings
from app.shell.lifecycle import OPEN, UNSAVED
from core.errors import DiskError
from tests.app.mouse import press_in_box
from tests.app.shell.conftest import Opener, trained


def test_settings_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "settings.json"
    kept = Settings.model_validate({"palette": "dark", "pace": 2.0, "recent": ("a", "b")})
    save_settings(path, kept)
    assert load_settings(path) == (kept, "")


def test_a_name_that_is_no_text_is_remembered(tmp_path: Path) -> None:
    settings = Settings().with_recent(tmp_path / os.fsdecode(b"a\xff.msrun"))
    save_settings(tmp_path / "settings.json", settings)
    assert load_settings(tmp_path / "settings.json") == (settings, "")


def test_the_latest_file_comes_first_once(tmp_path: Path) -> None:
    settings = Settings.model_validate({})
    for name in [*"abcdefghijkl", "k"]:
        settings = settings.with_recent(tmp_path / name)
    assert [Path(name).name for name in settings.recent] == list("kljihgfedc")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe\x00",
        b'{"pace": "fast"}',
        b'{"palette": "pink"}',
        b"0" * 2000000,
    ],
)
def test_a_broken_file_is_set_aside(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(content)
    settings, warning = load_settings(path)
    assert settings == Settings.model_validate({})
    assert "settings.json.broken" in warning
    assert not path.exists()
    assert (tmp_path / "settings.json.broken").read_bytes() == content


def test_a_file_from_a_newer_version_is_used(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"palette": "dark", "hologram": true}')
    assert load_settings(path)[0].options.palette == "dark"


def test_where_nothing_can_be_written_nothing_stops(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    save_settings(tmp_path / "file" / "settings.json", Settings.model_validate({}))
    assert load_settings(tmp_path / "file" / "settings.json")[0].options.palette == "light"


def test_a_full_disk_is_reported_before_the_window_closes(
    open_program: Opener, study: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    program = open_program(study)
    qtbot.waitUntil(lambda: trained(program))
    full = DiskError("The disk is full.")

    def refuse(path: Path, content: bytes) -> None:
        raise full

    with monkeypatch.context() as patch:
        patch.setattr("app.settings.write_whole", refuse)
        press_in_box(OPEN)
        program.window.close()
        assert program.window.isVisible()
        assert not program._stopped
        press_in_box(UNSAVED)
        program.window.close()
    assert not program.window.isVisible()
    assert program._stopped
    assert not program.places.settings.exists()


def test_the_window_starts_with_a_broken_file_and_says_so(
    open_program: Opener, tmp_path: Path, study: Path
) -> None:
    places = Places.in_folder(tmp_path / "user")
    places.settings.parent.mkdir()
    places.settings.write_text('{"geometry": "%%%", "pace": -1}')
    program = open_program(study)
    assert program.window.isVisible()
    assert "uses the defaults" in program.window.bar.text


def test_nonsense_for_a_geometry_is_left_out(
    open_program: Opener, tmp_path: Path, study: Path
) -> None:
    places = Places.in_folder(tmp_path / "user")
    save_settings(places.settings, Settings.model_validate({"geometry": "AAAA", "palette": "dark"}))
    program = open_program(study)
    assert program.window.isVisible()
    assert program.actions["dark"].isChecked()


def test_run_files_get_names_of_their_own(tmp_path: Path) -> None:
    places = Places.in_folder(tmp_path)
    places.runs.mkdir()
    names = []
    for _ in range(3):
        path = places.new_run("figure__network.m=16")
        path.touch()
        names.append(path.name)
    assert len(set(names)) == 3
    assert all(name.startswith("figure__network.m=16__2") for name in names)
