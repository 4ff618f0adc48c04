"""Figure of the run files of a study."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from core.errors import InputError
from core.figures.names import MOST_ROWS, PageSize
from core.figures.options import FigureOptions
from core.figures.palette import LIGHT, Palette
from core.figures.primitives import FigureScene
from core.figures.scene import build_scene
from core.figures.study_scene import AUTOMATIC, Caption, study_scene
from core.runs import Run, open_run
from core.studies.cell_table import Known
from core.studies.cells import StudyCell, cell_by_row, open_cell, studies_in
from core.studies.formulas import FUNCTIONS
from core.studies.layout import FigureLayout, PanelLayout
from core.studies.moments import names_of, observables_of
from core.studies.study import Study, load_study, shipped_ids


def layout_of(folder: Path, studies: Sequence[Study] = ()) -> Study | None:
    """Return the study with a layout whose runs a folder holds: a given or a shipped one.

    None if the folder holds runs of no such study, or of several.
    """
    by_id = {study.id: study for study in studies}
    ids = studies_in(folder, [*by_id, *(name for name in shipped_ids() if name not in by_id)])
    present = [by_id[name] if name in by_id else load_study(name) for name in ids]
    with_figure = [study for study in present if study.figure]
    # Several layouts are ambiguous: the runs are then shown one by one.
    return with_figure[0] if len(with_figure) == 1 else None


def has_figure(study: Study) -> bool:
    """Return True if a study has a layout, or so few cells that a figure shows each of them."""
    return bool(study.figure) or study.count <= MOST_ROWS


def figure_of_runs(
    study: Study,
    paths: Sequence[Path],
    register: Callable[[Run], Run],
    palette: Palette = LIGHT,
    verdicts: Sequence[str] = (),
    known_values: Known | None = None,
    sheet: PageSize = AUTOMATIC,
) -> FigureScene:
    """Return the figure of some run files of a study.

    Parameters
    ----------
    study : Study
        Without a layout the figure shows its runs, one a row, if they are few (`has_figure`).
    paths : sequence of Path
        Run files of the study.
    register : callable
        Gets each run that is opened, to close it afterwards; returns the run to read.
    palette, sheet : Palette, PageSize
        Colours of the figure; its size and that of its letters.
    verdicts : sequence of str
        Verdicts on the claims, for a figure with a layout.
    known_values : mapping, optional
        Values of a sweep's table by the names of cells; files that add nothing are not opened.

    Returns
    -------
    FigureScene

    Raises
    ------
    InputError
        If no run has a frame, or the page is too small for the panels.
    """
    layout = study.layout()
    if layout is None:
        options = FigureOptions(palette, sheet=sheet)
        return build_scene([register(open_run(path)) for path in paths], options=options)
    cells = cells_of_runs(study, layout, paths, register, known_values)
    caption = Caption(study.title, study.source, "", tuple(verdicts))
    return study_scene(layout, cells, caption, palette, sheet)


def cells_of_runs(
    study: Study,
    layout: FigureLayout,
    paths: Sequence[Path],
    register: Callable[[Run], Run],
    known_values: Known | None = None,
) -> list[StudyCell]:
    """Return the cells of some run files that have frames, sorted by file.

    Parameters
    ----------
    study, layout, paths, register, known_values
        As of `figure_of_runs`, with the layout of the study.

    Returns
    -------
    list of StudyCell
    """
    rows = _by_rows(study, layout, paths, known_values or {}, register)
    # By name, independent of the folder's order.
    cells = [rows.get(path) or open_cell(path, study, register) for path in sorted(paths)]
    return [cell for cell in cells if cell is not None]


def _by_rows(
    study: Study,
    layout: FigureLayout,
    paths: Sequence[Path],
    known_values: Known,
    register: Callable[[Run], Run],
) -> dict[Path, StudyCell]:
    """Return the cells of the grid that have files and rows, none of them opened yet.

    Cells are left out if only their files know a setting that the layout needs.
    """
    if not known_values:
        return {}
    files = {path.stem: path for path in paths}
    cells = {}
    for cell in study.cells():
        path = files.get(f"{study.id}__{cell.name}")
        if path is not None and cell.name in known_values:
            by_row = cell_by_row(cell, path, known_values[cell.name], study, register)
            if all(_has_settings(by_row, panel) for panel in layout.panels):
                cells[path] = by_row
    return cells


def _has_settings(cell: StudyCell, panel: PanelLayout) -> bool:
    """Return True if a cell has every setting and symbol of a panel."""
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
