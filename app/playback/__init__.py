"""Moments of the runs that are open: display, player, slider, numbers at the cursor, live files."""
