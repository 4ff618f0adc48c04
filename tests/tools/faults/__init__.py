"""What goes wrong outside the program: kills, full disks, folders that cannot be written.

`make faults` (`python -m tests.tools.faults`) injects each fault as often as its table says and
counts the losses.
"""
