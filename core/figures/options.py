"""Options of figures, films and pages: a frozen value that each front end makes once.

The command line makes it of arguments (core.cli.looks), the window of its views
(app.state.exports), and `marginscope.figure` of keyword arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

from core.figures.look import PLAIN, Look
from core.figures.palette import LIGHT, Palette
from core.figures.sheet import Sheet
from core.observables.node_sets import NodeSet
from core.observables.planes import COORDINATES, NodePlane
from core.reference.share import Promise, scaled

if TYPE_CHECKING:
    from core.reference.margin import ReferenceMargin

Selected = Sequence[NodeSet | None]


@final
@dataclass(frozen=True, slots=True)
class FigureOptions:
    """Colours, plane of the nodes, views and paper; and for each run its reference margins, its
    selected nodes, and the promise that its margins are shares of.

    Nodes that are not selected are dim. Films and pages have no paper. The functions that draw
    check each value.
    """

    palette: Palette = LIGHT
    plane: NodePlane = COORDINATES
    references: Sequence[Sequence[ReferenceMargin]] = ()
    selected: Selected = ()
    look: Look = PLAIN
    sheet: Sheet = field(default_factory=Sheet)
    promises: Sequence[Promise | None] = ()

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
        whole = promise.margin
        others = tuple(one for one in margins if one.reference.name != whole.reference.name)
        return scaled((*others, whole), promise.scale)


USUAL = FigureOptions()
