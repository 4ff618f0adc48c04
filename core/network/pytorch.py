"""PyTorch, which networks from users' files and CUDA ask for, and nothing else.

It is larger than all the rest together, and its usual build for Linux brings gigabytes of CUDA: so
it is an extra of the distribution.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import find_spec

from core.errors import InputError

INSTALL = "install it with: pip install 'marginscope[torch]'"
# Nothing can be installed into a bundle.
OTHERWISE = "take a bundle that was made with it, or the package: pip install 'marginscope[torch]'"


@cache
def is_installed() -> bool:
    """Whether torch can be imported, found without importing it, which takes seconds."""
    try:
        return find_spec("torch") is not None
    except (ImportError, ValueError):  # an importer that refuses it; a module without a spec
        return False


def needed_for(what: str) -> None:
    """Raise InputError where torch is not installed. `what` begins the sentence: "A batch"."""
    if not is_installed():
        remedy = OTHERWISE if getattr(sys, "frozen", False) else INSTALL
        raise InputError(f"{what} needs PyTorch, which is not installed here; {remedy}.")
