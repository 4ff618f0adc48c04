"""Views, plane and curves that a study opens with: those it names, or those its data propose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from app.state.intent import FIRST_CURVES
from app.state.views import VIEWS, suited
from core.errors import InputError, did_you_mean
from core.observables.planes import COORDINATES, PLANES, NodePlane
from core.studies.study import Study

if TYPE_CHECKING:
    from app.state.display import DisplayData
    from core.runs import Run


@final
@dataclass(frozen=True, slots=True)
class Proposals:
    """Wishes of a study, which apply where the user has chosen nothing."""

    views: tuple[str, ...] = ()
    plane: str = ""
    curves: tuple[str, ...] = FIRST_CURVES
    points: str = "weights"

    @classmethod
    def of(cls, study: Study) -> Proposals:
        first = study.opens_with
        return cls(first.views, first.plane, first.curves or FIRST_CURVES, first.points)

    def for_runs(self, runs: Sequence[DisplayData]) -> dict[str, Any]:
        """Return the fields of `Intent` that hold proposals, as far as the runs can show them."""
        return {
            "proposed": suited(self.views, runs),
            "proposed_plane": suited_plane(self.plane, [data.run for data in runs]),
            "proposed_curves": self.curves,
            "proposed_points": self.points,
        }

    def problem(self, identifier: str) -> str:
        """Return a sentence about the first name in a study that is no view, "" for none."""
        unknown = next((name for name in self.views if name not in VIEWS), "")
        if not unknown:
            return ""
        hint = did_you_mean(unknown, VIEWS)
        return f"{identifier}: window.views names {unknown}, which is no view; {hint}"


def suited_plane(wished: str, runs: Sequence[Run]) -> NodePlane:
    """Return the plane that the study or all runs' data propose, if all runs have it."""
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
