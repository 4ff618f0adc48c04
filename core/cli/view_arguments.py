"""Options of `figure`, `movie` and `page` for the look of runs."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from core.cli.margins import cancelled_by_signals, compute_margins
from core.cli.output import MARGIN_SECONDS
from core.errors import InputError
from core.figures.names import PageSize, parse_size
from core.figures.options import FIRST_CURVES, USUAL, BoundCurve, FigureOptions, Region, ViewOptions
from core.figures.palette import Palette
from core.observables.node_sets import NodeSet, parse_nodes
from core.observables.planes import NodePlane
from core.reference.cancel_token import CancelToken
from core.runs import Run
from core.terminal.bar import print_notice

if TYPE_CHECKING:
    from core.library.entry import MomentNote
    from core.reference.margin import Reference, ReferenceMargin
    from core.reference.share import Promise

ROW = re.compile(r"([1-9][0-9]{0,2}):(.*)", re.DOTALL)
ALL, NONE = "all", "none"
FINAL = "final margin"  # equals core.observables.final_margin.KEY
NO_SHARE = "this run has no reference margin to divide its margins by; omit --share"


def row_of(text: str, rows: int, option: str) -> tuple[Sequence[int], str]:
    """Split a text such as 2:3-5, about the second run, into its rows and the rest.

    Parameters
    ----------
    text : str
        Text with or without a row; without one it is about all rows.
    rows : int
        Number of rows of the figure, one for each run.
    option : str
        Option, for errors.

    Returns
    -------
    sequence of int, str
        Rows, counted from 0, and the rest of the text.

    Raises
    ------
    InputError
        No run has this number.
    """
    if not (match := ROW.fullmatch(text)):
        return range(rows), text
    row = int(match[1]) - 1
    if row >= rows:
        raise InputError(f"{text[:60]!r}: choose a run from 1 to {rows}.", option=option)
    return (row,), match[2]


def sheet_of(arguments: argparse.Namespace) -> PageSize:
    """Return the page of a figure: size, fonts, letters and caption."""
    width, height = (None, None) if arguments.size is None else parse_size(arguments.size)
    return PageSize(width, height, arguments.font, arguments.letters, not arguments.no_caption)


def make_figure_options(
    arguments: argparse.Namespace,
    runs: Sequence[Run],
    palette: Palette,
    plane: NodePlane,
    sheet: PageSize = USUAL.sheet,
) -> FigureOptions:
    """Return how a command draws runs, computing the theory that is drawn.

    Parameters
    ----------
    arguments : argparse.Namespace
        Options of the command.
    runs : sequence of Run
        Open runs.
    palette : Palette
        Colours.
    plane : NodePlane
        Plane of the neurons.
    sheet : PageSize
        Paper.

    Returns
    -------
    FigureOptions
    """
    selected, view = selected_in(runs, arguments.select), make_view_options(arguments, runs)
    references, bounds, promises = theory_of(arguments, runs)
    view = replace(view, bounds=bounds, rest=getattr(arguments, "rest", False))
    return FigureOptions(palette, plane, references, selected, view, sheet, promises)


def make_view_options(arguments: argparse.Namespace, runs: Sequence[Run]) -> ViewOptions:
    """Return the style options of a figure, except the bounds of statements."""
    names = FIRST_CURVES
    if arguments.curves is not None:
        names = tuple(part.strip() for part in arguments.curves.split(",") if part.strip())
    view = ViewOptions(names, arguments.log, arguments.against, arguments.nodes, arguments.roots)
    pinned: list[frozenset[int]] = [frozenset()] * len(runs)
    for text in arguments.pin:
        rows, pins = row_of(text, len(runs), "--pin")
        for row in rows:
            pinned[row] |= _nodes(pins, [runs[row]], "--pin")
    regions = [one for text in arguments.zoom for one in _regions(text, len(runs))]
    return replace(view, pinned=tuple(pinned), regions=tuple(regions))


def _regions(text: str, count: int) -> Iterator[Region]:
    """Yield the zoomed region of each row in [ROW:]PANEL=LEFT,RIGHT,BOTTOM,TOP, of `count` rows."""
    rows, numbers_text = row_of(text, count, "--zoom")
    panel, _, numbers = numbers_text.partition("=")
    try:
        left, right, bottom, top = (float(part) for part in numbers.split(","))
    except ValueError:
        raise InputError(
            f"{text[:60]!r}: give a panel and its ranges, such as margins=0,4,-0.1,0.1.",
            option="--zoom",
        ) from None
    for row in rows:
        yield Region(row, panel.strip(), left, right, bottom, top)


def _nodes(text: str, runs: Sequence[Run], option: str) -> frozenset[int]:
    """Return the neurons in a text such as 3-5. InputError if the widest run has none of them."""
    try:
        nodes = parse_nodes(text)
    except ValueError as error:
        raise InputError(f"{text[:60]!r}: {error}.", option=option) from None
    n_nodes = max((int(run.network.m) for run in runs), default=0)
    if min(nodes) >= n_nodes:
        raise InputError(f"{text[:60]!r}: the runs have neurons 0 to {n_nodes - 1}.", option=option)
    return nodes


def read_notes(runs: Sequence[Run]) -> tuple[tuple[MomentNote, ...], ...]:
    """Return the notes at moments of each run; none of a run whose notes cannot be read."""
    from core.library.run_notes import read_about

    notes = []
    for run in runs:
        try:
            notes.append(read_about(run.path).moments)
        except InputError as error:  # the run itself is intact
            print_notice(error.sentence)
            notes.append(())
    return tuple(notes)


def selected_in(runs: Sequence[Run], texts: Sequence[str] | None) -> list[NodeSet | None]:
    """Return the neurons that [ROW:]NAME or [ROW:]NODES of --select selects in each run.

    A set saved with a run has precedence over numbers such as 3-5,9. None for a run without
    selected neurons; an empty list without the option. Raises InputError for an unknown set.
    """
    if not texts:
        return []
    from core.library.run_notes import read_about

    saved_sets = [{one.name: one for one in read_about(run.path).sets} for run in runs]
    result: list[NodeSet | None] = [None] * len(runs)
    for text in texts:
        rows: Sequence[int] = range(len(runs))
        name = text
        if not any(text in sets for sets in saved_sets):
            rows, name = row_of(text, len(runs), "--select")
        selected = _select_nodes(name, [runs[k] for k in rows], [saved_sets[k] for k in rows])
        for row, nodes in zip(rows, selected, strict=True):
            result[row] = nodes or result[row]
    return result


def _select_nodes(
    text: str, runs: Sequence[Run], saved_sets: Sequence[dict[str, NodeSet]]
) -> list[NodeSet | None]:
    """Return each run's saved set of this name, None if it has none.

    If no run has such a set, the neurons with the numbers in the text are selected in all.
    """
    sets_of_name = [sets.get(text) for sets in saved_sets]
    if any(sets_of_name):
        return sets_of_name
    try:
        parse_nodes(text)
    except ValueError as error:
        names = ", ".join(dict.fromkeys(name for sets in saved_sets for name in sets))
        offer = (
            f"the saved sets of these runs are {names}"
            if names
            else "these runs have no saved sets"
        )
        raise InputError(f"{text[:60]!r}: {offer}; {error}.", option="--select") from None
    return [NodeSet("", _nodes(text, runs, "--select"))] * len(runs)


# ------------------------------------------------------------------------------------ theory


def theory_of(
    arguments: argparse.Namespace, runs: Sequence[Run]
) -> tuple[
    list[tuple[ReferenceMargin, ...]], tuple[tuple[BoundCurve, ...], ...], tuple[Promise, ...]
]:
    """Compute the margins of --margins, the bounds of --bound, and the promises of --share.

    Each has an entry for each run, or none if not requested. Raises InputError for margins that
    the runs do not have.
    """
    requested_names = arguments.margins or NONE
    if requested_names == NONE and not arguments.bound:
        limit, quiet = arguments.limit, arguments.quiet
        return [], (), promises_of(runs, quiet, limit) if arguments.share else ()
    names = [part.strip() for part in requested_names.split(",")]
    margins_by_run, bounds, promises, margin_names = [], [], [], set()
    for run in runs:
        margins = list(compute_margins(run.problem, arguments.limit, arguments.quiet))
        margin_names |= {one.reference.name for one in margins}
        drawable = [one for one in margins if one.is_drawable]
        margins_by_run.append(
            tuple(one for one in drawable if requested_names == ALL or one.reference.name in names)
        )
        bounds.append(_bounds(arguments, run, margins))
        if arguments.share:
            promises.append(_promise(run, margins))
    unknown = [name for name in names if name not in (*margin_names, ALL, NONE)]
    if unknown:
        raise InputError(
            f"{unknown[0][:60]!r}: these runs have "
            f"{', '.join(sorted(margin_names)) or 'no margins'}; "
            "choose among these, all, or none.",
            option="--margins",
        )
    return margins_by_run, tuple(bounds), tuple(promises)


def promises_of(
    runs: Sequence[Run], quiet: bool, limit: float = MARGIN_SECONDS
) -> tuple[Promise, ...]:
    """Compute the reference margin by which the margins of each run are divided.

    Parameters
    ----------
    runs : sequence of Run
        Open runs.
    quiet : bool
        Show no progress.
    limit : float
        Seconds for each reference margin.

    Returns
    -------
    tuple of Promise

    Raises
    ------
    InputError
        A run has no such margin.
    """
    return tuple(
        _promise(run, compute_margins(run.problem, limit, quiet, _in_order(run))) for run in runs
    )


def _in_order(run: Run) -> list[Reference]:
    """Return the run's reference margins in the order in which they define shares."""
    from core.reference.registry import references_of
    from core.reference.share import order_by_preference

    return order_by_preference(references_of(run.problem))


