"""How a run ended, and whether everything is there that was when it did."""

from __future__ import annotations

from typing import Any

from core.runs.connection import Connection, typed
from core.runs.meta import Counts, Ending, parse_json

WORDS = {"frame": "frames", "metric": "diagnostics", "event": "events"}


def read_ending(connection: Connection) -> Ending:
    """The values of meta that change when a run ends."""
    keys = ", ".join(f"'{name}'" for name in Ending.model_fields)
    sql = f"SELECT {typed('key', 'text')}, {typed('value', 'text')} FROM meta WHERE key IN ({keys})"
    rows: dict[str, Any] = dict(connection.query(f"{sql} LIMIT {len(Ending.model_fields)}"))
    try:
        texts = {key: parse_json(text) for key, text in rows.items()}
        return Ending.model_validate({"reason": texts["reason"], **texts})
    except (KeyError, TypeError, ValueError) as error:
        raise connection.damaged("meta: status or reason cannot be read") from error


def check_counts(connection: Connection, counts: Counts | None) -> None:
    """Raise RunFileError where rows are missing that a finished file says it has.

    A page of the file that was lost or exchanged for another takes its rows with it, and all
    others stay in order. Files of earlier versions say nothing (`counts` is None).
    """
    if counts is None:
        return
    for table, words in WORDS.items():
        rows = list(connection.query(f"SELECT count(*) FROM {table}"))
        present, stated = rows[0][0], getattr(counts, table)
        if present < stated:
            raise connection.damaged(f"it holds {present} of its {stated} {words}")
