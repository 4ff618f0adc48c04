"""What was done in a session, as a script: a command for each thing that the program can do without
a window, and a comment for all else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from core.program import headless_program
from core.terminal.text import escape_controls, is_steering, join_words, path_argument

MOST_DEEDS = 2000


@final
@dataclass(frozen=True, slots=True)
class Deed:
    """`when`: local time, HH:MM:SS. `command`: what follows the program's name, a word each; in it
    STUDY stands for the file of `study`, which is its text. `is_step`: a step of the undo history,
    whose line is replaced when the step goes on."""

    when: str
    words: str
    command: tuple[str, ...] = ()
    study: str = ""
    is_step: bool = False


STUDY = "STUDY"


def kept(deeds: tuple[Deed, ...], deed: Deed) -> tuple[Deed, ...]:
    """Deeds with one more; the earliest go where there are very many."""
    return (*deeds, deed)[-MOST_DEEDS:]


def script(deeds: Sequence[Deed], title: str, stem: str) -> tuple[str, dict[str, str]]:
    """The text of a shell script, and the study files that it names, by name: STEM-1.toml, ...

    Studies of equal text have one file. Raises InputError for a command that cannot be quoted.

    >>> deed = Deed("10:00:00", "Run", ("run", "STUDY"), "[data]")
    >>> text, files = script([deed], "A session", "mine")
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
    for deed in deeds:
        lines.append(f"# {deed.when} {_line(deed.words)}")
        if not deed.command:
            continue
        name = next((name for name, text in files.items() if text == deed.study), "")
        if deed.study and not name:
            name = f"{stem}-{len(files) + 1}.toml"
            files[name] = deed.study
        words = [path_argument(name) if word == STUDY else word for word in deed.command]
        line = join_words(words, windows=False)  # the script is for a POSIX shell everywhere
        if any(is_steering(character) for word in words for character in word):
            shell = "#!/usr/bin/env bash"  # plain sh need not know the $'..' of these words
        lines.append(f"{headless_program()} {line}")
    return "\n".join([shell, *lines, ""]), files


NAMED = "# Study files and runs are named from the folder of this file."


def _line(text: str) -> str:
    """A text that stays in its comment."""
    return escape_controls(" ".join(text.split()))
