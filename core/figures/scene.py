"""Figures of runs as frozen values: pure functions of recorded frames, drawn by core.figures.draw.

`build_scene` lays out a page for a paper from what core.figures.material computes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

import core
from core.errors import InputError
from core.figures.captions import REAL, SEVERAL, TWO_CLASSES, UNIT, WEIGHTS, captions
from core.figures.figure_notes import FigureNote, list_notes, mark_notes, number_notes
from core.figures.keys import key_columns
from core.figures.labels import headings, settings_line, titles
from core.figures.layout import page
from core.figures.levels import math_label
from core.figures.material import PanelData, compute_panel_data
from core.figures.names import EVERY_PANEL, MOST_ROWS, PANELS, check_sheet
from core.figures.options import USUAL, FigureOptions, Selected, check_view_options
from core.figures.panel_grid import LEAST_SIDE
from core.figures.primitives import Box, FigureScene, Key, Panel, TimeKey, plain
from core.figures.rays import RAYS
from core.observables.planes import PLANES
from core.runs import Run

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def check_panels(panels: Sequence[str]) -> tuple[str, ...]:
    """Return the names of panels, in the given order.

    Raises InputError for unknown or repeated names, or none.
    """
    wrong = [name for name in panels if name not in EVERY_PANEL]
    if wrong or not panels or len(set(panels)) < len(panels):
        chosen = ", ".join(panels) or "none"
        raise InputError(
            f"The panels {chosen}: choose one or more of {', '.join(EVERY_PANEL)}, each once."
        )
    return tuple(panels)


def choose_panels(panels: Sequence[str], runs: Sequence[Run]) -> tuple[str, ...]:
    """Return the panels that suit some runs: curves in place of margins if all fit real targets."""
    if not all(run.dataset.real for run in runs):
        return tuple(panels)
    return tuple(dict.fromkeys("curves" if name == "margins" else name for name in panels))


def check_runs(runs: Sequence[Run]) -> None:
    """Raise InputError unless there are one to ten runs, each with a frame."""
    if not runs:
        raise InputError("No run is given; give at least one run file.")
    if len(runs) > MOST_ROWS:
        raise InputError(
            f"A figure shows at most {MOST_ROWS} runs, one per row, but {len(runs)} were given; "
            "choose fewer, or make several figures."
        )
    for run in runs:
        if run.frames == 0:
            raise InputError(
                f"{run.path} has no frames yet; wait for the first frame, or run it again."
            )


def last_frame(run: Run, until: int | float | None) -> int:
    """Return the last frame to show.

    `until` is a frame's number (int), or log10 t (float) for the last frame at or before that time,
    at least frame 0; None for the last of the run. Raises InputError for a number that is none of
    the run's frames, and for NaN.
    """
    count = run.frames
    if until is None:
        return count - 1
    if isinstance(until, int):
        if not 0 <= until < count:
            raise InputError(f"{run.path} has no frame {until}; its frames are 0 to {count - 1}.")
        return until
    if math.isnan(until):
        raise InputError("The last moment must be a number: log10 t, such as 3.0 for t = 1000.")
    # 1e-9: a moment typed as a decimal includes the frame at that moment.
    return max(int(np.searchsorted(run.log10_time[:count], until + 1e-9, side="right")) - 1, 0)


def selection_words(material: PanelData, selected: Selected) -> str:
    """Return the selected neurons of a figure's runs as a sentence of its caption, or ""."""
    parts = []
    for nodes, mask in zip(selected, material.chosen, strict=False):
        if nodes is not None and mask is not None:
            name = f" ({nodes.name})" if nodes.name else ""
            parts.append(f"{int(mask.sum())} of {mask.size} neurons{name}")
    return f" Selected: {'; '.join(parts)}; all others are dim." if parts else ""


def share_words(material: PanelData) -> str:
    """Return the divisor of a figure's margins as a sentence of its caption, or ""."""
    names = {traces.share_of for traces in material.margins} - {""}
    parts = ", ".join(math_label(name) for name in sorted(names))
    return f" Margins are divided by {parts}, drawn at 1 with its bracket." if names else ""


