"""Figures of runs as frozen values: pure functions of recorded frames, drawn by core.figures.draw.

`build_scene` lays out a page for a paper, `Material` holds what films share with it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.figures.labels import headings, settings_line, titles
from core.figures.layout import POINTS, captions, page
from core.figures.margin_curves import (
    MarginTraces,
    margin_axis,
    margin_ink,
    margin_panel,
    margin_traces,
    math_label,
)
from core.figures.names import PANELS
from core.figures.neurons import (
    Track,
    followed,
    neurons_ink,
    neurons_panel,
    track,
    trail_frames,
)
from core.figures.palette import LIGHT, Palette
from core.figures.primitives import Axis, Box, Dots, FigureScene, Ink, Panel
from core.figures.sorted_nodes import Chosen, sorted_ink, sorted_panel, value_axis
from core.figures.time_axis import Moments, TimeAxis, moments, time_axis
from core.observables.node_sets import NodeSet
from core.observables.planes import COORDINATES, PLANES, NodePlane
from core.observables.projection import Projection, checked_projection
from core.reference.margin import ReferenceMargin
from core.reference.share import Promise, scaled
from core.runs import Run

# Of four panels each, so that letters are enough.
MOST_ROWS = 6
LETTERS = "abcdefghijklmnopqrstuvwxyz"
SORTED = ("rotations", "norms")
Selected = Sequence[NodeSet | None]


def check_panels(panels: Sequence[str]) -> tuple[str, ...]:
    """The names of panels, in the order given.

    Raises InputError for unknown or repeated names, or none.
    """
    wrong = [name for name in panels if name not in PANELS]
    if wrong or not panels or len(set(panels)) < len(panels):
        given = ", ".join(panels) or "none"
        raise InputError(f"The panels {given}: name one or more of {', '.join(PANELS)}, each once.")
    return tuple(panels)


def check_runs(runs: Sequence[Run]) -> None:
    """InputError unless there are one to six runs, each with a frame."""
    if not runs:
        raise InputError("There is no run to show; give at least one run file.")
    if len(runs) > MOST_ROWS:
        raise InputError(
            f"A figure shows at most {MOST_ROWS} runs, one a row, and {len(runs)} were given; "
            "choose some of them or make several figures."
        )
    for run in runs:
        if run.frames == 0:
            raise InputError(f"{run.path} has no frames yet; wait for the first or run it again.")


def last_frame(run: Run, until: int | float | None) -> int:
    """The last frame to show: `until` is a frame's number (int), log10 t (float), or None for all.

    Raises InputError when the run has no such frame.
    """
    count = run.frames
    if until is None:
        return count - 1
    if isinstance(until, int):
        if not 0 <= until < count:
            raise InputError(f"{run.path} has no frame {until}; its frames are 0 to {count - 1}.")
        return until
    if math.isnan(until):
        raise InputError("The last moment must be a number: log10 t, such as 3.0 for t = 1000.")
    # A moment that was typed as a decimal is reached by the frame that stands at it.
    return max(int(np.searchsorted(run.log10_time[:count], until + 1e-9, side="right")) - 1, 0)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """All that the panels of some runs show, computed once: tracks, traces, axes and moments.

    `lasts` are the last frames; tracks, traces and axes of panels that are not shown are left out.
    """

    runs: tuple[Run, ...]
    lasts: tuple[int, ...]
    palette: Palette
    projections: tuple[Projection, ...]
    time: TimeAxis
    moments: Moments
    moment_frames: tuple[tuple[int, ...], ...]
    tracks: tuple[Track, ...]
    traces: tuple[MarginTraces, ...]
    axes: dict[str, Axis]
    references: tuple[tuple[ReferenceMargin, ...], ...] = ()
    chosen: tuple[Chosen | None, ...] = ()

    def _chosen(self, row: int) -> Chosen | None:
        return self.chosen[row] if row < len(self.chosen) else None

    def panel(self, row: int, kind: str, letter: str, box: Box) -> tuple[Panel, tuple[Dots, ...]]:
        """A panel at the last frame, and the dots of the data in it."""
        run = self.runs[row]
        if kind == "neurons":
            nodes = self.tracks[row]
            return neurons_panel(row, letter, box, nodes, self.projections[row], self.palette)
        y = self.axes[kind]
        if kind == "margins":
            drawn = self.references[row] if row < len(self.references) else ()
            traces = self.traces[row]
            return margin_panel(row, letter, box, traces, self.time, y, self.palette, drawn), ()
        frames = self.moment_frames[row]
        moments, palette, chosen = self.moments, self.palette, self._chosen(row)
        panel = sorted_panel(run, row, kind, letter, box, y, frames, moments, palette, chosen)
        return panel, ()

    def followed(self, row: int, index: int, box: Box) -> Panel:
        """The panel of the neurons at one of the track's frames, in the range of that moment."""
        nodes, palette = self.tracks[row], self.palette
        position = int(np.searchsorted(nodes.frames, index))
        seen = followed(nodes, position)
        return neurons_panel(row, "", box, seen, self.projections[row], palette, position)[0]

    def ink(self, row: int, kind: str, index: int, data: Sequence[Dots]) -> Ink:
        """What a panel shows at a frame; for neurons one of the track's frames."""
        if kind == "neurons":
            nodes = self.tracks[row]
            position = int(np.searchsorted(nodes.frames, index))
            return neurons_ink(nodes, position, data, self.palette)
        if kind == "margins":
            traces = self.traces[row]
            # Traces are thinned: the last of their frames that the film has reached.
            count = int(np.searchsorted(traces.frames, index, side="right"))
            return margin_ink(traces, count, self.time, self.axes[kind], self.palette)
        past = [frame for frame in self.moment_frames[row] if frame < index]
        run, chosen, shown = self.runs[row], self._chosen(row), [*past, index]
        return sorted_ink(run, kind, shown, self.moments, self.palette, chosen)


