"""Numbers that claims compare: measures over the runs of a study, each in `registry`."""
