"""Status of a run file, read with nothing but the standard library."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from core.run_files.journal import connect_to_read, read_meta
from core.run_files.meta import dump_json
from core.run_files.schema import WHOLE


def is_whole(path: Path) -> bool:
    """Return True for a run that came to its end, which no shorter one may replace."""
    with suppress(sqlite3.Error, OSError), closing(connect_to_read(path)) as connection:
        said = read_meta(connection, ("status", "reason"))
        whole = {dump_json(reason) for reason in WHOLE}
        return said.get("status") == '"finished"' and said.get("reason") in whole
    return False
