"""Conversion of plain tables (TOML, `--set`, a form) to sections, with sentences for errors.

Python's parser of TOML takes time and memory as the square of a key's dots, follows nesting by
recursion, and turns any number of digits into a number: excessive texts are refused.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from math import isfinite
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from core import plugins
from core.errors import Clause, InputError, did_you_mean
from core.numbers import is_ambiguous
from core.settings import Section
from core.study_file.experiment import KINDS, PLAIN_SECTIONS, Experiment
from core.trust import UntrustedCodeError

MOST_PARTS = 20  # parts of a dotted key
DEEPEST = 20
LARGEST = 2**63  # TOML integers have 64 bits
QUOTED = re.compile(r"""\"[^"\n]*+\"|'[^'\n]*+'""")
# Possessive quantifiers (++), so that a text is scanned once.
DOTTED = re.compile(rf"(?:[A-Za-z0-9_-]++|{QUOTED.pattern}|[ \t]*+\.[ \t]*+)++")
POSITION = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Return the tables of a TOML text. Raises InputError with the line, beginning with `where`."""
    if any(_parts(run) > MOST_PARTS for run in DOTTED.findall(text)):
        raise InputError(f"{where} is not read: a key has more than {MOST_PARTS} parts.")
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{where}{_locate_error(reason(error), text)}.") from error
    _check(document, where, "", 0)
    return document


def _locate_error(reason: str, text: str) -> str:
    """Return a parser's objection after the line that it names.

    >>> problems = ("Invalid value (at line 2, column 9)", "nested too deeply")
    >>> tuple(_locate_error(one, "") for one in problems)
    (', line 2: invalid value', ' is not a TOML file: nested too deeply')
    """
    match = POSITION.search(reason)
    if match is None:
        return f" is not a TOML file: {reason}"
    line = match[1] or str(1 + text.rstrip().count("\n"))
    return f", line {line}: {reason[0].lower()}{reason[1 : match.start()]}"


def _parts(run: str) -> int:
    """Return how many parts a stretch of names, quoted texts and dots has as a key."""
    return 1 + len(re.findall(r"\.[ \t]*+[A-Za-z0-9_-]", QUOTED.sub("q", run)))


def reason(error: BaseException) -> str:
    """Return a parser's objection in one line."""
    if isinstance(error, RecursionError | MemoryError):
        return "it is nested too deeply"
    return " ".join(str(error).split())[:200].rstrip(".")


