"""Results of the studies in a folder: judged claims, and the figure of one study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.figures.palette import Palette
from core.figures.primitives import FigureScene
from core.figures.study_figure import figure_of_runs, layout_of
from core.studies.cells import runs_of
from core.studies.row import Known, Row, known_values
from core.studies.study import Study
from core.studies.trials import trials_of
from core.studies.verdicts import Judged, judge
from core.sweep.folder import sweeps_in
from core.sweep.ledger import Ledger
from core.sweep.plan import run_paths


def judged_in(folder: Path, ledger: Ledger, size: str | None) -> list[Judged]:
    """Judge the claims of a swept study, at the size that it was swept at unless one is given."""
    judged_size = (size or ledger.size) if ledger.study.sizes else None
    return judged_rows(ledger.study, ledger.rows, folder, judged_size)


def judged_rows(
    study: Study, rows: Mapping[str, Row], folder: Path, size: str | None
) -> list[Judged]:
    """Judge the claims of a study by the rows of its cells, whose runs are in a folder.

    Parameters
    ----------
    study : Study
        Study whose claims are judged.
    rows : mapping of str to Row
        Rows of the cells, by their names.
    folder : Path
        Folder of the run files.
    size : str or None
        Size that the cells were trained at; None judges all claims.

    Returns
    -------
    list of Judged
        One for each claim, in their order.
    """
    paths = run_paths(study, folder)
    # A row outlives its run file. A cell that failed never had one, and counts among the runs that
    # a claim is about.
    there = {
        name: row
        for name, row in rows.items()
        if name in paths and (row.state == "failed" or paths[name].is_file())
    }
    return judge(study, trials_of(study, there, paths), size)


def results_in(folder: Path, ledger: Ledger | None) -> tuple[list[str], Known | None]:
    """Return a line for each claim of a sweep, and what its table has; nothing without one."""
    if ledger is None:
        return [], None
    claims = ledger.study.claims
    verdicts = [one.line for one in judged_in(folder, ledger, None)] if claims else []
    return verdicts, known_values(ledger.rows, run_paths(ledger.study, folder))


def folder_figure(
    folder: Path,
    keep: Callable[[Any], Any],
    palette: Palette,
    fresh: Sequence[Study] = (),
) -> FigureScene | None:
    """Return the figure of the study with a layout whose runs a folder holds; None without one.

    Parameters
    ----------
    folder : Path
        Folder of run files.
    keep : callable
        Called with each run that is opened; it closes the run later.
    palette : Palette
        Colours of the figure.
    fresh : sequence of Study
        Studies whose runs were recorded a moment ago and have no ledger.

    Returns
    -------
    FigureScene or None
    """
    ledgers = [] if fresh else sweeps_in(folder, values=False)
    study = layout_of(folder, fresh or [ledger.study for ledger in ledgers])
    if study is None:
        return None
    own = next((ledger for ledger in ledgers if ledger.study.id == study.id), None)
    verdicts, known = results_in(folder, own)
    return figure_of_runs(study, runs_of(study.id, folder), keep, palette, verdicts, known)
