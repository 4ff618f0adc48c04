"""Errors of the program. Every message is a sentence for the person at the keyboard.

A message states the error, its place, the allowed values and the remedy. The command line turns
`InputError` into exit status 2 and `DiskError` into exit status 1; the window shows both in place.
Neither extracts parts of a message: these are the fields of MarginscopeError.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import final

LONGEST = 2_000  # characters of a message; user input may be a megabyte


@final
@dataclass(frozen=True, slots=True)
class Clause:
    """Error of one value, and the dotted keys that it concerns."""

    text: str
    keys: tuple[str, ...] = ()


class MarginscopeError(Exception):
    """Base of every error whose text may be shown: OPTION WHERE: TEXT; REMEDY.

    `text` is the error, a whole sentence unless a remedy follows. `where` is the study, file or
    value with the error, `option` the command line's option for it. `remedy` is the remedy, and
    `typed` the one for the command line, if different. `clauses` are single wrong values, if
    several are possible.
    """

    def __init__(
        self,
        text: str,
        *,
        where: object = "",
        option: str = "",
        remedy: str = "",
        typed: str = "",
        clauses: Sequence[Clause] = (),
    ) -> None:
        # The text alone: unpickling in another process rebuilds an error from it.
        super().__init__(text)
        self.text, self.where, self.option = text, str(where), option
        self.remedy, self.typed = remedy, typed or remedy
        self.clauses = tuple(clauses)

    def __str__(self) -> str:
        """Return the sentence for the command line."""
        return self._sentence(f"{self.option} {self.where}".strip(), self.typed)

    @property
    def sentence(self) -> str:
        """Sentence for a window, whose user knows nothing of options."""
        return self._sentence(self.where, self.remedy)

    def _sentence(self, where: str, remedy: str) -> str:
        text = f"{where}: {self.text}" if where else self.text
        text = f"{text}; {remedy}." if remedy else text
        # Keep the end of the message, which says what to do.
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 300]} ... {text[-250:]}"


class InputError(MarginscopeError):
    """Something the user gave cannot be used: a study, a value, a data file, a folder."""


class RuleError(ValueError):
    """Settings, each allowed by itself, that do not go together; `keys` are those it is about.

    Keys of the section itself where a section raises it (`n`), dotted ones where an experiment
    does (`data.n`); the first is the one to change.
    """

    def __init__(self, text: str, *, keys: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.keys = keys


class RunFileError(InputError):
    """A run file is truncated, damaged, foreign, hostile or from a newer version."""


class DiskError(MarginscopeError):
    """Refusal of the disk to write a run that was being recorded."""


def did_you_mean(wrong: str, allowed: Iterable[str]) -> str:
    """Return "did you mean ...?" with the nearest allowed name, or the list of allowed names.

    >>> did_you_mean("stpe", ["step", "until_log10_time"])
    "did you mean 'step'?"
    >>> did_you_mean("zzz", ["a", "b"])
    'allowed are: a, b.'
    """
    names = sorted(allowed)
    by_lower = {name.lower(): name for name in names}
    # The comparison takes time proportional to the product of both lengths; no valid name has 100
    # characters.
    near = difflib.get_close_matches(wrong[:100].lower(), list(by_lower), n=1, cutoff=0.6)
    if near:
        return f"did you mean '{by_lower[near[0]]}'?"
    return f"allowed are: {', '.join(names)}."


def nearest_names(wrong: str, allowed: Iterable[str]) -> str:
    """Return "did you mean ...?" with the nearest of many names, or the three that come closest.

    >>> nearest_names("figure-7", ["figure-1", "lemma-2", "theorem-3", "table-4"])
    "did you mean 'figure-1'?"
    >>> nearest_names("tea", ["figure-1", "lemma-2", "theorem-3", "table-4"])
    'the closest are table-4, lemma-2 and theorem-3.'
    """
    names = tuple(allowed)
    if (hint := did_you_mean(wrong, names)).startswith("did"):
        return hint
    *first, last = difflib.get_close_matches(wrong[:100].lower(), names, n=3, cutoff=0.0)
    return f"the closest are {', '.join(first)} and {last}."
