"""Options of figures, films and pages: frozen values that each front end makes once.

Created by the command line from arguments (core.cli.view_arguments), by the window from its views
(app.export.pictures), and by `marginscope.figure` from keyword arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.figures.names import ACROSS, EVERY_PANEL, PageSize
from core.figures.palette import LIGHT, Palette
from core.figures.ticks import range_problem
from core.observables.node_sets import NodeSet
from core.observables.planes import COORDINATES, NodePlane
from core.reference.share import Promise, scale_margins

if TYPE_CHECKING:
    from core.observables.prediction import Prediction
    from core.reference.margin import ReferenceMargin
    from core.runs import Run

# ------------------------------------------------------------ curves, axes, ranges, pins and bounds

# The window's default curves (app.state.intent).
FIRST_CURVES = ("log10_risk", "distance")
MOST_CURVES = 6
POINTS_SHOWN = ("weights", "directions")


@final
@dataclass(frozen=True, slots=True)
class Region:
    """Range of a panel of the run in a row, counted from 0.

    The ends are in the units of its axes: those of the neurons without a power of ten, log10 of the
    quantity on the horizontal axis of curves, and log10 of the quantity on a logarithmic axis.
    """

    row: int
    panel: str
    left: float
    right: float
    bottom: float
    top: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class BoundCurve:
    """Bound of a statement, or prediction of an observable, at every frame, (T,).

    It belongs to the margins, or to the observable `view` among the curves. `key` is that of the
    statement, or the column of the prediction; the ends of a band have no `name`.
    """

    key: str
    name: str
    view: str
    values: NDArray[np.float64]
    prediction: Prediction | None = None


@final
@dataclass(frozen=True, slots=True)
class ViewOptions:
    """Contents of the panels of some runs.

    `against` is the horizontal axis of curves (ACROSS). `nodes` are "weights" or "directions", with
    signed `roots` or not. `pinned` and `bounds` are those of each run. With `rest` curves go on,
    faint, after the last frame that is shown, to the end of the run.
    """

    curves: tuple[str, ...] = FIRST_CURVES
    logarithmic: bool = False
    against: str = "log10_time"
    nodes: str = "weights"
    roots: bool = False
    regions: tuple[Region, ...] = ()
    pinned: tuple[frozenset[int], ...] = ()
    bounds: tuple[tuple[BoundCurve, ...], ...] = ()
    rest: bool = False

    def pins(self, row: int) -> tuple[int, ...]:
        """Return the pinned neurons of a row in increasing order."""
        return tuple(sorted(self.pinned[row])) if row < len(self.pinned) else ()

    def bounds_of(self, row: int) -> tuple[BoundCurve, ...]:
        """Return the bounds of a row."""
        return self.bounds[row] if row < len(self.bounds) else ()

    def region(self, row: int, panel: str) -> Region | None:
        """Return the range of a panel; None for its own."""
        regions = [one for one in self.regions if (one.row, one.panel) == (row, panel)]
        return regions[-1] if regions else None


PLAIN = ViewOptions()


def check_view_options(view: ViewOptions, runs: Sequence[Run] = ()) -> None:
    """Raise InputError for unknown curves or axes, or impossible ranges.

    Numbers that the recorded loops of some `runs` passed are curves, too.
    """
    from core.observables.observable import Shape
    from core.observables.registry import observable_in

    observables = {name: observable_in(runs, name) for name in view.curves}
    wrong = [
        name for name, one in observables.items() if one is None or one.shape is not Shape.SCALAR
    ]
    if wrong or not 0 < len(view.curves) <= MOST_CURVES:
        clause = f"{wrong[0][:60]!r} is not one of" if wrong else f"choose 1 to {MOST_CURVES} of"
        raise InputError(
            f"The curves {', '.join(view.curves)[:200] or 'none'}: {clause} the scalar observables "
            "that `describe observables` lists, or numbers that a recorded loop passed."
        )
    if view.against not in ACROSS:
        raise InputError(
            f"The axis of curves is one of {', '.join(ACROSS)}, not {view.against[:40]!r}."
        )
    if view.nodes not in POINTS_SHOWN:
        raise InputError(
            f"Neurons are drawn as {' or '.join(POINTS_SHOWN)}, not {view.nodes[:40]!r}."
        )
    for one in view.regions:
        if one.panel not in EVERY_PANEL:
            raise InputError(f"The range of {one.panel[:40]!r}: give a panel and four numbers.")
        problem = range_problem(one.left, one.right) or range_problem(one.bottom, one.top)
        if problem:
            raise InputError(f"The range of the {one.panel}: {problem}.")


# -------------------------------------------------------------------------------------- all options

Selected = Sequence[NodeSet | None]


class Note(Protocol):
    """Note at a moment of a run, such as core.library.entry.MomentNote."""

    @property
    def log10_time(self) -> float: ...
    @property
    def text(self) -> str: ...


Notes = Sequence[Sequence[Note]]
"""Notes of each run."""


@final
@dataclass(frozen=True, slots=True)
class FigureOptions:
    """Colours, plane of the neurons, contents and sheet of a figure, and options of each run.

    These are its reference margins, its selected neurons, the promise that its margins are shares
    of, and the notes that a figure marks. Neurons that are not selected are dim. Films and pages
    have no sheet. The functions that draw check each value.
    """

    palette: Palette = LIGHT
    plane: NodePlane = COORDINATES
    references: Sequence[Sequence[ReferenceMargin]] = ()
    selected: Selected = ()
    view: ViewOptions = PLAIN
    sheet: PageSize = field(default_factory=PageSize)
    promises: Sequence[Promise | None] = ()
    notes: Notes = ()

    def promise_of(self, row: int) -> Promise | None:
        """Return what margins of the run in a row are shares of; None for plain margins."""
        return self.promises[row] if row < len(self.promises) else None

    def references_of(self, row: int) -> Sequence[ReferenceMargin]:
        """Return the reference margins of the run in a row, in the unit of its margins.

        Shares have the margin that they are shares of among them, at 1.
        """
        margins = tuple(self.references[row]) if row < len(self.references) else ()
        promise = self.promise_of(row)
        if promise is None or promise.margin is None:
            return margins
        promised = promise.margin
        unpromised = tuple(one for one in margins if one.reference.name != promised.reference.name)
        return scale_margins((*unpromised, promised), promise.scale)


USUAL = FigureOptions()
