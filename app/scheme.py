"""Registration of this program for links (marginscope://) and run files with the system.

On Linux it writes files in the user's folder (app.desktop), which xdg-mime makes the default; on
Windows it writes keys of the user's registry. On macOS only the bundle of an application can open
links and files, and the system reads that by itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QSettings

from app.desktop import KINDS, RUN_KIND, SCHEME, files, without_defaults
from core.cli.bundle import is_bundled
from core.errors import InputError, MarginscopeError
from core.files import read_text, read_whole, write_whole
from core.program import ROOT, package

PATIENCE_S = 10
MOST_BYTES = 1_000_000  # of a desktop entry; ours have a few kilobytes
DONE = (
    "Marginscope now opens marginscope:// links and run files. Choose the action again to turn "
    "this off."
)
UNDONE = "Marginscope no longer opens links and run files."
NO_TOOL = (
    "Marginscope is registered for links and run files but could not be made the default, "
    "since xdg-mime is not installed. Your system may ask which program to use."
)
MAC = (
    "On macOS the app bundle registers links and run files itself. To open a link from the "
    "clipboard, choose Edit, Open link."
)
CLASS = "Marginscope.Run"
CLASSES = r"HKEY_CURRENT_USER\Software\Classes"


def command() -> list[str]:
    """Return the command that starts this program."""
    if is_bundled():
        return [sys.executable]
    return [sys.executable, "-m", package("app")]


def place() -> Path:
    """Return the program's starting folder, where Python finds the packages of a clone."""
    if is_bundled():
        return Path(sys.executable).resolve().parent
    return ROOT


def change() -> str:
    """Register this program for links and runs, or unregister it; return a sentence about it.

    Raises MarginscopeError where the user's settings cannot be written.
    """
    if sys.platform == "win32":
        return _change_windows(command())
    if sys.platform == "darwin":
        return MAC
    contents, data = files(command(), place()), data_folder()
    if all(_content(data / name) == content for name, content in contents.items()):
        return _remove(contents, data)
    return _write(contents, data)


def data_folder() -> Path:
    """Return the user's folder of data, by the XDG Base Directory Specification."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")


def _content(path: Path) -> bytes | None:
    try:
        return read_whole(path, MOST_BYTES, "entry")  # opening a pipe would block
    except InputError:
        return None


def _write(contents: dict[str, bytes], data: Path) -> str:
    for name, content in contents.items():
        path = data / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MarginscopeError(
                f"Could not create {path.parent}: {error.strerror or error}."
            ) from error
        write_whole(path, content)
    _refresh_system(data)
    successes = [_run("xdg-mime", "default", entry, *kinds) for entry, kinds in KINDS.items()]
    return DONE if all(successes) else NO_TOOL


def _remove(contents: dict[str, bytes], data: Path) -> str:
    for name in contents:
        path = data / name
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise MarginscopeError(
                f"Could not remove {path}: {error.strerror or error}."
            ) from error
    settings = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    for chosen in (settings / "mimeapps.list", data / "applications" / "mimeapps.list"):
        with suppress(InputError, OSError):
            text = read_text(chosen, MOST_BYTES, "entry")
            if (remainder := without_defaults(text)) != text:
                write_whole(chosen, remainder.encode())
    _refresh_system(data)
    return UNDONE


def _refresh_system(data: Path) -> None:
    """Make the system update its menus at once, if it has the tools."""
    _run("update-desktop-database", str(data / "applications"))
    _run("update-mime-database", str(data / "mime"))
    _run("gtk-update-icon-cache", "-q", "-t", "-f", str(data / "icons" / "hicolor"))


def _run(*words: str) -> bool:
    """Return True if a tool of the system exists and succeeded."""
    quiet = subprocess.DEVNULL
    try:
        result = subprocess.run(words, stdin=quiet, stdout=quiet, stderr=quiet, timeout=PATIENCE_S)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return result.returncode == 0


def _change_windows(start: Sequence[str]) -> str:
    line = f'{subprocess.list2cmdline(start)} "%1"'
    classes = QSettings(CLASSES, QSettings.Format.NativeFormat)
    opener = "shell/open/command/Default"
    is_registered = (
        classes.value(f"{SCHEME}/{opener}") == classes.value(f"{CLASS}/{opener}") == line
    )
    if is_registered:
        for key in (SCHEME, CLASS, ".msrun"):
            classes.remove(key)
    else:
        classes.setValue(f"{SCHEME}/Default", "URL:Marginscope")
        classes.setValue(f"{SCHEME}/URL Protocol", "")
        classes.setValue(".msrun/Default", CLASS)
        classes.setValue(".msrun/Content Type", RUN_KIND)
        classes.setValue(f"{CLASS}/Default", "Recorded run of Marginscope")
        classes.setValue(f"{CLASS}/DefaultIcon/Default", f"{start[0]},0")
        for key in (SCHEME, CLASS):
            classes.setValue(f"{key}/{opener}", line)
    classes.sync()
    if classes.status() is not QSettings.Status.NoError:
        raise MarginscopeError(f"Could not write {CLASSES} in the registry.")
    return UNDONE if is_registered else DONE
