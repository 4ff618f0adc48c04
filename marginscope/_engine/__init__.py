"""Access from Python to training, margins, statements, studies and figures.

A file for each function that `marginscope` offers, or for two that belong together; `boundary`
turns errors, Ctrl-C and progress into what Python programs expect.
"""
