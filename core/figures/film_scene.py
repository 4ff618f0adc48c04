"""Scene of a film: its panels, heading and clock on a picture of a number of pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.figures.labels import headings, titles
from core.figures.layout import MM_PER_POINT, wrap
from core.figures.material import PanelData
from core.figures.names import MOST_SIZE
from core.figures.primitives import MM_PER_INCH, Box, Dots, FigureScene, Panel, Text
from core.numbers import time_text

# Nominal: only the ratio of letters to panels matters, since pixels have no size in millimetres.
DPI = 100.0
CELL = (480, 450)
SINGLE = (800, 600)
TOP_EM = 3.4  # line of the clock, in letter heights
LEFT_EM, RIGHT_EM, HEAD_EM, FOOT_EM = 5.0, 1.2, 4.6, 4.0
FILM_LETTER_EM = 0.6  # keeps the clock's area free


def grid(rows: int, kinds: int) -> tuple[int, int]:
    """Return columns and lines of panels for `rows` runs with `kinds` panels each.

    A single run shows four panels two by two.

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
    """Return the usual width and height of a film in pixels, reduced to at most MOST_SIZE.

    >>> film_size(2, 4), film_size(10, 4)
    ((1920, 940), (913, 2160))
    """
    columns, lines = grid(rows, kinds)
    if columns * lines == 1:
        return SINGLE
    width, height = columns * CELL[0], lines * CELL[1] + 40
    share = min(1.0, MOST_SIZE[0] / width, MOST_SIZE[1] / height)
    return round(share * width), round(share * height)


def film_scene(
    material: PanelData, kinds: Sequence[str], size: tuple[int, int], captions: bool = True
) -> tuple[FigureScene, list[tuple[Dots, ...]], float, Text | None]:
    """Build the scene of a film at its last frame.

    Parameters
    ----------
    material : PanelData
        Material of the runs.
    kinds : sequence of str
        Panels of each run.
    size : (int, int)
        Width and height in pixels.
    captions : bool
        True for a heading and a clock above the panels, and the names of several runs in their
        titles.

    Returns
    -------
    scene : FigureScene
        In millimetres at `dpi`; panels run by run.
    data : list of tuple of Dots
        Dots of the data in each panel.
    dpi : float
        Pixels in an inch of the scene.
    clock : Text or None
        Place of the clock, without its text; None without captions.
    """
    rows = len(material.runs)
    columns, lines = grid(rows, len(kinds))
    mm = MM_PER_INCH / DPI
    width, height = size[0] * mm, size[1] * mm
    # Letters grow slower than the panels, since small panels need relatively larger ones.
    points = 0.6 * math.sqrt(min(size[0] / columns, 1.25 * size[1] / lines)) * 72.0 / DPI
    em = points * MM_PER_POINT
    top, texts, clock = _top(material, width, points) if captions else (0.0, (), None)
    cell = (width / columns, (height - top) / lines)
    names = headings(material.runs)
    panels: list[Panel] = []
    data: list[tuple[Dots, ...]] = []
    for position in range(rows * len(kinds)):
        row, kind = divmod(position, len(kinds))
        column, line = position % columns, position // columns
        box = Box(
            column * cell[0] + LEFT_EM * em,
            top + line * cell[1] + HEAD_EM * em,
            cell[0] - (LEFT_EM + RIGHT_EM) * em,
            cell[1] - (HEAD_EM + FOOT_EM) * em,
        )
        panel, dots = material.panel(row, kinds[kind], "", box)
        if rows > 1 and captions:
            panel = replace(panel, title=f"{names[row]}: {panel.title}")
        panels.append(panel)
        data.append(dots)
    scene = FigureScene(width, height, points, "", material.palette, tuple(panels), texts)
    return scene, data, DPI, clock


def _top(
    material: PanelData, width: float, points: float
) -> tuple[float, tuple[Text, ...], Text | None]:
    """Return the height of a film's top in millimetres, its heading, and its clock."""
    em, time = points * MM_PER_POINT, material.time
    # The clock reserves its widest text, so that nothing moves when its digits change.
    moments = np.linspace(time.low, time.high, 64).tolist()
    widest = max(len(time_text(one, time.steps, padded=True)) for one in moments)
    clock = Text(width - (0.58 * widest + 1.0) * 1.25 * em, 2.0 * em, "", 1.25 * points)
    runs = material.runs
    heading = headings(runs)[0] if len(runs) == 1 else titles(runs)[0]
    room, size = clock.left - (LEFT_EM + 1.0) * em, 1.25 * points
    if len(lines := wrap(heading, room, size, FILM_LETTER_EM)) > 2:
        size = points
        lines = wrap(heading, room, size, FILM_LETTER_EM)
    step = 1.2 * size * MM_PER_POINT
    texts = [Text(LEFT_EM * em, 2.0 * em + k * step, line, size) for k, line in enumerate(lines)]
    return TOP_EM * em + max(len(lines) - 1, 0) * step, tuple(texts), clock
