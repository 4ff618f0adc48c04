"""The numbers that claims compare: measures over the runs of a study."""
