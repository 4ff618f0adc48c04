"""The figure of a folder that holds runs of a study with a layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.figures.options import FigureOptions
from core.figures.palette import LIGHT, Palette
from core.figures.primitives import FigureScene
from core.figures.scene import MOST_ROWS, build_scene
from core.figures.study_scene import Caption, study_scene
from core.runs import open_run
from core.studies.cells import StudyCell, cell_by_row, open_cell, studies_in
from core.studies.formulas import FUNCTIONS
from core.studies.layout import FigureLayout, PanelLayout
from core.studies.moments import names_of, observables_of
from core.studies.row import Known
from core.studies.study import Study, load_study, shipped_ids


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
    keep: Callable[[Any], Any],
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
    rows = _by_rows(study, layout, paths, known or {}, keep)
    # In the order of names: figures do not depend on that of the folder.
    cells = [rows.get(path) or open_cell(path, study, keep) for path in sorted(paths)]
    caption = Caption(study.title, study.source, "", tuple(verdicts))
    return study_scene(layout, [cell for cell in cells if cell is not None], caption, palette)


def _by_rows(
    study: Study,
    layout: FigureLayout,
    paths: Sequence[Path],
    known: Known,
    keep: Callable[[Any], Any],
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
