"""Recorded runs: the list of a folder, its search and trash, and comparisons of runs."""
