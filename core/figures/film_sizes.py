"""The sizes of films in pixels."""

from __future__ import annotations

import importlib.util
import re

from core.errors import InputError

USUAL = {"720p": (1280, 720), "1080p": (1920, 1080)}
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


def mp4_problem() -> str:
    """Why no .mp4 can be written here, as a sentence's middle; empty where one can."""
    if importlib.util.find_spec("imageio_ffmpeg") is None:
        return (
            "an .mp4 needs the extra named movie, which is not installed; install it with "
            "pip install 'marginscope[movie]'"
        )
    return ""
