"""The settings in which runs differ: a table of them, and names for the runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from core.settings import NOT_RECORDED
from core.studies.grouping import is_seed
from core.studies.tables import value_text

MOST_IN_LABEL = 3
LONGEST = 48  # characters of a value
ABSENT = "\u2013"


@final
@dataclass(frozen=True, slots=True)
class Differing:
    """`rows[i][j]` is the value of setting `keys[j]` of run i; `labels` and `families` name the
    runs by them, with and without their seeds."""

    keys: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    labels: tuple[str, ...]
    families: tuple[str, ...]


def differing(settings: Sequence[Mapping[str, Any]], stems: Sequence[str]) -> Differing:
    """What differs between runs with these settings; `stems` name those that are alike."""
    every = tuple(dict.fromkeys(key for table in settings for key in table))
    texts = {key: [_text(table, key) for table in settings] for key in every}
    keys = tuple(key for key in every if len(set(texts[key])) > 1)
    rows = tuple(tuple(texts[key][k] for key in keys) for k in range(len(settings)))
    labels = [_words(keys, row) for row in rows]
    families = [
        _words(plain, [value for key, value in zip(keys, row, strict=True) if key in plain])
        for plain in [tuple(key for key in keys if not is_seed(key))]
        for row in rows
    ]
    names = [
        label if label and labels.count(label) == 1 else f"{label}, {stem}".removeprefix(", ")
        for label, stem in zip(labels, stems, strict=True)
    ]
    return Differing(keys, rows, tuple(names), tuple(families))


def _text(table: Mapping[str, Any], key: str) -> str:
    value = table.get(key)
    if value is None:
        return ABSENT
    if value == NOT_RECORDED:
        return NOT_RECORDED
    text = " ".join(value_text(value).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _words(keys: Sequence[str], values: Sequence[str]) -> str:
    """Settings by the last part of their names, or by the whole where two share it."""
    short = [key.rpartition(".")[2] for key in keys]
    names = [key if short.count(one) > 1 else one for key, one in zip(keys, short, strict=True)]
    parts = [f"{name} = {value}" for name, value in zip(names, values, strict=True)]
    rest = len(parts) - MOST_IN_LABEL
    return ", ".join(parts[:MOST_IN_LABEL]) + (f" and {rest} more" if rest > 0 else "")
