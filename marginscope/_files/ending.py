"""How a run file says that its run ended, for those who have nothing but NumPy."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from marginscope._files.journal import connect_to_read, read_meta
from marginscope._files.meta import dump_json
from marginscope._files.schema import WHOLE


def is_whole(path: Path) -> bool:
    """Whether a file is a run that came to its end, so that it is not replaced by a shorter one."""
    with suppress(sqlite3.Error, OSError), closing(connect_to_read(path)) as connection:
        said = read_meta(connection, ("status", "reason"))
        whole = {dump_json(reason) for reason in WHOLE}
        return said.get("status") == '"finished"' and said.get("reason") in whole
    return False
