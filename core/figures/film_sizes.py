"""The sizes of films in pixels."""

from __future__ import annotations

import importlib
import importlib.util
import re
import shutil
from typing import Any

from core.errors import InputError
from core.figures.names import EVERY_PANEL, PANELS

USUAL = {"720p": (1280, 720), "1080p": (1920, 1080)}
MOST_TOGETHER = 4  # panels of a run
LEAST, MOST = (160, 120), (3840, 2160)
PIXELS = re.compile(r"([0-9]{1,5})x([0-9]{1,5})")


def parse_pixels(text: str) -> tuple[int, int]:
    """Width and height of a text such as 720p or 800x600.

    >>> parse_pixels("720p"), parse_pixels("800x600")
    ((1280, 720), (800, 600))
    """
    if text in USUAL:
        return USUAL[text]
    if not (match := PIXELS.fullmatch(text.strip())):
        raise InputError(
            f"{text[:40]!r} is no size of a film; give {', '.join(USUAL)} or one such as 800x600."
        )
    return int(match[1]), int(match[2])


def kinds_of(panel: str) -> tuple[str, ...]:
    """The panels that a film's one text names: "all" are those of the papers' figure.

    >>> kinds_of("all"), kinds_of("margins,curves")
    (('neurons', 'rotations', 'norms', 'margins'), ('margins', 'curves'))
    """
    kinds = PANELS if panel == "all" else tuple(name.strip() for name in panel.split(","))
    if any(name not in EVERY_PANEL for name in kinds) or len(set(kinds)) < len(kinds):
        raise InputError(
            f"The panel {panel[:80]}: a film shows {', '.join(EVERY_PANEL)} or all, or up to "
            f"{MOST_TOGETHER} of them together, with commas between them."
        )
    if len(kinds) > MOST_TOGETHER:
        raise InputError(
            f"A film shows at most {MOST_TOGETHER} panels together, and these are {len(kinds)}: "
            f"{', '.join(kinds)}; leave some out."
        )
    return kinds


def encoder() -> str:
    """The program that encodes MP4: that of the extra named movie, else the ffmpeg of the system.

    Raises RuntimeError where the extra has none for this system.
    """
    if importlib.util.find_spec("imageio_ffmpeg") is None:
        return shutil.which("ffmpeg") or "ffmpeg"
    module: Any = importlib.import_module("imageio_ffmpeg")
    return str(module.get_ffmpeg_exe())


def mp4_problem() -> str:
    """Why no .mp4 can be written here, as a sentence's middle; empty where one can."""
    if importlib.util.find_spec("imageio_ffmpeg") is None and shutil.which("ffmpeg") is None:
        return (
            "an .mp4 needs the extra named movie, which is not installed; install it with "
            "pip install 'marginscope[movie]', or install ffmpeg"
        )
    return ""
