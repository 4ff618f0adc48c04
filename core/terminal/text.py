"""Printed lines and command lines without raw control characters.

File names, titles and messages may come from strangers. Raw control characters in them would steer
the terminal, and run commands where a copied line is pasted.
"""

from __future__ import annotations

import re
import shlex
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from core.errors import InputError

# ------------------------------------------------------------------------------------ printed lines

# Control, format (including bidirectional), lone surrogate, line separator, paragraph separator.
STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
JOINERS = "\u200c\u200d"  # format characters that Persian, Indic scripts and emoji need
SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


NAME = 60  # characters of a name in a legend, table or list


def shorten(text: str, max_length: int = NAME) -> str:
    """Return the text in one line of at most `max_length` characters; a longer one ends at a word.

    >>> shorten("a  name"), shorten("a rather long name", 10), shorten("x" * 9, 5)
    ('a name', 'a rather…', 'xxxx…')
    """
    text = " ".join(text.split())
    if len(text) <= max_length:
        return text
    head = text[: max_length - 1]
    words = head if text[max_length - 1] == " " else head.rpartition(" ")[0]
    return f"{(words or head).rstrip(' ,;:')}…"


def is_steering(character: str) -> bool:
    """Return True for a character that a terminal acts upon or does not show."""
    return unicodedata.category(character) in STEERING and character not in JOINERS


def escape_controls(text: str, except_for: str = "") -> str:
    r"""Return the text with steering characters as escapes, except those of `except_for`.

    >>> print(escape_controls("a\x1b]0;b\n\u202e"))
    a\u001b]0;b\n\u202e
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        _escape(character) if is_steering(character) and character not in except_for else character
        for character in text
    )


def _escape(character: str) -> str:
    r"""Return the escape of a character: \n, \r, \t, or four or eight hex digits."""
    code = ord(character)
    return SHORT.get(character) or (f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}")


BARE_ON_WINDOWS = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/\\-]*|--?[A-Za-z][A-Za-z-]*")
SPECIAL_ON_WINDOWS = frozenset('"%!$`\u201c\u201d\u201e')


def path_argument(path: Path | str) -> str:
    """Return a path as an argument of a command, where a leading dash would start an option.

    >>> path_argument("-a.svg"), path_argument("a.svg")
    ('./-a.svg', 'a.svg')
    """
    text = str(path)
    return f"./{text}" if text.startswith("-") else text


def join_words(words: Iterable[str], *, windows: bool = sys.platform == "win32") -> str:
    r"""Return a command line from which the shell reads exactly these words.

    Words with control characters are quoted as $'..', which bash, zsh and ksh know. Windows lines
    are for cmd.exe and PowerShell alike.

    Raises InputError for a word that cannot be quoted.

    >>> print(join_words(["info", "a b", "c\x03\n'"], windows=False))
    info 'a b' $'c\003\012\047'
    >>> print(join_words(["info", "C:\\a & b"], windows=True))
    info "C:\a & b"
    """
    quote = _quote_on_windows if windows else _quote_on_posix
    return " ".join(map(quote, words))


def _quote_on_posix(word: str) -> str:
    """Return a word in the quotes of a POSIX shell, or as $'..'. Raises InputError."""
    if "\0" in word:
        raise _unquotable(word)
    if not any(map(is_steering, word)):
        return shlex.quote(word)
    try:
        content = word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise _unquotable(word) from error
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in "\\'!" else f"\\{byte:03o}"
        for byte in content
    )
    return f"$'{plain}'"


def _quote_on_windows(word: str) -> str:
    """Return a word in double quotes if necessary. Raises InputError for a special character."""
    if any(is_steering(character) or character in SPECIAL_ON_WINDOWS for character in word):
        raise _unquotable(word)
    if BARE_ON_WINDOWS.fullmatch(word):
        return word
    slashes = len(word) - len(word.rstrip("\\"))
    return f'"{word}{chr(92) * slashes}"'


def _unquotable(word: str) -> InputError:
    """Return the error for a word that no quotes make safe."""
    escaped = escape_controls(word)
    return InputError(
        f"{escaped[:200]} contains a character that is unsafe on a command line; rename the file "
        "or change the text."
    )
