"""Figure of a whole study: panels in its layout, with settings and verdicts below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

from core.errors import InputError
from core.figures.labels import SETTINGS, phrase
from core.figures.layout import FOOT, LINE, MARGIN, panel_height, title_texts, wrap
from core.figures.names import POINTS, PageSize, check_sheet
from core.figures.numbers import math_words
from core.figures.palette import LIGHT, Palette
from core.figures.panel_grid import BETWEEN, LEAST_SIDE, Grid, checked_grid
from core.figures.primitives import NO_BREAK, Box, FigureScene, Panel, Text, plain
from core.figures.scene import key_lines, with_one_key
from core.figures.study_panels import study_panel
from core.studies.cells import StudyCell
from core.studies.layout import PICTURES, FigureLayout
from core.studies.panel_lines import Line, lines_of

LETTERS = "abcdefghijklmnopqrstuvwxyz"
# Width of the figure in millimetres by the number of panels in a row.
WIDTHS = {1: 96.0, 2: 150.0, 3: 180.0, 4: 180.0}
LEFT, EDGE, GAP = 13.0, 4.0, BETWEEN + 3.0
SMALL = (POINTS - 1.0) / POINTS  # size of the verdicts' letters, relative to the others
ASPECT, WIDE_ASPECT = 0.78, 0.62  # height of a panel relative to its width, in rows and alone
AUTOMATIC = PageSize()
HEAD, KEY_LINE, TITLE_GAP = 9.0, 3.5, 2.4
BARS = {"sd": "one standard deviation each way", "2se": "two standard errors each way"}


@final
@dataclass(frozen=True, slots=True)
class Caption:
    """Texts around the panels: title, source, note, and the verdicts on the claims.

    The layout's own note, if any, replaces `note`. `settings` are those that all runs share, in
    words.
    """

    title: str
    source: str = ""
    note: str = ""
    verdicts: tuple[str, ...] = ()
    settings: str = ""


def study_scene(
    layout: FigureLayout,
    cells: Sequence[StudyCell],
    caption: Caption,
    palette: Palette = LIGHT,
    sheet: PageSize = AUTOMATIC,
) -> FigureScene:
    """Build the figure of a study's runs on a sheet.

    Parameters
    ----------
    layout : FigureLayout
        Panels, and how many are in a row.
    cells : sequence of StudyCell
        Runs with a frame, at least one.
    caption, palette, sheet
        As of `scene_of_lines`; the settings of the caption are those of the cells.

    Returns
    -------
    FigureScene

    Raises
    ------
    InputError
        No runs, words that cannot be typeset, an unknown name in a formula, or a sheet without room
        for the panels.
    """
    if not cells:
        raise InputError(f"{caption.title}: none of its runs has frames yet; run the study first.")
    _check_formulas(layout)
    every_line = [lines_of(panel, cells) for panel in layout.panels]
    caption = replace(caption, settings=settings_text(cells))
    return scene_of_lines(layout, every_line, caption, palette, sheet)


def scene_of_lines(
    layout: FigureLayout,
    every_line: Sequence[Sequence[Line]],
    caption: Caption,
    palette: Palette = LIGHT,
    sheet: PageSize = AUTOMATIC,
) -> FigureScene:
    """Return the figure of the lines of each panel.

    Parameters
    ----------
    layout : FigureLayout
        Panels, and how many are in a row.
    every_line : sequence of sequences of Line
        Lines of each panel.
    caption : Caption
        Texts around the panels; without a title the panels begin at the top.
    palette : Palette
        Colours of the figure.
    sheet : PageSize
        Size of the figure and of its letters.

    Returns
    -------
    FigureScene

    Raises
    ------
    InputError
        If the page is too small for the panels.
    """
    check_sheet(sheet)
    grid, scale = _grid(layout.columns, sheet), sheet.scale
    columns, width, side = grid.columns, grid.width, grid.side
    texts, top = title_texts(plain(caption.title), width, sheet.points)
    titled = sheet.caption and caption.title
    texts, top = (texts, top + 1.5 * scale) if titled else ([], MARGIN * scale)
    every_panel = _panels(layout, every_line, side / scale, palette)
    lines = [every_panel[k : k + columns] for k in range(0, len(every_panel), columns)]
    footer = _footer(layout, every_line, caption, width, sheet) if sheet.caption else []
    # All panels of a row start at one height, below the longest key of the row.
    keys = [max(key_lines(panel) for panel in line) for line in lines]
    heads = [(HEAD + KEY_LINE * (rows - 1)) * scale for rows in keys]
    below = max((text.top for text in footer), default=0.0) + MARGIN * scale
    fixed = top + sum(heads) + len(lines) * FOOT * scale + below
    aspect = ASPECT if columns > 1 else WIDE_ASPECT
    high = panel_height(sheet, aspect * side, fixed, len(lines))
    panels: list[Panel] = []
    for row, (line, head) in enumerate(zip(lines, heads, strict=True)):
        top += head
        panels += _place_panels(
            line, row, Box(LEFT * scale, round(top, 2), side, high), GAP * scale
        )
        top += high + FOOT * scale
    texts += [replace(text, top=round(text.top + top, 2)) for text in footer]
    size = (width, sheet.height or round(top + below, 2), sheet.points)
    finished = tuple(panels)
    return FigureScene(*size, caption.title, palette, finished, tuple(texts), sheet.family)


def _panels(
    layout: FigureLayout, every_line: Sequence[Sequence[Line]], side: float, palette: Palette
) -> list[Panel]:
    """Return the panels before their height is known, `side` wide for letters of the usual size."""
    square = Box(0.0, 0.0, side, side)
    letters = LETTERS if len(layout.panels) > 1 else ("",)
    return with_one_key(
        [
            study_panel(panel, lines, 0, letter, square, palette)
            for panel, lines, letter in zip(layout.panels, every_line, letters, strict=False)
        ]
    )


def _place_panels(line: Sequence[Panel], row: int, first: Box, gap: float) -> list[Panel]:
    """Return panels side by side, with room for the longest key above each of them."""
    rows, step = max(key_lines(panel) for panel in line), first.width + gap
    boxes = [replace(first, left=first.left + column * step) for column in range(len(line))]
    return [
        replace(panel, box=box, row=row, key_lines=rows)
        for panel, box in zip(line, boxes, strict=True)
    ]


def _grid(columns: int, sheet: PageSize) -> Grid:
    """Return the columns of a layout, or as many of them as a narrow sheet has room for."""
    scale, width = sheet.scale, sheet.width or WIDTHS[columns]

    def side(count: int) -> float:
        return (width - (LEFT + EDGE + (count - 1) * GAP) * scale) / count

    while columns > 1 and side(columns) < LEAST_SIDE * scale:
        columns -= 1
    return checked_grid(Grid(width, columns, side(columns)), sheet)


def _check_formulas(layout: FigureLayout) -> None:
    """Raise InputError for words with a formula between dollar signs that cannot be set."""
    from matplotlib.mathtext import MathTextParser

    words = [layout.note]
    for panel in layout.panels:
        words += [panel.title, panel.x_label, panel.y_label, panel.legend, *panel.names]
        words += [mark.text for mark in (*panel.levels, *panel.slopes)]
    # Before anything is drawn: otherwise matplotlib stops in the middle of the figure.
    parser = MathTextParser("path")
    for text in (one for one in words if "$" in one):
        try:
            parser.parse(text)
        except (ValueError, RuntimeError) as error:
            raise InputError(
                f"The words {text!r} of the figure cannot be typeset; check the text between the "
                "dollar signs."
            ) from error


def _footer(
    layout: FigureLayout,
    every_line: Sequence[Sequence[Line]],
    caption: Caption,
    width: float,
    sheet: PageSize,
) -> list[Text]:
    """Return the texts below the panels, at millimetres below the end of these."""
    scale, points = sheet.scale, sheet.points
    top, edge = TITLE_GAP * scale, MARGIN * scale
    source = f"Source: {plain(caption.source)}. " if caption.source else ""
    first = source + caption.settings + _bars_text(layout, every_line)
    paragraphs = [first, math_words(layout.note or caption.note)]
    texts = []
    for paragraph in [text for text in paragraphs if text]:
        for line in wrap(paragraph, width - 2 * edge, points):
            texts.append(Text(edge, top, line, points, muted=True))
            top += LINE * scale
    top += 0.35 * LINE * scale
    small = points * SMALL
    for verdict in caption.verdicts:
        words = wrap(math_words(plain(verdict)), width - 3 * edge, small)
        for position, line in enumerate(words):
            indent = edge if position == 0 else 2 * edge
            texts.append(Text(indent, top, line, small))
            top += 0.88 * LINE * scale
    return texts


def settings_text(cells: Sequence[StudyCell]) -> str:
    """Return a sentence with the settings that all runs share; "" if none."""
    parts = []
    for key in SETTINGS:
        values = {str(cell.settings.get(key)) for cell in cells}
        value = cells[0].settings.get(key)
        if len(values) == 1 and value is not None:
            parts.append(phrase(key, value))
    text = ", ".join(parts).replace(" = ", NO_BREAK + "=" + NO_BREAK)
    return f"Settings: {text}. " if text else ""


def _bars_text(layout: FigureLayout, every_line: Sequence[Sequence[Line]]) -> str:
    """Return sentences on the number of runs in a mean, on bars and bands, and on slopes."""
    counts = [int(line.count.max()) for lines in every_line for line in lines if line.count.size]
    largest = max(counts, default=1)
    if largest < 2:
        return "One run per point."
    spreads = {panel.spread for panel in layout.panels if panel.kind not in PICTURES}
    kinds = {BARS[spread] for spread in spreads & BARS.keys()}
    ends = f"; bars and bands: {' or '.join(sorted(kinds))}" if kinds else ""
    excluded = any(panel.exclude_unfit for panel in layout.panels)
    left_out = "; runs with training errors left out" if excluded else ""
    slopes = ""
    if any(line.slope for lines in every_line for line in lines):
        slopes = " Slopes with .95 intervals, the wider of bootstrap over seeds and residuals."
    return f"Means over {largest} runs{ends}{left_out}.{slopes}"
