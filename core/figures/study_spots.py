"""Points of a study's figure that represent runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from core.figures.primitives import FigureScene
from core.figures.study_axes import scales_of
from core.studies.layout import PICTURES, FigureLayout
from core.studies.panel_lines import Line


@final
@dataclass(frozen=True, slots=True)
class Spot:
    """A point of a figure in millimetres from the top left corner, the mean of `count` runs.

    `name` is the first of these runs, or that of the whole line where `of_line`.
    """

    left: float
    top: float
    name: str
    mean: float
    count: int
    of_line: bool


def spots_of(
    scene: FigureScene, layout: FigureLayout, every_line: Sequence[Sequence[Line]]
) -> tuple[Spot, ...]:
    """Return the points of a figure that represent runs.

    Parameters
    ----------
    scene : FigureScene
        Figure of the lines, by `scene_of_lines`.
    layout : FigureLayout
        Panels of the figure.
    every_line : sequence of sequences of Line
        Lines of each panel.

    Returns
    -------
    tuple of Spot
        Points within the frames of their panels.
    """
    spots = []
    for panel, own, lines in zip(scene.panels, layout.panels, every_line, strict=True):
        for line in lines if own.kind not in PICTURES else ():
            x_scale, y_scale = scales_of(own, lines)
            xs = (x_scale.place(line.x) - panel.x.low) / (panel.x.high - panel.x.low)
            ys = (y_scale.place(line.mean) - panel.y.low) / (panel.y.high - panel.y.low)
            of_line = len(line.names) != line.x.size
            for k in np.flatnonzero((abs(xs - 0.5) <= 0.5) & (abs(ys - 0.5) <= 0.5)):
                x = panel.box.left + float(xs[k]) * panel.box.width
                top = panel.box.top + (1.0 - float(ys[k])) * panel.box.height
                name, mean = line.names[0 if of_line else k], float(line.mean[k])
                spots.append(Spot(x, top, name, mean, int(line.count[k]), of_line))
    return tuple(spots)
