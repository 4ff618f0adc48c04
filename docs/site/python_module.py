"""Reference of the Python module, which Sphinx writes from the docstrings."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

import marginscope as ms
from docs.site.markup import fence, page

if TYPE_CHECKING:
    from sphinx.application import Sphinx

BEFORE_NAPOLEON = 400  # handlers have 500 if they set no priority
# Bars and stars are mathematics in docstrings, and markup in reStructuredText.
SPECIAL = re.compile(r"([|*])")
NAMES = [name for name in ms.__all__ if not name.startswith("_")]
PARTS = ("Functions", "Classes", "Errors and warnings")


def part_of(value: object) -> str:
    """Return the part of the reference that lists a public name."""
    if not inspect.isclass(value):
        return "Functions"
    return "Errors and warnings" if issubclass(value, Exception | Warning) else "Classes"


def directive_of(name: str) -> str:
    """Return the directive with which Sphinx documents a public name."""
    value = getattr(ms, name)
    if not inspect.isclass(value):
        return f".. autofunction:: marginscope.{name}"
    # Under another name Sphinx would write "alias of".
    place = f"marginscope.{name}" if value.__name__ == name else ""
    place = place or f"{value.__module__}.{value.__name__}"
    # The class's docstring lists them with its fields, and Sphinx warns of a second description.
    settable = [name for name, one in vars(value).items() if getattr(one, "fset", None)]
    excluded = f"\n   :exclude-members: {', '.join(settable)}" if settable else ""
    return f".. autoclass:: {place}\n   :members:{excluded}"


def reference() -> str:
    """Return the page with every public name of `marginscope`."""
    texts = [
        "# Python module",
        "Every public name of `marginscope`. [From Python](../python.md) shows how they are used.",
    ]
    for part in PARTS:
        texts.append(f"## {part}")
        for name in NAMES:
            if part_of(getattr(ms, name)) == part:
                texts += [f"### {name}", fence(directive_of(name), "{eval-rst}")]
    return page(*texts)


def escape(lines: list[str]) -> None:
    r"""Escape the mathematics in the lines of a docstring, examples excepted.

    >>> lines = ["Return |W|^2.", "", ">>> abs(-2) * 3 | 0", "6"]
    >>> escape(lines)
    >>> print(*lines, sep=";")
    Return \|W\|^2.;;>>> abs(-2) * 3 | 0;6
    """
    in_example = False
    for place, line in enumerate(lines):
        in_example = line.lstrip().startswith((">>>", "...")) or (in_example and bool(line.strip()))
        if not in_example:
            lines[place] = SPECIAL.sub(r"\\\1", line)


def _escape(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    escape(lines)


def setup(app: Sphinx) -> dict[str, Any]:
    """Escape docstrings before Napoleon reads their sections."""
    app.connect("autodoc-process-docstring", _escape, priority=BEFORE_NAPOLEON)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
