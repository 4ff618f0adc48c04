"""Which views, plane and curves a study opens with: those that it names or its data propose, as
far as they show anything of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from app.playback.display import DisplayController
from app.state.intent import FIRST_CURVES
from app.state.views import VIEWS, suited
from core.errors import InputError, did_you_mean
from core.observables.planes import COORDINATES, PLANES, NodePlane
from core.studies.study import Study

if TYPE_CHECKING:
    from core.runs import Run


@final
class Proposals(QObject):
    """Proposes views for the runs that are open; those that the user has chosen stay.

    `message` carries a sentence about a study that names what is no view.
    """

    message = Signal(str)

    def __init__(self, display: DisplayController) -> None:
        super().__init__(display)
        self._display = display
        self._wished: tuple[str, ...] = ()
        self._plane = ""
        self._curves: tuple[str, ...] = FIRST_CURVES
        self._points: str = "weights"

    def set_study(self, study: Study) -> None:
        """Another study is in the form."""
        first = study.opens_with
        self._wished, self._plane, self._points = first.views, first.plane, first.points
        self._curves = first.curves or FIRST_CURVES
        unknown = [name for name in self._wished if name not in VIEWS]
        if unknown:
            self.message.emit(
                f"{study.id}: window.views names {unknown[0]}, which is no view; "
                f"{did_you_mean(unknown[0], VIEWS)}"
            )

    def refresh(self) -> None:
        """Other runs are open, or one of them can be read by now."""
        runs = [run.data for run in self._display.session if run.data is not None]
        proposed = suited(self._wished, runs)
        plane = suited_plane(self._plane, [data.run for data in runs])
        intent = self._display.intent
        wishes = {
            "proposed": proposed,
            "proposed_plane": plane,
            "proposed_curves": self._curves,
            "proposed_points": self._points,
        }
        if any(getattr(intent, name) != value for name, value in wishes.items()):
            self._display.ask(**wishes)


def suited_plane(wished: str, runs: Sequence[Run]) -> NodePlane:
    """The plane that a study wishes, or that all runs' data propose, if all of them have it."""
    kinds = {wished or run.experiment.data.plane for run in runs}
    if len(kinds) != 1 or kinds == {COORDINATES.kind}:
        return COORDINATES
    (kind,) = kinds
    if kind == "motion":  # which every run has, once it has moved
        return NodePlane(kind, ())
    try:
        for run in runs:
            PLANES[kind].load()(run, ())
    except InputError:
        return COORDINATES
    return NodePlane(kind, ())
