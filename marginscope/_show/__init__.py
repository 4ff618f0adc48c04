"""Asking a window of the program to show runs, from a process that has none: standard library."""
