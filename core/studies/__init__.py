"""Studies: their files, grids and claims, and all that is computed from many runs.

`study`, `tables`, `formulas`, `layout` and `claims` read a study file, and `summaries` its first
lines. `cells`, `moments`, `trials` and `verdicts` are its runs and what they say. `statistics`,
`panel_lines` and `cell_table` bring runs together.
"""
