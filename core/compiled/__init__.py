"""Compiled kernels (numba): cached per user, run without the GIL, imported only by an engine.

Importing a module of this package imports numba, which takes a second; nothing outside
core.dynamics does so.
"""
