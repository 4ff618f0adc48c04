"""Searches: words, or a condition such as `m >= 256 and hard_margin > .9 * gamma_gl / 2`.

Words must all occur, anywhere in an entry; those between quotes belong together. A text
with <, > or = is a condition. It is parsed by Python's grammar and never run (core.studies.formulas
has the arithmetic): comparisons, also in chains, of numbers and texts, `and`, `or`, `not`; a text
in quotes by itself is words. A comparison is false if one of its sides is undefined, with != as
well: a setting or result that the run lacks, an unknown margin, an undefined number such as 1 / 0,
and the comparison of a number with a text.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from functools import cache
from itertools import pairwise
from typing import Any

from core.errors import InputError, did_you_mean
from core.library.entry import GROWING, RESULTS, Entry
from core.numbers import whole_text
from core.studies.formulas import DEEPEST, QUOTED, Number, arithmetic, dotted_name, parse
from core.study_file.experiment import KINDS, PLAIN_SECTIONS

# Meaning of names in conditions on runs: settings, results, margins, and others.

Value = float | str | tuple[str, ...] | None  # None, like NaN: the run has no value
Reader = Callable[[Entry], Value]
UNITS = {"kB": 1e3, "MB": 1e6, "GB": 1e9, "true": 1.0, "false": 0.0}
DATE = "date"
TAGS = ("tag", "tags")


def _time(entry: Entry) -> float:
    """Return the time at the last frame; inf beyond float64."""
    return _power(entry.facts.results.get("log10_time", math.nan))


def _time_to_90(entry: Entry) -> float:
    """Return the time to 90 % of the largest hard margin; NaN for runs that have not reached it."""
    log10_time = entry.log10_time_to_90
    # A run that has not reached 90 % has no time: a longer run may reach it.
    return math.nan if log10_time == math.inf else _power(log10_time)


def _power(log10_time: float) -> float:
    """Return 10 to this power, inf beyond float64; NaN for NaN."""
    return 10.0**log10_time if log10_time < 308.0 or math.isnan(log10_time) else math.inf


def _verdicts(entry: Entry) -> float:
    """Return the number of statements with a verdict."""
    return math.nan if entry.verdicts is None else float(sum(entry.verdicts.values()))


def _setting_reader(key: str) -> Reader:
    """Return the reader of a setting by its dotted key; whole numbers and truths as float."""

    def read(entry: Entry) -> Value:
        value = entry.facts.settings.get(key)
        return float(value) if isinstance(value, bool | int) else value

    return read


def _table_reader(table: str, name: str) -> Reader:
    """Return the reader of a number in `margins` or `results` of a run's facts; None if absent."""

    def read(entry: Entry) -> Value:
        values: Mapping[str, float] = getattr(entry.facts, table)
        return values.get(name)

    return read


def _constant_reader(value: float) -> Reader:
    """Return the reader of a unit or a truth value, the same number for all runs."""
    return lambda _: value


OTHERS: dict[str, Reader] = {
    "size": lambda entry: float(entry.size),
    "frames": lambda entry: float(entry.facts.frames),
    "share": lambda entry: entry.share,
    "t": _time,
    "time_to_90": _time_to_90,
    DATE: lambda entry: entry.date or None,
    "study": lambda entry: entry.facts.title,
    "source": lambda entry: entry.facts.source,
    "state": lambda entry: entry.state,
    "name": lambda entry: entry.about.name or entry.heading,
    "note": lambda entry: entry.about.note,
    "file": lambda entry: entry.path.name,
    "trashed": lambda entry: float(entry.is_trashed),
    "growing": lambda entry: float(entry.state == GROWING),
    "continued": lambda entry: float(bool(entry.facts.parent)),
    "parent": lambda entry: entry.facts.parent or None,
    "branched": lambda entry: float(bool(entry.facts.changes)),
    "branched_at": lambda entry: _power(entry.facts.left) if entry.facts.changes else math.nan,
    "changes": lambda entry: entry.facts.changes or None,
    "verdicts": _verdicts,
    "violated": lambda entry: entry.n_violated,
    "holds": lambda entry: entry.holds,
} | dict.fromkeys(TAGS, lambda entry: entry.about.tags)
PREFERRED = {"seed": "run.seed"} | {name: f"{name}.kind" for name in KINDS}


