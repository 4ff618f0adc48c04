"""Text for terminals: printed lines and command lines.

`text` escapes and quotes it, `bar` prints it with a progress bar.
"""
