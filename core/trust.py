"""Trust in Python code of networks: code that this user ran or trusted, by its SHA-256.

Run files and study files come from strangers. They may carry the code of a network, or name a
Python file that came with them. The code runs only after its user has typed `python -m core run
STUDY.toml` for a study that names the file, or has read it and typed `python -m core trust FILE
--yes`. A changed file has another SHA-256 and is refused again. Code whose display may differ from
its effect is never trusted (`check_shown`). The window asks the same question before it runs the
code (app.training.run_questions).
"""

from __future__ import annotations

import hashlib
import io
import tokenize
import unicodedata
from pathlib import Path

from platformdirs import user_data_path

from core.errors import DiskError, InputError, RunFileError
from core.program import headless_program
from core.terminal.text import join_words, path_argument

LONGEST_LINE = 200  # columns; text further right is easily overlooked, or cut off
LONGEST_GAP = 40  # spaces within a line, or empty lines: longer gaps look like the end of the text
PLAIN_CONTROLS = "\n\t"
# Categories of characters that are invisible (Cf), break lines on screen or for Python alone (Cc,
# Zl, Zp), overprint others (Mn, Me), or have no glyph (Cs, Co, Cn).
UNSEEN = {"Cc", "Cf", "Zl", "Zp", "Mn", "Me", "Cs", "Co", "Cn"}
RIGHT_TO_LEFT = {"R", "AL", "AN"}  # these reorder their neighbours
TEXTS = (tokenize.STRING, tokenize.COMMENT)
NOT_TEXT = "code from elsewhere is shown before it runs, so it must be plain readable text"


class UntrustedCodeError(InputError):
    """Python code of a network that this user has neither run nor trusted.

    `code` is exactly what would run, `file` is the file that holds the code ("" if unknown), and
    `asker` is the study that names that file ("" for none). `package` is the installed package
    whose code it is ("" for the network of a study).
    """

    def __init__(
        self, text: str, *, code: str = "", file: object = "", asker: str = "", package: str = ""
    ) -> None:
        super().__init__(text)
        self.code, self.file, self.asker, self.package = code, str(file), asker, package


class UntrustedRunError(UntrustedCodeError, RunFileError):
    """Untrusted Python code in a run file."""


def digest_of(code: str) -> str:
    """Return the SHA-256 of the code, as hexadecimal digits."""
    return hashlib.sha256(code.encode()).hexdigest()


def trust_folder() -> Path:
    """Return the folder of trusted digests, one empty file each."""
    return user_data_path("marginscope") / "trusted"


def is_trusted(code: str) -> bool:
    """Return True if this user has run or trusted exactly this code."""
    return (trust_folder() / digest_of(code)).is_file()


def check_trusted(code: str, holder: str, name: str, *, file: object = "", asker: str = "") -> None:
    """Raise UntrustedCodeError for code that this user has neither run nor trusted.

    Parameters
    ----------
    code : str
        Python code, exactly as it would run.
    holder : str
        Start of the sentence: the setting and the file that hold the code.
    name : str
        Argument with which `core trust` shows the code.
    file : object
        File that holds the code, for a window that asks.
    asker : str
        Study that names the file, for a window that asks.
    """
    if not is_trusted(code):
        raise UntrustedCodeError(
            f"{holder} contains a network written in Python, which this would run; read it with "
            f"`{trust_command(name)}`, which also explains how to trust it.",
            code=code,
            file=file,
            asker=asker,
        )


def trust_command(name: str) -> str:
    """Return the command that shows the code of a run, a study or a Python file."""
    try:
        argument = join_words([path_argument(name)])
    except InputError:
        argument = "FILE"
    return f"{headless_program()} trust {argument}"


def trust(code: str) -> None:
    """Store the code as trusted. Raises DiskError if that fails."""
    trust_digest(digest_of(code))


def trust_digest(digest: str) -> None:
    """Store the code of this SHA-256 as trusted. Raises DiskError if that fails."""
    folder = trust_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / digest).touch()
    except OSError as error:
        raise DiskError(
            f"{folder} cannot be written ({error.strerror}); make it writable."
        ) from error


def check_characters(code: str, where: str) -> None:
    """Raise InputError for a control character other than newline and tab.

    Python ends lines at a lone carriage return and forgets the indentation before a form feed,
    while a terminal shows both as if nothing were there.
    """
    for number, line in enumerate(code.split("\n"), 1):
        for character in line:
            if unicodedata.category(character) == "Cc" and character not in PLAIN_CONTROLS:
                raise _refusal(where, number, f"holds the control character {_name(character)}")


def check_shown(code: str, where: str) -> None:
    """Raise InputError for code whose display may differ from what Python runs.

    Besides control characters these are: characters without a width or a shape of their own, and
    marks that change the direction of reading; letters other than ASCII in names, which may look
    like others (and which Python takes for others); lines, gaps and stretches of empty lines so
    long that a reader overlooks what follows.
    """
    check_characters(code, where)
    empty = 0
    for number, line in enumerate(code.split("\n"), 1):
        columns = line.expandtabs()
        empty = 0 if columns.strip() else empty + 1
        if empty > LONGEST_GAP:
            raise _refusal(where, number, f"is one of more than {LONGEST_GAP} empty lines")
        if len(columns) > LONGEST_LINE:
            raise _refusal(where, number, f"is longer than {LONGEST_LINE} columns")
        if " " * (LONGEST_GAP + 1) in columns.strip():
            raise _refusal(where, number, f"has a gap of more than {LONGEST_GAP} spaces")
        for character in line.replace("\t", ""):
            is_visible = unicodedata.category(character) not in UNSEEN
            if not is_visible or unicodedata.bidirectional(character) in RIGHT_TO_LEFT:
                raise _refusal(where, number, f"holds the character {_name(character)}")
    _check_names(code, where)


def _check_names(code: str, where: str) -> None:
    """Check that only comments and plain strings contain more than ASCII."""
    if code.isascii():
        return
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            formatted = "f" in token.string[:3].lower().partition('"')[0].partition("'")[0]
            plain = token.type in TEXTS and not (token.type == tokenize.STRING and formatted)
            if not (plain or token.string.isascii()):
                odd = next(character for character in token.string if not character.isascii())
                problem = f"has {_name(odd)} outside a comment or a plain string"
                raise _refusal(where, token.start[0], problem)
    except (tokenize.TokenError, SyntaxError) as error:
        raise InputError(f"{where} is not Python ({error}); it is not run.") from error


def _name(character: str) -> str:
    return f"U+{ord(character):04X} ({unicodedata.name(character, 'without a name').lower()})"


def _refusal(where: str, line: int, problem: str) -> InputError:
    return InputError(f"{where}: line {line} of the Python code {problem}; {NOT_TEXT}.")