@cache
def settings() -> dict[str, tuple[str, ...]]:
    """Return the dotted keys of settings by their last parts."""
    keys: dict[str, dict[str, None]] = {}
    for section, kinds in KINDS.items():
        for one in kinds.values():
            for name in one.model_fields:
                keys.setdefault(name, {})[f"{section}.{name}"] = None
    for section, plain in PLAIN_SECTIONS.items():
        for name in plain.model_fields:
            keys.setdefault(name, {})[f"{section}.{name}"] = None
    return {name: tuple(some) for name, some in keys.items()}


@cache
def readers() -> dict[str, Reader]:
    """Return the reader of every name; names of settings with and without their section."""
    from core.reference.registry import REFERENCES

    by_name: dict[str, Reader] = {}
    for name, keys in settings().items():
        by_name |= {key: _setting_reader(key) for key in keys}
        if len(keys) == 1:
            by_name[name] = _setting_reader(keys[0])
    by_name |= {name: _setting_reader(key) for name, key in PREFERRED.items()}
    by_name |= {name: _table_reader("margins", name) for name in REFERENCES}
    by_name |= {name: _table_reader("results", name) for name in (*RESULTS, "norm", "log10_time")}
    return by_name | OTHERS | {name: _constant_reader(value) for name, value in UNITS.items()}


def reader(name: str, text: str) -> Reader:
    """Return the reader of a name. Raises InputError for an unknown or ambiguous name."""
    by_name = readers()
    if name in by_name:
        return by_name[name]
    if len(several := settings().get(name, ())) > 1:
        keys = " or ".join(sorted(several))
        raise InputError(f"{text}: {name} may be {keys}; write one of them.")
    if any(name in kinds for kinds in KINDS.values()):
        raise InputError(f'{text}: {name} is the name of a kind; write it in quotes, "{name}".')
    try_these = by_name if "." in name else [one for one in by_name if "." not in one]
    hint = did_you_mean(name, try_these) if len(name) > 2 else ""
    if not hint.startswith("did"):
        hint = 'put text in quotes, as in tag == "talk".'
    raise InputError(f"{text}: {name} is not a setting, result or margin; {hint}")


LONGEST = 1_000
EXAMPLE = "write one such as m >= 256 and hard_margin > .9 * gamma_gl / 2"
SIGNS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
WORD = re.compile(r'"([^"]*)"|(\S+)')
COMPARED = re.compile(r"[<>=]")
JOINED = re.compile(r"\b(?:and|or|not)\b")
SINGLE = re.compile(r"(?<![<>=!])=(?!=)")

WORDS = ', or with words, "figure 1" and m > 16'

Condition = Callable[[Entry], bool]
Side = Callable[[Entry], Value]


def query(text: str) -> Condition:
    """Return the condition of a search, words or a comparison. Raises InputError."""
    text = text.strip()
    if len(text) > LONGEST:
        raise InputError(
            f"A search has at most {whole_text(LONGEST)} characters; this one has "
            f"{whole_text(len(text))}."
        )
    outside = QUOTED.sub(" ", text)
    if not COMPARED.search(outside) and not (outside != text and JOINED.search(outside)):
        return _words(text)
    node = parse(_double_equals(text), LONGEST + 100)
    if node is None:
        raise InputError(f"{_cut(text)} is not a condition; {EXAMPLE}{WORDS}.")
    try:
        return _condition(node, text, 0)
    except RecursionError:
        raise InputError(f"{_cut(text)} is nested too deeply; simplify it.") from None


def _cut(text: str) -> str:
    """Return a text of at most 60 characters and " ...", for errors."""
    return text if len(text) <= 60 else f"{text[:60]} ..."


def _double_equals(text: str) -> str:
    """Return the text with == for each = by itself, except between quotes."""
    start, parts = 0, []
    for match in QUOTED.finditer(text):
        parts += [SINGLE.sub("==", text[start : match.start()]), match[0]]
        start = match.end()
    return "".join([*parts, SINGLE.sub("==", text[start:])])


