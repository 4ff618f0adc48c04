"""Helpers of tests in several folders: made-up runs, loops, studies, files and stand-ins."""
