"""Drawing of scenes with matplotlib's object interface: no pyplot, no window, no global setting.

Settings that matplotlib reads globally are changed under one lock and restored, so that figures may
be drawn from any thread. Fonts are matplotlib's own DejaVu Sans and STIX, embedded as TrueType in
PDFs; the letters of an SVG are outlines, so that it looks the same on machines without them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.markers import MarkerStyle
from matplotlib.text import Annotation
from matplotlib.text import Text as TextArtist
from matplotlib.ticker import FixedFormatter, FixedLocator
from matplotlib.transforms import IdentityTransform
from numpy.typing import NDArray

from core.figures.draw_keys import (
    DASHES,
    FONT,
    SHAPES,
    draw_key,
    draw_time_key,
    font_text,
    visible_text,
)
from core.figures.palette import Palette
from core.figures.primitives import (
    MM_PER_INCH,
    Band,
    Box,
    Curves,
    Dots,
    FigureScene,
    Label,
    Marker,
    Panel,
    PanelContent,
    Raster,
    Text,
    TimeKey,
)

STYLE: dict[str, Any] = {
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    # Without a fixed salt ids of an SVG are random, and equal scenes would give different bytes.
    "svg.hashsalt": "marginscope",
    "axes.unicode_minus": True,
    "text.usetex": False,
}
# Fonts included in matplotlib: the same letters on every machine.
LETTERS: dict[str, dict[str, Any]] = {
    "sans": {"font.family": [FONT], "mathtext.fontset": "dejavusans"},
    "serif": {"font.family": ["STIXGeneral"], "mathtext.fontset": "stix"},
}
# matplotlib's settings are global, and the window draws in threads.
_lock = threading.RLock()


@contextmanager
def matplotlib_style(family: str = "sans") -> Iterator[None]:
    """Use matplotlib's defaults and STYLE for a block, whatever the user's own settings."""
    with _lock, matplotlib.rc_context():
        settings: dict[Any, Any] = dict(matplotlib.rcParamsDefault)
        # Without the backend: figures have their own canvas.
        settings = {key: settings[key] for key in settings if not key.startswith("backend")}
        settings.update(STYLE | LETTERS[family])
        matplotlib.rcParams.update(settings)
        yield


def new_figure(scene: FigureScene, dpi: float) -> tuple[Figure, FigureCanvasAgg]:
    """Return an empty figure of the scene's size, and its canvas."""
    size = (scene.width_mm / MM_PER_INCH, scene.height_mm / MM_PER_INCH)
    figure = Figure(figsize=size, dpi=dpi, facecolor=scene.palette.background)
    return figure, FigureCanvasAgg(figure)


def draw_scene(scene: FigureScene, dpi: float = 300.0) -> Figure:
    """Draw a scene and return the figure; call within `drawing()`."""
    figure, _ = new_figure(scene, dpi)
    for panel in scene.panels:
        axes = draw_panel(figure, scene, panel)
        # As artists: `plot` and `scatter` would change the limits, which the scene sets.
        for artist in ink_artists(axes, panel.ink, scene.palette, scene.points):
            axes.add_artist(artist)
    draw_texts(figure, scene)
    return figure


def draw_texts(figure: Figure, scene: FigureScene) -> None:
    """Draw the texts around the panels."""
    for text in scene.texts:
        figure_text(figure, scene, text)


def figure_text(figure: Figure, scene: FigureScene, text: Text) -> Artist:
    """Draw one line of text at its place in millimetres.

    Parameters
    ----------
    figure : Figure
        Figure of the scene.
    scene : FigureScene
        Size and colours.
    text : Text
        Text with its place from the top left corner.

    Returns
    -------
    Artist
    """
    palette = scene.palette
    return figure.text(
        text.left / scene.width_mm,
        1.0 - text.top / scene.height_mm,
        font_text(text.text),
        fontsize=text.points,
        color=palette.muted if text.muted else palette.foreground,
        fontweight="bold" if text.bold else "normal",
    )


# -------------------------------------------------------------------------------------- panels


def _place(scene: FigureScene, box: Box) -> tuple[float, float, float, float]:
    bottom = scene.height_mm - box.top - box.height
    width, height = scene.width_mm, scene.height_mm
    return box.left / width, bottom / height, box.width / width, box.height / height


