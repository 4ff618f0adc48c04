"""Markdown from plain texts, in which what means something in Markdown is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+|~$^!])")


def plain(text: str) -> str:
    r"""A text whose characters mean themselves in Markdown, on one line.

    >>> print(plain("|a_j| <v_j, x>"))
    \|a\_j\| \<v\_j, x\>
    """
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))


def code(text: str) -> str:
    """A text in the letters of code.

    >>> code("min_i p_i")
    '`min_i p_i`'
    """
    text = " ".join(text.split())
    marks = "``" if "`" in text else "`"
    return f"{marks}{text}{marks}"


def fence(text: str, language: str) -> str:
    """A block of code."""
    return f"```{language}\n{text.rstrip()}\n```"


def formula(tex: str) -> str:
    """A formula on a line of its own."""
    return f"```{{math}}\n{tex.strip()}\n```"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already; a bar within code would end the cell."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_in_cell(cell) for cell in line) + " |" for line in lines)


def _in_cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", text)


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """What is known of something, a line each; those without a value are left out."""
    return "\n".join(f"- {name}: {value}" for name, value in pairs if value)


def contents(pages: Iterable[str], caption: str = "", hidden: bool = True) -> str:
    """The list of pages from which Sphinx makes the side bar."""
    options = [":maxdepth: 1", *([f":caption: {caption}"] if caption else [])]
    options += [":hidden:"] if hidden else []
    return "\n".join(["```{toctree}", *options, "", *pages, "```"])


def page(*parts: str) -> str:
    """A page of some parts, with an empty line between them; empty parts are left out."""
    return "\n\n".join(part for part in parts if part) + "\n"
