"""Keys above panels, and what they share with the panels: letters, dashes, markers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, fontManager, get_font
from matplotlib.legend import Legend
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from core.figures.layout import LETTER_MM, SAMPLE_MM
from core.figures.palette import Palette
from core.figures.primitives import Box, KeyEntry, Marker, TimeKey

FONT = "DejaVu Sans"
DASHES: dict[str, Any] = {"solid": "-", "dashed": (0, (4.0, 1.6)), "dotted": (0, (1.0, 1.2))}
SHAPES = {Marker.DISC: "o", Marker.PLUS: "P", Marker.CROSS: "X", Marker.DOWN: "v", Marker.RING: "o"}


def font_text(text: str) -> str:
    """Return a text that the font can set.

    Letters that the font lacks become question marks. The index of a sum is set beside it, where it
    does not run into the next line.
    """
    # matplotlib warns about each missing letter, and draws an empty box. Call within
    # `matplotlib_style`, which sets the font family of the scene.
    family = matplotlib.rcParams["font.family"]
    characters = get_font(fontManager.findfont(FontProperties(family=family))).get_charmap()
    text = "".join(char if ord(char) in characters or char == "\n" else "?" for char in text)
    return text.replace("\\sum_", "\\Sigma_")


def draw_key(
    axes: Axes, key: tuple[KeyEntry, ...], box: Box, palette: Palette, points: float, columns: int
) -> None:
    """Draw samples and texts above a panel.

    Parameters
    ----------
    axes : Axes
        Axes of the panel.
    key : tuple of KeyEntry
        Entries from left to right, line by line.
    box : Box
        Box of the panel in millimetres.
    palette : Palette
        Colours of the texts.
    points : float
        Size of letters.
    columns : int
        Entries in a line; 0 for all.
    """
    handles: list[Any] = []
    disc: dict[str, Any] = {"linestyle": "", "markeredgewidth": 0.0}
    for entry in key:
        if entry.markers:
            pairs = zip(entry.markers, entry.colours, strict=True)
            # Separate the discs.
            disc["markersize"] = (0.75 if len(entry.markers) == 1 else 0.6) * points
            marks = [Line2D([], [], marker=SHAPES[m], color=colour, **disc) for m, colour in pairs]
            handles.append(tuple(marks))
        else:
            dash, width = DASHES[entry.dash], 1.3 * points / 7.0
            sample = Line2D([], [], color=entry.colours[0], linestyle=dash, linewidth=width)
            handles.append(sample)
    # A long key ends at the panel's right edge and may start left of the panel, in free space.
    longest = max(len(entry.text) for entry in key)
    wide = columns == 1 and (LETTER_MM * longest + SAMPLE_MM) * points / 7.0 > box.width
    long = wide or (len(key) > 2 and not columns)
    # Otherwise the key would extend into the next panel.
    tight = long and columns == 0 and box.width < 33.0 * points / 7.0
    legend = Legend(
        axes,
        handles,
        [font_text(entry.text) for entry in key],
        ncols=columns or len(key),
        loc="lower right" if long else "lower left",
        bbox_to_anchor=(1.0 if long else 0.0, 1.0 + 0.04 * points / box.height),
        fontsize=points - 0.5,
        frameon=False,
        borderpad=0.0,
        borderaxespad=0.0,
        handlelength=1.1 if tight else 1.7,
        handletextpad=0.4,
        columnspacing=0.5 if tight else 0.8,
        labelspacing=0.25,
        labelcolor=palette.foreground,
        handler_map={tuple: HandlerTuple(ndivide=None, pad=0.2)},
    )
    axes.add_artist(legend)


def draw_time_key(axes: Axes, key: TimeKey, box: Box, palette: Palette, points: float) -> None:
    """Draw a strip of the moments' colours along a panel's top, with their texts above.

    Parameters
    ----------
    axes : Axes
        Axes of the panel.
    key : TimeKey
        Colours and texts of the moments; texts that would touch are left out.
    box : Box
        Box of the panel in millimetres.
    palette : Palette
        Colours of the texts.
    points : float
        Size of letters.
    """
    mm = points / 7.0
    figure_box = axes.get_position()
    per_mm = figure_box.height / box.height
    figure = axes.get_figure()
    assert isinstance(figure, Figure)
    bottom, height = figure_box.y1 + 0.9 * mm * per_mm, 1.1 * mm * per_mm
    lead = 8.0 if len(key.name) > 4 else 3.0
    if "$" not in key.name:  # a word
        lead = max(lead, 1.2 * len(key.name) + 2.0)
    lead *= mm / box.width * figure_box.width
    start, width = figure_box.x0 + lead, figure_box.width - lead
    step = width / len(key.texts)
    fitting = _separate_texts(key.texts, step / figure_box.width * box.width, mm)
    for position, (text, colour) in enumerate(zip(key.texts, key.colours, strict=True)):
        x = start + position * step
        rectangle = Rectangle(
            (x, bottom),
            0.94 * step,
            height,
            facecolor=tuple(colour / 255.0),
            linewidth=0.0,
            transform=figure.transFigure,
            clip_on=False,
        )
        axes.add_artist(rectangle)
        if position in fitting:
            figure.text(
                x + 0.47 * step,
                bottom + height + 0.5 * mm * per_mm,
                text,
                ha="center",
                fontsize=points - 1.0,
                color=palette.foreground,
            )
    if key.name:
        figure.text(
            figure_box.x0, bottom, key.name, fontsize=points - 0.5, color=palette.foreground
        )


def _separate_texts(texts: Sequence[str], step: float, mm: float) -> set[int]:
    """Return which texts, `step` apart, do not touch each other; the last one is always shown."""
    fitting: set[int] = set()
    limit = float("inf")
    # From the right, since the last moment has priority.
    for position in range(len(texts) - 1, -1, -1):
        superscript = len(texts[position].partition("^")[2].strip("{}$"))
        # Superscript digits are two thirds as wide; 1.2 mm is the mean width of a digit at 7
        # points.
        letters = len(visible_text(texts[position])) - 0.35 * superscript
        half = 0.5 * (1.2 * letters + 0.4) * mm
        if position * step + half <= limit:
            fitting.add(position)
            limit = position * step - half
    return fitting


def visible_text(text: str) -> str:
    return text.replace("\\times", "x").translate({ord(char): None for char in "${}^\\ "})
