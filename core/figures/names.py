"""Names of panels and sizes of paper and films; importable without matplotlib."""

from __future__ import annotations

import importlib
import importlib.util
import math
import re
import shutil
from dataclasses import dataclass
from typing import Any, final

from core.errors import InputError

# The panels of the papers' figure, by default.
PANELS = ("neurons", "rotations", "norms", "margins")
EVERY_PANEL = (*PANELS, "curves", "spectrum", "predictor", "kernel", "waves", "phases")
# Panels of a page: the predictor would need a computation at each moment.
PAGE_PANELS = (*PANELS, "curves", "spectrum", "kernel", "waves", "phases")
PAGE_FRAMES, FEWEST_FRAMES, MOST_FRAMES = 400, 2, 2000  # moments of a page: default, least, most
PAGE_COLOURS = ("system", "light", "dark")  # initial colours; the reader may change them
# Possible axes of curves, and families of letters.
ACROSS = ("log10_time", "step", "norm_squared")
FAMILIES = ("sans", "serif")


# ---------------------------------------------------------------------------- the paper of a figure

MOST_ROWS = 10  # as many runs of a figure as of a window
COLUMN, PAGE = 85.0, 180.0  # millimetres: column and page width of a journal
TEXT_WIDTH = 139.7  # 5.5 in, the text width of NeurIPS, ICLR and most single-column conferences
SMALLEST, LARGEST = 20.0, 1000.0
POINTS = 7.0
FEWEST_POINTS, MOST_POINTS = 4.0, 24.0
SIZE_TEXT = re.compile(r"([0-9.]{1,9})(?:x([0-9.]{1,9}))?(?:mm)?")


@final
@dataclass(frozen=True, slots=True)
class PageSize:
    """Size of a figure in millimetres, None for as the panels need, and its letters.

    `points` is the size of letters and `family` their family. `caption` is false to leave out title
    and caption.
    """

    width: float | None = None
    height: float | None = None
    points: float = POINTS
    family: str = "sans"
    caption: bool = True

    @property
    def scale(self) -> float:
        """Factor of lengths that grow with the letters."""
        return self.points / POINTS


# Sheet sizes. A slide is 16:9 and 13.33 in wide; a poster's figure fills three quarters of A0.
PRESETS = {
    "automatic": PageSize(),
    "one column": PageSize(COLUMN),
    "text width": PageSize(TEXT_WIDTH),
    "two columns": PageSize(PAGE),
    "slide 16:9": PageSize(338.7, 190.5, 12.0, caption=False),
    "poster": PageSize(600.0, None, 24.0),
}


def check_sheet(sheet: PageSize) -> None:
    """Raise InputError for a size, letters or a family that no figure can have."""
    for value, name in ((sheet.width, "wide"), (sheet.height, "high")):
        if value is not None and not SMALLEST <= value <= LARGEST:
            raise InputError(
                f"A figure cannot be {value:g} mm {name}; choose {SMALLEST:g} to {LARGEST:g} mm, "
                f"usually {COLUMN:g} or {PAGE:g} mm wide."
            )
    if not FEWEST_POINTS <= sheet.points <= MOST_POINTS:
        raise InputError(
            f"The font cannot have {sheet.points:g} points; choose {FEWEST_POINTS:g} to "
            f"{MOST_POINTS:g}, usually {POINTS:g}."
        )
    if sheet.family not in FAMILIES:
        raise InputError(
            f"The font {sheet.family[:40]!r} does not exist; allowed are {', '.join(FAMILIES)}."
        )


def parse_size(text: str) -> tuple[float, float | None]:
    """Return width and height in millimetres of a text such as 85mm or 120x80.

    The height is None where the panels decide.

    >>> parse_size("85mm"), parse_size("120x80"), parse_size("120.5x80mm")
    ((85.0, None), (120.0, 80.0), (120.5, 80.0))
    """
    match = SIZE_TEXT.fullmatch(text.strip())
    try:
        width, height = (
            (None if part is None else float(part) for part in match.groups())
            if match
            else (None, None)
        )
    except ValueError:
        width = None
    if width is None or not math.isfinite(width):
        raise InputError(
            f"{text[:40]!r} is not a size; give a width such as {COLUMN:g}mm or {PAGE:g}mm, or "
            "width and height such as 120x80mm."
        )
    return width, height


def size_text(sheet: PageSize) -> str:
    """Return the text that `parse_size` reads; "" where the panels decide.

    >>> size_text(PageSize(85.0)), size_text(PageSize(120.0, 80.5)), size_text(PageSize())
    ('85mm', '120x80.5mm', '')
    """
    if sheet.width is None:
        return ""
    return f"{sheet.width:.15g}" + ("" if sheet.height is None else f"x{sheet.height:.15g}") + "mm"


# -------------------------------------------------------------------------------------------- films

FILM_SIZES = {"720p": (1280, 720), "1080p": (1920, 1080)}
MOST_TOGETHER = 4  # panels of a run
LEAST_SIZE, MOST_SIZE = (160, 120), (3840, 2160)
PIXELS_TEXT = re.compile(r"([0-9]{1,5})x([0-9]{1,5})")


def parse_pixels(text: str) -> tuple[int, int]:
    """Return width and height of a text such as 720p or 800x600.

    >>> parse_pixels("720p"), parse_pixels("800x600")
    ((1280, 720), (800, 600))
    """
    if text in FILM_SIZES:
        return FILM_SIZES[text]
    if not (match := PIXELS_TEXT.fullmatch(text.strip())):
        raise InputError(
            f"{text[:40]!r} is not a film size; give {', '.join(FILM_SIZES)} or one such as "
            "800x600."
        )
    return int(match[1]), int(match[2])


def kinds_of(panel: str) -> tuple[str, ...]:
    """Return the panels that a film's one text names: "all" are those of the papers' figure.

    >>> kinds_of("all"), kinds_of("margins,curves")
    (('neurons', 'rotations', 'norms', 'margins'), ('margins', 'curves'))
    """
    kinds = PANELS if panel == "all" else tuple(name.strip() for name in panel.split(","))
    if any(name not in EVERY_PANEL for name in kinds) or len(set(kinds)) < len(kinds):
        raise InputError(
            f"The panel {panel[:80]} does not exist; choose {', '.join(EVERY_PANEL)}, all, or up "
            f"to {MOST_TOGETHER} of them separated by commas."
        )
    if len(kinds) > MOST_TOGETHER:
        raise InputError(
            f"A film shows at most {MOST_TOGETHER} panels, but {len(kinds)} are given "
            f"({', '.join(kinds)}); leave some out."
        )
    return kinds


def encoder() -> str:
    """Return the encoder of MP4: that of the extra named movie, else the system's ffmpeg.

    Raises RuntimeError where the extra has none for this system.
    """
    if importlib.util.find_spec("imageio_ffmpeg") is None:
        return shutil.which("ffmpeg") or "ffmpeg"
    module: Any = importlib.import_module("imageio_ffmpeg")
    return str(module.get_ffmpeg_exe())


def mp4_problem() -> str:
    """Return why no .mp4 can be written here, as a sentence's middle; "" where one can."""
    if importlib.util.find_spec("imageio_ffmpeg") is None and shutil.which("ffmpeg") is None:
        return (
            "MP4 needs ffmpeg, which is not installed; install it, or pip install "
            "'marginscope[movie]'"
        )
    return ""
