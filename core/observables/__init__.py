"""What is read off a run: pure functions of (Run, index), each with its definition and source."""
