"""What goes wrong outside the program: kills, full disks, folders that cannot be written.

`python -m tests.faults` (`make faults`) does all of it as often as the table says, and counts.
"""
