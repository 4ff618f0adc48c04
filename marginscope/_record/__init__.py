"""Recording other people's loops: NumPy and the standard library alone, in any environment.

`api` and `recording` are `record`; `network_reader`, `layers`, `model_check` and `losses` find the
network of a loop, `saver` and `resume` write its file. `checkpoints` makes runs of saved states,
which `state_files`, `state_arrays` and `state_series` read.
"""
