"""Figures of runs, and runs as a page that plays: options, scenes and files."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import Any, Literal, TypedDict, final

import numpy as np

from core.errors import InputError, did_you_mean
from core.figures.export import (
    SUFFIXES,
    check_figure_path,
    check_resolution,
    figure_bytes,
    save_figure,
)
from core.figures.names import ACROSS, PAGE_FRAMES, PANELS, PageSize
from core.figures.options import FIRST_CURVES, FigureOptions, ViewOptions
from core.figures.page import PageOptions, check_page, page_html, views_of
from core.figures.page_data import frames_of, title_of
from core.figures.palette import DARK, LIGHT
from core.figures.primitives import FigureScene
from core.figures.scene import build_scene
from core.library.run_notes import read_about
from core.observables.observable import Shape
from core.observables.planes import COORDINATES, parse_plane
from core.observables.registry import numbers_of, observable_in, of_shape
from core.problem.schedule import parse_time
from core.reference.margin import ReferenceMargin
from core.runs import Run
from marginscope._engine.margins import LIMIT_S, Margins
from marginscope._engine.player import Player

Kind = Literal["png", "svg", "pdf"]


@final
@dataclass(frozen=True, slots=True)
class Options:
    """Options of `figure` for the panels of runs; a study's own layout is only the default."""

    panels: tuple[str, ...] | None = None
    until: float | str | None = None
    plane: str | None = None
    curves: tuple[str, ...] | None = None
    against: str | None = None
    margins: tuple[str, ...] = ()
    limit: float = LIMIT_S
    width_mm: float | None = None
    height_mm: float | None = None
    caption: bool = True
    notes: bool = False


PLAIN = Options()


def draw(
    scene: Callable[[], FigureScene], path: str | os.PathLike[str] | None, kind: Kind, dpi: float
) -> Path | bytes:
    """Draw a scene into a file, or return it as bytes.

    Parameters
    ----------
    scene : callable
        Makes the scene; called after all other arguments are checked, since it may train a study.
    path : path or None
        File to write (.pdf, .svg or .png).
    kind : str
        "png", "svg" or "pdf": format of the bytes without a path.
    dpi : float
        Resolution of PNGs in dots per inch.

    Returns
    -------
    Path or bytes
        The path, or the bytes if there is none.

    Raises
    ------
    InputError
        Another suffix or kind, or too many pixels.
    """
    place = None if path is None else Path(path)
    if place is not None:
        check_figure_path(place)
    elif f".{kind}" not in SUFFIXES:
        raise InputError(f"kind = {kind!r:.40}; choose 'png', 'svg' or 'pdf'.")
    result = scene()  # last: it may have to be trained, and everything else is valid by now
    if place is None:
        check_resolution(result, f".{kind}", dpi)
        return bytes(figure_bytes(result, f".{kind}", dpi))
    save_figure(result, place, dpi=dpi)
    return place


def _check_names(function: str, names: Iterable[str], allowed: Iterable[str]) -> None:
    """Raise InputError for an option that a function does not have."""
    unknown = next((name for name in names if name not in allowed), None)
    if unknown is not None:
        raise InputError(
            f"{function} has no option {unknown!r:.60}; {did_you_mean(unknown, allowed)}"
        )


def options_of(values: Mapping[str, Any]) -> Options:
    """Return the options of a figure from keyword arguments. Raises InputError for unknown ones."""
    _check_names("figure", values, Options.__dataclass_fields__)
    names = ("panels", "curves", "margins")
    return Options(**{**values, **{k: v for k in names if (v := _names(values, k)) is not None}})


def scene_of(runs: Sequence[Run], options: Options, dark: bool = False) -> FigureScene:
    """Build the figure of some runs, one a row.

    Parameters
    ----------
    runs : sequence of Run
        One to ten runs, each with a frame.
    options : Options
        Panels and what they show.
    dark : bool
        True for light lines on a dark ground.

    Returns
    -------
    FigureScene

    Raises
    ------
    InputError
        Unknown panels, curves, margins or planes, or a run without frames.
    """
    return build_scene(
        runs,
        PANELS if options.panels is None else options.panels,
        _moment(options.until),
        FigureOptions(
            DARK if dark else LIGHT,
            COORDINATES if options.plane is None else parse_plane(options.plane),
            [drawn_margins(run, options.margins, options.limit) for run in runs]
            if options.margins
            else (),
            view=make_view_options(options.curves, options.against, runs),
            sheet=PageSize(options.width_mm, options.height_mm, caption=options.caption),
            notes=[read_about(run.path).moments for run in runs] if options.notes else (),
        ),
    )


def _moment(until: float | str | None) -> float | None:
    """Return log10 t of the last moment shown; None for the end of the run."""
    if until is None:
        return None
    time = parse_time(until if isinstance(until, str) else repr(float(until)))
    if time is None or math.isnan(time):
        raise InputError(f"until = {until!r:.60} is not a time; give t, or text such as '10^2.5'.")
    return time