def _promise(run: Run, margins: Iterable[ReferenceMargin]) -> Promise:
    """Return a run's promise, computing only the reference margins that it needs."""
    from core.reference.share import make_promise

    references = _in_order(run)
    by_name: dict[str, ReferenceMargin] = {}
    for margin in margins:
        by_name[margin.reference.name] = margin
        promise = make_promise(references, by_name)
        if promise.margin is not None:
            return promise
    raise InputError(NO_SHARE, where=run.path)


def _bounds(
    arguments: argparse.Namespace, run: Run, margins: Sequence[ReferenceMargin]
) -> tuple[BoundCurve, ...]:
    """Assess all statements about a run; return the bounds of --bound that can be drawn."""
    from core.theorems.registry import assess_all

    if not arguments.bound:
        return ()
    final = _final(run, margins) if FINAL in arguments.bound else ()
    by_name = {one.reference.name: one for one in margins}
    with cancelled_by_signals(CancelToken()) as watch:
        assessed = assess_all(run, by_name, arguments.delta, watch)
    bounds = []
    for one in assessed:
        key, trace, view = one.statement.key, one.comparison.bound_trace, one.comparison.view
        if key in arguments.bound and trace is not None and view:
            bounds.append(BoundCurve(key, one.statement.name, view, trace))
    return (*bounds, *final)


def _final(run: Run, margins: Sequence[ReferenceMargin]) -> tuple[BoundCurve, ...]:
    """Return the ends of the run's final margin, if it has a bracket."""
    from core.observables.final_margin import DRAWN, final_margin, refusal, traces
    from core.reference.gated_limits import FixedPattern

    if refusal(run) or run.frames == 0:
        return ()
    by_name = {one.reference.name: one for one in margins}
    with cancelled_by_signals(CancelToken()) as watch:
        margin = final_margin(run, -1, by_name, watch, (FixedPattern.OWN_LABEL,), DRAWN)
    return tuple(BoundCurve(FINAL, name, "margins", trace) for name, trace in traces(margin))
