"""Where things stand on a page, in millimetres: one row a run, and the texts around the panels."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from core.figures.palette import Palette
from core.figures.primitives import MM_PER_INCH, NO_BREAK, Box, Text

POINTS = 7.0
MM_PER_POINT = MM_PER_INCH / 72.0
# Width of the figure by number of panels in a row: one column of a journal, or two.
WIDTHS = {1: 88.0, 2: 120.0, 3: 180.0, 4: 180.0}
LEFT, RIGHT, BETWEEN = 10.5, 2.5, 10.5
TITLE, HEADING, HEAD, FOOT = 6.0, 5.0, 9.0, 9.5
MARGIN, LINE = 2.5, 3.2
LETTER_MM, SAMPLE_MM = 1.25, 6.0  # of a key: a letter, and the sample of a line with its space

CAPTIONS = {
    "neurons": (
        "trajectories of $|a_j|\\,v_j$ on {plane}, {classes}, scaled as said, larger where "
        "more examples lie"
    ),
    "rotations": (
        "$\\langle v_j(0),v_j(t)\\rangle\\,/\\,\\Vert v_j(0)\\Vert\\,\\Vert v_j(t)\\Vert$, sorted, "
        "at the moments above"
    ),
    "norms": (
        "$|a_j|\\,\\Vert v_j\\Vert\\,/\\,\\mathrm{max}_k\\,|a_k|\\,\\Vert v_k\\Vert$, sorted, "
        "at the same moments"
    ),
    "margins": (
        "$\\mathrm{min}_i\\,p_i\\,/\\,\\Vert W\\Vert^2$, its smoothed version, and half the "
        "$\\ell_1$ margin; a triangle marks where a curve comes from below the frame"
    ),
}
TWO_CLASSES = (
    "blue where $a_j>0$ at the end and vermilion where $a_j<0$, {stronger} for larger "
    "$|a_j|\\,\\Vert v_j\\Vert$; plus and cross: data with $y=1$ and $y=-1$"
)
SEVERAL = (
    "in the colour of the class of a node's largest outer weight at the end, {stronger} for larger "
    "$\\Vert A_j\\Vert\\,\\Vert v_j\\Vert$; pluses: data in the colours of their classes"
)


@final
@dataclass(frozen=True, slots=True)
class Page:
    """The size of a figure, the boxes of its panels row by row, and the texts around them."""

    width: float
    height: float
    boxes: tuple[tuple[Box, ...], ...]
    texts: tuple[Text, ...]


def wrapped(text: str, width_mm: float, points: float) -> list[str]:
    """Lines no wider than a width, estimated at .54 em a character; formulas are kept whole.

    >>> wrapped("half the $\\\\ell_1$ margin", 10.0, 7.0)
    ['half the', '$\\\\ell_1$', 'margin']
    """
    most = max(int(width_mm / (0.54 * points * MM_PER_POINT)), 8)
    formulas = re.findall(r"(?<!\\)\$[^$]*(?<!\\)\$", text)
    for position, formula in enumerate(formulas):
        shown = re.sub(r"\\(,|[A-Za-z]+)|[{}$^_]", lambda m: "o" * (len(m[0]) > 2), formula)
        # As long as what is seen of the formula, of signs that no text has and no line is broken
        # at.
        stand_in = f"\x00{position}" + "\x01" * max(len(shown) - len(f"{position}") - 1, 0)
        text = text.replace(formula, stand_in, 1)
    lines = textwrap.wrap(text, most, break_on_hyphens=False)
    return [re.sub(r"\x00(\d+)\x01*", lambda m: formulas[int(m[1])], line) for line in lines]


def captions(
    letters: Sequence[tuple[str, str]],
    palette: Palette,
    several: bool = False,
    plane: str = "two coordinates",
) -> str:
    """What the panels show, as one text; `letters` are (letters of a kind, kind).

    `several`: some run has more than two classes. `plane`: where the trajectories are drawn.
    """
    stronger = "darker" if palette.name == "light" else "lighter"
    # No-break spaces keep the letters together with what they stand before.
    parts = [
        f"{names.replace(' ', NO_BREAK)}:{NO_BREAK}{CAPTIONS[kind]}" for names, kind in letters
    ]
    text = "; ".join(parts) + "."
    classes = SEVERAL if several else TWO_CLASSES
    for place, words in (("{classes}", classes), ("{stronger}", stronger), ("{plane}", plane)):
        text = text.replace(place, words)
    return text


def title_texts(title: str, width: float) -> tuple[list[Text], float]:
    """The lines of a title at the top of a page, and where what follows begins."""
    texts, top = [], MARGIN
    for line in wrapped(title, 0.85 * width, POINTS + 1.0):
        texts.append(Text(MARGIN, top + 3.0, line, POINTS + 1.0, bold=True))
        top += LINE
    return texts, top


def page(headings: Sequence[str], columns: int, title: str, footer: Sequence[str]) -> Page:
    """A page of rows under their headings, with the title above and the footer below."""
    width = WIDTHS[columns]
    side = (width - LEFT - RIGHT - (columns - 1) * BETWEEN) / columns
    texts, top = title_texts(title, width)
    if title:
        top += TITLE - LINE
    boxes = []
    for heading in headings:
        for line in wrapped(heading, width - 2 * MARGIN, POINTS + 1.0):
            texts.append(Text(MARGIN, top + 3.0, line, POINTS + 1.0))
            top += LINE
        top += HEADING - LINE + HEAD
        lefts = [LEFT + column * (side + BETWEEN) for column in range(columns)]
        boxes.append(tuple(Box(left, top, side, side) for left in lefts))
        top += side + FOOT
    top += LINE
    for paragraph in footer:
        for line in wrapped(paragraph, width - 2 * MARGIN, POINTS):
            texts.append(Text(MARGIN, top, line, POINTS, muted=True))
            top += LINE
    # Rounded, since sums of millimetres differ in the last digits, and equal scenes give equal
    # bytes.
    return Page(width, round(top - LINE + MARGIN, 2), tuple(boxes), tuple(texts))
