"""Names and places of this program: its packages, its commands, and the folder it runs from.

In the repository `core`, `app` and `resources` are beside `marginscope`; in a wheel, within it.
"""

from __future__ import annotations

import sys
from pathlib import Path

COMMAND = "marginscope-core"
INSTALLED = __name__.startswith("marginscope.")  # installed from a wheel
ROOT = Path(__file__).resolve().parents[3 if INSTALLED else 2]  # the folder on Python's path
RESOURCES = Path(__file__).resolve().parents[2] / "resources"
CLONE = (ROOT / "pyproject.toml").is_file()


def package(name: str) -> str:
    """Return the name under which `core`, `app` or `resources` is imported.

    >>> package("core") in ("core", "marginscope.core")
    True
    """
    return f"marginscope.{name}" if INSTALLED else name


MODULE = f"python -m {package('core')}"


def headless_program() -> str:
    """Return the words that start the headless program, before the name of a command.

    "marginscope-core" if this program was started by an installed command; else "python -m core"
    in a clone of the source, or if this program was started so.

    >>> headless_program() in (MODULE, COMMAND)
    True
    """
    program = Path(sys.argv[0] if sys.argv else "")
    if program.stem in ("marginscope", COMMAND):  # console scripts, and programs of a bundle
        return COMMAND
    return MODULE if CLONE or program.parent.name == "core" else COMMAND


def window_program() -> str:
    """Return the command that opens the window.

    >>> window_program() in (f"python -m {package('app')}", "marginscope")
    True
    """
    return f"python -m {package('app')}" if headless_program() == MODULE else "marginscope"


def result_file(study_id: str) -> Path:
    """Return the path of a study's shipped result; most studies have one."""
    return RESOURCES.joinpath("results", f"{study_id}.json")
