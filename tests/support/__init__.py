"""Shared by tests of several folders: made-up runs, loops, studies, files and stand-ins."""
