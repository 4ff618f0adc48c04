"""What is read off a run: pure functions of (Run, index), each with its definition and source.

`observable` defines them; `margins`, `nodes`, `spectrum` and the other files have them by theme.
`table` writes them, `alarms` watches them, and `planes` and `projection` are where nodes are drawn.
"""
