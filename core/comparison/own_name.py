"""Name that the user gave a run in the library, from the notes beside the run's file.

`core.library.run_notes` writes these notes, and reads all of them.
"""

from __future__ import annotations

import json
from pathlib import Path

from core.errors import MarginscopeError
from core.files import is_there, read_text
from core.terminal.text import is_steering, shorten

SUFFIX = ".notes"
MOST_BYTES = 2_000_000


def own_name_of(run: Path) -> str:
    """Return the name that the user gave a run, in one short line; "" for none.

    Unreadable notes have no name: the library reports them.
    """
    notes = run.with_name(run.name + SUFFIX)
    if not is_there(notes):
        return ""
    try:
        fields = json.loads(read_text(notes, MOST_BYTES, "Notes"))
    except (MarginscopeError, ValueError, RecursionError):
        return ""
    name = fields.get("name") if isinstance(fields, dict) else None
    if not isinstance(name, str):
        return ""
    words = " ".join(name.split())
    return shorten("".join(letter for letter in words if not is_steering(letter)))
