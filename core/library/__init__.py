"""The library of runs: every run file of a folder, found by words and by conditions."""
