"""Printed lines without control characters.

File names, titles and messages may come from strangers. Raw control characters in them would steer
the terminal.
"""

from __future__ import annotations

import unicodedata

# Control, format (with the bidirectional controls), lone surrogate, line and paragraph separator.
STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
JOINERS = "\u200c\u200d"  # format characters that Persian, Indic scripts and emoji need
SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def is_steering(character: str) -> bool:
    """Return True for a character that a terminal acts upon or does not show."""
    return unicodedata.category(character) in STEERING and character not in JOINERS


def escape_controls(text: str, keep: str = "") -> str:
    r"""Return the text with each steering character, except those of `keep`, as an escape.

    >>> print(escape_controls("a\x1b]0;b\n\u202e"))
    a\u001b]0;b\n\u202e
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        _escaped(character) if is_steering(character) and character not in keep else character
        for character in text
    )


def _escaped(character: str) -> str:
    code = ord(character)
    # As TOML and JSON spell it, so that an escaped study file can still be read.
    return SHORT.get(character) or (f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}")
