"""Documents of the program: their places, order and titles."""

from __future__ import annotations

import re
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from core.program import RESOURCES, ROOT

MARK = Path("docs", "theory.md")  # what a folder has that has the documents
MOST_BYTES = 2_000_000
# The parts of the documents, in the order in which they are read, and their pages in docs/; those
# that are not named here follow.
PARTS: Mapping[str, tuple[str, ...]] = {
    "Get started": ("install", "tour", "window", "library", "questions"),
    "Studies": ("studies", "command-line", "sweeps", "hunts"),
    "Your own data and studies": ("own", "python", "run-files", "clusters", "extend"),
    "Numbers": ("accuracy", "theory", "glossary", "benchmarks", "faults"),
    "About Marginscope": ("cite", "architecture", "bundle"),
}
DECISIONS = "Design decisions"
FIRST = ("README.md", *(f"docs/{name}.md" for names in PARTS.values() for name in names))
SITE = ("site", "index.html")  # in the package of resources
LAST = ("CHANGELOG.md",)
CALLED = {"README.md": "Marginscope", "CHANGELOG.md": "What's new"}


@final
@dataclass(frozen=True, slots=True)
class Document:
    """Page in Markdown. `title`: its first heading, before any colon. `part`: heading above it."""

    path: Path
    title: str
    text: str
    part: str = ""


def folder() -> Path | None:
    """Return the folder of the documents: beside the packages, in a bundle, or a wheel's data."""
    places = [ROOT]
    if bundle := getattr(sys, "_MEIPASS", ""):
        places.append(Path(bundle))
    places.append(Path(sysconfig.get_path("data"), "share", "marginscope"))
    return next((place for place in places if (place / MARK).is_file()), None)


def documents(place: Path | None = None) -> tuple[Document, ...]:
    """Return the documents of a folder in reading order; none if it is missing."""
    place = folder() if place is None else place
    if place is None:
        return ()
    pages = sorted(place.glob("docs/*.md")) + sorted(place.glob("docs/decisions/[0-9]*.md"))
    last = [place / name for name in LAST]
    first = [place / name for name in FIRST]
    between = [page for page in pages if page not in first]
    return tuple(_read(place, [*first, *between, *last]))


def site() -> Path | None:
    """Return the first page of the documents' web site; None if it was not built."""
    page = RESOURCES.joinpath(*SITE)
    return page if page.is_file() else None


def _read(place: Path, pages: Sequence[Path]) -> Iterator[Document]:
    for page in pages:
        try:
            with page.open("rb") as file:
                text = file.read(MOST_BYTES).decode("utf-8", "replace")
        except OSError:  # a page that is missing does not keep the others from being read
            continue
        name = page.relative_to(place).as_posix()
        heading = re.search(r"^# (?:(\d+)\. )?([^:\n]+)", text, re.MULTILINE)
        title = heading[2].strip() if heading else page.stem
        part = next((part for part, names in PARTS.items() if page.stem in names), "")
        if heading and heading[1]:
            title, part = f"Decision {heading[1]}: {title}", DECISIONS
        yield Document(page, CALLED.get(name, title), text, part)


def slug(heading: str) -> str:
    """Return the anchor of a heading: lower-case letters, digits and hyphens.

    >>> slug("4.2 Why `gd` stops, and when")
    '42-why-gd-stops-and-when'
    """
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


def found(pages: Sequence[Document], words: str) -> tuple[Document, ...]:
    """Return the pages that contain all words of a text, ignoring case; all pages for no words."""
    wanted = words.lower().split()
    return tuple(page for page in pages if all(word in page.text.lower() for word in wanted))
