"""Marginscope from Python."""
