"""Where the panels of a film stand on its pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from core.figures.labels import headings, titles
from core.figures.material import Material
from core.figures.numbers import clock_text
from core.figures.primitives import MM_PER_INCH, Box, Dots, FigureScene, Panel, Text

# Nominal: what counts is letters against panels, since pixels have no size in millimetres.
DPI = 100.0
CELL = (480, 450)
SINGLE = (800, 600)
TOP_EM = 3.4  # the line with the clock, in letter heights
LEFT_EM, RIGHT_EM, HEAD_EM, FOOT_EM = 5.0, 1.2, 4.6, 4.0
KEY_EM = 1.45


def grid(rows: int, kinds: int) -> tuple[int, int]:
    """Columns and rows of panels: one run shows its four panels two by two.

    >>> grid(1, 1), grid(1, 4), grid(2, 4), grid(2, 1), grid(5, 1)
    ((1, 1), (2, 2), (4, 2), (2, 1), (3, 2))
    """
    if rows == 1:
        columns = kinds if kinds < 4 else 2
        return columns, -(-kinds // columns)
    if kinds == 1:
        columns = rows if rows <= 3 else -(-rows // 2)
        return columns, -(-rows // columns)
    return kinds, rows


def film_size(rows: int, kinds: int) -> tuple[int, int]:
    """Pixels of a film whose size nobody chose."""
    columns, lines = grid(rows, kinds)
    if columns * lines == 1:
        return SINGLE
    return columns * CELL[0], lines * CELL[1] + 40


def film_scene(
    material: Material, kinds: Sequence[str], size: tuple[int, int], captions: bool = True
) -> tuple[FigureScene, list[tuple[Dots, ...]], float, Text | None]:
    """The scene at its last frame, the data's dots of each panel, dots per inch, and the clock."""
    rows = len(material.runs)
    columns, lines = grid(rows, len(kinds))
    mm = MM_PER_INCH / DPI
    width, height = size[0] * mm, size[1] * mm
    # Letters grow with the panels, but not as fast: the small ones need them more.
    points = 0.6 * math.sqrt(min(size[0] / columns, 1.25 * size[1] / lines)) * 72.0 / DPI
    em = points * MM_PER_INCH / 72.0
    top = TOP_EM * em if captions else 0.0
    cell = (width / columns, (height - top) / lines)
    names = headings(material.runs)
    panels: list[Panel] = []
    data: list[tuple[Dots, ...]] = []
    for position in range(rows * len(kinds)):
        row, kind = divmod(position, len(kinds))
        across, down = position % columns, position // columns
        box = Box(
            across * cell[0] + LEFT_EM * em,
            top + down * cell[1] + HEAD_EM * em,
            cell[0] - (LEFT_EM + RIGHT_EM) * em,
            cell[1] - (HEAD_EM + FOOT_EM) * em,
        )
        if kinds[kind] == "curves":  # a line of the key for each
            more = KEY_EM * (len(material.shown.look.curves) - 1) * em
            box = replace(box, top=box.top + more, height=box.height - more)
        panel, dots = material.panel(row, kinds[kind], "", box)
        if rows > 1 and captions:
            panel = replace(panel, title=f"{names[row]}: {panel.title}")
        panels.append(panel)
        data.append(dots)
    if not captions:
        return (
            FigureScene(width, height, points, "", material.palette, tuple(panels), ()),
            data,
            DPI,
            None,
        )
    clock_points = 1.25 * points
    line = 2.0 * em
    # The clock keeps the place of its widest text, so that nothing shifts as its digits change.
    time = material.time
    widest = max(len(clock_text(end, time.steps)) for end in (time.low, time.high))
    clock = Text(width - (0.58 * widest + 1.0) * 1.25 * em, line, "", clock_points)
    heading = names[0] if rows == 1 else titles(material.runs)[0]
    texts = (Text(LEFT_EM * em, line, heading, clock_points),)
    scene = FigureScene(width, height, points, "", material.palette, tuple(panels), texts)
    return scene, data, DPI, clock