def _check(value: Any, where: str, key: str, depth: int) -> None:
    """Raise InputError for values nested too deeply, or integers of more than 64 bits."""
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
    """Other table of a study file as a frozen value: types exactly as TOML has them.

    A field's description is the rule for its value: "must be 1 to 4".
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def to_tuple(value: Any) -> Any:
    """Return a list of TOML as a tuple, and other values unchanged."""
    return tuple(value) if isinstance(value, list) else value


def as_several(value: Any) -> tuple[Any, ...]:
    """Return a list as a tuple, and one value as a tuple of one."""
    return tuple(value) if isinstance(value, list) else (value,)


def _pairs(value: Any) -> Any:
    """Return a table as pairs (key, value), lists in it as tuples; other values unchanged."""
    if not isinstance(value, dict):
        return value
    return tuple((key, to_tuple(part)) for key, part in value.items())


Texts = Annotated[tuple[str, ...], BeforeValidator(as_several)]
Numbers = Annotated[tuple[float, ...], BeforeValidator(as_several)]
Where = Annotated[
    tuple[tuple[str, Any], ...],
    BeforeValidator(_pairs),
    Field(description='must be a table such as { "network.m" = 16 }'),
]


# ----------------------------------------------------------------------------------------- sections

# pydantic prints bounds such as 2^63 - 1 with all digits. Fractions keep theirs: 0.7071...
LONG_NUMBER = re.compile(r"(?<![\d.])\d{12,}(?![\d.])")
SECTIONS = (*KINDS, *PLAIN_SECTIONS)
DEFAULT_KINDS = {"data": "parity", "network": "standard", "loss": "exponential", "dynamics": "flow"}


def section_class(section: str, table: Mapping[str, Any]) -> type[Section]:
    """Return the class that describes a section of a study, by its kind.

    Raises InputError for a kind that does not exist, UntrustedCodeError for one of an installed
    package that is not trusted.
    """
    if section in PLAIN_SECTIONS:
        return PLAIN_SECTIONS[section]
    kinds = KINDS[section]
    kind = table.get("kind", DEFAULT_KINDS[section])
    name = kind if isinstance(kind, str) else ""
    with suppress(KeyError):
        return kinds[name]
    plugins.load_trusted()
    with suppress(KeyError):
        return kinds[name]
    plugins.check_untrusted(name, f"{section}.kind = {kind!r}")
    raise InputError(f"{section}.kind = {kind!r} does not exist; {did_you_mean(str(kind), kinds)}")


PREDICATES = {
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "string_type": "must be text in quotes",
    "model_type": "must be a table",
}
TableType = TypeVar("TableType", bound=Table)


def table_of(cls: type[TableType], table: Any, where: str, joint: str = ": ") -> TableType:
    """Validate a table of a study file.

    Parameters
    ----------
    cls : subclass of Table
        Class of the table.
    table : object
        Value from TOML.
    where : str
        Start of the error.
    joint : str
        Text between `where` and the names of keys.

    Returns
    -------
    cls

    Raises
    ------
    InputError
        A value is wrong; the sentence is about the first one, unknown keys before others.
    """
    try:
        return cls.model_validate(table)
    except ValidationError as error:
        items = sorted(error.errors(), key=lambda item: item["type"] != "extra_forbidden")
        raise InputError(_table_sentence(cls, items[0], where, joint)) from error


def _table_sentence(cls: type[Table], item: ErrorDetails, where: str, joint: str) -> str:
    """Return the sentence for an error in a table, by pydantic's type and the field."""
    kind, location = item["type"], item["loc"]
    if kind == "value_error":  # several keys together
        return f"{where}: {item['ctx']['error']}."
    names: list[str] = []
    inner: type[Table] | None = cls
    for part in location:
        if inner is not None and isinstance(part, str):
            cls = inner
            names.append(part)
            inner = (
                _table_in(cls.model_fields[part].annotation) if part in cls.model_fields else None
            )
    if not names:
        return f"{where} {PREDICATES['model_type']}."
    *outer, name = names
    if kind == "extra_forbidden":
        hint = did_you_mean(name, cls.model_fields)
        return f"{': '.join((where, *outer))}: {name} does not exist; {hint}"
    place, field = f"{where}{joint}{': '.join(names)}", cls.model_fields[name]
    choices = ", ".join(_choices(field.annotation))
    if kind == "missing" and location[-1] == name:
        return f"{place} is missing{f'; allowed: {choices}' if choices else ''}."
    if field.description and kind not in ("float_type", "bool_type"):
        return f"{place} {field.description}."
    if kind == "literal_error":
        return f"{place} = {value_text(item['input'])}; allowed: {choices}."
    return f"{place} {PREDICATES[kind]}."


def _table_in(annotation: Any) -> type[Table] | None:
    """Return the class of the table or tables in a field."""
    if isinstance(annotation, type) and issubclass(annotation, Table):
        return annotation
    return next(filter(None, map(_table_in, get_args(annotation))), None)


def _choices(annotation: Any) -> list[str]:
    """Return the words that a field may have."""
    parts = get_args(annotation)
    return [part for part in parts if isinstance(part, str)] or [
        word for part in parts for word in _choices(part)
    ]


def build_experiment(tables: Mapping[str, Any], where: str) -> Experiment:
    """Build an Experiment from plain tables; `where` names the file or form in messages.

    Raises InputError with one sentence per wrong value.
    """
    filled: dict[str, Any] = {}
    for section in SECTIONS:
        table = tables.get(section, {})
        if not isinstance(table, Mapping):
            raise InputError(f"{section} must be a table [{section}] with keys.", where=where)
        try:
            cls = section_class(section, table)
        except UntrustedCodeError:
            raise
        except InputError as error:
            raise InputError(error.text, where=where) from error
        check_keys(table, cls, section, where)
        filled[section] = dict(table)
        if section in KINDS:
            filled[section].setdefault("kind", DEFAULT_KINDS[section])
    try:
        return Experiment.model_validate(filled)
    except ValidationError as error:
        clauses = clauses_of(error, filled)
        text = "; ".join(clause.text for clause in clauses)
        raise InputError(f"{text}.", where=where, clauses=clauses) from error


