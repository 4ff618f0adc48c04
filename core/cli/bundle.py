"""Support for bundles: start as a library's helper process, and clean up the environment.

joblib's loky, which runs the cells of a sweep, and the trackers of its semaphores take
`sys.executable` for an interpreter: `-m MODULE` for a worker, `-c CODE` for a tracker. In a bundle
it is this program, which accepts these very lines, and no others: it is no interpreter for users.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import MutableMapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

LOKY = "joblib.externals.loky.backend"
WORKER = f"{LOKY}.popen_loky_posix"
TRACKER = re.compile(
    rf"from ((?:multiprocessing|{re.escape(LOKY)})\.resource_tracker) import main; ?"
    r"main\((\d+)(?:, ?(True|False))?\)"
)
# As in core.compiled.headless_process, which imports more than is needed here.
HEADLESS = "--headless"
# Folder of libraries that a bare system lacks, loaded in the order of order.txt.
FALLBACK = "fallback"
FORKED = "--multiprocessing-fork"  # on Windows, where loky supports bundles
# Variables set by PyInstaller: its loader's, saving the previous value as NAME_ORIG, and its Qt
# hook's. Qt finds its plugins without the hook, except in a folder with a quote in its name.
LOADER, QT = ("LD_LIBRARY_PATH",), ("QT_PLUGIN_PATH", "QML2_IMPORT_PATH")
# Makes a bundle started from this one set the variables again.
AFRESH = "PYINSTALLER_RESET_ENVIRONMENT"


def is_bundled() -> bool:
    """Return True in a bundle, which brings its own interpreter."""
    return bool(getattr(sys, "frozen", False))


def run_as_library_process() -> None:
    """In a bundle, run as the process that a library started, and exit; otherwise return.

    Call it first in a program's main, before its command line is read.
    """
    if not is_bundled():
        return
    restore_environment(os.environ, LOADER)
    arguments = sys.argv[1:]
    if arguments[:2] == ["-m", WORKER]:
        from runpy import run_module

        del sys.argv[1:3]
        run_module(WORKER, run_name="__main__")
        sys.exit(0)
    if arguments[:1] == [FORKED] and len(arguments) == 3:
        parent, pipe = map(int, arguments[1:])
        import_module(f"{LOKY}.popen_loky_win32").main(pipe, parent)
        sys.exit(0)
    if tracker := _tracker(arguments):
        module, *numbers = tracker
        import_module(str(module)).main(*numbers)
        sys.exit(0)


def complete_libraries() -> None:
    """In a bundle, load Qt's system libraries that the system lacks from the bundle's own folder.

    A bare Linux without a desktop lacks some. Qt only links to OpenGL, and nothing is drawn by it
    here. The system's own come first, since they go with its drivers and its display server; hence
    they are not in the folder.
    """
    folder = Path(getattr(sys, "_MEIPASS", "")) / FALLBACK
    order = folder / "order.txt"
    if not (is_bundled() and order.is_file()):
        return
    import ctypes

    for name in order.read_text("utf-8").split():
        try:
            ctypes.CDLL(name)
        except OSError:
            with suppress(OSError):
                ctypes.CDLL(str(folder / name))


def restore_environment(environment: MutableMapping[str, str], names: Sequence[str]) -> None:
    """Undo the changes of PyInstaller's loader to the environment, for programs of the system.

    Programs started from here (ffmpeg, xdg-open) need their own libraries, not those of the bundle.
    This program itself, started again, makes its own environment.

    >>> found = {"LD_LIBRARY_PATH": "/the/bundle", "LD_LIBRARY_PATH_ORIG": "/usr/lib"}
    >>> restore_environment(found, LOADER)
    >>> found.pop(AFRESH), found
    ('1', {'LD_LIBRARY_PATH': '/usr/lib'})
    """
    bundle = str(getattr(sys, "_MEIPASS", ""))
    for name in names:
        before = environment.pop(f"{name}_ORIG", None)
        if before is not None:
            environment[name] = before
        elif bundle and environment.get(name, "").startswith(bundle):
            del environment[name]
    environment[AFRESH] = "1"


def _tracker(arguments: Sequence[str]) -> list[str | int]:
    """Return the module of a requested tracker and the arguments of its main, or nothing.

    >>> _tracker(["-B", "-c", "from multiprocessing.resource_tracker import main;main(7)"])
    ['multiprocessing.resource_tracker', 7]
    >>> _tracker(["-c", "import os"])
    []
    """
    flags = next((i for i, one in enumerate(arguments) if one == "-c"), len(arguments))
    if not all(one.startswith("-") for one in arguments[:flags]) or len(arguments) != flags + 2:
        return []
    match = TRACKER.fullmatch(arguments[flags + 1])
    if match is None:
        return []
    module, number, verbose = match.groups()
    return [module, int(number), *([] if verbose is None else [int(verbose == "True")])]
