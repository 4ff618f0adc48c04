"""Material of figures, films and pages: all that the panels of some runs show, computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.figures.bounds import bound_at_frames, end_label
from core.figures.kernel_panel import KIND as KERNEL
from core.figures.kernel_panel import KernelPanel
from core.figures.margin_curves import (
    MarginTraces,
    margin_axis,
    margin_ink,
    margin_panel,
    margin_traces,
)
from core.figures.neurons import neurons_ink, neurons_panel
from core.figures.options import FigureOptions, Region
from core.figures.palette import Palette, with_opacity
from core.figures.predictor import PredictorPanel, widen
from core.figures.primitives import Axis as PanelAxis
from core.figures.primitives import Box, Dots, Marker, Panel, PanelContent
from core.figures.sorted_panel import Chosen, sorted_ink, sorted_panel, value_axis
from core.figures.ticks import with_range
from core.figures.time_axis import Across, Moments, TimeAxis, horizontal_axis, moments, time_axis
from core.figures.trace_panels import TracePanel, line
from core.figures.trace_values import curves_panels, spectrum_panels
from core.figures.tracks import Track, follow_nodes, track, trail_frames
from core.figures.wave_panel import KINDS as WAVES
from core.figures.wave_panel import WavePanel
from core.observables.node_sets import NodeSet
from core.observables.planes import COORDINATES
from core.observables.projection import Projection, checked_projection
from core.runs import Run

SORTED = ("rotations", "norms")
FAINT = 0.3  # opacity of curves after the present moment, as on the screen


@final
@dataclass(frozen=True, slots=True, eq=False)
class PanelData:
    """Tracks, traces, axes and moments of the panels of some runs, a row each.

    `lasts` are the last frames, and `moment_frames` those of the moments that sorted values show.
    `axes` are the vertical ones of margins and sorted values, and `chosen` the masks (m,) of
    selected neurons, None without a selection. Parts of panels that are not shown are left out.
    """

    runs: tuple[Run, ...]
    lasts: tuple[int, ...]
    shown: FigureOptions
    projections: tuple[Projection, ...]
    time: TimeAxis
    across: Across
    moments: Moments
    moment_frames: tuple[tuple[int, ...], ...]
    tracks: tuple[Track, ...]
    margins: tuple[MarginTraces, ...]
    traces: dict[str, TracePanel]
    axes: dict[str, PanelAxis]
    chosen: tuple[Chosen | None, ...] = ()

    @property
    def palette(self) -> Palette:
        """Colours of the panels."""
        return self.shown.palette

    def _selection_of(self, row: int) -> Chosen | None:
        return self.chosen[row] if row < len(self.chosen) else None

    def predictor(self, row: int) -> PredictorPanel:
        """Return the predictor of a run on the coordinates of the figure's plane.

        A plane that is not one of two coordinates has none: the predictor is on the first two.
        """
        plane, region = self.shown.plane, self.shown.view.region(row, "predictor")
        first, second = (plane if plane.kind == "coordinates" else COORDINATES).numbers
        run, last = self.runs[row], self.lasts[row]
        return PredictorPanel(run, (first, second), self.palette, last, region)

    def waves(self, row: int, kind: str) -> WavePanel:
        """Return the waves or the phases of a run's neurons."""
        pins = self.shown.view.pins(row)
        return WavePanel(self.runs[row], kind, self.palette, self.lasts[row], pins)

    def kernel(self, row: int) -> KernelPanel:
        """Return the tangent kernel of a run."""
        return KernelPanel(self.runs[row], self.palette, self.lasts[row])

    def panel(self, row: int, kind: str, letter: str, box: Box) -> tuple[Panel, tuple[Dots, ...]]:
        """Build a panel at the last frame of its run.

        Parameters
        ----------
        row : int
            Row of the run.
        kind : str
            A name of EVERY_PANEL; its material must be computed.
        letter : str
            Letter, "" for none.
        box : Box
            Box in millimetres.

        Returns
        -------
        panel : Panel
        data : tuple of Dots
            Dots of the data in it.
        """
        panel, data = self._build_panel(row, kind, letter, box)
        if kind in ("margins", *self.traces) and self._continues(row):
            panel = replace(panel, ink=self._with_rest(panel, row))
        region = self.shown.view.region(row, kind)
        if region is None or kind == "predictor":
            return panel, data
        return self._crop_to(panel, region), data

    def _continues(self, row: int) -> bool:
        return self.shown.view.rest and self.lasts[row] < self.runs[row].frames - 1

    def _with_rest(self, panel: Panel, row: int) -> PanelContent:
        """Return the content of a panel up to the last frame, and faint curves after it."""
        full, now = panel.ink, self.ink(panel, self.lasts[row], ())
        later = [replace(one, colours=with_opacity(one.colours, FAINT)) for one in full.curves]
        # The ring is drawn as on the screen, also if the moment is later.
        names = {dots.name for dots in now.dots}
        rings = [one for one in full.dots if one.marker is Marker.RING and one.name not in names]
        return replace(
            now, curves=(*later, *now.curves), dots=(*now.dots, *rings), words=full.words
        )

    def _build_panel(
        self, row: int, kind: str, letter: str, box: Box
    ) -> tuple[Panel, tuple[Dots, ...]]:
        run, palette, pins = self.runs[row], self.palette, self.shown.view.pins(row)
        if kind == "neurons":
            nodes = self.tracks[row]
            return neurons_panel(row, letter, box, nodes, self.projections[row], palette)
        if kind == "predictor":
            return self.predictor(row).panel(row, letter, box), ()
        if kind == KERNEL:
            return self.kernel(row).panel(row, letter, box), ()
        if kind in WAVES:
            return self.waves(row, kind).panel(row, letter, box), ()
        if kind in self.traces:
            return self.traces[kind].panel(row, letter, box), ()
        y = self.axes[kind]
        if kind == "margins":
            references, points = self.shown.references_of(row), self.shown.sheet.points
            own, x = self.margins[row], self.across
            panel = margin_panel(row, letter, box, own, x, y, palette, references, points)
            return replace(panel, ink=self._add_bounds(row, panel.ink, own.frames.size)), ()
        frames, chosen = self.moment_frames[row], self._selection_of(row)
        panel = sorted_panel(
            run, row, kind, letter, box, y, frames, self.moments, palette, chosen, pins
        )
        return panel, ()

    def _add_bounds(self, row: int, ink: PanelContent, count: int) -> PanelContent:
        """Add the bounds of statements to the margins."""
        traces, palette = self.margins[row], self.palette
        bounds = [one for one in self.shown.view.bounds_of(row) if one.view == "margins"]
        x, lines, words = self.across.place(traces.keys[:count]), [], []
        for position, bound in enumerate(bounds):
            colour = (palette.negative, palette.positive)[position % 2]
            y = traces.scale * bound_at_frames(bound, traces.frames[:count].astype(np.int64))
            lines.append(line(bound.name, x, y, colour, "dashed"))
            words += end_label(bound.name, x, y, colour)
        return replace(ink, curves=(*ink.curves, *lines), words=(*ink.words, *words))

    def _crop_to(self, panel: Panel, region: Region) -> Panel:
        """Return a panel over a range, widened where a unit is as long on both axes."""
        ends = [(region.left, region.right), (region.bottom, region.top)]
        box = panel.box
        if panel.kind == "neurons":
            nodes = self.tracks[panel.row]
            unit = 10.0**-nodes.power
            scale = np.sqrt(unit) if nodes.rooted else unit
            ends = [(low * scale, high * scale) for low, high in ends]
            sides = (box.width, box.height)
            least = max((high - low) / side for (low, high), side in zip(ends, sides, strict=True))
            ends = [widen(pair, least * side) for pair, side in zip(ends, sides, strict=True)]
        if panel.kind in ("margins", *self.traces):
            left, right = self.across.place(np.array(ends[0])).tolist()
            ends[0] = (left, right)
        x, y = (
            with_range(axis, *pair) for axis, pair in zip((panel.x, panel.y), ends, strict=True)
        )
        panel = replace(panel, x=x, y=y)
        if panel.kind == "margins":  # labels and triangles depend on the range
            references, points = self.shown.references_of(panel.row), self.shown.sheet.points
            own, palette = self.margins[panel.row], self.palette
            cropped = margin_panel(
                panel.row, "", box, own, self.across, y, palette, references, points
            )
            ink = self._add_bounds(panel.row, cropped.ink, own.frames.size)
            return replace(panel, ink=ink, levels=cropped.levels)
        if panel.kind in self.traces:
            levels = self.traces[panel.kind].levels(panel.row, y, box.height)
            return replace(panel, levels=levels)
        return panel

    def follow_nodes(self, row: int, index: int, box: Box) -> Panel:
        """Build the panel of the neurons in the range of a moment.

        Parameters
        ----------
        row : int
            Row of the run.
        index : int
            One of the track's frames.
        box : Box
            Box in millimetres.

        Returns
        -------
        Panel
        """
        nodes, palette = self.tracks[row], self.palette
        position = int(np.searchsorted(nodes.frames, index))
        followed = follow_nodes(nodes, position)
        return neurons_panel(row, "", box, followed, self.projections[row], palette, position)[0]

    def ink(self, panel: Panel, index: int, data: Sequence[Dots]) -> PanelContent:
        """Return what a panel shows at a frame.

        Parameters
        ----------
        panel : Panel
            Panel that the method `panel` returned.
        index : int
            Frame; for neurons one of the track's frames.
        data : sequence of Dots
            Dots of the data, for neurons.

        Returns
        -------
        PanelContent
        """
        row, kind = panel.row, panel.kind
        if kind == "neurons":
            nodes = self.tracks[row]
            position = int(np.searchsorted(nodes.frames, index))
            return neurons_ink(nodes, position, data, self.palette)
        if kind == "predictor":
            return self.predictor(row).ink(index, panel.x, panel.y)
        if kind == KERNEL:
            return self.kernel(row).ink(index)
        if kind in WAVES:
            return self.waves(row, kind).ink(index)
        if kind in self.traces:
            # Traces are thinned: use their last frame that the film has reached.
            frames = self.traces[kind].traces[row].frames
            return self.traces[kind].ink(row, int(np.searchsorted(frames, index, side="right")))
        if kind == "margins":
            traces = self.margins[row]
            count = int(np.searchsorted(traces.frames, index, side="right"))
            ink = margin_ink(traces, count, self.across, panel.y, self.palette)
            return self._add_bounds(row, ink, count)
        past = [frame for frame in self.moment_frames[row] if frame < index]
        run, chosen, indices = self.runs[row], self._selection_of(row), [*past, index]
        pins = self.shown.view.pins(row)
        return sorted_ink(run, kind, indices, self.moments, self.palette, chosen, pins)