def gather(
    runs: Sequence[Run],
    panels: Sequence[str],
    lasts: Sequence[int],
    palette: Palette,
    plane: NodePlane,
    shown: Sequence[NDArray[np.int64]] | None = None,
    references: Sequence[Sequence[ReferenceMargin]] = (),
    selected: Selected = (),
    promises: Sequence[Promise | None] = (),
) -> Material:
    """Compute what some panels show; `shown` are the frames of each run that a film stops at.

    `references` are the reference margins of each run, to be lines among its margins, `selected`
    the nodes of each beside which the others are dim, and `promises` what its margins are shown as
    shares of.
    """
    promises = [*promises, *[None] * (len(runs) - len(promises))]
    references = _among_shares(promises, references)
    chosen = tuple(_mask(run, nodes) for run, nodes in zip(runs, selected, strict=False))
    axis = time_axis(runs, lasts)
    times = moments(runs, lasts, axis)
    frames = tuple(times.frames(run, last) for run, last in zip(runs, lasts, strict=True))
    tracks: list[Track] = []
    traces: list[MarginTraces] = []
    axes: dict[str, Axis] = {}
    projections: list[Projection] = []
    if "neurons" in panels:
        for row, (run, last) in enumerate(zip(runs, lasts, strict=True)):
            projections.append(checked_projection(run, plane))
            stops = trail_frames(last, run.network.m) if shown is None else shown[row]
            mask = chosen[row] if row < len(chosen) else None
            tracks.append(replace(track(projections[-1], stops), chosen=mask))
    if "margins" in panels:
        traces = [
            margin_traces(run, last, one)
            for run, last, one in zip(runs, lasts, promises, strict=True)
        ]
        lines = [one for margins in references for one in margins]
        axes["margins"] = margin_axis(traces, axis, lines)
    for kind in SORTED:
        if kind in panels:
            axes[kind] = value_axis(runs, kind, frames)
    return Material(
        tuple(runs),
        tuple(lasts),
        palette,
        tuple(projections),
        axis,
        times,
        frames,
        tuple(tracks),
        tuple(traces),
        axes,
        tuple(tuple(margins) for margins in references),
        chosen,
    )


