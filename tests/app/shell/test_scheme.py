"""Links that the system opens here: the entry of the desktop, and what is said of it."""

from __future__ import annotations

import configparser
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
from pytestqt.qtbot import QtBot

from app import scheme
from app.desktop import (
    FILES,
    FOLDER,
    LINK_KIND,
    LINKS,
    RUN_KIND,
    SIZES,
    VIEW_KIND,
    desktop_entry,
    files,
)
from app.scheme import DONE, NO_TOOL, UNDONE
from app.shell.application import Marginscope
from tests.app.mouse import pick

pytestmark = pytest.mark.skipif(
    sys.platform in ("win32", "darwin"), reason="desktop entries are for other systems"
)


UPDATE = shutil.which("update-mime-database")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the user's data, and a PATH without the system's tools."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("PATH", str(tmp_path / "tools"))
    return tmp_path / "data"


def tool(folder: Path, name: str, code: int = 0) -> Path:
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
    for name, code in ((LINKS, "%u"), (FILES, "%F")):
        found = entry(desktop_entry([path, "-m", "app"], Path(path).parent, name))
        assert arguments(found["Exec"]) == [path, "-m", "app", code]
        assert arguments(f'"{found["Path"]}"') == [str(Path(path).parent)]
        assert found["Type"] == "Application" and found["Icon"] == "marginscope"
    assert entry(desktop_entry([path], Path("/")))["MimeType"] == f"{LINK_KIND};"
    assert RUN_KIND in entry(desktop_entry([path], Path("/"), FILES))["MimeType"].split(";")


def test_a_pipe_among_the_entries_is_not_waited_for(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (data / "applications").mkdir(parents=True)
    (tmp_path / "config").mkdir()
    for pipe in (data / "applications" / LINKS, tmp_path / "config" / "mimeapps.list"):
        os.mkfifo(pipe)
    assert scheme.change() == NO_TOOL
    assert (data / "applications" / LINKS).is_file()
    assert scheme.change() == UNDONE


@pytest.mark.parametrize("name", [LINKS, FILES])
def test_the_entries_start_this_program(data: Path, name: str) -> None:
    scheme.change()
    found = entry((data / "applications" / name).read_text())
    words = arguments(found["Exec"])[:-1]
    environment = dict(os.environ, QT_QPA_PLATFORM="offscreen")
    done = subprocess.run(
        [*words, "--help"], cwd=found["Path"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert "Watch shallow networks learn" in done.stdout


def test_the_same_action_takes_everything_back(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    chosen = tmp_path / "config" / "mimeapps.list"
    chosen.parent.mkdir()
    before = "[Default Applications]\ntext/html=browser.desktop\n"
    theirs = data / "applications" / "other.desktop"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("[Desktop Entry]\n")
    tool(tmp_path / "tools", "xdg-mime")
    assert scheme.change() == DONE
    written = {path for path in data.rglob("*") if path.is_file()} - {theirs}
    assert len(written) == 3 + 3 * (len(SIZES) + 1)
    assert b"0x4d53524e" in (data / "mime" / "packages" / "marginscope.xml").read_bytes()
    chosen.write_text(f"{before}{RUN_KIND}={FILES};\n{LINK_KIND}=other.desktop;{LINKS};\n")
    assert scheme.change() == UNDONE
    assert [path for path in data.rglob("*") if path.is_file()] == [theirs]
    assert chosen.read_text() == f"{before}{LINK_KIND}=other.desktop;\n"
    assert scheme.change() == DONE


def test_a_program_that_was_moved_is_entered_anew(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool(tmp_path / "tools", "xdg-mime")
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    for folder in ("one", 'an other\'s "place"'):
        monkeypatch.setattr(sys, "executable", str(tmp_path / folder / "marginscope"))
        assert scheme.change() == DONE
        found = entry((data / "applications" / FILES).read_text())
        assert arguments(found["Exec"]) == [sys.executable, "%F"]
    assert scheme.change() == UNDONE


@pytest.mark.skipif(UPDATE is None, reason="not on this system")
def test_the_system_takes_runs_for_runs_by_their_names_and_by_their_content(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database that desktops make of the description, read as they read it."""
    for name, content in files(["/bin/run"], tmp_path).items():
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_bytes(content)
    done = subprocess.run([str(UPDATE), str(data / "mime")], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
    assert f"60:{RUN_KIND}:*.msrun" in (data / "mime" / "globs2").read_text()
    magic = (data / "mime" / "magic").read_bytes()
    assert b"SQLite format 3\0" in magic and b"MSRN" in magic


def test_icons_are_pictures_of_the_drawing(qtbot: QtBot) -> None:
    folder = Path(str(FOLDER))
    drawing = QSvgRenderer(str(folder / "marginscope.svg"))
    assert drawing.isValid()
    for size in SIZES:
        found = QImage(str(folder / f"marginscope-{size}.png"))
        assert (found.width(), found.height()) == (size, size)
        drawn = QImage(size, size, QImage.Format.Format_ARGB32)
        drawn.fill(Qt.GlobalColor.transparent)
        painter = QPainter(drawn)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        drawing.render(painter, QRectF(0, 0, size, size))
        painter.end()
        one, other = (_numbers(picture) for picture in (found, drawn))
        assert np.abs(one - other).mean() < 2.0


def _numbers(picture: QImage) -> np.ndarray:
    picture = picture.convertToFormat(QImage.Format.Format_ARGB32)
    return np.frombuffer(picture.constBits(), dtype=np.uint8).astype(int)


def test_the_system_is_told_by_its_own_tool(data: Path, tmp_path: Path) -> None:
    assert scheme.change() == NO_TOOL
    assert scheme.change() == UNDONE
    told = tool(tmp_path / "tools", "xdg-mime")
    assert scheme.change() == DONE
    assert told.read_text().split() == ["default", FILES, RUN_KIND, VIEW_KIND]
    assert scheme.change() == UNDONE
    tool(tmp_path / "tools", "xdg-mime", code=3)
    assert scheme.change() == NO_TOOL


def test_it_is_asked_for_in_the_menu(
    program: Marginscope, qtbot: QtBot, data: Path, tmp_path: Path
) -> None:
    tool(tmp_path / "tools", "xdg-mime")
    said: list[str] = []
    program.links.status.connect(said.append)
    pick(qtbot, program.window, "Edit", "Open Marginscope links and runs with this app")
    assert said == [DONE]
    assert (data / "applications" / LINKS).is_file()


def test_a_folder_that_cannot_be_made_is_told(program: Marginscope, data: Path) -> None:
    data.write_text("a file where a folder should be")
    program.actions["register"].trigger()
    assert "Could not create" in program.window.bar.text
