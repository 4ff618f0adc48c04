"""What the user asked for, as one frozen value. It says nothing about which runs are open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from app.state.compared import Compared
from core.observables.planes import COORDINATES, NodePlane

# Not the first frame's coordinate, which moves when the frame after t = 0 is read.
START = float("-inf")
MARGIN_AXES = {"log10_time": "log10 t", "step": "step", "norm_squared": "|W|^2"}
MARGIN_UNITS = {
    "plain": "Margins as they are",
    "share": "Margins as share of \u03b3_gl / 2",
}
PACES = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0)

# The views of the paper's figure.
FIGURE_1 = ("neurons", "rotations", "norms", "margins")
# As many colours as a palette has for curves (app.views.curves): a seventh would have the first's.
MOST_CURVES = 6
# So many pinned nodes have a ring each; more are a selection, beside which all others are dim.
MOST_RINGS = 2
FIRST_CURVES = ("log10_risk", "distance")

# How far the neurons' view reaches, and what stands there for a node.
NEURON_RANGES = {
    "moment": "This moment",
    "run": "The whole run",
    "root": "The whole run, as signed roots",
}
NEURON_POINTS = {
    "weights": "Weights |a\u2c7c| v\u2c7c",
    "directions": "Directions v\u2c7c / |v\u2c7c|",
}

# Wishes that are the study's and not the user's.
PROPOSED = ("proposed", "proposed_plane", "proposed_curves", "proposed_points")

# The key of a run and the index of one of its nodes.
Mark = tuple[int, int]


@final
@dataclass(frozen=True, slots=True)
class Intent:
    """The wishes that the screen follows.

    `cursor` is a moment in the coordinate of core.problem.schedule, START for t = 0. At pace 1 a
    whole run plays in PLAY_SECONDS (app.state.resolve). `follow` keeps the cursor at the live edge.
    Of theory, for all runs: the names of reference margins whose lines are hidden, and the keys of
    statements whose bounds are shown. `linked`: runs side by side share the ranges of their axes.
    `equal`: in plots of space a unit is as long on both axes, however little room that leaves.
    `margin_unit`: margins as they are, or as shares of what theory promises.
    `log_curves`: the view of curves shows logarithms of what is positive.
    `interval`: the moments between which playing goes round and round.
    `compared` are runs that are shown in one picture in place of those that are open.
    `views` are those that the user chose; while there are none, the `proposed` ones are shown, and
    so it is with the `plane` of the nodes, `neuron_points`, and `curves`, of which one may also
    choose none.
    """

    cursor: float = START
    playing: bool = False
    pace: float = 1.0
    loop: bool = False
    interval: tuple[float, float] | None = None
    follow: bool = False
    hovered: Mark | None = None
    pinned: frozenset[Mark] = frozenset()
    plane: NodePlane | None = None
    proposed_plane: NodePlane = COORDINATES
    neuron_range: str = "moment"
    neuron_points: str = ""
    proposed_points: str = "weights"
    margin_axis: str = "log10_time"
    margin_unit: str = "plain"
    views: tuple[str, ...] = ()
    proposed: tuple[str, ...] = FIGURE_1
    curves: tuple[str, ...] | None = None
    proposed_curves: tuple[str, ...] = FIRST_CURVES
    log_curves: bool = False
    palette: str = "light"
    hidden_margins: frozenset[str] = frozenset()
    shown_bounds: frozenset[str] = frozenset()
    linked: bool = True
    equal: bool = False
    compared: Compared | None = None

    @property
    def shown_plane(self) -> NodePlane:
        """The plane that was chosen, else the one that suits the study or its data."""
        return self.plane or self.proposed_plane

    @property
    def shown_points(self) -> str:
        """What stands for a node among the neurons: what was chosen, else the study's."""
        return self.neuron_points or self.proposed_points

    @property
    def shown_curves(self) -> tuple[str, ...]:
        """The observables that were chosen, else those of the study, or the usual ones."""
        return self.proposed_curves if self.curves is None else self.curves