def prediction_words(material: PanelData) -> str:
    """Return the predictions beside a figure's curves as a sentence of its caption, or ""."""
    curves = material.traces.get("curves")
    predictions = [one.prediction for row in (curves.bounds if curves else ()) for one in row]
    sources = dict.fromkeys(one.source for one in predictions if one is not None)
    return f" Dashed: predictions ({plain('; '.join(sources))})." if sources else ""


def letter_of(place: int, count: int) -> str:
    """Return the letter of one of `count` panels: none of a single one, "aa" after "z".

    >>> letter_of(0, 1), letter_of(0, 27), letter_of(25, 27), letter_of(26, 27)
    ('', 'a', 'z', 'aa')
    """
    if count == 1:
        return ""
    round, last = divmod(place, len(LETTERS))
    return (LETTERS[round - 1] if round else "") + LETTERS[last]


def build_scene(
    runs: Sequence[Run],
    panels: Sequence[str] = PANELS,
    until: int | float | None = None,
    options: FigureOptions = USUAL,
) -> FigureScene:
    """Build a figure of one to ten runs, a row each, with the same panels side by side.

    All rows share the axis and the colours of time, and the scales of rotations, norms, margins,
    curves and singular values. Trajectories have a scale of their own.

    Parameters
    ----------
    runs : sequence of Run
        Open runs, each with a frame.
    panels : sequence of str
        Names of EVERY_PANEL, each once. Runs of real targets have curves in place of margins
        (`choose_panels`). More than four panels, or a narrow sheet, need several lines a row.
    until : int or float, optional
        Last frame that is shown (int), or its log10 t (float); by default the last of each run.
    options : FigureOptions
        Colours, plane, contents, sheet, and options of each run. Notes are marked on curves over
        time, and listed below.

    Returns
    -------
    FigureScene
        180 mm wide for three panels or more, unless the sheet has a width.

    Raises
    ------
    InputError
        Unknown panels or options, another number of runs, a run without a frame or without the
        plane, or a sheet without room for the panels.
    """
    check_runs(runs)
    panels = choose_panels(check_panels(panels), runs)
    view, sheet = options.view, options.sheet
    check_view_options(view, runs)
    check_sheet(sheet)
    lasts = [last_frame(run, until) for run in runs]
    material = compute_panel_data(runs, panels, lasts, options)
    title = titles(runs)[0]
    letters = {
        (row, kind): letter_of(row * len(panels) + column, len(runs) * len(panels))
        for row in range(len(runs))
        for column, kind in enumerate(panels)
    }
    by_kind = [(", ".join(letters[row, kind] for row in range(len(runs))), kind) for kind in panels]
    ends = [run.frames - 1 for run in runs] if view.rest else lasts
    notes = number_notes(options.notes, runs, ends)
    texts = (title, footer(material, by_kind), sheet, list_notes(notes, material.time.steps))
    laid = page(headings(runs), [[1] * len(panels)] * len(runs), *texts)
    grid = [
        [
            with_notes(
                material.panel(row, kind, letters[row, kind], laid.boxes[row][column])[0],
                material,
                [one for one in notes if one.row == row],
            )
            for column, kind in enumerate(panels)
        ]
        for row in range(len(runs))
    ]
    if len(runs) > 1:
        grid = [[with_narrow_key(panel, sheet.scale) for panel in line] for line in grid]
        columns = [with_one_key(column) for column in zip(*grid, strict=True)]
        grid = [list(line) for line in zip(*columns, strict=True)]
        keys_of = [[key_lines(one) for one in line] for line in grid]
        laid = page(headings(runs), keys_of, *texts)
    placed = [panel for pair in zip(grid, laid.boxes, strict=True) for panel in place_row(*pair)]
    size = (laid.width, laid.height, sheet.points)
    return FigureScene(*size, title, options.palette, tuple(placed), laid.texts, sheet.family)