def _among_shares(
    promises: Sequence[Promise | None], references: Sequence[Sequence[ReferenceMargin]]
) -> list[tuple[ReferenceMargin, ...]]:
    """The lines among the margins of each run; what they are shares of is always there, at 1."""
    rows = []
    for row, promise in enumerate(promises):
        margins = tuple(references[row]) if row < len(references) else ()
        if promise is not None and promise.margin is not None:
            added = () if promise.margin in margins else (promise.margin,)
            margins = scaled((*margins, *added), promise.scale)
        rows.append(margins)
    return rows


def _mask(run: Run, nodes: NodeSet | None) -> Chosen | None:
    """Which nodes of a run are selected, (m,); None where none of its nodes are."""
    m = int(run.network.m)
    mine = [node for node in nodes.nodes if node < m] if nodes is not None else []
    mask = np.zeros(m, dtype=np.bool_)
    mask[mine] = True
    return mask if mine else None


def selection_words(material: Material, selected: Selected) -> str:
    """What is selected in the runs of a figure, as a sentence of its caption; or nothing."""
    parts = []
    for nodes, mask in zip(selected, material.chosen, strict=False):
        if nodes is not None and mask is not None:
            name = f" ({nodes.name})" if nodes.name else ""
            parts.append(f"{int(mask.sum())} of {mask.size} nodes{name}")
    return f" Selected: {'; '.join(parts)}; all others are dim." if parts else ""


def share_words(material: Material) -> str:
    """What margins are divided by, as a sentence of a figure's caption; or nothing."""
    names = {traces.share_of for traces in material.traces} - {""}
    parts = ", ".join(math_label(name) for name in sorted(names))
    return f" Margins are divided by {parts}, which lies at 1 with its bracket." if names else ""


def build_scene(
    runs: Sequence[Run],
    panels: Sequence[str] = PANELS,
    until: int | float | None = None,
    palette: Palette = LIGHT,
    plane: NodePlane = COORDINATES,
    references: Sequence[Sequence[ReferenceMargin]] = (),
    selected: Selected = (),
    promises: Sequence[Promise | None] = (),
) -> FigureScene:
    """A page with one row a run and one column a panel, 180 mm wide for three or four panels.

    `until` is the last frame (int) or the last log10 t (float) shown, None for all; `plane`
    is that of the trajectories. Rotations, norms, margins and colours of time share their
    scales between the rows; trajectories have a scale of their own.
    `references` are reference margins for each run, drawn as lines among its margins, and
    `selected` nodes of each run beside which the others are dim; with `promises` margins are shares
    of what is promised of each run (core.reference.share).

    Raises InputError for unknown panels, no or more than six runs, or a plane that a
    run does not have.
    """
    panels = check_panels(panels)
    check_runs(runs)
    lasts = [last_frame(run, until) for run in runs]
    material = gather(runs, panels, lasts, palette, plane, None, references, selected, promises)
    title, source = titles(runs)
    letters = {
        (row, kind): LETTERS[row * len(panels) + column]
        for row in range(len(runs))
        for column, kind in enumerate(panels)
    }
    by_kind = [(", ".join(letters[row, kind] for row in range(len(runs))), kind) for kind in panels]
    origin = f"Source: {source}. " if source else ""
    several = any(run.dataset.classes > 2 for run in runs)
    words = "two coordinates"
    if plane.kind != "coordinates":
        words = f"a plane ({PLANES[plane.kind].title.lower()})"
    caption = captions(by_kind, palette, several, words) + selection_words(material, selected)
    caption += share_words(material) if "margins" in panels else ""
    footer = (f"{origin}Settings: {settings_line(runs, lasts)}.", caption)
    sheet = page(headings(runs), len(panels), title, footer)
    drawn = tuple(
        material.panel(row, kind, letters[row, kind], sheet.boxes[row][column])[0]
        for row in range(len(runs))
        for column, kind in enumerate(panels)
    )
    return FigureScene(sheet.width, sheet.height, POINTS, title, palette, drawn, sheet.texts)