def check_keys(table: Mapping[str, Any], cls: type[Section], section: str, where: str) -> None:
    """Check the keys of a section, and the kinds of their values.

    Parameters
    ----------
    table : mapping of str to value
        Table of the section.
    cls : subclass of Section
        Class of the section.
    section : str
        Its name.
    where : str
        File or form in messages.

    Raises
    ------
    InputError
        A key does not exist, or has a text or true or false instead of a number.
    """
    accepted = _accepted_types(cls)
    for name, value in table.items():
        key = f"{section}.{name}"
        if name not in accepted:
            raise InputError(f"{key} does not exist; {did_you_mean(name, accepted)}", where=where)
        wrong = ""
        # pydantic would accept true as the number 1, and text such as `1_000` as a number.
        if isinstance(value, bool) and accepted[name] != "bool":
            wrong = f"{key} = {str(value).lower()}: a number or text is needed."
        if isinstance(value, str) and accepted[name] == "number" and not NUMBER.fullmatch(value):
            point = " with a decimal point" if is_ambiguous(value) else ""
            wrong = f"{key} = {value[:40]!r}: a number{point} is needed."
        if wrong:
            raise InputError(wrong, where=where, clauses=[Clause(wrong, (key,))])


@cache  # a grid has thousands of tables of a few classes
def _accepted_types(cls: type[Section]) -> Mapping[str, str]:
    """Map each key of a section to "bool", "number" (which excludes text) or "" (the rest)."""
    return {name: _accepted_type(field.annotation) for name, field in cls.model_fields.items()}


def _accepted_type(annotation: Any) -> str:
    """Return "bool", "number", or "" for any other type of a field."""
    plain = {kind for kind in (annotation, *get_args(annotation)) if not get_args(kind)}
    if annotation is bool:
        return "bool"
    is_number = bool(plain & {int, float}) and plain <= {int, float, type(None)}
    return "number" if is_number else ""


def clauses_of(error: ValidationError, tables: Mapping[str, Any]) -> list[Clause]:
    """Return one clause for each wrong value: its place, the value, and what is allowed."""
    clauses = []
    for item in error.errors():
        location = _without_kind(item["loc"], tables)
        place = ".".join(location)
        message = item["msg"].removeprefix("Value error, ")
        keys = _keys(location, item)
        if item["type"] == "value_error":
            prefix = f"{place}: " if place and not message.startswith(f"{place}.") else ""
            clauses.append(Clause(f"{prefix}{message}", keys))
            continue
        message = message[:1].lower() + message[1:]
        message = message.replace("input should be", "must be")
        message = LONG_NUMBER.sub(_short, message)
        clauses.append(Clause(f"{place} = {value_text(item['input'])}: {message}", keys))
    return clauses


def _keys(location: Sequence[str], item: ErrorDetails) -> tuple[str, ...]:
    """Return the keys that a clause is about: that of the value, or those that a rule names."""
    if len(location) > 1:
        return (".".join(location[:2]),)
    keys = getattr(item.get("ctx", {}).get("error"), "keys", ())
    return tuple(".".join((*location, key)) for key in keys)


def value_text(value: object) -> str:
    """Return a given value as text of a readable length."""
    try:
        text = repr(value)
    except ValueError:
        return "a number of too many digits"
    return text if len(text) <= 200 else f"{text[:200]} ..."


def _short(number: re.Match[str]) -> str:
    """Return a matched long number with six digits."""
    value = float(number.group())
    return f"{value:g}" if isfinite(value) else "a number of too many digits"


def _without_kind(location: tuple[int | str, ...], tables: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the place of a value without the name of a union's member, which pydantic adds."""
    section, *keys = map(str, location or ("",))
    kind = tables.get(section, {}).get("kind")
    if keys and section in KINDS and keys[0] == kind and kind not in ("", None):
        own = section_class(section, {"kind": kind}).model_fields
        keys = keys if kind in own else keys[1:]
    return (section, *keys) if location else ()
