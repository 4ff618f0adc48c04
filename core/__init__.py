"""Marginscope's numerics and files: everything that needs no screen. Never imports Qt."""

__version__ = "0.1.0"
