r"""Texts of figures for a page: what is between dollar signs as pieces in a style each.

A piece is a text and its style: "" as it is, "i" slanted, "^" raised, "_" lowered, or both, "_i".
Pages set the pieces as text and never as markup, so that a text from a run file stays a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.entities import html5

from core.figures.numbers import MINUS

Piece = tuple[str, str]

# HTML has names for the signs of TeX (`gamma;`, `langle;`), but for these; four names of functions
# are other signs in HTML.
SIGNS = {",": "\u2009", "cdot": "\u00b7", "infty": "\u221e", "sqrt": "\u221a"}
SIGNS |= {name: name for name in ("deg", "lg", "Pr", "sup")}
UPRIGHT = ("mathrm", "mathbf", "mathit", "mathsf", "text", "operatorname")
TOKEN = re.compile(r"\\([A-Za-z]+|.)|([{}^_])|([^\\{}^_]+)", re.DOTALL)
RELATION = re.compile(r"([=<>])")
FORMULA = re.compile(r"(?<!\\)\$")


def pieces(text: str) -> list[Piece]:
    r"""A text of a figure, formulas and all, in pieces.

    >>> pieces("$\\gamma_{\\mathrm{gl}}$ / 2")
    [('\u03b3', 'i'), ('gl', '_'), (' / 2', '')]
    >>> pieces("$t$ = $10^{2.31}$, 5 \\$")
    [('t', 'i'), (' = 10', ''), ('2.31', '^'), (', 5 $', '')]
    """
    found: list[Piece] = []
    for place, part in enumerate(FORMULA.split(text)):
        formula = place % 2 == 1
        for piece in _formula(part) if formula else [(part.replace("\\$", "$"), "")]:
            _add(found, *piece)
    return found


def words(text: str) -> str:
    r"""The same on one line, without styles, for where there is plain text only.

    >>> words("$t$ = $10^{2.31}$"), words("$|a_j|\\,v_j$")
    ('t = 10^2.31', '|a_j|\u2009v_j')
    """
    parts = [(style[:1] if style[:1] in "^_" else "") + piece for piece, style in pieces(text)]
    return "".join(parts)


def _add(found: list[Piece], text: str, style: str) -> None:
    if not text:
        return
    if found and found[-1][1] == style:
        found[-1] = (found[-1][0] + text, style)
    else:
        found.append((text, style))


def _formula(text: str) -> Iterator[Piece]:
    """The pieces of what stands between two dollar signs."""
    groups = [("", True)]  # the level, and whether letters are slanted, of each group around
    level, slanted = "", True
    for match in TOKEN.finditer(text):
        command, sign, plain = match.groups()
        if sign in ("^", "_"):
            level = sign
            continue
        if sign == "{":
            outer, letters = groups[-1]
            if level and outer:
                yield level, outer
            groups.append((outer or level, slanted and letters))
            level, slanted = "", True
            continue
        if sign == "}":
            if len(groups) > 1:
                groups.pop()
            level, slanted = "", True
            continue
        if command in UPRIGHT:
            slanted = False
            continue
        outer, letters = groups[-1]
        if command is not None:
            known = SIGNS.get(command) or html5.get(f"{command};", command)
            # Names of functions, such as log, are upright; Greek letters are as letters are.
            style = "i" if letters and len(known) == 1 and known.isalpha() else ""
            yield known, (level or outer) + style
        else:
            yield from _letters(plain, level, outer, letters)
        level, slanted = "", True


def _letters(text: str, level: str, outer: str, slanted: bool) -> Iterator[Piece]:
    """Letters slanted, all else upright; what was raised or lowered by itself is one sign long."""
    # Formulas have spaces of their own, around relations and nowhere else, and a longer minus.
    shown = RELATION.sub("\u2009\\1\u2009", text.replace(" ", "")).replace("-", MINUS)
    if level and outer:  # a power of a power
        shown, level = f"{level}{shown}", ""
    for place, letter in enumerate(shown):
        style = "i" if slanted and letter.isalpha() else ""
        yield letter, (level if level and place == 0 else outer) + style
