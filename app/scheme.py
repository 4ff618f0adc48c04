"""Tells the system that links which begin with marginscope:// are opened by this program.

On Linux a desktop entry in the user's folder, made the default of the scheme by xdg-mime; on
Windows keys of the user's registry. On macOS only the bundle of an application can open links, and
there is none yet.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSettings

from core.errors import MarginscopeError
from core.files import write_whole

SCHEME, ENTRY = "marginscope", "marginscope-links.desktop"
MIME = f"x-scheme-handler/{SCHEME}"
PATIENCE_S = 10
DONE = "Links to pictures, marginscope://..., are opened by this program now."
NO_TOOL = (
    "The entry for links is written, but xdg-mime was not found to make it the one that is used; "
    "the system may ask which program opens a link."
)
BUNDLE = "On macOS links cannot be opened by a click yet; Open link takes one from the clipboard."


def command() -> list[str]:
    """How this very program is started."""
    if getattr(sys, "frozen", False):
        return [sys.executable]
    return [sys.executable, "-m", "app"]


def register() -> str:
    """Have links opened by this program; a sentence about it. Raises MarginscopeError where the
    user's settings cannot be written."""
    if sys.platform == "win32":
        return _register_windows(command())
    if sys.platform == "darwin":
        return BUNDLE
    return _register_freedesktop(command())


def _register_freedesktop(start: Sequence[str]) -> str:
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    folder = data / "applications"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MarginscopeError(f"{folder} cannot be made: {error.strerror or error}.") from error
    write_whole(folder / ENTRY, desktop_entry(start).encode())
    _run("update-desktop-database", str(folder))  # where there is one, menus know it at once
    return DONE if _run("xdg-mime", "default", ENTRY, MIME) else NO_TOOL


def desktop_entry(start: Sequence[str]) -> str:
    """The file by which desktops know the program that opens links.

    >>> [line for line in desktop_entry(["/opt/a b/run", "-m"]).splitlines() if "Exec" in line]
    ['Exec="/opt/a b/run" "-m" %u']
    """
    words = " ".join(_quoted(word) for word in start)
    # Python finds the packages of a clone from its folder.
    lines = [
        "[Desktop Entry]",
        "Type=Application",
        "Name=Marginscope",
        "Comment=Watch shallow networks learn",
        f"Exec={words} %u",
        f"Path={_escaped(str(Path(__file__).resolve().parents[1]))}",
        f"MimeType={MIME};",
        "NoDisplay=true",
        "Terminal=false",
    ]
    return "\n".join(lines) + "\n"


def _quoted(word: str) -> str:
    """An argument as the Desktop Entry Specification has it: quoted, then escaped as a string."""
    for letter in '\\"`$':
        word = word.replace(letter, f"\\{letter}")
    return '"' + _escaped(word).replace("%", "%%") + '"'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")


def _run(*words: str) -> bool:
    """Whether a tool of the system is there and did what it was asked for."""
    quiet = subprocess.DEVNULL
    try:
        done = subprocess.run(words, stdin=quiet, stdout=quiet, stderr=quiet, timeout=PATIENCE_S)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _register_windows(start: Sequence[str]) -> str:
    base = rf"HKEY_CURRENT_USER\Software\Classes\{SCHEME}"
    line = f'{subprocess.list2cmdline(start)} "%1"'
    classes = QSettings(base, QSettings.Format.NativeFormat)
    classes.setValue("Default", "URL:Marginscope")
    classes.setValue("URL Protocol", "")
    classes.setValue("shell/open/command/Default", line)
    classes.sync()
    if classes.status() is not QSettings.Status.NoError:
        raise MarginscopeError(f"{base} in the registry cannot be written.")
    return DONE
