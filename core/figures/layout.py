"""Layout of a page in millimetres: a row for each run, and the texts around the panels."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from core.errors import InputError
from core.figures.names import POINTS, PageSize
from core.figures.panel_grid import BETWEEN, LEFT, SMALLEST_SIDE, Grid, dense_grid, grid_of
from core.figures.primitives import MM_PER_INCH, Box, Text

MM_PER_POINT = MM_PER_INCH / 72.0
TITLE, HEADING, HEAD, FOOT = 6.0, 5.0, 9.0, 9.5
MARGIN, LINE = 2.5, 3.2
KEY_LINE = 3.5
HIGHEST = 75.0  # height of a panel
# A sheet without a height is kept to the text height of A4, by panels as low as this.
PAPER_HEIGHT, LOW = 240.0, 28.0
LOWEST = 24.0  # height of panels that are lowered to fit a page
PAGE_HEIGHT = 240.0  # text height of a page; higher figures get lower panels
LETTER_EM, BOLD_EM = 0.54, 0.71  # mean width of a letter; bold lines of titles reach .705
LETTER_MM, SAMPLE_MM = 1.25, 6.0  # in a key: a letter, and the sample of a line with its space

# Digits as control characters, and back.
STAND_IN = {ord("0") + digit: 0x10 + digit for digit in range(10)}
STAND_FOR = {sign: digit for digit, sign in STAND_IN.items()}


@final
@dataclass(frozen=True, slots=True)
class Page:
    """Size of a figure in millimetres, boxes of its panels for each run, and its other texts."""

    width: float
    height: float
    boxes: tuple[tuple[Box, ...], ...]
    texts: tuple[Text, ...]


def wrap(text: str, width_mm: float, points: float, em: float = LETTER_EM) -> list[str]:
    r"""Return lines no wider than a width; formulas are kept whole.

    Parameters
    ----------
    text : str
        Text with mathtext between dollar signs.
    width_mm : float
        Width in millimetres.
    points : float
        Size of letters.
    em : float
        Mean width of a letter in units of its size.

    Returns
    -------
    list of str

    Examples
    --------
    >>> wrap(r"half the $\ell_1$ margin", 10.0, 7.0)
    ['half the', '$\\ell_1$', 'margin']
    """
    width = max(int(width_mm / (em * points * MM_PER_POINT)), 8)
    formulas = re.findall(r"(?<!\\)\$[^$]*(?<!\\)\$", text)
    for position, formula in enumerate(formulas):
        letters = re.sub(r"\\(,|[A-Za-z]+)|[{}$^_]", lambda m: "o" * (len(m[0]) > 2), formula)
        # A placeholder as long as the visible formula, of characters that occur in no text and at
        # which no line is broken. Plain digits would join those of the text after it.
        stand_in = f"\x00{position}".translate(STAND_IN) + "\x01" * max(
            len(letters) - len(f"{position}") - 1, 0
        )
        text = text.replace(formula, stand_in, 1)
    lines = textwrap.wrap(text, width, break_on_hyphens=False)
    return [
        re.sub(
            "\x00([\x10-\x19]+)\x01*",
            lambda m: formulas[int(m[1].translate(STAND_FOR))],
            line,
        )
        for line in lines
    ]


def title_texts(title: str, width: float, points: float = POINTS) -> tuple[list[Text], float]:
    """Set the lines of a title at the top of a page.

    Parameters
    ----------
    title : str
        Text, wrapped where it is too long.
    width : float
        Width of the page in millimetres.
    points : float
        Size of the other letters of the page.

    Returns
    -------
    texts : list of Text
    top : float
        Millimetres at which the next text begins.
    """
    texts, scale = [], points / POINTS
    edge = top = MARGIN * scale
    for line in wrap(title, width - 2.0 * edge, points + 1.0, BOLD_EM):
        texts.append(Text(edge, top + 3.0 * scale, line, points + 1.0, bold=True))
        top += LINE * scale
    return texts, top


def page(
    headings: Sequence[str],
    keys: Sequence[Sequence[int]],
    title: str,
    footer: Sequence[str],
    sheet: PageSize,
    notes: Sequence[str] = (),
) -> Page:
    """Lay out the panels of runs under their headings, with a title above and a footer below.

    Parameters
    ----------
    headings : sequence of str
        Heading of each run.
    keys : sequence of sequences of int
        Number of lines of the key above each panel, for each run.
    title : str
        Title, "" for none.
    footer : sequence of str
        Paragraphs below the panels, in muted colour.
    sheet : PageSize
        Size of the figure. Without a caption it has no title, no footer, and no heading of a single
        run.
    notes : sequence of str
        Paragraphs below the footer, also on a sheet without a caption.

    Returns
    -------
    Page
        As high as its panels and texts, unless the sheet has a height. Panels that would fill more
        than a page of text share lines, if they can.

    Raises
    ------
    InputError
        The sheet is too small.
    """
    panels = len(keys[0])
    grid: Grid | None = grid_of(panels, sheet)
    assert grid is not None
    laid = _page(grid, headings, keys, title, footer, sheet, notes)
    while sheet.height is None and laid.height > PAGE_HEIGHT * sheet.scale + 1.0:
        grid = dense_grid(panels, sheet, grid)
        if grid is None:
            return laid
        laid = _page(grid, headings, keys, title, footer, sheet, notes)
    return laid


def _page(
    grid: Grid,
    headings: Sequence[str],
    keys: Sequence[Sequence[int]],
    title: str,
    footer: Sequence[str],
    sheet: PageSize,
    notes: Sequence[str],
) -> Page:
    """Lay out rows of panels in a grid."""
    scale = sheet.scale
    width, line_height, edge = grid.width, LINE * scale, MARGIN * scale
    texts, top = title_texts(title, width, sheet.points) if sheet.caption else ([], edge)
    if title and sheet.caption:
        top += (TITLE - LINE) * scale
    rooms = [_rooms(row, grid.columns, scale) for row in keys]
    foot: list[tuple[str, bool]] = []  # lines, and True for those of the caption
    for paragraph in (*(footer if sheet.caption else ()), *notes):
        is_muted = paragraph not in notes
        foot += [(line, is_muted) for line in wrap(paragraph, width - 2 * edge, sheet.points)]
    wrapped = [wrap(heading, width - 2 * edge, sheet.points + 1.0) for heading in headings]
    if not sheet.caption and len(headings) == 1:
        wrapped = [[]]  # a single run needs no heading
    below = line_height * (len(foot) + 1) - line_height + edge if foot else 0.0
    fixed = top + sum(len(one) for one in wrapped) * line_height + below
    lines = grid.lines(len(keys[0]))
    fixed += len(wrapped) * (HEADING - LINE + lines * FOOT) * scale + sum(map(sum, rooms))
    # Square panels, lower ones on a wide sheet.
    usual = grid.side if sheet.width is None else min(grid.side, HIGHEST * scale)
    count = len(wrapped) * lines
    usual = min(usual, max(LOW * scale, (PAPER_HEIGHT * scale - fixed) / count))
    high = panel_height(sheet, usual, fixed, count)
    boxes = []
    for heading, heads in zip(wrapped, rooms, strict=True):
        for text in heading:
            texts.append(Text(edge, top + 3.0 * scale, text, sheet.points + 1.0))
            top += line_height
        top += (HEADING - LINE) * scale
        row, top = _boxes(grid, heads, high, top, scale)
        boxes.append(row[: len(keys[0])])
    if foot:
        top += line_height
    for text, is_muted in foot:
        texts.append(Text(edge, top, text, sheet.points, muted=is_muted))
        top += line_height
    # Rounded: sums of millimetres differ in their last digits, and equal scenes must give equal
    # bytes.
    end = round(top - line_height + edge if foot else top, 2)
    return Page(width, sheet.height or end, tuple(boxes), tuple(texts))


def _boxes(
    grid: Grid, rooms: Sequence[float], high: float, top: float, scale: float
) -> tuple[tuple[Box, ...], float]:
    """Return the boxes of a run's panels, line by line, and where the space below them ends."""
    row: list[Box] = []
    between = BETWEEN * scale + grid.side
    for room in rooms:
        top += room
        lefts = [LEFT * scale + column * between for column in range(grid.columns)]
        row += [Box(left, top, grid.side, high) for left in lefts]
        top += high + FOOT * scale
    return tuple(row), top