def draw_panel(figure: Figure, scene: FigureScene, panel: Panel) -> Axes:
    """Draw a panel without its ink: axes, ticks, title, key and levels.

    Parameters
    ----------
    figure : Figure
        Figure of the scene.
    scene : FigureScene
        Size, colours and letters.
    panel : Panel
        Panel with its box in millimetres.

    Returns
    -------
    Axes
        Limits are those of the panel.
    """
    palette, points = scene.palette, scene.points
    axes = figure.add_axes(_place(scene, panel.box), facecolor="none")
    axes.set_xlim(panel.x.low, panel.x.high)
    axes.set_ylim(panel.y.low, panel.y.high)
    _draw_ticks(axes, panel, palette, points)
    height = 1.0 + (0.4 + 0.5 * panel.key_lines) * points / panel.box.height
    title = f"$\\mathbf{{{panel.letter}}}$  {panel.title}" if panel.letter else panel.title
    axes.text(
        0.0,
        height,
        font_text(title),
        transform=axes.transAxes,
        fontsize=points + 0.5,
        color=palette.foreground,
        va="baseline",
    )
    _draw_levels(axes, panel, palette, points)
    if isinstance(panel.key, TimeKey):
        draw_time_key(axes, panel.key, panel.box, palette, points)
    elif panel.key:
        draw_key(axes, panel.key, panel.box, palette, points, panel.key_columns)
    return axes


def _draw_ticks(axes: Axes, panel: Panel, palette: Palette, points: float) -> None:
    scale = points / 7.0
    for axis, ticks in ((axes.xaxis, panel.x), (axes.yaxis, panel.y)):
        axis.set_major_locator(FixedLocator([place for place, _ in ticks.ticks]))
        axis.set_major_formatter(FixedFormatter([text for _, text in ticks.ticks]))
        axis.set_tick_params(
            length=2.0 * scale,
            width=0.5 * scale,
            pad=1.8 * scale,
            color=palette.muted,
            labelcolor=palette.foreground,
            labelsize=points - 0.5,
        )
        axis.set_label_text(font_text(ticks.label), fontsize=points, color=palette.foreground)
    axes.xaxis.labelpad = 1.8 * scale
    # Based on the longest tick text, not on matplotlib's layout, so that columns of panels align.
    longest = max((len(visible_text(text)) for _, text in panel.y.ticks), default=3)
    distance = (2.7 + 1.25 * max(longest, 3)) * scale
    axes.yaxis.set_label_coords(-distance / panel.box.width, 0.5)
    if not panel.centre_lines:
        axes.grid(True, color=palette.grid, linewidth=0.5 * scale)
        axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(palette.muted)
        spine.set_linewidth(0.5 * scale)


def _draw_levels(axes: Axes, panel: Panel, palette: Palette, points: float) -> None:
    """Draw the lines through 0 if wanted, and each level's line, band and label in its colour."""
    line: dict[str, Any] = {"linewidth": 0.6 * points / 7.0, "zorder": 0.6}
    if panel.centre_lines:
        for draw in (axes.axhline, axes.axvline):
            draw(0.0, color=palette.grid, **line)
    for level in panel.levels:
        axes.axhline(level.value, color=level.colour, linestyle=DASHES[level.dash], **line)
        if level.low < level.high:
            axes.axhspan(level.low, level.high, color=level.colour, alpha=0.14, lw=0, zorder=0.5)
        if level.label:
            axes.text(
                0.995 if level.align == "right" else 0.01,
                level.label_at,
                font_text(level.label),
                ha=level.align,
                va="bottom",
                transform=axes.get_yaxis_transform(),
                fontsize=points - 0.5,
                color=level.colour,
                zorder=4.0,
                bbox=_paper(palette),
            )


def _paper(palette: Palette) -> dict[str, Any]:
    """Return the ground of a label, through which lines below it are seen.

    A box, since matplotlib draws letters with a halo as outlines, which a PDF does not find.
    """
    return {"facecolor": palette.background, "edgecolor": "none", "pad": 0.4, "alpha": 0.8}


# ----------------------------------------------------------------------------------------- ink


