"""`python -m app [RUN.msrun | STUDY ...]`, or `marginscope` if installed: the window."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial

# Same as in core.compiled.headless_process, whose import takes longer than showing the window.
HEADLESS = "--headless"


def load_torch_first() -> None:
    """On Windows, load torch's libraries before Qt's, whose runtime they do not accept.

    pytorch/pytorch#166628, torch 2.9: otherwise `c10.dll` fails to load. Not tried without since.
    """
    if sys.platform == "win32":
        import ctypes
        from contextlib import suppress
        from importlib.util import find_spec
        from pathlib import Path

        torch = find_spec("torch")
        if torch is not None and torch.origin is not None:
            with suppress(OSError):
                ctypes.WinDLL(str(Path(torch.origin).parent / "lib" / "c10.dll"))


def load_qt() -> None:
    """Prepare the process for modules that use Qt, before they are imported."""
    load_torch_first()
    from app.qt_workarounds import restore_import

    restore_import()


def loading_problem(error: ImportError) -> str:
    """Return sentences about a window that cannot be loaded; "" for a fault of the program."""
    if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("PySide6"):
        from marginscope._show import NO_QT

        return NO_QT.format(python=sys.executable)
    from app.system_libraries import sentences_about

    return sentences_about(error)


def screen_problem() -> str:
    """Return why no window can be shown here; "" if no reason is known."""
    import os
    from pathlib import Path

    from PySide6.QtCore import QLibraryInfo

    from app import system_libraries

    plugins = QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath)
    return system_libraries.screen_problem(os.environ, Path(plugins))


def open_shown_window(link: str) -> int:
    """Open the window of `marginscope.show`; its first line of output reports success."""
    try:
        load_qt()
        from app.qt_application import QtApplication

        if problem := screen_problem():
            print(f"refused {problem}", flush=True)
            return 1
        # Create it first: without a screen Qt ends the process here, which the caller awaits.
        application = QtApplication([sys.argv[0]])
        from app.start import main as open_window
    except ImportError as error:
        problem = loading_problem(error) or f"The window cannot be loaded: {error}."
        print(f"refused {problem}", flush=True)
        return 1
    assert application is QtApplication.instance()
    return open_window([link], is_shown=True)


def main() -> int:
    """Read the command line and open the window."""
    from core.cli.bundle import complete_libraries, run_as_library_process

    run_as_library_process()
    if sys.argv[1:2] == [HEADLESS]:  # a bundled program compiles kernels this way
        from core.program.stopping import answer_signals

        answer_signals()
        from core.cli.main import main as command

        return command(sys.argv[2:])
    from core.program import window_program

    parser = argparse.ArgumentParser(
        prog=window_program(), description="Watch shallow networks learn."
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="RUN.msrun | STUDY",
        help="run files, or a study (id or file); without arguments, Figure 1 plays",
    )
    parser.add_argument(
        "--self-test",
        action="store_true",
        help="test this installation without a display and print the results as JSON",
    )
    arguments = parser.parse_args()
    complete_libraries()
    try:
        load_qt()
        problem = "" if arguments.self_test else screen_problem()  # the self-test needs no screen
        work = None if problem else load_work(arguments)
    except ImportError as error:
        problem, work = loading_problem(error), None
        if not problem:
            raise
    if work is None:
        print(problem, file=sys.stderr)
        return 1
    return work()


def load_work(arguments: argparse.Namespace) -> Callable[[], int]:
    """Load the window, and return what the command line asks for."""
    if arguments.self_test:
        from app.self_test import main as self_test

        return self_test
    from app.start import main as open_window

    return partial(open_window, arguments.names)


if __name__ == "__main__":
    sys.exit(main())
