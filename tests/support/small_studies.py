"""Small studies to sweep."""

BASE = """
title = "A sweep"
source = "telgarsky22"
[data]
kind = "parity"
d = 6
n = 16
[network]
m = 8
[dynamics]
kind = "gd"
step = 0.25
until_log10_time = {until}
[recording]
frames = 4
"""

QUICK = (
    BASE.format(until=0.5)
    + """
[axes]
"data.n" = [8, 16, 24]
"run.seed" = [0, 1]
"""
)

SLOW = (
    BASE.format(until=4.6)
    + """
[axes]
"data.n" = [16, 24, 32]
"run.seed" = [0, 1, 2, 3, 4, 5]
"""
)