def with_notes(panel: Panel, material: PanelData, notes: Sequence[FigureNote]) -> Panel:
    """Return a panel with marks at the moments of its run's notes, if it has curves over time.

    Parameters
    ----------
    panel : Panel
        Panel of any kind, over its final range.
    material : PanelData
        Runs, horizontal axis and options of the figure.
    notes : sequence of FigureNote
        Notes of the panel's run, in the order of time.

    Returns
    -------
    Panel
        The panel itself without curves over time, or without notes.
    """
    if panel.kind not in ("margins", *material.traces) or not notes:
        return panel
    options, run = material.shown, material.runs[panel.row]
    axis = (material.across, options.view.against)
    return mark_notes(panel, run, notes, *axis, options.palette, options.sheet.points)


def place_row(panels: Sequence[Panel], boxes: Sequence[Box]) -> list[Panel]:
    """Return the panels of a run in their boxes, with the titles of a line at one height."""
    rows: dict[float, int] = {}
    for panel, box in zip(panels, boxes, strict=True):
        rows[box.top] = max(rows.get(box.top, 0), key_lines(panel))
    return [
        replace(panel, box=box, key_lines=rows[box.top])
        for panel, box in zip(panels, boxes, strict=True)
    ]


def with_narrow_key(panel: Panel, scale: float) -> Panel:
    """Return the panel with its key in several lines where its panels share a line closely."""
    if panel.box.width >= LEAST_SIDE * scale or isinstance(panel.key, TimeKey) or not panel.key:
        return panel
    return replace(panel, key_columns=key_columns(panel.key, panel.box.width / scale))


def with_one_key(panels: Sequence[Panel]) -> list[Panel]:
    """Return the panels with the key of the first one alone, if all have the same."""
    first = panels[0].key
    if len(panels) > 1 and all(_is_same_key(first, panel.key) for panel in panels):
        return [panels[0], *(replace(panel, key=()) for panel in panels[1:])]
    return list(panels)


def _is_same_key(one: Key, two: Key) -> bool:
    if isinstance(one, TimeKey) and isinstance(two, TimeKey):
        has_same_texts = (one.name, one.texts) == (two.name, two.texts)
        return has_same_texts and bool(np.array_equal(one.colours, two.colours))
    return not isinstance(one, TimeKey) and one == two


def key_lines(panel: Panel) -> int:
    """Return how many lines the key of a panel has."""
    if isinstance(panel.key, TimeKey) or not panel.key:
        return 1 if panel.key else 0
    return -(-len(panel.key) // (panel.key_columns or len(panel.key)))


def footer(material: PanelData, by_kind: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Return the paragraphs below a figure: source and settings, and what the panels show.

    `by_kind` are pairs of a kind's panel letters, such as "a, e", and the kind.
    """
    runs, options = material.runs, material.shown
    source = titles(runs)[1]
    origin = f"Source: {source}. " if source else ""
    data = SEVERAL if any(run.dataset.classes > 2 for run in runs) else TWO_CLASSES
    if any(run.dataset.real for run in runs):
        data = REAL
    words = "two coordinates"
    if options.plane.kind != "coordinates":
        words = f"a plane ({PLANES[options.plane.kind].title.lower()})"
    norms = [run.network.margin_norm[1] for run in runs]
    nodes = UNIT if options.view.nodes == "directions" else WEIGHTS
    caption = captions(by_kind, options.palette, data, words, norms, nodes)
    if any(track.rays is not None for track in material.tracks):
        caption += RAYS
    if any(material.shown.view.pins(row) for row in range(len(runs))):
        caption += " Rings: pinned neurons."
    caption += prediction_words(material)
    settings = settings_line(runs, material.lasts)
    facts = f"{origin}Settings: {settings}. Marginscope {core.__version__}."
    caption += selection_words(material, options.selected)
    return facts, caption + share_words(material)