def ink_artists(axes: Axes, ink: PanelContent, palette: Palette, points: float) -> list[Artist]:
    """Make the artists of what a panel shows, not yet in the axes.

    Parameters
    ----------
    axes : Axes
        Axes of the panel, for its transforms.
    ink : PanelContent
        Content of the panel, in the units of its axes.
    palette : Palette
        Colours of notes and grounds.
    points : float
        Size of letters; lines and markers grow with it.

    Returns
    -------
    list of Artist
        From back to front.
    """
    scale = points / 7.0
    artists: list[Artist] = [_image(axes, raster) for raster in ink.rasters]
    artists += [_area(band) for band in ink.bands]
    artists += [_line_collection(curves, scale) for curves in ink.curves]
    artists += [_markers(axes, dots, scale) for dots in ink.dots]
    artists += [_words(words, palette, points) for words in ink.words]
    if ink.note:
        note = TextArtist(
            0.5,
            0.5,
            ink.note,
            transform=axes.transAxes,
            ha="center",
            va="center",
            fontsize=points,
            color=palette.muted,
            bbox={"facecolor": palette.background, "edgecolor": "none", "pad": 2.0},
        )
        artists.append(note)
    for order, artist in enumerate(artists):
        artist.set_zorder(3.0 + 0.01 * order)
    return artists


def _image(axes: Axes, raster: Raster) -> Artist:
    rows, columns = raster.colours.shape[:2]
    # Colours are those of points; the image extends half a pixel beyond the first and last ones.
    half_width = 0.5 * (raster.right - raster.left) / (columns - 1)
    half_height = 0.5 * (raster.top - raster.bottom) / (rows - 1)
    image = AxesImage(
        axes,
        extent=(
            raster.left - half_width,
            raster.right + half_width,
            raster.bottom - half_height,
            raster.top + half_height,
        ),
        origin="lower",
        interpolation="bilinear" if raster.smooth else "nearest",
    )
    image.set_data(raster.colours)
    return image


def _area(band: Band) -> Artist:
    is_known = np.isfinite(band.x) & np.isfinite(band.low) & np.isfinite(band.high)
    # Skip unknown points: a polygon has no gaps.
    x, low, high = band.x[is_known], band.low[is_known], band.high[is_known]
    outline = np.stack([np.append(x, x[::-1]), np.append(low, high[::-1])], axis=-1)
    return PolyCollection(
        [outline] if x.size else [], facecolors=band.colour[None, :] / 255.0, linewidths=0.0
    )


def _words(words: Label, palette: Palette, points: float) -> Artist:
    shift = -0.25 * points if words.below else 0.25 * points
    return Annotation(
        font_text(words.text),
        (words.x, words.y),
        xytext=(0.0, shift),
        textcoords="offset points",
        ha=words.align,
        va="top" if words.below else "bottom",
        fontsize=points - 0.5,
        color=words.colour,
        bbox=_paper(palette),
        # Otherwise matplotlib omits text at a point on the frame's edge.
        annotation_clip=False,
    )


def _line_collection(curves: Curves, scale: float) -> Artist:
    segments: NDArray[np.float64] = np.stack([curves.x, curves.y], axis=-1)
    return LineCollection(
        list(segments),
        colors=curves.colours / 255.0,
        linewidths=scale * curves.widths,
        linestyles=[DASHES[curves.dash]],
        # Round caps would close the gaps of dashes as short as the line is wide.
        capstyle="butt" if curves.dash != "solid" else "round",
        joinstyle="round",
    )


def _markers(axes: Axes, dots: Dots, scale: float) -> Artist:
    style = MarkerStyle(SHAPES[dots.marker])
    collection = PathCollection(
        [style.get_path().transformed(style.get_transform())],
        sizes=scale**2 * dots.areas,
        offsets=np.stack([dots.x, dots.y], axis=-1),
        offset_transform=axes.transData,
        facecolors=dots.colours / 255.0,
        edgecolors=dots.edge or "none",
        linewidths=(0.9 if dots.marker is Marker.RING else 0.35) * scale if dots.edge else 0.0,
    )
    # Only positions are in axis units: markers keep their size in points.
    collection.set_transform(IdentityTransform())
    collection.set_clip_on(dots.clipped)
    return collection
