"""Record of a session as a script: commands for what the program can do without a window.

Everything else is a comment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from core.program import headless_program
from core.terminal.text import escape_controls, is_steering, join_words, path_argument

MOST_ENTRIES = 2000


@final
@dataclass(frozen=True, slots=True)
class RecordEntry:
    """Line of the record.

    `when`: local time, HH:MM:SS. `command`: the words after the program's name, of which STUDY is
    the file of `study`, a text. `is_step`: a step of the undo history, which a step that continues
    it replaces.
    """

    when: str
    words: str
    command: tuple[str, ...] = ()
    study: str = ""
    is_step: bool = False


STUDY = "STUDY"


def with_entry(entries: tuple[RecordEntry, ...], entry: RecordEntry) -> tuple[RecordEntry, ...]:
    """Return the entries and a new one; keep at most the latest MOST_ENTRIES."""
    return (*entries, entry)[-MOST_ENTRIES:]


def script(entries: Sequence[RecordEntry], title: str, stem: str) -> tuple[str, dict[str, str]]:
    """Return the text of a shell script, and its study files by name: STEM-1.toml, ...

    Studies of equal text have one file. Raises InputError for a command that cannot be quoted.

    >>> entry = RecordEntry("10:00:00", "Run", ("run", "STUDY"), "[data]")
    >>> text, files = script([entry], "A session", "mine")
    >>> print(text)
    #!/bin/sh
    # A session
    # Study files and runs are named from the folder of this file.
    set -e
    cd "$(dirname "$0")"
    <BLANKLINE>
    # 10:00:00 Run
    python -m core run mine-1.toml
    <BLANKLINE>
    >>> files
    {'mine-1.toml': '[data]'}
    """
    files: dict[str, str] = {}
    lines = [f"# {_line(title)}", NAMED, "set -e", 'cd "$(dirname "$0")"', ""]
    shell = "#!/bin/sh"
    for entry in entries:
        lines.append(f"# {entry.when} {_line(entry.words)}")
        if not entry.command:
            continue
        name = next((name for name, text in files.items() if text == entry.study), "")
        if entry.study and not name:
            name = f"{stem}-{len(files) + 1}.toml"
            files[name] = entry.study
        words = [path_argument(name) if word == STUDY else word for word in entry.command]
        line = join_words(words, windows=False)  # the script is for a POSIX shell everywhere
        if any(is_steering(character) for word in words for character in word):
            shell = "#!/usr/bin/env bash"  # plain sh need not know the $'..' of these words
        lines.append(f"{headless_program()} {line}")
    return "\n".join([shell, *lines, ""]), files


NAMED = "# Study files and runs are named from the folder of this file."


def _line(text: str) -> str:
    """A text that stays in its comment."""
    return escape_controls(" ".join(text.split()))
