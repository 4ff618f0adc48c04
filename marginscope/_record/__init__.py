"""Recording other people's loops: NumPy and the standard library alone, in any environment."""
