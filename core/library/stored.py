"""Facts and notes as rows of the index, and back: what reads differently is read from the file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from core.library.about import bookmarks_of, rows_of, set_rows, sets_of
from core.library.entry import About, Facts
from core.library.table import Table, shared

TEXTS = (
    *("title", "source", "created", "status", "reason", "wrong"),
    *("run", "parent", "parent_run", "changes"),
)
NUMBERS = ("results", "margins")
REACHED = ("reached", "reached_of")  # rows of older versions have none


def dump_facts(facts: Facts) -> str:
    """Facts as JSON, which has no NaN: null stands for it."""
    fields = {name: getattr(facts, name) for name in TEXTS} | {"frames": facts.frames}
    for name in NUMBERS:
        fields[name] = {key: _null(value) for key, value in getattr(facts, name).items()}
    fields |= {name: dict(getattr(facts, name)) for name in ("settings", "waiting")}
    fields["factor"] = _null(facts.factor)
    for name in ("left", *REACHED):
        fields[name] = _null(getattr(facts, name))
    return json.dumps(fields, allow_nan=False)


def load_facts(text: object) -> Facts | None:
    """The facts of a row; None for what `dump_facts` cannot have written."""
    try:
        fields = json.loads(text)  # type: ignore[arg-type]
        facts = Facts(
            **{name: shared(_text(fields[name])) for name in TEXTS},
            settings=_table(fields["settings"], {str, int, float, bool}),
            results=_numbers(fields["results"]),
            margins=_numbers(fields["margins"]),
            waiting=_table(fields["waiting"], {str}),
            factor=_nan(fields["factor"]),
            left=_nan(fields["left"]),
            reached=_nan(fields.get("reached")),
            reached_of=_nan(fields.get("reached_of")),
            frames=fields["frames"],
        )
        return facts if type(facts.frames) is int else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def dump_about(about: About) -> str:
    fields = asdict(about) | {"bookmarks": rows_of(about.bookmarks)}
    return json.dumps(fields | {"sets": set_rows(about.sets)}, allow_nan=False)


def load_about(text: object) -> About | None:
    """The notes of a row; None for what `dump_about` cannot have written."""
    try:
        fields = json.loads(text)  # type: ignore[arg-type]
        name, note, tags, kept = (fields[key] for key in ("name", "note", "tags", "kept"))
        if type(kept) is not bool or not isinstance(tags, list):
            return None
        marks = bookmarks_of(fields["bookmarks"])
        sets = sets_of(fields["sets"])
        return About(_text(name), _text(note), tuple(map(_text, tags)), kept, marks, sets)
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        return None


def load_counts(text: object) -> Mapping[str, int] | None:
    """Counts of verdicts; None where there are none."""
    try:
        return _table(json.loads(text), {int})  # type: ignore[arg-type]
    except (ValueError, TypeError, RecursionError):
        return None


def _null(value: float) -> float | None:
    # Infinite: t = 0 in log10 t, and a risk beyond float64; as text, since JSON has no such number.
    if math.isinf(value):
        return str(value)  # type: ignore[return-value]
    return None if math.isnan(value) else value


def _nan(value: Any) -> float:
    if value is None:
        return math.nan
    if value in ("inf", "-inf") or (isinstance(value, int | float) and type(value) is not bool):
        return float(value)
    raise TypeError


def _numbers(fields: dict[str, Any]) -> Table[float]:
    return Table({_text(key): _nan(value) for key, value in fields.items()})


def _table(fields: Any, types: set[type]) -> Table[Any]:
    if not isinstance(fields, dict) or not set(map(type, fields.values())) <= types:
        raise TypeError
    return Table(fields)


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError
    return value
