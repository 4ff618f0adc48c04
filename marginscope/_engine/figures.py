"""Figures of runs: options, scenes and files."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, final

from core.errors import InputError, did_you_mean
from core.figures.export import (
    SUFFIXES,
    check_figure_path,
    check_resolution,
    figure_bytes,
    save_figure,
)
from core.figures.names import ACROSS, PANELS, Sheet
from core.figures.options import FIRST_CURVES, FigureOptions, Look
from core.figures.palette import DARK, LIGHT
from core.figures.primitives import FigureScene
from core.figures.scene import build_scene
from core.observables.observable import Shape
from core.observables.planes import COORDINATES, parse_plane
from core.observables.registry import numbers_of, observable_in, of_shape
from core.problem.schedule import parse_time
from core.reference.margin import ReferenceMargin
from core.runs import Run
from marginscope._engine.margins import LIMIT_S, Margins

Kind = Literal["png", "svg", "pdf"]


@final
@dataclass(frozen=True, slots=True)
class Options:
    """What is said of the panels of runs; a study's own layout is only the default."""

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


PLAIN = Options()


def draw(
    scene: Callable[[], FigureScene], path: str | os.PathLike[str] | None, kind: Kind, dpi: float
) -> Path | bytes:
    """Draw a scene into a file, or as bytes. Raises InputError for another ending or kind."""
    place = None if path is None else Path(path)
    if place is not None:
        check_figure_path(place)
    elif f".{kind}" not in SUFFIXES:
        raise InputError(f"kind = {kind!r:.40}; 'png', 'svg' and 'pdf' are possible.")
    made = scene()  # once all else is known to be right: it may have to be trained
    if place is None:
        check_resolution(made, f".{kind}", dpi)
        return bytes(figure_bytes(made, f".{kind}", dpi))
    save_figure(made, place, dpi=dpi)
    return place


def options_of(given: Mapping[str, Any]) -> Options:
    known = Options.__dataclass_fields__
    lost = next((name for name in given if name not in known), None)
    if lost is not None:
        raise InputError(f"figure has no option {lost!r:.60}; {did_you_mean(lost, known)}")
    lists = {
        name: (value,) if isinstance(value := given[name], str) else tuple(value)
        for name in ("panels", "curves", "margins")
        if given.get(name) is not None
    }
    return Options(**{**given, **lists})


def scene_of(runs: Sequence[Run], options: Options, dark: bool = False) -> FigureScene:
    """The scene of runs, one a row."""
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
            look=look_of(options.curves, options.against, runs),
            sheet=Sheet(options.width_mm, options.height_mm, caption=options.caption),
        ),
    )


def _moment(until: float | str | None) -> float | None:
    """log10 t of the last moment shown."""
    if until is None:
        return None
    time = parse_time(until if isinstance(until, str) else repr(float(until)))
    if time is None or math.isnan(time):
        raise InputError(f"until = {until!r:.60} is no time; give t, or a text such as '10^2.5'.")
    return time


def look_of(curves: tuple[str, ...] | None, against: str | None, runs: Sequence[Run] = ()) -> Look:
    """The curves of the panel of that name, the usual ones for None, against what they stand.
    Numbers that recorded loops passed are those of the `runs`."""
    curves = FIRST_CURVES if curves is None else curves
    numbers = dict.fromkeys(item.name for run in runs for item in numbers_of(run))
    known = [*(item.name for item in of_shape(Shape.SCALAR)), *numbers]
    for name in curves:
        if name not in known and observable_in(runs, name) is None:
            raise InputError(f"There is no curve {name!r:.60}; {did_you_mean(str(name), known)}")
    return Look(tuple(curves), against=ACROSS[0] if against is None else against)


def drawn_margins(run: Run, which: Sequence[str], limit: float) -> tuple[ReferenceMargin, ...]:
    """The reference margins of a run by their names, or ("all",), that stand among its own."""
    names: Iterable[str] | None = None if tuple(which) == ("all",) else which
    margins = Margins(run.problem, names, limit)
    return tuple(one for one in map(margins.computed, margins) if one.drawable)
