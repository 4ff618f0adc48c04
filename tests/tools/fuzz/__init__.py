"""Damaged files of every format that the program reads, made alike on every machine.

`python -m tests.tools.fuzz` (`make fuzz`) opens all of them and prints what came of them.
"""
