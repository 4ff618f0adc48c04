"""What the programs are called where this one was started."""

from __future__ import annotations

import sys
from pathlib import Path

MODULE = "python -m core"
COMMAND = "marginscope-core"
CLONE = (Path(__file__).parents[1] / "pyproject.toml").is_file()


def headless_program() -> str:
    """What is typed before a command: "python -m core" in a clone of the source, and the command
    that is installed elsewhere, or that this program was started as.

    >>> headless_program() in (MODULE, COMMAND)
    True
    """
    started = Path(sys.argv[0] if sys.argv else "")
    if started.stem in ("marginscope", COMMAND):  # scripts, and the programs of a bundle
        return COMMAND
    return MODULE if CLONE or started.parent.name == "core" else COMMAND


def window_program() -> str:
    """What is typed to open the window.

    >>> window_program() in ("python -m app", "marginscope")
    True
    """
    return "python -m app" if headless_program() == MODULE else "marginscope"
