"""Markdown from plain texts, in which what means something in Markdown is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+|~$^!])")


def plain(text: str) -> str:
    r"""Return a text on one line with Markdown's characters escaped.

    >>> print(plain("|a_j| <v_j, x>"))
    \|a\_j\| \<v\_j, x\>
    """
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))


def code(text: str) -> str:
    """Return a text set as code.

    >>> code("min_i p_i")
    '`min_i p_i`'
    """
    text = " ".join(text.split())
    marks = "``" if "`" in text else "`"
    return f"{marks}{text}{marks}"


def fence(text: str, language: str) -> str:
    """Return a block of code."""
    return f"```{language}\n{text.rstrip()}\n```"


def formula(tex: str) -> str:
    """Return a displayed formula."""
    return f"```{{math}}\n{tex.strip()}\n```"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of Markdown cells; a bar within code would end the cell."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_in_cell(cell) for cell in line) + " |" for line in lines)


def _in_cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", text)


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a list of names with their values, without those that have none."""
    return "\n".join(f"- {name}: {value}" for name, value in pairs if value)


def contents(pages: Iterable[str], caption: str = "", hidden: bool = True) -> str:
    """Return the list of pages from which Sphinx makes the side bar."""
    options = [":maxdepth: 1", *([f":caption: {caption}"] if caption else [])]
    options += [":hidden:"] if hidden else []
    return "\n".join(["```{toctree}", *options, "", *pages, "```"])


def page(*parts: str) -> str:
    """Join the parts of a page by empty lines; empty parts are left out."""
    return "\n\n".join(part for part in parts if part) + "\n"
