"""Output of the headless program: JSON without non-finite numbers, plain lines, progress bars."""

from __future__ import annotations

import codecs
import errno
import io
import json
import os
import sys
import textwrap
from contextlib import AbstractContextManager, suppress
from typing import Any

from core.numbers import NARROW_SPACE, replace_nonfinite
from core.program.stopping import hold_streams
from core.terminal.bar import Bar, progress_bar
from core.terminal.bar import print_notice as print_notice
from core.terminal.text import escape_controls

PROGRAM = "marginscope"
UNKNOWN = "marginscope"  # name of the handler of characters that a stream cannot encode
MARGIN_SECONDS = 120.0  # limit per reference margin
# Errors raised by a closed or full standard output.
UNWRITABLE = (errno.ENOSPC, errno.EBADF, errno.EIO, errno.EFBIG, errno.EDQUOT)


def progress(label: str, total: int, quiet: bool) -> AbstractContextManager[Bar]:
    """Return a progress bar on standard error if that is a terminal.

    Parameters
    ----------
    label : str
        Text before the bar.
    total : int
        Number of steps.
    quiet : bool
        Show no bar.

    Returns
    -------
    context manager of Bar
    """
    return progress_bar(label, total, is_visible=not quiet and sys.stderr.isatty())


def print_line(value: object = "") -> None:
    """Print one line on standard output, its control characters as escapes.

    Every command prints with this function, `print_text` or `print_json`: names and titles come
    from strangers.
    """
    # Flushed, so that a script reading from a pipe gets each run file's name when it is finished.
    print(escape_controls(str(value)), flush=True)


def print_text(text: str, end: str = "\n") -> None:
    """Print lines on standard output, control characters other than newline and tab as escapes."""
    print(escape_controls(text, except_for="\n\t"), end=end)


def print_indented(text: str, first: str, indent: str) -> None:
    """Print a text in lines of 100 columns.

    Parameters
    ----------
    text : str
        Text.
    first, indent : str
        Indentation of the first line, and of the others.
    """
    print_text(textwrap.fill(text, 100, initial_indent=first, subsequent_indent=indent))


def print_json(value: Any) -> None:
    """Print one JSON document on standard output."""
    # Values missed by `replace_nonfinite` fail here, not in the reader's parser: NaN is not valid
    # JSON.
    print(json.dumps(replace_nonfinite(value), indent=2, allow_nan=False))


def print_lines(text: str) -> None:
    """Print lines on standard error, control characters other than newline and tab as escapes."""
    with suppress(OSError):
        print(escape_controls(text, except_for="\n\t"), file=sys.stderr, end="", flush=True)


def open_streams() -> None:
    """Open missing standard streams, so that writing works or raises an error."""
    hold_streams()
    # Python sets a stream that was closed at start to None, and print() ignores it silently.
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 - for as long as the program runs
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
    codecs.register_error(UNKNOWN, _escape_unprintable)
    for stream, own in ((sys.stdout, sys.__stdout__), (sys.stderr, sys.__stderr__)):
        # The program's own stream only, not a replacement that captures output.
        if stream is own and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=UNKNOWN)  # titles on an ASCII terminal


def _escape_unprintable(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return what a stream prints for a character that it lacks: its escape, or a plain space."""
    if isinstance(error, UnicodeEncodeError) and error.object[error.start] == NARROW_SPACE:
        return " ", error.start + 1
    return codecs.backslashreplace_errors(error)


def drop_output() -> None:
    """Discard output that cannot be written, so that Python does not try again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
