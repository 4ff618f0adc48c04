"""Settings in which runs differ: a table of them, and names for the runs.

Examples and weights that were given as arrays have a checksum, which names nothing to a reader:
tables number the different ones, and names leave them out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from core.problem.schedule import time_text
from core.settings import NOT_RECORDED
from core.studies.grouping import is_seed
from core.studies.tables import value_text

MOST_IN_LABEL = 3
LONGEST = 48  # characters of a value, and of a title
ABSENT = "\u2013"
CONTENT = ".content"  # how the keys of checksums end
HORIZON = "dynamics.until_log10_time"

Columns = Mapping[str, Sequence[str]]


@final
@dataclass(frozen=True, slots=True)
class Differing:
    """`rows[i][j]` is the value of setting `keys[j]` of run i; `labels` and `families` name the
    runs, with and without their seeds. Runs that differ in seeds only have one family."""

    keys: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    labels: tuple[str, ...]
    families: tuple[str, ...]


def differing(
    settings: Sequence[Mapping[str, Any]], stems: Sequence[str], titles: Sequence[str] = ()
) -> Differing:
    """Return what differs between runs, and names for them.

    Parameters
    ----------
    settings : sequence of mappings
        Dotted key to value, one mapping a run.
    stems : sequence of str
        Names of the files, for runs that nothing else tells apart.
    titles : sequence of str
        Titles of the runs. All different, they name runs whose given arrays differ.

    Returns
    -------
    Differing
        The table and the names.
    """
    every = dict.fromkeys(key for table in settings for key in table)
    texts = {key: [_text(table, key) for table in settings] for key in every}
    columns = {key: column for key, column in texts.items() if len(set(column)) > 1}
    words = _words(columns, len(settings))
    given = any(key.endswith(CONTENT) for key in columns)
    if given and all(titles) and len(set(titles)) == len(settings):
        words = [_short(title) for title in titles]
    labels = _distinct(words, stems)
    keys = tuple(columns)
    shown = [_shown(key, columns[key]) for key in keys]
    rows = tuple(tuple(column[k] for column in shown) for k in range(len(settings)))
    return Differing(keys, rows, tuple(labels), tuple(_families(columns, labels)))


def _families(columns: Columns, labels: Sequence[str]) -> list[str]:
    """A name for each run, equal for runs that differ in seeds only."""
    plain = {key: column for key, column in columns.items() if not is_seed(key)}
    members = [tuple(column[k] for column in plain.values()) for k in range(len(labels))]
    firsts = [members.index(member) for member in members]
    words = _words(plain, len(labels))
    each = sorted(set(firsts))
    if len(each) == 1:
        return [""] * len(labels)
    names = _distinct([words[k] for k in each], [labels[k] for k in each])
    return [names[each.index(first)] for first in firsts]


def _distinct(words: Sequence[str], others: Sequence[str]) -> list[str]:
    """Words, with other names where two are equal."""
    return [
        word if word and words.count(word) == 1 else f"{word}, {other}".removeprefix(", ")
        for word, other in zip(words, others, strict=True)
    ]


def _text(table: Mapping[str, Any], key: str) -> str:
    value = table.get(key)
    if value is None or value == NOT_RECORDED:
        return ABSENT if value is None else NOT_RECORDED
    return " ".join(value_text(value).split())


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _shown(key: str, column: Sequence[str]) -> list[str]:
    """Return the values of a setting as tables have them.

    >>> _shown("data.content", ["c9e3", "e83c", "c9e3"])
    ['no. 1', 'no. 2', 'no. 1']
    """
    if not key.endswith(CONTENT):
        return [_short(text) for text in column]
    numbers = {text: f"no. {k}" for k, text in enumerate(dict.fromkeys(column), 1)}
    return [text if text == ABSENT else numbers[text] for text in column]


def _words(columns: Columns, count: int) -> list[str]:
    """Each run's settings by the last part of their names, or by the whole where two share it.

    The horizon is named where nothing else tells some of them apart.
    """
    keys = [key for key in columns if not key.endswith(CONTENT)]
    lasting = [key for key in keys if key != HORIZON]
    told, all_told = (
        len({tuple(columns[key][k] for key in some) for k in range(count)})
        for some in (lasting, keys)
    )
    keys = lasting if told == all_told else keys
    short = [key.rpartition(".")[2] for key in keys]
    names = [key if short.count(one) > 1 else one for key, one in zip(keys, short, strict=True)]
    rest = len(keys) - MOST_IN_LABEL
    more = f" and {rest} more" if rest > 0 else ""
    result = []
    for k in range(count):
        parts = [
            _until(columns[key][k]) if key == HORIZON else f"{name} = {_short(columns[key][k])}"
            for key, name in zip(keys, names, strict=True)
        ]
        result.append(", ".join(parts[:MOST_IN_LABEL]) + more)
    return result


def _until(text: str) -> str:
    r"""A horizon in words.

    >>> _until("2"), _until(ABSENT)
    ('until t = 100', '\u2013')
    """
    return text if text == ABSENT else f"until t = {time_text(float(text))}"
