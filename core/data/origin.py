"""Origin of a text, a file or the clipboard, and the sentences that refuse it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

from core.errors import InputError

SHOWN = 40  # characters of a cell in a sentence
NOTHING = "Nothing was pasted."


@final
@dataclass(frozen=True, slots=True)
class Origin:
    """A file, named with the key that it belongs to, or with neither the clipboard."""

    what: str = ""
    path: Path | None = None

    @property
    def is_file(self) -> bool:
        return self.path is not None

    @property
    def number(self) -> str:
        return "a number" if self.is_file else "a coordinate"

    def at(self, line: int, words: str) -> InputError:
        """Return an error about one line, counted from 1: `words` follow its number."""
        return self.error(f"{self.place(line)} {words}")

    def whole(self, words: str) -> InputError:
        """Return an error about the text as a whole: `words` follow its name."""
        name = f"{self.what}: {self.path}" if self.is_file else "The text"
        return self.error(f"{name} {words}")

    def place(self, line: int) -> str:
        """Return the beginning of a sentence about one line."""
        return f"{self.what}: line {line} of {self.path}" if self.is_file else f"Line {line}"

    def error(self, sentence: str) -> InputError:
        """Return an error with a whole sentence."""
        return InputError(sentence if self.is_file else f"{sentence} {NOTHING}")

    @property
    def choose_label(self) -> str:
        """The way to name the label column, as the end of a sentence."""
        if self.path is None:
            return "begin the text with a line of names, such as x1,x2,y"
        return (
            'name the column with data.label = "NAME", "first", "last" or its number from 1, or '
            "call it y in the header"
        )

    @property
    def choose_header(self) -> str:
        """The way to say if the first line has names, as the end of a sentence."""
        if self.path is None:
            return "begin the text with a line of names, such as x1,x2,y"
        return "set data.header = true or false"

    @property
    def empty(self) -> str:
        """The sentence for a text without rows."""
        if self.path is None:
            return "There is no text with points in the clipboard."
        return f"{self.what}: {self.path} needs one column named y for the labels; it is empty."

    @property
    def header_only(self) -> str:
        """The sentence for a text that ends with its header."""
        if self.path is None:
            return "There is a header and no points below it."
        return f"{self.what}: {self.path} has no rows below its header."
