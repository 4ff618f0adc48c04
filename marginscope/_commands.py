"""Entry points of the two installed commands, `marginscope` and `marginscope-core`."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from core.program import package


def run_headless() -> int:
    """Run the headless program and return its exit status."""
    return cast(int, import_module(f"{package('core')}.__main__").main())


def run_window() -> int:
    """Open the window and return the exit status."""
    return cast(int, import_module(f"{package('app')}.__main__").main())
