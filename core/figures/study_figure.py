"""The figure of a folder that holds runs of a study with a layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

import numpy as np

from core.errors import InputError
from core.figures.labels import SETTINGS, phrase
from core.figures.layout import BETWEEN, FOOT, LINE, MARGIN, title_texts, wrapped
from core.figures.names import POINTS
from core.figures.numbers import math_words
from core.figures.options import FigureOptions
from core.figures.palette import LIGHT, Palette
from core.figures.primitives import NO_BREAK, Box, FigureScene, Key, Panel, Text, TimeKey, plain
from core.figures.scene import MOST_ROWS, build_scene
from core.figures.study_axes import scales_of
from core.figures.study_panels import study_panel
from core.runs import Run, open_run
from core.studies.cell_table import Known
from core.studies.cells import StudyCell, cell_by_row, open_cell, studies_in
from core.studies.formulas import FUNCTIONS
from core.studies.layout import PICTURES, FigureLayout, PanelLayout
from core.studies.moments import names_of, observables_of
from core.studies.panel_lines import Line, lines_of
from core.studies.study import Study, load_study, shipped_ids

# A whole study on a page: panels as its layout arranges them, and what a reader must know.

LETTERS = "abcdefghijklmnopqrstuvwxyz"
# Width of the figure in millimetres by the number of panels in a row.
WIDTHS = {1: 96.0, 2: 150.0, 3: 180.0, 4: 180.0}
LEFT, EDGE = 13.0, 4.0
SMALL = POINTS - 1.0  # letters of the verdicts
ASPECT = 0.78  # height of a panel by its width
HEAD, KEY_LINE, TITLE_GAP = 9.0, 3.5, 2.4
BARS = {"sd": "one standard deviation each way", "2se": "two standard errors each way"}


@final
@dataclass(frozen=True, slots=True)
class Caption:
    """Texts around the panels: title, source, note, and the verdicts on the claims.

    `settings`: those that all runs share, in words.
    """

    title: str
    source: str = ""
    note: str = ""
    verdicts: tuple[str, ...] = ()
    settings: str = ""


def study_scene(
    layout: FigureLayout, cells: Sequence[StudyCell], caption: Caption, palette: Palette = LIGHT
) -> FigureScene:
    """Return the figure of a study's runs.

    Raises InputError without runs, and for a formula of the layout with an unknown name.
    """
    if not cells:
        raise InputError(f"{caption.title}: no run of it has frames yet; run the study first.")
    _check_formulas(layout)
    every_line = [lines_of(panel, cells) for panel in layout.panels]
    return scene_of_lines(
        layout, every_line, replace(caption, settings=settings_text(cells)), palette
    )


def scene_of_lines(
    layout: FigureLayout,
    every_line: Sequence[Sequence[Line]],
    caption: Caption,
    palette: Palette = LIGHT,
) -> FigureScene:
    """Return the figure of the lines of each panel.

    Parameters
    ----------
    layout : FigureLayout
        Panels, and how many are in a row.
    every_line : sequence of sequences of Line
        Lines of each panel.
    caption : Caption
        Texts around the panels; without a title the panels begin at the top.
    palette : Palette
        Colours of the figure.

    Returns
    -------
    FigureScene
    """
    columns = layout.columns
    width = WIDTHS[columns]
    side = (width - LEFT - EDGE - (columns - 1) * (BETWEEN + 3.0)) / columns
    texts, top = title_texts(plain(caption.title), width) if caption.title else ([], 0.0)
    top += 1.5
    square = Box(0.0, 0.0, side, side)
    panels: list[Panel] = []
    letters = LETTERS if len(layout.panels) > 1 else ("",)
    every_panel = with_one_key(
        [  # before their height is known
            study_panel(panel, lines, 0, letter, square, palette)
            for panel, lines, letter in zip(layout.panels, every_line, letters, strict=False)
        ]
    )
    for begin in range(0, len(layout.panels), columns):
        drawn = every_panel[begin : begin + columns]
        # Of the longest key of the row, so that the panels beside it begin at one height.
        rows = max(_key_lines(panel) for panel in drawn)
        top += HEAD + KEY_LINE * (rows - 1)
        height = ASPECT * side if columns > 1 else 0.62 * side
        for column, panel in enumerate(drawn):
            left = LEFT + column * (side + BETWEEN + 3.0)
            box = Box(left, round(top, 2), side, height)
            panels.append(replace(panel, box=box, row=begin // columns, key_lines=rows))
        top += height + FOOT
    texts += _footer(layout, every_line, caption, width, top + TITLE_GAP)
    bottom = max((text.top for text in texts), default=0.0) + MARGIN
    height, title = round(max(bottom, top + MARGIN), 2), caption.title
    return FigureScene(width, height, POINTS, title, palette, tuple(panels), tuple(texts))


@final
@dataclass(frozen=True, slots=True)
class Spot:
    """A point of a figure in millimetres from the top left corner, the mean of `count` runs.

    `name` is the first of these runs, or that of the whole line where `of_line`.
    """

    left: float
    top: float
    name: str
    mean: float
    count: int
    of_line: bool


def spots_of(
    scene: FigureScene, layout: FigureLayout, every_line: Sequence[Sequence[Line]]
) -> tuple[Spot, ...]:
    """Return the points of a figure that stand for runs.

    Parameters
    ----------
    scene : FigureScene
        Figure of the lines, by `scene_of_lines`.
    layout : FigureLayout
        Panels of the figure.
    every_line : sequence of sequences of Line
        Lines of each panel.

    Returns
    -------
    tuple of Spot
        Points within the frames of their panels.
    """
    spots = []
    for panel, own, lines in zip(scene.panels, layout.panels, every_line, strict=True):
        for line in lines if own.kind not in PICTURES else ():
            x_scale, y_scale = scales_of(own, lines)
            across = (x_scale.place(line.x) - panel.x.low) / (panel.x.high - panel.x.low)
            up = (y_scale.place(line.mean) - panel.y.low) / (panel.y.high - panel.y.low)
            of_line = len(line.names) != line.x.size
            for k in np.flatnonzero((abs(across - 0.5) <= 0.5) & (abs(up - 0.5) <= 0.5)):
                left = panel.box.left + float(across[k]) * panel.box.width
                top = panel.box.top + (1.0 - float(up[k])) * panel.box.height
                name, mean = line.names[0 if of_line else k], float(line.mean[k])
                spots.append(Spot(left, top, name, mean, int(line.count[k]), of_line))
    return tuple(spots)


def _check_formulas(layout: FigureLayout) -> None:
    """InputError for words with a formula between dollar signs that cannot be set."""
    from matplotlib.mathtext import MathTextParser

    words = [layout.note]
    for panel in layout.panels:
        words += [panel.title, panel.x_label, panel.y_label, panel.legend, *panel.names]
        words += [mark.text for mark in (*panel.levels, *panel.slopes)]
    # Before anything is drawn: matplotlib would stop in the middle of the figure.
    parser = MathTextParser("path")
    for text in (one for one in words if "$" in one):
        try:
            parser.parse(text)
        except (ValueError, RuntimeError) as error:
            raise InputError(
                f"The words {text!r} of the figure cannot be set; check what stands between "
                "the dollar signs."
            ) from error


def with_one_key(panels: Sequence[Panel]) -> list[Panel]:
    """Return the panels with the key of the first one alone, if all have the same."""
    first = panels[0].key
    if len(panels) > 1 and all(_is_same_key(first, panel.key) for panel in panels):
        return [panels[0], *(replace(panel, key=()) for panel in panels[1:])]
    return list(panels)


def _is_same_key(one: Key, two: Key) -> bool:
    if isinstance(one, TimeKey) and isinstance(two, TimeKey):
        same = (one.name, one.texts) == (two.name, two.texts)
        return same and bool(np.array_equal(one.colours, two.colours))
    return not isinstance(one, TimeKey) and one == two


def _key_lines(panel: Panel) -> int:
    if isinstance(panel.key, TimeKey) or not panel.key:
        return 1 if panel.key else 0
    return -(-len(panel.key) // (panel.key_columns or len(panel.key)))


def _footer(
    layout: FigureLayout,
    every_line: Sequence[Sequence[Line]],
    caption: Caption,
    width: float,
    top: float,
) -> list[Text]:
    source = f"Source: {plain(caption.source)}. " if caption.source else ""
    first = source + caption.settings + _bars_text(layout, every_line)
    paragraphs = [first, math_words(layout.note or caption.note)]
    texts = []
    for paragraph in [text for text in paragraphs if text]:
        for line in wrapped(paragraph, width - 2 * MARGIN, POINTS):
            texts.append(Text(MARGIN, round(top, 2), line, POINTS, muted=True))
            top += LINE
    top += 0.35 * LINE
    for verdict in caption.verdicts:
        words = wrapped(math_words(plain(verdict)), width - 3 * MARGIN, SMALL)
        for position, line in enumerate(words):
            left = MARGIN if position == 0 else 2 * MARGIN
            texts.append(Text(left, round(top, 2), line, SMALL))
            top += 0.88 * LINE
    return texts


def settings_text(cells: Sequence[StudyCell]) -> str:
    """Return the settings that all runs share, in words."""
    parts = []
    for key in SETTINGS:
        values = {str(cell.settings.get(key)) for cell in cells}
        value = cells[0].settings.get(key)
        if len(values) == 1 and value is not None:
            parts.append(phrase(key, value))
    text = ", ".join(parts).replace(" = ", NO_BREAK + "=" + NO_BREAK)
    return f"Settings: {text}. " if text else ""


def _bars_text(layout: FigureLayout, every_line: Sequence[Sequence[Line]]) -> str:
    """Over how many runs the means are, and what bars and bands show."""
    counts = [int(line.count.max()) for lines in every_line for line in lines if line.count.size]
    most = max(counts, default=1)
    if most < 2:
        return "One run a point."
    spreads = {panel.spread for panel in layout.panels if panel.kind not in PICTURES}
    kinds = {BARS[spread] for spread in spreads & BARS.keys()}
    ends = f"; bars and bands: {' or '.join(sorted(kinds))}" if kinds else ""
    excluded = any(panel.exclude_unfit for panel in layout.panels)
    left_out = "; runs with training errors left out" if excluded else ""
    slopes = ""
    if any(line.slope for lines in every_line for line in lines):
        slopes = " Slopes with .95 intervals, the wider of bootstrap over seeds and residuals."
    return f"Means over {most} runs{ends}{left_out}.{slopes}"


def layout_of(folder: Path, studies: Sequence[Study] = ()) -> Study | None:
    """The study with a layout whose runs a folder holds: one of those given, or a shipped one.

    None where there is none, or where the folder holds runs of several.
    """
    given = {study.id: study for study in studies}
    ids = studies_in(folder, [*given, *(name for name in shipped_ids() if name not in given)])
    present = [given[name] if name in given else load_study(name) for name in ids]
    drawn = [study for study in present if study.figure]
    # Of several nobody has said which: the runs are then shown one by one.
    return drawn[0] if len(drawn) == 1 else None


def has_figure(study: Study) -> bool:
    """Whether a study has a layout, or so few cells that its figure shows them one by one."""
    return bool(study.figure) or study.count <= MOST_ROWS


def figure_of_runs(
    study: Study,
    paths: Sequence[Path],
    keep: Callable[[Run], Run],
    palette: Palette = LIGHT,
    verdicts: Sequence[str] = (),
    known: Known | None = None,
) -> FigureScene:
    """The figure of some run files of a study; `keep` gets each run, to close it afterwards.

    Of a study without a layout it is that of its runs, one a row, as long as they are few (see
    `has_figure`). `known` are the values that a sweep's table has, by the names of cells: files of
    which it has all that is needed are not opened. Raises InputError when no run has a frame.
    """
    layout = study.layout()
    if layout is None:
        return build_scene([keep(open_run(path)) for path in paths], options=FigureOptions(palette))
    cells = cells_of_runs(study, layout, paths, keep, known)
    caption = Caption(study.title, study.source, "", tuple(verdicts))
    return study_scene(layout, cells, caption, palette)


def cells_of_runs(
    study: Study,
    layout: FigureLayout,
    paths: Sequence[Path],
    keep: Callable[[Run], Run],
    known: Known | None = None,
) -> list[StudyCell]:
    """Return the cells of some run files that have frames; arguments as of `figure_of_runs`."""
    rows = _by_rows(study, layout, paths, known or {}, keep)
    # In the order of names: figures do not depend on that of the folder.
    cells = [rows.get(path) or open_cell(path, study, keep) for path in sorted(paths)]
    return [cell for cell in cells if cell is not None]


def _by_rows(
    study: Study,
    layout: FigureLayout,
    paths: Sequence[Path],
    known: Known,
    keep: Callable[[Run], Run],
) -> dict[Path, StudyCell]:
    """The cells of the grid whose files and rows are there, none of them opened yet.

    Those are left out of which a setting that the layout asks for is known to their files alone.
    """
    if not known:
        return {}
    files = {path.stem: path for path in paths}
    cells = {}
    for cell in study.cells():
        path = files.get(f"{study.id}__{cell.name}")
        if path is not None and cell.name in known:
            by_row = cell_by_row(cell, path, known[cell.name], study, keep)
            if all(_settled(by_row, panel) for panel in layout.panels):
                cells[path] = by_row
    return cells


def _settled(cell: StudyCell, panel: PanelLayout) -> bool:
    """Whether a cell has every setting and symbol of a panel."""
    symbols = cell.symbols.keys() | set(FUNCTIONS)
    for formula in panel.y:
        if names_of(formula) - set(observables_of(formula)) - symbols:
            return False
    settings = {panel.lines, panel.along, *(key for key, _ in panel.where)}
    if panel.kind in ("sweep", "crossing"):
        settings.add(panel.x)
    try:
        return all(cell.setting(formula) is not None for formula in settings if formula)
    except InputError:
        return False
