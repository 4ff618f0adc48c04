"""Margins that theory promises for a data set, each with a bracket that is known to hold it.

`registry` lists and computes them, `margin` has what they share. `hull` and `pricing` with
`generation` are the methods, `share` and `gated` compare runs with them.
"""
