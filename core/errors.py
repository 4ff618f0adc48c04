"""The program's own errors. Every message is a sentence meant for the person at the keyboard.

A sentence says what is wrong, where, what is allowed and what to do next. The command line turns
`InputError` into exit status 2 and `DiskError` into exit status 1; the window shows both in place.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

LONGEST = 2_000  # characters of a sentence; what was given may be a megabyte


class MarginscopeError(Exception):
    """Base of every error whose text may be shown as it is."""

    def __str__(self) -> str:
        text = super().__str__()
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 300]} ... {text[-250:]}"


class InputError(MarginscopeError):
    """Something the user gave cannot be used: a study, a value, a data file, a folder."""


class RunFileError(InputError):
    """A run file is truncated, damaged, foreign, hostile or from a newer version."""


class DiskError(MarginscopeError):
    """The disk refused a write while a run was being recorded."""


def did_you_mean(wrong: str, allowed: Iterable[str]) -> str:
    """The words "did you mean ...?" with the nearest allowed name, or the list of what is allowed.

    >>> did_you_mean("stpe", ["step", "until_log10_time"])
    "did you mean 'step'?"
    >>> did_you_mean("zzz", ["a", "b"])
    'allowed are: a, b.'
    """
    names = sorted(allowed)
    by_lower = {name.lower(): name for name in names}
    # Comparing takes time as the product of both lengths, and no name is as long as this.
    near = difflib.get_close_matches(wrong[:100].lower(), list(by_lower), n=1, cutoff=0.6)
    if near:
        return f"did you mean '{by_lower[near[0]]}'?"
    return f"allowed are: {', '.join(names)}."
