"""Snapshot of what the window shows, for figures, films and data."""

from __future__ import annotations

from collections.abc import Sequence

from app.export.pictures import Ends, Exportable
from app.playback.display import DisplayController
from app.scenes.named_items import SelectionController
from app.state.comparison import ComparedRuns
from app.state.resolve import NEAR, ResolvedView
from app.state.session import OpenRun
from app.theory.controller import TheoryController
from core.figures.names import PANELS
from core.figures.options import ViewOptions
from core.figures.palette import PALETTES
from core.problem.schedule import inverse_coordinate


def export_snapshot(
    display: DisplayController, theory: TheoryController, selections: SelectionController
) -> Exportable:
    """Return the runs that are shown, as they are drawn."""
    view, intent = display.view, display.intent
    runs = [run for run in display.session if run.data is not None]
    run_views = {one.key: one for one in view.runs}
    no_nodes = frozenset[int]()
    pinned = tuple(
        run_views[run.key].pinned - run_views[run.key].selected_nodes
        if run.key in run_views
        else no_nodes
        for run in runs
    )
    return Exportable(
        tuple(run.source for run in runs),
        intent.shown_plane,
        PALETTES[intent.palette],
        tuple(theory.curves.drawn_margins_of(run.key) for run in runs),
        tuple(selections.named_selection(run) for run in runs),
        view.wishes.views or PANELS,
        _view_options(view),
        pinned,
        tuple(theory.curves.bound_curves_of(run.key) for run in runs),
        _ranges(display, runs),
        _moment(view),
        _interval(view),
        theory.delta,
        tuple(source for run in runs for source in _sources(run, theory)),
        tuple(theory.curves.promise_of(run.key) for run in runs),
        _shown_comparison(view),
        tuple(run.heading for run in runs),
        any(run.data is not None and run.data.run.frames_before > 0 for run in runs),
    )


def _sources(run: OpenRun, theory: TheoryController) -> tuple[str, ...]:
    """Return the sources of a run's study, and of what theory shows of the run."""
    own = "" if run.data is None else run.data.run.source
    return (own, *theory.curves.sources_of(run.key))


def _shown_comparison(view: ResolvedView) -> ComparedRuns | None:
    """Return the comparison, with the only plot shown if one fills the window."""
    compared, only = view.wishes.compared, view.wishes.filled
    return compared.with_observables((only,)) if compared is not None and only else compared


def _view_options(view: ResolvedView) -> ViewOptions:
    wishes = view.wishes
    return ViewOptions(
        wishes.shown_curves,
        wishes.log_curves,
        wishes.margin_axis,
        wishes.shown_points,
        wishes.neuron_range == "root" and wishes.shown_points == "weights",
    )


def _ranges(
    display: DisplayController, runs: Sequence[OpenRun]
) -> tuple[tuple[tuple[str, Ends], ...], ...]:
    """Return the ranges of the views of each run."""
    panels_by_run = {panel.run.key: panel for panel in display.panels if panel.run is not None}
    panels = [panels_by_run.get(run.key) for run in runs]
    return tuple(() if panel is None else tuple(panel.regions()) for panel in panels)


def _moment(view: ResolvedView) -> float | None:
    """Return log10 t at the cursor; None at the end, where all is shown."""
    span = view.span
    if view.cursor >= span.edge - NEAR:
        return None
    # The last shown frame may lie after the cursor by the coordinates' rounding.
    return _log10_time_at(view.cursor + NEAR) if view.cursor > span.low else float("-inf")


def _interval(view: ResolvedView) -> tuple[float, float] | None:
    """Return the interval of the loop in log10 t."""
    if view.wishes.interval is None:
        return None
    first, last = view.wishes.interval
    low = float("-inf") if first <= view.span.low else _log10_time_at(first)
    return low, _log10_time_at(last + NEAR)


def _log10_time_at(moment: float) -> float:
    """Return log10 of the time at a coordinate of the time axis."""
    return float(inverse_coordinate(moment))
