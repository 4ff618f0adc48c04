"""The library of runs: every run file of a folder, found by words and by conditions.

`library` lists the runs, from `index` and `reading`; `entry` and `run_notes` are facts and notes of
one, `query` finds runs, and `trash` contains deleted ones.
"""