def make_view_options(
    curves: tuple[str, ...] | None, against: str | None, runs: Sequence[Run] = ()
) -> ViewOptions:
    """Check the curves of the panel "curves", and return the figure's style options.

    Parameters
    ----------
    curves : tuple of str or None
        Observables of one number a frame; None for the usual ones.
    against : str or None
        "log10_time" (as None), "step" or "norm_squared".
    runs : sequence of Run
        Runs whose own numbers, which recorded loops passed, are allowed too.

    Returns
    -------
    ViewOptions

    Raises
    ------
    InputError
        A curve that neither the program nor the runs have.
    """
    curves = FIRST_CURVES if curves is None else curves
    numbers = dict.fromkeys(item.name for run in runs for item in numbers_of(run))
    names = [*(item.name for item in of_shape(Shape.SCALAR)), *numbers]
    for name in curves:
        if name not in names and observable_in(runs, name) is None:
            raise InputError(
                f"The curve {name!r:.60} does not exist; {did_you_mean(str(name), names)}"
            )
    return ViewOptions(tuple(curves), against=ACROSS[0] if against is None else against)


def drawn_margins(
    run: Run, margin_names: Sequence[str], limit: float
) -> tuple[ReferenceMargin, ...]:
    """Compute the reference margins that a figure draws among the margins of a run.

    Parameters
    ----------
    run : Run
        Its data and network define the margins.
    margin_names : sequence of str
        Names of reference margins, or ("all",).
    limit : float
        Seconds for each margin, above 0.

    Returns
    -------
    tuple of ReferenceMargin
        Those that have a number and are comparable with the run's margins.

    Raises
    ------
    InputError
        A margin that is not defined for the run.
    """
    names: Iterable[str] | None = None if tuple(margin_names) == ("all",) else margin_names
    margins = Margins(run.problem, names, limit)
    return tuple(one for one in map(margins.compute_margin, margins) if one.is_drawable)


# ------------------------------------------------------------------------------- pages that play

# Pixel heights for a frame 900 wide: title, controls and caption, and a line of four views. At most
# a screen, so that the controls stay visible; the rest is scrolled.
AROUND, LINE, IN_LINE, MOST = 210, 290, 4, 1000
LOWEST, HIGHEST = 200, 4000  # range of heights that a user may choose


class PlayerOptions(TypedDict, total=False):
    """Options of `player`; the names are those of `python -m core page`."""

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


def play(open_runs: Callable[[], Sequence[Run]], options: PlayerOptions) -> Player:
    """Make the page that plays some runs, which are opened once the options are checked."""
    _check_names("player", options, PlayerOptions.__annotations__)
    limit, plane = options.get("limit", LIMIT_S), options.get("plane")
    page = PageOptions(
        _check_whole_number("frames", options.get("frames", PAGE_FRAMES)),
        str(options.get("title") or ""),
        str(options.get("colours", "system")),
    )
    names, height = _parse_which(options), _check_height(options.get("height"))
    runs = open_runs()  # last: they may have to be trained, and everything else is valid by now
    views = _names(options, "views")
    views = views_of(runs) if views is None else views
    check_page(runs, views, page)  # before margins are computed, which takes long
    figure_options = FigureOptions(
        LIGHT,
        COORDINATES if plane is None else parse_plane(plane),
        [drawn_margins(run, names, limit) for run in runs] if names else (),
        view=make_view_options(_names(options, "curves"), options.get("against"), runs),
    )
    title = "".join(text for text, _ in title_of(runs, page.title))
    html = page_html(runs, views, figure_options, page)
    frames = frames_of(runs, page.frames)
    times = [run.log10_time[some] for run, some in zip(runs, frames, strict=True)]
    moments = tuple(np.max(times, axis=0).tolist())
    return Player(title, html, height or _height(len(runs), len(views)), moments)


def _names(options: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    """Return a name or several as a tuple; None where none was given."""
    names = options.get(name)
    if names is None:
        return None
    return (names,) if isinstance(names, str) else tuple(map(str, names))


def _parse_which(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of margins to draw: ("all",) by default, () for None or "none"."""
    names = _names(options, "margins")
    if names is None and "margins" not in options:
        return ("all",)
    return () if names == ("none",) else names or ()


def _check_whole_number(name: str, value: Any) -> int:
    """Return an option as an int. Raises InputError for other than whole numbers."""
    try:
        return index(value)
    except TypeError:
        raise InputError(f"{name} = {value!r:.60}; give a whole number.") from None


def _check_height(value: Any) -> int | None:
    """Return a height in pixels; None for the default. Raises InputError outside of the range."""
    if value is None:
        return None
    height = _check_whole_number("height", value)
    if not LOWEST <= height <= HIGHEST:
        raise InputError(f"height = {height} pixels; give {LOWEST} to {HIGHEST}.")
    return height


def _height(runs: int, views: int) -> int:
    """Return the height in pixels of a page 900 wide, at most a screen."""
    return min(AROUND + LINE * runs * -(-views // IN_LINE), MOST)
