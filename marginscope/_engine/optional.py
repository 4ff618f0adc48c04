"""Packages that are asked for by name, and not needed for anything else."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from marginscope._errors import InputError


def needed(package: str, asked: str) -> Any:
    """An optional package. Raises InputError, naming it, where it is not installed."""
    try:
        return import_module(package)
    except ImportError as error:
        raise InputError(
            f"{asked} needs {package}, which is not installed here; install it with: pip install "
            f"{package}."
        ) from error
