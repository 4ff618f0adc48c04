"""Texts and arrays of figures as a page holds them.

A text is pieces in a style each: "" upright, "i" slanted, "^" raised, "_" lowered, or both, "_i".
Pages set the pieces as text and never as markup, so that a text from a run file remains a text.

An array is deflated, in base64: first the lowest bytes of all numbers, then the next ones, since
the upper bytes are alike in most of them. Plain arrays make the page of Figure 1 1.4 times as
large. A browser inflates them by itself (`resources/page/decode.js`).
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator
from html.entities import html5
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.numbers import MINUS

# -------------------------------------------------------------------------------------------- texts

Piece = tuple[str, str]

# HTML has names for TeX's signs (`gamma;`, `langle;`), except these; four names of functions are
# other signs in HTML.
SIGNS = {",": "\u2009", "cdot": "\u00b7", "infty": "\u221e", "sqrt": "\u221a"}
SIGNS |= {"leq": "\u2009\u2264\u2009", "geq": "\u2009\u2265\u2009"}
SIGNS |= {name: name for name in ("deg", "lg", "Pr", "sup")}
UPRIGHT = ("mathrm", "mathbf", "mathit", "mathsf", "text", "operatorname")
TOKEN = re.compile(r"\\([A-Za-z]+|.)|([{}^_])|([^\\{}^_]+)", re.DOTALL)
RELATION = re.compile(r"([=<>])")
FORMULA = re.compile(r"(?<!\\)\$")


def pieces(text: str) -> list[Piece]:
    r"""Split a text of a figure, formulas included, into pieces of a style each.

    >>> pieces("$\\gamma_{\\mathrm{gl}}$ / 2")
    [('\u03b3', 'i'), ('gl', '_'), (' / 2', '')]
    >>> pieces("$t$ = $10^{2.31}$, 5 \\$")
    [('t', 'i'), (' = 10', ''), ('2.31', '^'), (', 5 $', '')]
    """
    result: list[Piece] = []
    for place, part in enumerate(FORMULA.split(text)):
        formula = place % 2 == 1
        for piece in _formula(part) if formula else [(part.replace("\\$", "$"), "")]:
            _add(result, *piece)
    return result


def plain_words(text: str) -> str:
    r"""Return a text of a figure on one line without styles, for places of plain text.

    >>> plain_words("$t$ = $10^{2.31}$"), plain_words("$|a_j|\\,v_j$")
    ('t = 10^2.31', '|a_j|\u2009v_j')
    """
    parts = [(style[:1] if style[:1] in "^_" else "") + piece for piece, style in pieces(text)]
    return "".join(parts)


def _add(result: list[Piece], text: str, style: str) -> None:
    """Append a piece, joined to the last one of the same style."""
    if not text:
        return
    if result and result[-1][1] == style:
        result[-1] = (result[-1][0] + text, style)
    else:
        result.append((text, style))


def _formula(text: str) -> Iterator[Piece]:
    """Yield the pieces of a formula, without its dollar signs."""
    groups = [("", True)]  # level of each enclosing group, and whether its letters are slanted
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
            symbol = SIGNS.get(command) or html5.get(f"{command};", command)
            # Names of functions, such as log, are upright; Greek letters follow the other letters.
            style = "i" if letters and len(symbol) == 1 and symbol.isalpha() else ""
            yield symbol, (level or outer) + style
        else:
            yield from _letters(plain, level, outer, letters)
        level, slanted = "", True


def _letters(text: str, level: str, outer: str, slanted: bool) -> Iterator[Piece]:
    """Yield letters slanted, all else upright; a single sign is raised or lowered."""
    # Formulas have spaces around relations only, and the longer minus sign.
    spaced = RELATION.sub("\u2009\\1\u2009", text.replace(" ", "")).replace("-", MINUS)
    if level and outer:  # a power of a power
        spaced, level = f"{level}{spaced}", ""
    for place, letter in enumerate(spaced):
        style = "i" if slanted and letter.isalpha() else ""
        yield letter, (level if level and place == 0 else outer) + style


# ------------------------------------------------------------------------------------------- arrays

Array = NDArray[Any]
# zlib level 7 takes 1.6 times as long for pages 0.4 % smaller; level 9 takes 12 times as long as 7.
LEVEL = 6
BITS = 17  # of the 24 mantissa bits of float32, kept of neuron numbers


def encode(values: Array) -> dict[str, Any]:
    """Encode an array as JSON: type, shape and text.

    >>> encode(np.array([[1, 2], [1, 3]], dtype=np.uint16))["shape"]
    [2, 2]
    """
    plain = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    size = plain.dtype.itemsize
    planes = plain.reshape(-1).view(np.uint8).reshape(-1, size).T
    return {
        "type": f"{plain.dtype.kind}{size}",
        "shape": list(values.shape),
        "data": base64.b64encode(zlib.compress(planes.tobytes(), LEVEL)).decode("ascii"),
    }


def encode_integers(values: ArrayLike) -> dict[str, Any]:
    """Encode whole numbers of at least 0 in as few bytes as the largest of them needs.

    >>> [encode_integers([0, most])["type"] for most in (255, 256, 70_000)]
    ['u1', 'u2', 'u4']
    """
    plain = np.asarray(values, dtype=np.int64)
    return encode(plain.astype(np.min_scalar_type(plain.max(initial=0))))


def encode_floats(values: ArrayLike) -> dict[str, Any]:
    """Encode numbers as float32, far finer than axes and readings; as float64 beyond its range."""
    plain = np.asarray(values, dtype=np.float64)
    sizes = np.abs(plain[np.isfinite(plain) & (plain != 0.0)])
    limits = np.finfo(np.float32)
    fits = not sizes.size or (sizes.max() < limits.max and sizes.min() > limits.tiny)
    return encode(plain.astype(np.float32) if fits else plain)


def encode_trimmed(values: ArrayLike, exact: bool = False) -> dict[str, Any]:
    """Encode numbers as float32 with BITS binary digits, so that the lowest byte deflates.

    They are right to 8e-6 of themselves, which is four digits. With `exact` they have all digits
    of float32, for axes that show a small part.
    """
    plain = np.asarray(values, dtype=np.float64).astype(np.float32)
    if not exact:
        mantissa, power = np.frexp(plain)
        plain = np.ldexp(np.round(mantissa * 2.0**BITS) / 2.0**BITS, power)
    return encode(plain)


def encode_places(points: Array, exact: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
    """Encode places (F, m, 2) as shares of the largest |coordinate| of their frame, and these (F,).

    So they are right on axes that reach as far as the neurons of any moment, however far they are
    apart, and where they are beyond float32. The shares are float32, trimmed unless `exact`
    (`encode_trimmed`); the coordinates keep their type. A frame without one, or of 0, has 1.
    """
    with np.errstate(invalid="ignore"):
        reach = np.abs(np.nan_to_num(points)).max(axis=(1, 2), initial=0.0)
    reach[reach == 0.0] = 1.0
    return encode_trimmed(points / reach[:, None, None], exact), encode(reach)
