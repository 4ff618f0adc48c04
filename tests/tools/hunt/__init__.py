"""Random valid studies of every kind, made alike on every machine, and what the program says.

`make hunt` (`python -m tests.tools.hunt`) trains and judges hundreds of studies and counts the
outcomes.
"""
