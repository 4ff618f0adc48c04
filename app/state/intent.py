"""Options of the user, as one frozen value, independent of the open runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import final

from app.state import view_options as kinds
from app.state.comparison import ComparedRuns
from app.state.view_options import RECORD, Mark, ViewOption, choice, option, switch
from app.state.views import FIGURE_1
from core.figures.palette import PALETTES
from core.observables.planes import COORDINATES, NodePlane

# Not the first frame's coordinate, which changes when the frame after t = 0 is read.
START = float("-inf")
MARGIN_AXES = {"log10_time": "log10 t", "step": "step", "norm_squared": "|W|^2"}
MARGIN_UNITS = {
    "plain": "Plain margins",
    "share": "Margins as share of \u03b3_gl / 2",
}
FIRST_CURVES = ("log10_risk", "distance")

# Range of the neurons' view, and the symbol of a neuron.
NEURON_RANGES = {
    "moment": "This moment",
    "run": "Whole run",
    "root": "Whole run, signed square roots",
}
NEURON_POINTS = {
    "weights": "Weights |a\u2c7c| v\u2c7c",
    "directions": "Directions v\u2c7c / |v\u2c7c|",
}
COLOURS = {name: name for name in PALETTES}


@final
@dataclass(frozen=True, slots=True)
class Intent:
    """Options of the user that the screen follows.

    Each option is one field (app.state.view_options). The other fields are transient: they belong
    to the moment, to playback, or to the study.

    `cursor` is a moment in the coordinate of core.problem.schedule, START for t = 0. At pace 1 a
    whole run plays in PLAY_SECONDS (app.state.resolve). `follow` keeps the cursor at the live edge.
    `current`: key of the run that theory, numbers and branches are about, None for the newest one.
    For all runs, theory has the names of reference margins whose lines are hidden, and the keys of
    statements whose bounds are shown. `linked`: runs side by side share the ranges of their axes.
    `equal`: in plots of space a unit is as long on both axes, however little room that leaves.
    `margin_unit`: plain margins, or shares of what theory promises. `log_curves`: the view of
    curves shows logarithms of positive quantities. `interval`: the moments between which playback
    loops. `compared` are runs that are shown in one picture in place of the open runs. `views` are
    those that the user chose; while there are none, the `proposed` ones are shown. The same holds
    for the `plane` of the neurons, `neuron_points`, and `curves`, of which the user may also choose
    none. `filled`: the only view or compared observable that is shown; "" for all of them.

    Undo names a change of several options by the first of them here.
    """

    cursor: float = START
    playing: bool = False
    pace: float = option(1.0, kinds.PACE, remembered=True, in_link=False)
    loop: bool = switch(False, "Loop", "Do not loop", remembered=True, in_link=False, action="loop")
    interval: tuple[float, float] | None = option(None, kinds.INTERVAL)
    follow: bool = False
    current: int | None = None
    hovered: Mark | None = None
    pinned: frozenset[Mark] = option(frozenset(), kinds.PINS, text="pin")
    plane: NodePlane | None = option(
        None, kinds.PLANE, proposal="proposed_plane", of_study="The study's plane"
    )
    proposed_plane: NodePlane = COORDINATES
    neuron_range: str = choice(
        "moment", NEURON_RANGES, "Neurons:", text="range", remembered=True, in_layout=True
    )
    neuron_points: str = choice(
        "",
        NEURON_POINTS,
        "Neurons:",
        text="points",
        proposal="proposed_points",
        remembered=True,
        in_layout=True,
    )
    proposed_points: str = "weights"
    margin_axis: str = choice(
        "log10_time", MARGIN_AXES, "Curves against", text="against", in_layout=True
    )
    margin_unit: str = choice("plain", MARGIN_UNITS, text="unit", in_layout=True)
    views: tuple[str, ...] = option(
        (),
        kinds.VIEW_NAMES,
        proposal="proposed",
        of_study="The study's views",
        remembered=True,
        in_layout=True,
    )
    proposed: tuple[str, ...] = FIGURE_1
    filled: str = ""
    curves: tuple[str, ...] | None = option(
        None, kinds.CURVES, proposal="proposed_curves", remembered=True, in_layout=True
    )
    proposed_curves: tuple[str, ...] = FIRST_CURVES
    log_curves: bool = switch(
        False, "Logarithmic curves", "Automatic curve axes", text="log", action="log_curves"
    )
    palette: str = choice("light", COLOURS, "Colours:", remembered=True)
    hidden_margins: frozenset[str] = option(
        frozenset(),
        kinds.make_set_kind("Hide line {}", "Show line {}", "Change lines"),
        text="hidden",
    )
    shown_bounds: frozenset[str] = option(
        frozenset(),
        kinds.make_set_kind("Show bound of {}", "Hide bound of {}", "Change bounds"),
        text="bounds",
    )
    linked: bool = switch(
        True,
        "Link axes of runs",
        "Unlink axes of runs",
        remembered=True,
        in_layout=True,
        action="link",
    )
    equal: bool = switch(
        False, "Equal aspect", "Free aspect", remembered=True, in_layout=True, action="equal"
    )
    compared: ComparedRuns | None = option(None, kinds.COMPARED, text="compare")

    @property
    def shown_plane(self) -> NodePlane:
        """Chosen plane, else that of the study or its data."""
        return self.plane or self.proposed_plane

    @property
    def shown_views(self) -> tuple[str, ...]:
        """View that fills the window, or else all chosen or proposed views."""
        alone = self.filled if self.compared is None else ""
        return (alone,) if alone else self.views or self.proposed

    @property
    def plots(self) -> tuple[str, ...]:
        """Observables that are compared, else the views of the runs; also while one is alone."""
        if self.compared is not None:
            return self.compared.observables
        return self.views or self.proposed

    @property
    def shown_points(self) -> str:
        """Chosen meaning of the neurons' points, else the study's."""
        return self.neuron_points or self.proposed_points

    @property
    def shown_curves(self) -> tuple[str, ...]:
        """Chosen observables, else those of the study, or the usual ones."""
        return self.proposed_curves if self.curves is None else self.curves


AT_REST = Intent()
VIEW_OPTIONS: Mapping[str, ViewOption] = {
    item.name: replace(record, name=item.name, default=item.default, text=record.text or item.name)
    for item in fields(Intent)
    if (record := item.metadata.get(RECORD)) is not None
}
# Fields that undo ignores.
TRANSIENT = tuple(item.name for item in fields(Intent) if item.name not in VIEW_OPTIONS)
# Options that a study proposes.
PROPOSED = tuple(one.proposal for one in VIEW_OPTIONS.values() if one.proposal)


def with_proposals(intent: Intent) -> Intent:
    """Return the intent with the study's proposals where the user chose nothing."""
    proposed = [one for one in VIEW_OPTIONS.values() if one.proposal]
    return replace(intent, **{one.name: one.get_shown(intent) for one in proposed})
