"""The format of run files, and how one is written: NumPy and the standard library alone.

`schema` and `meta` are the format, `frame` and `networks` what files hold, `in_use`, `journal` and
`held_file` the file among processes and file systems. `new_file`, `reopening` and `writer` make,
reopen and write one.
"""
