"""Reference margins and bounds that the views and figures of a run draw."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, final

from app.playback.display import DisplayController
from app.theory.results import TheoryResults
from app.widgets.screen_text import short_name

if TYPE_CHECKING:
    from app.views.view import Bound
    from core.figures.options import BoundCurve
    from core.reference.margin import ReferenceMargin
    from core.reference.share import Promise


@final
class TheoryCurves:
    """Margins and bounds of a run that the user's choices draw.

    `results` returns the results by the key of a run, empty ones for an unknown key. The choices
    are the hidden margins, the shown bounds and the unit of margins; they hold for all runs.
    """

    def __init__(self, display: DisplayController, results: Callable[[int], TheoryResults]) -> None:
        self._display, self._results = display, results

    def promise_of(self, key: int) -> Promise | None:
        """Return the margin to which a run's shares refer; None while margins are not shares.

        While the promised margin is not computed, the Promise is pending.
        """
        if self._display.view.wishes.margin_unit != "share":
            return None
        return self._results(key).promise

    def drawn_margins_of(self, key: int) -> tuple[ReferenceMargin, ...]:
        """Return the computed margins of a run that are drawn, in the order of the references.

        A hidden margin, one without a value and one that is not comparable are left out.
        """
        margins = self.unhidden_margins(self._results(key))
        return tuple(margin for margin in margins if margin.is_drawable)

    def bound_curves_of(self, key: int) -> tuple[BoundCurve, ...]:
        """Return the shown bounds of a run for its figures.

        Statements come first, in the order judged, then the ends of the final margin.
        """
        from core.figures.options import BoundCurve

        names = self._display.view.wishes.shown_bounds
        bounds = self._results(key).shown_bound_traces(names)
        return tuple(BoundCurve(*bound[:4]) for bound in bounds)

    def sources_of(self, key: int) -> tuple[str, ...]:
        """Return the sources of a run's drawn margins, then of all its judged statements.

        Statements whose bounds are not drawn count too. Sources may repeat.
        """
        judgement = self._results(key).judgement
        assessments = judgement.assessments if judgement is not None else ()
        margins = [margin.reference.source for margin in self.drawn_margins_of(key)]
        return (*margins, *(one.statement.source for one in assessments))

    def unhidden_margins(self, results: TheoryResults) -> list[ReferenceMargin]:
        """Return the computed margins that the user has not hidden, in the references' order.

        Margins that cannot be drawn are included.
        """
        hidden_margins = self._display.view.wishes.hidden_margins
        return [one for one in results.margins_in_order if one.reference.name not in hidden_margins]

    def shown_bounds(self, results: TheoryResults) -> list[Bound]:
        """Return the bounds that the user shows, with short names, for the views of a run.

        Statements come first, then the ends of the final margin.
        """
        from app.views.view import Bound

        bounds = results.shown_bound_traces(self._display.view.wishes.shown_bounds)
        return [Bound(short_name(name), *parts) for _, name, *parts in bounds]
