"""Command lines from which a shell reads exactly the words that were meant.

File names may come from strangers. A raw control character in a copied line would run commands when
the line is pasted.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

from core.errors import InputError
from core.terminal.escapes import escape_controls, is_steering

# Words that cmd.exe and PowerShell both take without quotes. PowerShell makes an array of `a,b` and
# splits `-a.b` before it calls a program.
BARE_ON_WINDOWS = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/\\-]*|--?[A-Za-z][A-Za-z-]*")
# Special within double quotes in cmd.exe (%, !) or PowerShell ($, `, and every kind of quote).
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
    quote = _quoted_on_windows if windows else _quoted
    return " ".join(map(quote, words))


def _quoted(word: str) -> str:
    if "\0" in word:
        raise _unquotable(word)
    if not any(map(is_steering, word)):
        return shlex.quote(word)
    # Bytes, since a name may be no UTF-8, and bash 3.2 of macOS does not know \u. Octal digits for
    # the quote as well: a shell that does not know $'..' then still finds the end of the word.
    try:
        content = word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise _unquotable(word) from error
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in "\\'!" else f"\\{byte:03o}"
        for byte in content
    )
    return f"$'{plain}'"


def _quoted_on_windows(word: str) -> str:
    if any(is_steering(character) or character in SPECIAL_ON_WINDOWS for character in word):
        raise _unquotable(word)
    if BARE_ON_WINDOWS.fullmatch(word):
        return word
    # The C runtime reads backslashes before the closing quote as escapes of that quote.
    slashes = len(word) - len(word.rstrip("\\"))
    return f'"{word}{chr(92) * slashes}"'


def _unquotable(word: str) -> InputError:
    shown = escape_controls(word)
    return InputError(
        f"{shown[:200]} holds a character that no command line can hold safely; rename the file "
        "or change the text."
    )
