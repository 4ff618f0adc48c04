"""Runs as a page that plays, in a notebook or as a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from operator import index
from pathlib import Path
from typing import Any, TypedDict, final

from core.errors import InputError, did_you_mean
from core.figures.names import PAGE_FRAMES
from core.figures.options import FigureOptions
from core.figures.page import PageOptions, check_page, check_page_path, page_html, views_of
from core.figures.page_data import title_of
from core.figures.palette import LIGHT
from core.files import write_whole
from core.observables.planes import COORDINATES, parse_plane
from core.runs import Run
from marginscope._engine.boundary import public
from marginscope._engine.figures import drawn_margins, look_of
from marginscope._engine.margins import LIMIT_S

# Its scripts run, and reach nothing of the notebook: not its cells, its cookies or its kernel.
SANDBOX = "allow-scripts allow-downloads"
# Pixels of a frame 900 wide: title, controls and caption, and a line of four views. It is no higher
# than a screen, where the controls would be out of sight; what has no room is scrolled in it.
AROUND, LINE, IN_LINE, MOST = 210, 290, 4, 1000
LOWEST, HIGHEST = 200, 4000  # that can be asked for


class PlayerOptions(TypedDict, total=False):
    """What `player` may be told of a page; the names are those of `python -m core page`."""

    views: str | Iterable[str] | None
    frames: int
    title: str
    colours: str
    plane: str | None
    curves: str | Iterable[str] | None
    against: str | None
    margins: str | Iterable[str] | None
    limit: float
    height: int | None


@final
@dataclass(frozen=True, slots=True, repr=False)
class Player:
    """Runs as one page that plays them: `html` is that page, whole, as `save` writes it.

    A notebook shows it in a frame `height` pixels high, which the page cannot leave.
    """

    title: str
    html: str
    height: int

    @public
    def save(self, path: str | os.PathLike[str], /) -> Path:
        """Write the page (.html), completely or not at all; returns the path.

        The bytes are those of `python -m core page`. Raises InputError for another ending and a
        path that cannot be written, DiskError where the disk is full.
        """
        place = Path(path)
        check_page_path(place)
        write_whole(place, self.html.encode())
        return place

    def _repr_html_(self) -> str:
        style = f"width: 100%; height: {self.height}px; border: 0; display: block"
        words = escape(f"A figure that plays: {self.title}")
        return (
            f'<iframe class="marginscope" title="{words}" sandbox="{SANDBOX}" style="{style}" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<Player {self.title!r}: {len(self.html) / 1e6:.2f} MB; save writes it to a file>"


def play(open_runs: Callable[[], Sequence[Run]], options: PlayerOptions) -> Player:
    """Make the page that plays some runs, which are opened once the options are checked."""
    known = PlayerOptions.__annotations__
    lost = next((name for name in options if name not in known), None)
    if lost is not None:
        raise InputError(f"player has no option {lost!r:.60}; {did_you_mean(lost, known)}")
    limit, plane = options.get("limit", LIMIT_S), options.get("plane")
    page = PageOptions(
        _whole("frames", options.get("frames", PAGE_FRAMES)),
        str(options.get("title") or ""),
        str(options.get("colours", "system")),
    )
    which, height = _which(options), _asked_height(options.get("height"))
    runs = open_runs()  # once all else is known to be right: they may have to be trained
    views = _names(options, "views")
    views = views_of(runs) if views is None else views
    check_page(runs, views, page)  # before margins are computed, which takes a while
    looked = FigureOptions(
        LIGHT,
        COORDINATES if plane is None else parse_plane(plane),
        [drawn_margins(run, which, limit) for run in runs] if which else (),
        look=look_of(_names(options, "curves"), options.get("against"), runs),
    )
    title = "".join(text for text, _ in title_of(runs, page.title))
    html = page_html(runs, views, looked, page)
    return Player(title, html, height or _height(len(runs), len(views)))


def _names(options: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    """A name or several; None where none was given."""
    given = options.get(name)
    if given is None:
        return None
    return (given,) if isinstance(given, str) else tuple(map(str, given))


def _which(options: Mapping[str, Any]) -> tuple[str, ...]:
    which = _names(options, "margins")
    if which is None and "margins" not in options:
        return ("all",)
    return () if which == ("none",) else which or ()


def _whole(name: str, value: Any) -> int:
    try:
        return index(value)
    except TypeError:
        raise InputError(f"{name} = {value!r:.60}; a whole number is needed.") from None


def _asked_height(given: Any) -> int | None:
    if given is None:
        return None
    height = _whole("height", given)
    if not LOWEST <= height <= HIGHEST:
        raise InputError(f"height = {height} pixels; {LOWEST} to {HIGHEST} are possible.")
    return height


def _height(runs: int, views: int) -> int:
    return min(AROUND + LINE * runs * -(-views // IN_LINE), MOST)
