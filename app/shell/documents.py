"""Documents of the program: their places, order and titles."""

from __future__ import annotations

import re
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import final

from core.program import RESOURCES, ROOT

MARK = Path("docs", "theory.md")  # present in every folder of documents
MOST_BYTES = 2_000_000
EXCERPT = 80  # characters
# Parts of the documents in reading order, with their pages in docs/. Other pages follow.
PARTS: Mapping[str, tuple[str, ...]] = {
    "Tutorial": ("tour",),
    "How to": ("install", "own", "sweeps", "hunts", "clusters", "cite", "bundle", "questions"),
    "Reference": (
        "window",
        "library",
        "studies",
        "command-line",
        "python",
        "run-files",
        "glossary",
    ),
    "Explanation": ("accuracy", "theory", "benchmarks", "faults"),
    "For developers": ("architecture", "extend"),
}
DECISIONS = "Design decisions"
FIRST = ("README.md", *(f"docs/{name}.md" for names in PARTS.values() for name in names))
SITE = ("site", "index.html")  # within the package of resources
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
        except OSError:  # a missing page does not hide the others
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
    plain = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return plain.replace(" ", "-")


def find_pages(pages: Sequence[Document], words: str) -> tuple[Document, ...]:
    """Return the pages that contain all words of a text, ignoring case; all pages for no words."""
    search_words = words.lower().split()
    return tuple(page for page in pages if all(word in page.text.lower() for word in search_words))


def with_phrase(pages: Sequence[Document], words: str) -> tuple[Document, ...]:
    r"""Return the pages that contain the words next to each other, ignoring case and markup.

    >>> page = Document(Path("a.md"), "A", "The **hard\nmargin** of [a run](b.md).")
    >>> with_phrase([page], "Hard margin of a run") == (page,)
    True
    """
    phrase = " ".join(words.lower().split())
    return tuple(page for page in pages if phrase in _readable(page.text).lower())


def excerpt(page: Document, words: str) -> str:
    """Return the text at the first match on a page: the phrase, else its first word.

    >>> excerpt(Document(Path("a.md"), "A", "One sees that the margin grows."), "margin")
    '\u2026 that the margin grows.'
    """
    text, search_words = _readable(page.text), words.lower().split()
    places = (text.lower().find(part) for part in (" ".join(search_words), search_words[0]))
    place = next((place for place in places if place >= 0), 0)
    start = text.rfind(" ", 0, max(place - 8, 0)) + 1
    return ("\u2026 " if start else "") + text[start : start + EXCERPT]


@cache
def _readable(text: str) -> str:
    """Return a text of Markdown on one line, without links, emphasis and marks of headings."""
    text = re.sub(r"\[([^\]\[]*)\]\([^)\s]*\)", r"\1", text)
    return " ".join(re.sub(r"[`*]|^(#+|\s*-) ", "", text, flags=re.MULTILINE).split())
