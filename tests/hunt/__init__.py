"""Random valid studies of every kind, made alike on every machine, and what the program says.

`python -m tests.hunt` (`make hunt`) trains and judges hundreds of them, and counts what came out.
"""
