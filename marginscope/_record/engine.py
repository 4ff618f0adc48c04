"""Name of what a loop runs on, as run files have it."""

from __future__ import annotations

import platform
import sys


def name_engine() -> str:
    """Return the versions of Python and of the libraries that the loop has loaded."""
    known = ("torch", "jax", "tensorflow", "numpy")
    parts = [f"Python {platform.python_version()}"]
    for name in known:
        version = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(version, str):
            parts.append(f"{name} {version[:40]}")
    return f"recorded from {', '.join(parts)}"
