"""Last picture of a film, as a scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.figures.film import Interval, check_interval
from core.figures.film_scene import film_scene, film_size
from core.figures.material import compute_panel_data
from core.figures.names import kinds_of
from core.figures.numbers import math_text
from core.figures.options import USUAL, FigureOptions, check_view_options
from core.figures.primitives import FigureScene
from core.figures.scene import check_runs, choose_panels, last_frame
from core.numbers import time_text
from core.runs import Run


def film_still(
    runs: Sequence[Run],
    options: FigureOptions = USUAL,
    *,
    panel: str = "neurons",
    size: tuple[int, int] | None = None,
    follow: bool = True,
    interval: Interval | None = None,
    captions: bool = True,
) -> FigureScene:
    """Return the last picture of a film as a scene.

    Parameters
    ----------
    runs, options, panel, size, follow, interval, captions
        As of `core.figures.film.save_film`.

    Returns
    -------
    FigureScene

    Raises
    ------
    InputError
        Runs, panels or an interval of which no film can be made.
    """
    check_runs(runs)
    check_view_options(options.view, runs)
    if interval is not None:
        check_interval(runs, interval)
    kinds = choose_panels(kinds_of(panel), runs)
    lasts = [last_frame(run, None if interval is None else interval[1]) for run in runs]
    material = compute_panel_data(runs, kinds, lasts, options)
    size = size or film_size(len(runs), len(kinds))
    scene, data, _, clock = film_scene(material, kinds, size, captions)
    panels = []
    for one, dots in zip(scene.panels, data, strict=True):
        if follow and one.kind == "neurons" and options.view.region(one.row, "neurons") is None:
            now = material.follow_nodes(one.row, lasts[one.row], one.box)
            panels.append(replace(now, title=one.title))
        else:
            panels.append(replace(one, ink=material.ink(one, lasts[one.row], dots)))
    texts = scene.texts
    if clock is not None:
        time = max(float(run.log10_time[last]) for run, last in zip(runs, lasts, strict=True))
        text = math_text(time_text(time, material.time.steps, padded=True))
        texts = (*texts, replace(clock, text=text))
    return replace(scene, panels=tuple(panels), texts=texts)