def _rooms(keys: Sequence[int], columns: int, scale: float) -> list[float]:
    """Return the room above each line of panels, for titles and the longest key."""
    longest = [max(keys[k : k + columns]) for k in range(0, len(keys), columns)]
    return [(HEAD + KEY_LINE * (lines - 1)) * scale for lines in longest]


def panel_height(sheet: PageSize, usual: float, fixed: float, lines: int) -> float:
    """Return the height of panels in millimetres.

    Parameters
    ----------
    sheet : PageSize
        Its height, if any, decides.
    usual : float
        Height on a sheet without one, if a page holds it or lower panels do not help.
    fixed : float
        Millimetres outside the panels.
    lines : int
        Lines of panels.

    Returns
    -------
    float

    Raises
    ------
    InputError
        The sheet leaves too little.
    """
    if sheet.height is None:
        fitting = (PAGE_HEIGHT - fixed) / lines
        return min(usual, fitting) if fitting >= LOWEST * sheet.scale else usual
    high = (sheet.height - fixed) / lines
    if high < SMALLEST_SIDE * sheet.scale:
        least = math.ceil(fixed + lines * SMALLEST_SIDE * sheet.scale)
        raise InputError(
            f"A figure {sheet.height:g} mm high has no room for these panels; make it at least "
            f"{least} mm high, or omit panels or the caption."
        )
    return high