def _words(text: str) -> Condition:
    """Return the condition that an entry contains all words of a text, in any case."""
    words = [(quoted or word).casefold() for quoted, word in WORD.findall(text)]
    words = [word.strip('"') for word in words]
    return lambda entry: all(map(entry.mentions, words))


def _condition(node: ast.expr, text: str, depth: int) -> Condition:
    """Return the condition of an expression within a search. Raises InputError."""
    if depth > DEEPEST:
        raise InputError(f"{_cut(text)} is nested more than {DEEPEST} deep; simplify it.")
    if isinstance(node, ast.BoolOp):
        parts = [_condition(value, text, depth + 1) for value in node.values]
        if isinstance(node.op, ast.And):
            return lambda entry: all(part(entry) for part in parts)
        return lambda entry: any(part(entry) for part in parts)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        part = _condition(node.operand, text, depth + 1)
        return lambda entry: not part(entry)
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        pairs = zip(pairwise(sides), node.ops, strict=True)
        links = [_link(a, sign, b, text) for (a, b), sign in pairs]
        return links[0] if len(links) == 1 else lambda entry: all(one(entry) for one in links)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _words(f'"{node.value}"')
    raise InputError(f"{_cut(text)}: {_cut(_source(node))} has no comparison; {EXAMPLE}.")


def _source(node: ast.expr) -> str:
    """Return an expression as the user writes it, with ^ for powers."""
    return dotted_name(node) or ast.unparse(node).replace("**", "^")


def _link(left: ast.expr, sign: ast.cmpop, right: ast.expr, text: str) -> Condition:
    """Return the condition of one comparison."""
    holds = SIGNS.get(type(sign))
    if holds is None:
        raise InputError(f"{_cut(text)}: compare values by <, <=, >, >=, == or !=.")
    if (names := {dotted_name(left), dotted_name(right)}) & set(TAGS):
        return _tag_condition(left, sign, right, text)
    a, b = _side(left, text), _side(right, text)
    as_comparable = _prefixes if DATE in names else _plain

    def link(entry: Entry) -> bool:
        first, second = a(entry), b(entry)
        if isinstance(first, float) and isinstance(second, float):
            return first == first and second == second and holds(first, second)
        if isinstance(first, str) and isinstance(second, str):
            return holds(*as_comparable(first, second))
        return False

    return link


def _plain(first: str, second: str) -> tuple[str, str]:
    """Return two texts for a comparison that ignores case."""
    return first.casefold(), second.casefold()


def _prefixes(first: str, second: str) -> tuple[str, str]:
    """Cut two dates to the digits that both have: 2026-11 is all of November."""
    digits = min(len(first), len(second))
    return first[:digits].casefold(), second[:digits].casefold()


def _tag_condition(left: ast.expr, sign: ast.cmpop, right: ast.expr, text: str) -> Condition:
    """Return the condition of tag == "x", the run has it, or tag != "x", it has not."""
    name = right if dotted_name(left) in TAGS else left
    value = name.value if isinstance(name, ast.Constant) else None
    if not isinstance(sign, ast.Eq | ast.NotEq) or not isinstance(value, str):
        raise InputError(f'{_cut(text)}: write tag == "talk", or tag != "talk" for the others.')
    tag_text, is_equality = value.casefold(), isinstance(sign, ast.Eq)
    return lambda entry: any(tag.casefold() == tag_text for tag in entry.about.tags) is is_equality


def _side(node: ast.expr, text: str) -> Side:
    """Return one side of a comparison: a text, a name's value, or arithmetic."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        words = node.value
        return lambda _: words
    if name := dotted_name(node):
        return reader(name, text)
    number = arithmetic(node, text, lambda name: _number_reader(name, text))

    def value(entry: Entry) -> float:
        try:
            return number(entry)
        except (ArithmeticError, ValueError, TypeError, InputError):
            return math.nan

    return value


def _number_reader(name: str, text: str) -> Number:
    """Return the reader of a name within arithmetic; NaN for a text or no value."""
    read = reader(name, text)

    def number(entry: Entry) -> float:
        value = read(entry)
        return value if isinstance(value, float) else math.nan

    return number
