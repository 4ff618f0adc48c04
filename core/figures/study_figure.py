"""The figure of a folder that holds runs of a study with a layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from core.figures.palette import LIGHT, Palette
from core.figures.primitives import FigureScene
from core.figures.scene import MOST_ROWS, build_scene
from core.figures.study_cells import StudyCell, open_cell, runs_of, studies_in
from core.figures.study_scene import Said, study_scene
from core.runs import open_run
from core.study import Study, load_study, shipped_ids


def layout_of(folder: Path, studies: Sequence[Study] = ()) -> Study | None:
    """The study with a layout whose runs a folder holds: one of those given, or a shipped one.

    None where there is none, or where the folder holds runs of several.
    """
    given = {study.id: study for study in studies}
    ids = studies_in(folder, [*given, *(name for name in shipped_ids() if name not in given)])
    found = [given[name] if name in given else load_study(name) for name in ids]
    drawn = [study for study in found if study.figure]
    return drawn[0] if len(drawn) == 1 else None


def has_figure(study: Study) -> bool:
    """Whether a study has a layout, or so few cells that its figure shows them one by one."""
    return bool(study.figure) or study.count <= MOST_ROWS


def figure_of_folder(
    study: Study,
    folder: Path,
    keep: Callable[[Any], Any],
    palette: Palette = LIGHT,
    verdicts: Sequence[str] = (),
) -> FigureScene:
    """The figure of a study's runs in a folder; `keep` gets each run, to close it afterwards.

    Raises InputError when none of them has a frame.
    """
    return figure_of_runs(study, runs_of(study.id, folder), keep, palette, verdicts)


def figure_of_runs(
    study: Study,
    paths: Sequence[Path],
    keep: Callable[[Any], Any],
    palette: Palette = LIGHT,
    verdicts: Sequence[str] = (),
) -> FigureScene:
    """The figure of some run files of a study, as `figure_of_folder`.

    Of a study without a layout it is that of its runs, one a row, as long as they are few (see
    `has_figure`).
    """
    layout = study.layout()
    if layout is None:
        return build_scene([keep(open_run(path)) for path in paths], palette=palette)
    found = [open_cell(path, study, keep) for path in sorted(paths)]
    cells: list[StudyCell] = [cell for cell in found if cell is not None]
    said = Said(study.title, study.source, "", tuple(verdicts))
    return study_scene(layout, cells, said, palette)
