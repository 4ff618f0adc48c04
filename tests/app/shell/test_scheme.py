"""Links that the system opens here: the entry of the desktop, and what is said of it."""

from __future__ import annotations

import configparser
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app import scheme
from app.scheme import DONE, ENTRY, MIME, NO_TOOL, desktop_entry
from tests.app.mouse import pick
from tests.app.shell.conftest import Opener, trained

pytestmark = pytest.mark.skipif(
    sys.platform in ("win32", "darwin"), reason="desktop entries are for other systems"
)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user's data, and a PATH without the system's tools."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("PATH", str(tmp_path / "tools"))
    return tmp_path / "data"


def tool(folder: Path, name: str, code: int = 0) -> Path:
    """A tool that writes down what it was called with."""
    folder.mkdir(exist_ok=True)
    told = folder / f"{name}.told"
    path = folder / name
    path.write_text(f'#!/bin/sh\necho "$@" > "{told}"\nexit {code}\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return told


def entry(text: str) -> configparser.SectionProxy:
    parser = configparser.RawConfigParser(delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(text)
    return parser["Desktop Entry"]


def arguments(line: str) -> list[str]:
    """What a desktop makes of Exec, by the rules of its specification: the escapes of strings, then
    quoted words with escapes of their own, then the field codes."""
    text = line.replace("\\\\", "\0").replace("\\n", "\n").replace("\\r", "\r").replace("\0", "\\")
    words, word, quoted, place = [], "", False, 0
    while place < len(text):
        letter = text[place]
        if quoted and letter == "\\":
            place += 1
            word += text[place]
        elif letter == '"':
            quoted = not quoted
        elif letter == " " and not quoted:
            words.append(word)
            word = ""
        else:
            word += letter
        place += 1
    return [one.replace("%%", "%") for one in (*words, word)]


@pytest.mark.parametrize(
    "path", ["/usr/bin/python", "/a b/c", '/q"uote', "/back\\slash", "/per%cent", "/$HOME`x`"]
)
def test_every_path_is_quoted_so_that_it_comes_back(path: str) -> None:
    found = entry(desktop_entry([path, "-m", "app"]))
    assert arguments(found["Exec"]) == [path, "-m", "app", "%u"]
    assert found["MimeType"] == f"{MIME};"
    assert found["Type"] == "Application"


def test_the_entry_starts_this_program(data: Path) -> None:
    scheme.register()
    found = entry((data / "applications" / ENTRY).read_text())
    words = arguments(found["Exec"])[:-1]
    environment = dict(os.environ, QT_QPA_PLATFORM="offscreen")
    done = subprocess.run(
        [*words, "--help"], cwd=found["Path"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert "Watch shallow networks learn" in done.stdout


def test_the_system_is_told_by_its_own_tool(data: Path, tmp_path: Path) -> None:
    assert scheme.register() == NO_TOOL
    told = tool(tmp_path / "tools", "xdg-mime")
    assert scheme.register() == DONE
    assert told.read_text().split() == ["default", ENTRY, "x-scheme-handler/marginscope"]
    tool(tmp_path / "tools", "xdg-mime", code=3)
    assert scheme.register() == NO_TOOL


def test_it_is_asked_for_in_the_menu(
    qtbot: QtBot, open_program: Opener, study: Path, data: Path, tmp_path: Path
) -> None:
    tool(tmp_path / "tools", "xdg-mime")
    program = open_program(study)
    qtbot.waitUntil(lambda: trained(program))
    said: list[str] = []
    program.links.status.connect(said.append)
    pick(qtbot, program.window, "Edit", "Let the system open links here")
    assert said == [DONE]
    assert (data / "applications" / ENTRY).is_file()


def test_a_folder_that_cannot_be_made_is_told(
    qtbot: QtBot, open_program: Opener, study: Path, data: Path
) -> None:
    data.write_text("a file where a folder should be")
    program = open_program(study)
    program.actions["register"].trigger()
    assert "cannot be made" in program.window.bar.text
