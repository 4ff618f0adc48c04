"""Random valid studies of every kind, made alike on every machine, and their outcomes.

`make hunt` (`python -m tests.tools.hunt`) trains and judges hundreds of studies and counts the
outcomes.
"""
