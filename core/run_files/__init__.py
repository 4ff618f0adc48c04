"""The format of run files, and how one is written: NumPy and the standard library alone."""
