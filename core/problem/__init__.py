"""Input of a training run: data, network, loss and start, and the schedule of recorded frames.

`problem` makes them, `parameter_file` reads a start from a file, `reduction` has the row-space form
for d > n, `schedule` the recorded times.
"""
