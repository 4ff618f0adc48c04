"""Format of run files, and their writer: NumPy and the standard library alone."""
