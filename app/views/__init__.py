"""Views of a run: they show what they are told and ask for the rest by signals.

`view` is the base of all, `trace_view` that of curves over time, and `node_view` that of plots of
nodes; `run_panel` arranges the views of one run, `links` those of several. Views share `layers` and
`pixels`.
"""
