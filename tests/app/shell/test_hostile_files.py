"""Pipes, devices, links, folders and garbage in place of the window's own files."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from PySide6.QtCore import QLockFile

from app.errors import LOG_FILE, open_log
from app.places import Places
from app.scenes.session_keeper import try_lock
from app.settings import MOST_RECENT, Settings, load_settings
from core.reference.margin import load_margin
from tests.app.shell.conftest import Opener

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes and devices of POSIX")


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_loop(path: Path) -> None:
    path.symlink_to(path.name)


def make_folder(path: Path) -> None:
    (path / "inner").mkdir(parents=True)


def make_deep(path: Path) -> None:
    path.write_bytes(b"[" * 200_000)


def make_large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(100_000_000)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


HOSTILE = [make_pipe, make_device, make_loop, make_folder, make_deep, make_large]


@pytest.mark.parametrize("make", HOSTILE)
def test_settings_are_set_aside(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "settings.json"
    make(path)
    settings, warning = load_settings(path)
    assert settings == Settings.model_validate({})
    assert warning.endswith("settings.json.broken. Marginscope uses the defaults.")
    assert names_in(tmp_path) == ["settings.json.broken"]


@pytest.mark.parametrize("number", ["NaN", "1e400", "-Infinity", "1" + "0" * 5000])
def test_numbers_that_are_none_are_set_aside(tmp_path: Path, number: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(f'{{"pace": {number}}}')
    assert load_settings(path)[0].options.pace == 1.0
    assert not path.exists()


def test_a_menu_of_recent_files_stays_short(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"recent": [f"x{number}" for number in range(80_000)]}))
    settings, warning = load_settings(path)
    assert (len(settings.recent), settings.recent[0], warning) == (MOST_RECENT, "x0", "")


@pytest.mark.parametrize("make", HOSTILE)
def test_a_margin_that_cannot_be_read_is_computed_again(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(tmp_path / "margin.json")
    assert load_margin(tmp_path / "margin.json") is None


# ---------------------------------------------------------------------------- the session's lock


def locked(path: Path) -> tuple[QLockFile, bool]:
    lock = QLockFile(str(path))
    lock.setStaleLockTime(0)
    return lock, try_lock(lock)


@pytest.mark.parametrize("make", HOSTILE)
def test_what_is_no_lock_is_set_aside(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "session.json.lock"
    make(path)
    old = time.time() - 100.0
    os.utime(path, (old, old), follow_symlinks=False)
    lock, held = locked(path)
    assert held
    assert names_in(tmp_path) == ["session.json.lock", "session.json.lock.broken"]
    lock.unlock()


def test_locks_of_others_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "session.json.lock"
    lock, held = locked(path)
    assert held
    assert not locked(path)[1]
    lock.unlock()
    path.touch()  # of a window that is about to write into it
    assert not locked(path)[1]
    assert names_in(tmp_path) == [path.name]


# --------------------------------------------------------------------------------------- the log


def log_one_line(folder: Path) -> None:
    handler = open_log(folder)
    assert handler is not None
    logger = logging.getLogger("marginscope")
    try:
        logger.error("one line")
    finally:
        logger.removeHandler(handler)
        with suppress(OSError):  # a full device refuses once more
            handler.close()


@pytest.mark.parametrize("make", [make_pipe, make_folder])
def test_a_log_that_is_no_file_is_set_aside(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / LOG_FILE)
    log_one_line(tmp_path)
    assert "one line" in (tmp_path / LOG_FILE).read_text()
    assert (tmp_path / f"{LOG_FILE}.broken").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
def test_a_full_disk_of_the_log_prints_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / LOG_FILE).symlink_to("/dev/full")
    log_one_line(tmp_path)
    assert capsys.readouterr().err == ""


def test_without_a_place_for_the_log_nothing_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python prints on the terminal what no handler takes."""
    (tmp_path / "file").touch()
    logger = logging.getLogger("marginscope")
    monkeypatch.setattr(logger, "handlers", [])
    monkeypatch.setattr(logger, "propagate", True)
    assert open_log(tmp_path / "file" / "logs") is None
    assert [type(handler) for handler in logger.handlers] == [logging.NullHandler]
    assert not logger.propagate


def test_the_window_starts_with_pipes_and_says_so(
    open_program: Opener, tmp_path: Path, study: Path
) -> None:
    places = Places.in_folder(tmp_path / "user")
    places.settings.parent.mkdir()
    for path in (places.settings, places.session, Path(f"{places.session}.lock")):
        os.mkfifo(path)
    program = open_program(study)
    assert program.window.isVisible()
    assert "were moved to" in program.window.bar.text
    assert program.keeper.owns_lock
