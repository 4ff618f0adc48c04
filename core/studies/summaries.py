"""Summaries of the shipped studies, for lists: read from the first lines of each file."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any

from core import plugins
from core.errors import InputError
from core.study_file.validation import parse_toml


@dataclass(frozen=True, slots=True)
class Summary:
    """Entry in a list of studies, read without checking the study itself."""

    id: str
    title: str
    source: str
    note: str


@cache
def shipped_summaries() -> tuple[Summary, ...]:
    """Return the shipped studies sorted by id; damaged ones are left out."""
    summaries = []
    for entry in sorted(plugins.study_files(), key=attrgetter("stem")):
        name = entry.stem
        with suppress(OSError, ValueError, InputError):
            document = _head(entry.read_text(encoding="utf-8"), name)
            title, *words = (str(document.get(key, "")) for key in ("title", "source", "note"))
            summaries.append(Summary(name, title or name, *words))
    return tuple(summaries)


def _head(text: str, name: str) -> dict[str, Any]:
    """Return the keys above the first table: whole files would delay the window by 0.1 s."""
    with suppress(InputError):  # a text in quotes may have a line that begins like a table
        return parse_toml(text.partition("\n[")[0], name)
    return parse_toml(text, name)
