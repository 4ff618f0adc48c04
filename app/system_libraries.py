"""Shared libraries that Qt needs from a Linux system, and how to install missing ones.

This module loads nothing of Qt, which cannot be loaded where libraries are missing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from core.program import headless_program

# Library and its packages on Debian and Fedora: those of every window first, then those of X11.
# `.ci/qt-libraries` lists the same for Debian.
PACKAGES = (
    ("libEGL.so.1", "libegl1", "libglvnd-egl"),
    ("libGL.so.1", "libgl1", "libglvnd-glx"),
    ("libxkbcommon.so.0", "libxkbcommon0", "libxkbcommon"),
    ("libdbus-1.so.3", "libdbus-1-3", "dbus-libs"),
    ("libfontconfig.so.1", "libfontconfig1", "fontconfig"),
    ("libfreetype.so.6", "libfreetype6", "freetype"),
    ("libglib-2.0.so.0", "libglib2.0-0", "glib2"),
    ("libgthread-2.0.so.0", "libglib2.0-0", "glib2"),
    ("libgssapi_krb5.so.2", "libgssapi-krb5-2", "krb5-libs"),
    ("libbrotlidec.so.1", "libbrotli1", "libbrotli"),
    ("libX11.so.6", "libx11-6", "libX11"),
    ("libX11-xcb.so.1", "libx11-xcb1", "libX11-xcb"),
    ("libxcb.so.1", "libxcb1", "libxcb"),
    ("libxcb-cursor.so.0", "libxcb-cursor0", "xcb-util-cursor"),
    ("libxcb-icccm.so.4", "libxcb-icccm4", "xcb-util-wm"),
    ("libxcb-image.so.0", "libxcb-image0", "xcb-util-image"),
    ("libxcb-keysyms.so.1", "libxcb-keysyms1", "xcb-util-keysyms"),
    ("libxcb-randr.so.0", "libxcb-randr0", "libxcb"),
    ("libxcb-render.so.0", "libxcb-render0", "libxcb"),
    ("libxcb-render-util.so.0", "libxcb-render-util0", "xcb-util-renderutil"),
    ("libxcb-shape.so.0", "libxcb-shape0", "libxcb"),
    ("libxcb-shm.so.0", "libxcb-shm0", "libxcb"),
    ("libxcb-sync.so.1", "libxcb-sync1", "libxcb"),
    ("libxcb-util.so.1", "libxcb-util1", "xcb-util"),
    ("libxcb-xfixes.so.0", "libxcb-xfixes0", "libxcb"),
    ("libxcb-xkb.so.1", "libxcb-xkb1", "libxcb"),
    ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0", "libxkbcommon-x11"),
)
# As in the message of glibc's loader.
NOT_FOUND = re.compile(r"(?P<library>lib[\w.+-]*\.so[.\d]*): cannot open shared object file")
LACKS = "Marginscope needs libraries that this system lacks: {libraries}."
INSTALL = (
    "Install them with `sudo apt-get install {apt}` (Debian, Ubuntu) or `sudo dnf install {dnf}` "
    "(Fedora)."
)
SEARCH = (
    "To find the package that contains it, run `apt-file search {0}` or `dnf provides '*/{0}'`."
)
WITHOUT = "The command line works without them: `{program} --help`."
NO_SCREEN = (
    "No display is available. Over ssh, use ssh -X, or copy the run files to a computer with a "
    "display. The command line works here: `{program} --help`."
)


def sentences_about(error: ImportError | OSError) -> str:
    """Return what to install for an error of the loader; "" for an error of another kind."""
    match = NOT_FOUND.search(str(error))
    if match is None:
        return ""
    library_name = match["library"]
    libraries = [library for library, _, _ in PACKAGES]
    # Check all: the loader names only the first missing library.
    missing = [one for one in libraries if one == library_name or not can_load(one)]
    lacks = LACKS.format(
        libraries=", ".join([*([] if library_name in libraries else [library_name]), *missing])
    )
    words = [lacks, SEARCH.format(library_name)] if library_name not in libraries else [lacks]
    if missing:
        rows = [row for row in PACKAGES if row[0] in missing]
        apt, dnf = (_join_packages(row[place] for row in rows) for place in (1, 2))
        words.append(INSTALL.format(apt=apt, dnf=dnf))
    return " ".join((*words, WITHOUT.format(program=headless_program())))


def _join_packages(packages: Iterable[str]) -> str:
    return " ".join(dict.fromkeys(packages))


def can_load(library: str) -> bool:
    """Return True if the system's loader finds a library and its dependencies."""
    import ctypes

    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def screen_problem(environment: Mapping[str, str], plugins: Path) -> str:
    """Return why Qt could not show a window here, if that can be known; otherwise "".

    Qt ends the process with a dump where it can load none of the plugins for a screen.

    Parameters
    ----------
    environment : Mapping
        Variables of the environment, which name the screen.
    plugins : Path
        Folder of Qt's plugins.
    """
    if not sys.platform.startswith("linux"):
        return ""
    names = platforms_for(environment)
    if not names:
        return NO_SCREEN.format(program=headless_program())
    problems = [plugin_problem(plugins / "platforms" / f"libq{name}.so") for name in names]
    return problems[0] if all(problems) else ""


def platforms_for(environment: Mapping[str, str]) -> list[str]:
    """Return the plugins that Qt tries, by their names.

    >>> platforms_for({"QT_QPA_PLATFORM": "wayland:x=1;offscreen", "DISPLAY": ":0"})
    ['wayland', 'offscreen']
    >>> platforms_for({"DISPLAY": ":0"}), platforms_for({})
    (['xcb'], [])
    """
    if setting := environment.get("QT_QPA_PLATFORM", ""):
        return [one.partition(":")[0] for one in setting.split(";")]
    screens = {"DISPLAY": "xcb", "WAYLAND_DISPLAY": "wayland"}
    return [name for variable, name in screens.items() if environment.get(variable)]


def plugin_problem(plugin: Path) -> str:
    """Return what to install for a plugin that cannot be loaded; "" for one that Qt can judge."""
    import ctypes

    if not plugin.is_file():
        return ""
    try:
        ctypes.CDLL(str(plugin))  # Qt loads the plugin anyway
    except OSError as error:
        return sentences_about(error)
    return ""
