"""What is trained, before any step: data, network, loss and start, and the frames to keep.

`problem` makes them, `reduction` is the row-space form for d > n, `schedule` the frames to keep.
"""
