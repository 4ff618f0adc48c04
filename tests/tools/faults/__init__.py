"""Faults outside the program: kills, full disks, unwritable folders.

`make faults` (`python -m tests.tools.faults`) injects each fault as often as its table says and
counts the losses.
"""
