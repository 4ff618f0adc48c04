"""Marginscope's numerics and files: everything that needs no screen. Never imports Qt."""

from core.program.version import __version__

__all__ = ["__version__"]
