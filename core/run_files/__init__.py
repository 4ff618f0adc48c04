"""The format of run files, and their writing: NumPy and the standard library alone.

`schema` and `meta` are the format, `frame` and `networks` the content. `active_recorders`,
`journal` and `held_file` treat the file among processes and file systems. `new_file`, `reopening`
and `writer` make, reopen and write one.
"""
