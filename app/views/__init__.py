"""Views of a run. They show the resolved view and send requests of the user as signals.

`view` is the base of all, `trace_view` that of curves over time, and `node_view` that of plots of
neurons; `run_panel` arranges the views of one run, `links` those of several. Views share `layers`
and `pixels`.
"""
