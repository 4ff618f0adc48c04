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
from core.figures.palette import Palette
from core.figures.panel_grid import BETWEEN, LEFT, SMALLEST_SIDE, Grid, dense_grid, grid_of
from core.figures.primitives import MM_PER_INCH, NO_BREAK, Box, Text

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

CAPTIONS = {
    "neurons": (
        "trajectories of {nodes} on {plane}, {classes}, scaled as stated, larger where more "
        "examples coincide"
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
        "{margin}, its smoothed version, and half the $\\ell_1$ margin; a triangle marks a curve "
        "that enters from below"
    ),
    "curves": "the quantities named above the curves, each on its own axis",
    "spectrum": "the leading singular values of the inner weights $V$",
    "predictor": (
        "the predictor $f$ on two coordinates, the others 0: its sign in the colours of the "
        "classes, deeper for larger $|f|$, with levels at quarters of the largest"
    ),
    "kernel": (
        "the tangent kernel $K_{ir}\\,/\\,(K_{ii}K_{rr})^{1/2}$, "
        "$K_{ir}=\\langle\\nabla f_i,\\nabla f_r\\rangle$, of the examples, sorted by class or "
        "target: deeper for larger cosines, in the colours of their signs"
    ),
    "waves": (
        "the power of each neuron at each frequency, deeper for larger amplitudes; neurons are "
        "sorted by their frequency"
    ),
    "phases": (
        "$\\vartheta_u+\\vartheta_v$ against $\\vartheta_w$ of each neuron at its frequency, "
        "larger for larger $|\\theta_j|$; the best networks lie on the line"
    ),
}
WEIGHTS, UNIT = "$|a_j|\\,v_j$", "$v_j/|v_j|$"
OF_NODES = (
    "blue where $a_j>0$ at the end and vermilion where $a_j<0$, {stronger} for larger "
    "$|a_j|\\,\\Vert v_j\\Vert$; "
)
TWO_CLASSES = OF_NODES + "plus and cross: data with $y=1$ and $y=-1$"
REAL = OF_NODES + "plus and cross: data with $y>0$ and $y\\leq 0$"
SEVERAL = (
    "in the colour of the class of a neuron's largest outer weight at the end, {stronger} for "
    "larger $\\Vert A_j\\Vert\\,\\Vert v_j\\Vert$; pluses: data in the colours of their classes"
)
# Digits as control characters, and back.
STAND_IN = {ord("0") + digit: 0x10 + digit for digit in range(10)}
STAND_FOR = {sign: digit for digit, sign in STAND_IN.items()}


@final
@dataclass(frozen=True, slots=True)
class Page:
    """Size of a figure, boxes of its panels row by row, and the texts around them."""

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


def captions(
    letters: Sequence[tuple[str, str]],
    palette: Palette,
    data: str = TWO_CLASSES,
    plane: str = "two coordinates",
    norms: Sequence[str] = (),
    nodes: str = WEIGHTS,
) -> str:
    """Return what the panels show, as one text.

    Parameters
    ----------
    letters : sequence of (str, str)
        Letters of the panels of a kind, "" for a single panel, and the kind.
    palette : Palette
        Colours of the figure.
    data : str
        Words for colours and signs: TWO_CLASSES, SEVERAL or REAL.
    plane : str
        Where the trajectories are drawn.
    norms : sequence of str
        TeX of what the margins of each run are divided by, for panels of margins.
    nodes : str
        What the trajectories are of: WEIGHTS or UNIT.

    Returns
    -------
    str
        Clauses with semicolons between them, and mathtext between dollar signs.
    """
    stronger = "darker" if palette.name == "light" else "lighter"
    # No-break spaces keep panel letters with the following words.
    parts = [
        (f"{names.replace(' ', NO_BREAK)}:{NO_BREAK}" if names else "") + CAPTIONS[kind]
        for names, kind in letters
    ]
    text = "; ".join(parts) + "."
    filled = {
        "classes": data,
        "stronger": stronger,
        "plane": plane,
        "margin": margin_words(norms, next((n for n, kind in letters if kind == "margins"), "")),
        "nodes": nodes,
    }
    for place, words in filled.items():
        text = text.replace(f"{{{place}}}", words)
    return text


def margin_words(norms: Sequence[str], letters: str) -> str:
    r"""Return the normalised margins of a figure's runs, each with its panels where they differ.

    >>> margin_words(["N", "N"], "a, b")
    '$\\mathrm{min}_i\\,p_i\\,/\\,N$'
    >>> margin_words(["N", "M"], "a, b")
    '$\\mathrm{min}_i\\,p_i\\,/\\,N$ (a) or $\\mathrm{min}_i\\,p_i\\,/\\,M$ (b)'
    """
    panels: dict[str, list[str]] = {}
    for norm, letter in zip(norms, letters.split(", "), strict=False):
        panels.setdefault(norm, []).append(letter)
    words = {norm: f"$\\mathrm{{min}}_i\\,p_i\\,/\\,{norm}$" for norm in panels}
    if len(panels) == 1:
        return "".join(words.values())
    return " or ".join(f"{words[norm]} ({', '.join(some)})" for norm, some in panels.items())


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
    """Lay out rows under their headings, with the title above and the footer below.

    `keys` are the lines of the key above each panel of each row, `footer` the paragraphs below, and
    `notes` those that follow, also on a sheet without a caption. Panels that would fill more than a
    page of text share lines, if they can.
    Raises InputError for a sheet that is too small.
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
    """Return the boxes of a run's lines of panels, and where these end."""
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
