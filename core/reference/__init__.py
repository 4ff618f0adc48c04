"""Reference margins: margins that theory promises for a data set, each with a bracket.

`registry` lists and computes them, and `margin` has what they share. `hull` and `pricing` with
`generation` are the methods. `share` and `gated_limits` compare runs with them.
"""
