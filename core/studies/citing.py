"""BibTeX of what was used: the program itself, and the papers of studies and of statements.

An entry holds what core.studies.papers knows and no more. Papers that are under review have no
year and no authors to name; they are said to be unpublished.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import core
from core.program.version import RELEASED
from core.studies.papers import PAPERS, Paper

OWN_KEY = "marginscope"
ANONYMOUS = "anonymous"
# TeX's own characters, and what stands for each in a text.
ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
CAPITALS = re.compile(r"\b(?=\w*[A-Z]\w*[A-Z])\w+|\b[A-Z]\w*")


def escaped(text: str) -> str:
    r"""A text whose characters mean themselves in TeX.

    >>> print(escaped("50 % of A_1 & {B}"))
    50 \% of A\_1 \& \{B\}
    """
    return "".join(ESCAPES.get(char, char) for char in " ".join(text.split()))


def title_field(title: str) -> str:
    """A title in which styles keep the capitals that are not at its beginning.

    >>> title_field("Implicit bias in leaky ReLU networks")
    'Implicit bias in leaky {ReLU} networks'
    """
    first, _, rest = escaped(title).partition(" ")
    return f"{first} {CAPITALS.sub(lambda match: '{' + match[0] + '}', rest)}".rstrip()


def _entry(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def own_entry() -> str:
    """The entry of the program in its present version."""
    title = "{Marginscope}: watching two-layer networks learn"
    fields = {
        "author": "{Marginscope authors}",
        "title": title,
        "year": RELEASED[:4],
        "version": core.__version__,
        "note": "Computer program",
    }
    return _entry("misc", OWN_KEY, fields)


def paper_entry(paper: Paper) -> str:
    """The entry of a paper under its short name."""
    review = paper.authors.startswith(ANONYMOUS)
    names = "" if review else " and ".join(escaped(name) for name in paper.authors.split(", "))
    fields = {
        "author": names or "{Anonymous authors}",
        "title": title_field(paper.title),
        "year": paper.year,
        "note": "Under review" if review else "",
    }
    return _entry("unpublished" if review else "misc", paper.name, fields)


def papers_in(sources: Iterable[str]) -> tuple[Paper, ...]:
    """The papers that sources such as "telgarsky22, Lemma 2.3; wei19" name, in their known order.

    >>> [paper.name for paper in papers_in(["wei19, section 4", "telgarsky22, Lemma 2.3; own"])]
    ['telgarsky22', 'wei19']
    """
    text = " ".join(sources)
    return tuple(
        paper for paper in PAPERS.values() if re.search(rf"\b{re.escape(paper.name)}\b", text)
    )


def bibtex(sources: Iterable[str]) -> str:
    """The entries of the program and of the papers that some sources name."""
    return "\n\n".join([own_entry(), *map(paper_entry, papers_in(sources))]) + "\n"
