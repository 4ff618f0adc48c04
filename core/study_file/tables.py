"""Tables of study files: TOML of any origin, read within limits, and frozen values of its types.

Python's parser takes time and memory as the square of a key's dots, follows nesting by recursion,
and turns any number of digits into a number: what is out of all proportion is refused.
"""

from __future__ import annotations

import re
import tomllib
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from core.errors import InputError

MOST_PARTS = 20  # of a dotted key
DEEPEST = 20
LARGEST = 2**63  # TOML's integers are of 64 bits
QUOTED = re.compile(r"""\"[^"\n]*+\"|'[^'\n]*+'""")
# Without a way back (++), so that a text is gone through once.
DOTTED = re.compile(rf"(?:[A-Za-z0-9_-]++|{QUOTED.pattern}|[ \t]*+\.[ \t]*+)++")
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """The tables of a TOML text. Raises InputError, its sentence beginning with `where`."""
    if any(_parts(run) > MOST_PARTS for run in DOTTED.findall(text)):
        raise InputError(f"{where} is not read: a key has more than {MOST_PARTS} parts.")
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{where} is not a TOML file: {reason(error)}.") from error
    _check(document, where, "", 0)
    return document


def _parts(run: str) -> int:
    """How many parts a stretch of names, quoted texts and dots has as a key."""
    return 1 + len(re.findall(r"\.[ \t]*+[A-Za-z0-9_-]", QUOTED.sub("q", run)))


def reason(error: BaseException) -> str:
    """A parser's objection in one line."""
    if isinstance(error, RecursionError | MemoryError):
        return "it is nested too deeply"
    return " ".join(str(error).split())[:200].rstrip(".")


def _check(value: Any, where: str, key: str, depth: int) -> None:
    if depth > DEEPEST:
        raise InputError(f"{where}: {key[:60]} is nested too deeply.")
    if type(value) is int and not -LARGEST <= value < LARGEST:
        raise InputError(f"{where}: {key[:60]} is a number of more than 64 bits.")
    if isinstance(value, dict):
        for name, part in value.items():
            _check(part, where, f"{key}.{name}" if key else name, depth + 1)
    elif isinstance(value, list):
        for part in value:
            _check(part, where, key, depth + 1)


# ---------------------------------------------------------------------- tables that are no sections


class Table(BaseModel):
    """Another table of a study file as a frozen value: types exactly as TOML has them.

    What a field's value must be is told by its description: "must be 1 to 4".
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def listed(value: Any) -> Any:
    """A list of TOML as a tuple."""
    return tuple(value) if isinstance(value, list) else value


def several(value: Any) -> tuple[Any, ...]:
    """One value or a list of them as a tuple."""
    return tuple(value) if isinstance(value, list) else (value,)


def _pairs(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return tuple((key, listed(part)) for key, part in value.items())


Texts = Annotated[tuple[str, ...], BeforeValidator(several)]
Numbers = Annotated[tuple[float, ...], BeforeValidator(several)]
Where = Annotated[
    tuple[tuple[str, Any], ...],
    BeforeValidator(_pairs),
    Field(description='must be a table such as { "network.m" = 16 }'),
]
