"""Quantities of a run: pure functions of (run, index), each with its definition and source.

`observable` defines them; `margins`, `nodes`, `spectrum` and the other files contain them by theme.
`table` writes them, `alarms` monitors them, `planes` and `projection` place neurons on planes.
"""
