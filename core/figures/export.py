"""Writing figures: PDF, SVG and PNG at their physical size; equal scenes give equal bytes."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import core
from core.errors import InputError
from core.figures.primitives import FigureScene
from core.files import write_whole

SUFFIXES = (".pdf", ".svg", ".png")
LEAST_DPI, MOST_DPI = 20, 2400
# Of 4 bytes each: 1.6 GB of memory.
MOST_PIXELS = 400_000_000
Draw = Callable[[FigureScene, str, float], bytes]


def check_figure_path(path: Path) -> None:
    """InputError unless the path ends in one of the formats of figures."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(
            f"{path} must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}; figures are written "
            "as one of these."
        )


def figure_bytes(scene: FigureScene, suffix: str, dpi: float = 300.0) -> bytes:
    """The content of a figure file; equal scenes give equal bytes. `dpi` matters for PNG only."""
    from core.figures.draw import draw_scene, drawing

    creator = f"Marginscope {core.__version__}"
    # None leaves out what matplotlib adds by itself, the date first of all: equal scenes are to
    # give equal bytes.
    metadata: dict[str, dict[str, Any]] = {
        ".pdf": {"Creator": creator, "Producer": None, "CreationDate": None},
        ".svg": {"Creator": creator, "Date": None},
        ".png": {"Software": creator},
    }
    if scene.title:  # a run need not have one, and matplotlib takes no empty one
        metadata[suffix]["Title"] = scene.title
    buffer = io.BytesIO()
    with drawing(scene.family):
        # PDF and SVG count in points, of which an inch has 72.
        figure = draw_scene(scene, dpi if suffix == ".png" else 72.0)
        figure.savefig(
            buffer,
            format=suffix.removeprefix("."),
            dpi=dpi if suffix == ".png" else 72.0,
            metadata=metadata[suffix],
        )
    return buffer.getvalue()


def save_figure(
    scene: FigureScene, path: Path, dpi: float = 300.0, draw: Draw = figure_bytes
) -> None:
    """Write a scene as .pdf, .svg or .png, completely or not at all; `draw` makes its content.

    Raises InputError for another ending, a resolution outside 20 to 2400 dots per inch or a folder
    that cannot be written, DiskError for a full disk.
    """
    check_figure_path(path)
    suffix = path.suffix.lower()
    check_resolution(scene, suffix, dpi)
    write_whole(path, draw(scene, suffix, dpi))


def check_resolution(scene: FigureScene, suffix: str, dpi: float) -> None:
    """InputError for a resolution that no figure has, or pixels that no memory has."""
    if not LEAST_DPI <= dpi <= MOST_DPI:
        raise InputError(
            f"A resolution of {dpi:g} dots per inch was asked for; {LEAST_DPI} to {MOST_DPI} are "
            "possible, and 300 is usual."
        )
    pixels = scene.width_mm * scene.height_mm * (dpi / 25.4) ** 2
    if suffix == ".png" and pixels > MOST_PIXELS:
        raise InputError(
            f"At {dpi:g} dots per inch the figure has {pixels / 1e6:.0f} million pixels, more than "
            f"{MOST_PIXELS / 1e6:.0f} million",
            remedy="lower the resolution or write a .pdf",
            typed="lower --dpi or write a .pdf",
        )
