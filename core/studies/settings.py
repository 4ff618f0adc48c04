"""What a setting of a study does to its tables: lists that are axes, and kinds that change."""

from __future__ import annotations

from collections.abc import Iterator, Set
from contextlib import contextmanager
from typing import Any, get_args, get_origin

from core.errors import InputError
from core.settings import Section
from core.study_file.validation import section_class


@contextmanager
def as_typed() -> Iterator[None]:
    """What is wrong with a setting is, at the command line, wrong with its option."""
    try:
        yield
    except InputError as error:
        raise InputError(error.text, option="--set", clauses=error.clauses) from error


def is_one_value(value: list[Any], cls: type[Section], name: str) -> bool:
    """Whether a list is one value of a key that takes lists; a list of lists is an axis of it, and
    of a key that takes lists of lists a list of these."""
    annotation = cls.model_fields[name].annotation
    return depth_of(value) <= max(map(_depth_in, (annotation, *get_args(annotation))))


def depth_of(value: Any) -> int:
    """How deep lists are nested in each other.

    >>> depth_of(1), depth_of([1, 2]), depth_of([[1, 2], [3]]), depth_of([[1], 2])
    (0, 1, 2, 1)
    """
    if not isinstance(value, list | tuple):
        return 0
    return 1 + (min(map(depth_of, value)) if value else 0)


def _depth_in(annotation: Any) -> int:
    """How deep lists are nested in the values of a type."""
    if get_origin(annotation) is not tuple:
        return 0
    return 1 + max(map(_depth_in, get_args(annotation)))


def change_kind(tables: dict[str, dict[str, Any]], section: str, kind: Any) -> set[str]:
    """Set a kind; keys that the new kind does not have, or has to itself, were the old one's.

    Other sections get kinds that go with it where theirs do not, as data of real targets, or of
    many classes, need a loss of theirs. Returns the keys that the new kind has to itself.
    """
    table = tables.setdefault(section, {})
    before, table["kind"] = table.get("kind"), kind
    cls = section_class(section, table)
    lost = set() if before == kind else set(cls.own)
    for key in [key for key in table if key not in cls.model_fields or key in lost]:
        del table[key]
    for other, usual in cls.others.items():
        if not cls.goes_with(section_class(other, tables.get(other, {}))):
            change_kind(tables, other, usual)
    return lost


def kinds_first(key: str) -> bool:
    """Sorts kinds before the keys that depend on them."""
    return not key.endswith(".kind")


def is_dropped(axis: str, section: str, kept: Set[str]) -> bool:
    """Whether an axis is of a section whose kind does not have its key."""
    part, name = axis.split(".", 1)
    return part == section and name not in kept