def compute_panel_data(
    runs: Sequence[Run],
    panels: Sequence[str],
    lasts: Sequence[int],
    options: FigureOptions,
    stops: Sequence[NDArray[np.int64]] | None = None,
) -> PanelData:
    """Compute what panels show of runs.

    Parameters
    ----------
    runs : sequence of Run
        Open runs, a row each.
    panels : sequence of str
        Names of EVERY_PANEL; the material of other panels is left out.
    lasts : sequence of int
        Last frame of each run.
    options : FigureOptions
        Colours, plane, contents, and options of each run.
    stops : sequence of array (F,), optional
        Increasing frames of each run at which a film or a page shows the neurons; by default those
        of a trail (`trail_frames`). With these frames no curve goes on after the last frame.

    Returns
    -------
    PanelData

    Raises
    ------
    InputError
        A run does not have the plane of the options.
    """
    view, palette = options.view, options.palette
    chosen = tuple(_mask(run, nodes) for run, nodes in zip(runs, options.selected, strict=False))
    time = time_axis(runs, lasts)
    times = moments(runs, lasts, time)
    frames = tuple(times.frames(run, last) for run, last in zip(runs, lasts, strict=True))
    # If curves continue after the moment, axes cover the whole runs, as on the screen.
    ends = [run.frames - 1 for run in runs] if view.rest and stops is None else list(lasts)
    x = horizontal_axis(runs, ends, view.against, time_axis(runs, ends))
    tracks: list[Track] = []
    margins: list[MarginTraces] = []
    traces: dict[str, TracePanel] = {}
    axes: dict[str, PanelAxis] = {}
    projections: list[Projection] = []
    if "neurons" in panels:
        for row, (run, last) in enumerate(zip(runs, lasts, strict=True)):
            projections.append(checked_projection(run, options.plane))
            at = trail_frames(last, run.network.m) if stops is None else stops[row]
            nodes = track(projections[-1], at, view.nodes == "directions", view.roots)
            mask = chosen[row] if row < len(chosen) else None
            tracks.append(replace(nodes, chosen=mask, pinned=view.pins(row)))
    if "margins" in panels:
        margins = [
            margin_traces(run, last, view.against, options.promise_of(row))
            for row, (run, last) in enumerate(zip(runs, ends, strict=True))
        ]
        lines = [one for row in range(len(runs)) for one in options.references_of(row)]
        axes["margins"] = margin_axis(margins, x, lines)
    for kind in SORTED:
        if kind in panels:
            axes[kind] = value_axis(runs, kind, frames)
    if "curves" in panels:
        traces["curves"] = curves_panels(runs, ends, x, palette, view, options.sheet.points)
    if "spectrum" in panels:
        traces["spectrum"] = spectrum_panels(runs, ends, x, palette, view)
    return PanelData(
        tuple(runs),
        tuple(lasts),
        options,
        tuple(projections),
        time,
        x,
        times,
        frames,
        tuple(tracks),
        tuple(margins),
        traces,
        axes,
        chosen,
    )


def _mask(run: Run, nodes: NodeSet | None) -> Chosen | None:
    """Return which neurons of a run are selected, (m,); None if none are."""
    m = int(run.network.m)
    mine = [node for node in nodes.nodes if node < m] if nodes is not None else []
    mask = np.zeros(m, dtype=np.bool_)
    mask[mine] = True
    return mask if mine else None
