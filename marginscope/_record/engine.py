"""Libraries that a recorded loop runs on."""

from __future__ import annotations

import platform
import sys


def describe_engine() -> str:
    """Name the libraries that the process has loaded, with their versions."""
    known = ("torch", "jax", "tensorflow", "numpy")
    parts = [f"Python {platform.python_version()}"]
    for name in known:
        version = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(version, str):
            parts.append(f"{name} {version[:40]}")
    return f"recorded from {', '.join(parts)}"
