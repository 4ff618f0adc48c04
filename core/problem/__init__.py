"""Input of a training run: data, network, loss and start, and the schedule of recorded frames.

`problem` makes them, `reduction` has the row-space form for d > n, `schedule` the recorded times.
"""
