"""The parts of the site, and in which order the pages stand in them."""

from __future__ import annotations

from pathlib import Path

from app.shell.documents import PARTS
from docs.site.places import DOCS

MORE = "More"  # of pages of docs/ that stand in no part
# Pages that are made, by the part that they stand in before those of docs/.
MADE = {"Studies": ("studies/index",), "About Marginscope": ("changelog",)}
DECISIONS = "decisions/README"
REFERENCE = "Reference"


def pages_of(part: str, folder: Path = DOCS) -> tuple[str, ...]:
    """Return the pages of docs/ in a part."""
    stems = {path.stem for path in folder.glob("*.md")}
    if part == MORE:
        placed = {name for names in PARTS.values() for name in names}
        return tuple(sorted(stems - placed))
    return tuple(name for name in PARTS[part] if name in stems)
