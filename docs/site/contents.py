"""Parts of the site, and the order of their pages."""

from __future__ import annotations

from pathlib import Path

from app.shell.documents import PARTS
from docs.site.places import DOCS

MORE = "More"  # pages of docs/ in no other part
DECISIONS = "decisions/README"
# Generated pages, by their part: before and after the pages of docs/.
FIRST = {"How to": ("studies/index",)}
LAST = {"For developers": (DECISIONS, "changelog")}
KINDS_AND_QUANTITIES = "Reference of kinds and quantities"


def pages_of(part: str, folder: Path = DOCS) -> tuple[str, ...]:
    """Return the pages of docs/ in a part."""
    stems = {path.stem for path in folder.glob("*.md")}
    if part == MORE:
        placed = {name for names in PARTS.values() for name in names}
        return tuple(sorted(stems - placed))
    return tuple(name for name in PARTS[part] if name in stems)
