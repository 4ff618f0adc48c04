"""`marginscope.figure` and `marginscope.player`, for runs, sweeps, studies and paths."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Unpack, overload

from core.errors import InputError
from core.figures.palette import DARK, LIGHT
from core.figures.primitives import FigureScene
from core.figures.study_figure import figure_of_runs
from core.runs import runs_in
from core.studies.study import shipped_ids
from core.sweep.folder import folder_figure, kept_once, opener_of, results_in
from marginscope._engine.boundary import Folder, public
from marginscope._engine.figures import (
    PLAIN,
    Kind,
    Options,
    Player,
    PlayerOptions,
    draw,
    options_of,
    play,
    scene_of,
)
from marginscope._engine.run import Run, open_run
from marginscope._engine.studies import Study, core_study, found
from marginscope._engine.sweeping import Sweep
from marginscope._engine.training import train

RUN = ".msrun"
Shown = Run | Sweep | Study | str | os.PathLike[str] | Sequence[Run]


@overload
def figure(
    shown: Shown,
    path: str | os.PathLike[str],
    /,
    *,
    dark: bool = False,
    dpi: float = 300.0,
    **options: Any,
) -> Path: ...


@overload
def figure(
    shown: Shown,
    path: None = None,
    /,
    *,
    kind: Kind = "png",
    dark: bool = False,
    dpi: float = 300.0,
    **options: Any,
) -> bytes: ...


@public
def figure(
    shown: Shown,
    path: str | os.PathLike[str] | None = None,
    /,
    *,
    kind: Kind = "png",
    dark: bool = False,
    dpi: float = 300.0,
    **options: Any,
) -> Path | bytes:
    """A figure of runs, one a row, or of a study as its paper arranges it.

    `shown` is a Run, up to six in a list, a Sweep, a study (which is trained), or the path of a
    run file or of a folder of them. With `path` (.pdf, .svg or .png) it is written, and the path
    returned; else its bytes are, of the `kind` "png", "svg" or "pdf". Equal runs give equal bytes.
    `dpi` is the resolution of PNGs, in dots per inch.

    Options, all of which are about single runs: `panels` (neurons, rotations, norms, margins,
    curves, spectrum, predictor), `until` (the last t shown, or a text such as "10^2.5"), `plane`
    of the neurons, `curves` (observables of one number a frame) and what they stand `against`
    (log10_time, step, norm_squared), `margins` (names of reference margins, or "all", drawn among
    those of the run, each computed in at most `limit` seconds), `width_mm` and `height_mm`, and
    `caption=False` for no caption.

    >>> import marginscope as ms
    >>> short = {"network.m": 8, "data.n": 16, "dynamics.until_log10_time": 0.5}
    >>> run = ms.train("telgarsky22-figure-1", **short, **{"recording.frames": 5})
    >>> ms.figure(run, kind="svg", panels=["margins"])[:5]
    b'<?xml'

    Raises InputError for panels, curves and options that there are not, more than ten runs, a run
    without frames, or another ending; DiskError where the disk is full.
    """
    chosen = options_of(options)
    with ExitStack() as stack:
        return draw(partial(_scene, shown, chosen, dark, stack), path, kind, dpi)


@public
def player(shown: Shown, /, **options: Unpack[PlayerOptions]) -> Player:
    """A figure of runs that plays and is scrubbed: in a notebook, or as a page for any browser.

    `shown` is what `figure` takes: a Run, up to six in a list, a Sweep, a study (which is trained),
    or the path of a run file or of a folder of them. Several stand side by side. The page has the
    frames that a run has now; of a recording that grows later ones need another page. As the last
    value of a cell it shows itself; `save` writes it, and `html` is its text.

    Options: `views` (neurons, rotations, norms, margins, curves, spectrum), `frames` (at most so
    many moments, evenly left out; 400 without it), `title` in the place of the runs' own,
    `colours` ("system", "light" or "dark") with which it begins, `plane` of the neurons, `curves`
    and what they stand `against`, `margins` (names of reference margins, drawn among those of the
    run; "all", as without it, or "none"; each is computed in at most `limit` seconds), and
    `height`, in pixels, of its frame in a notebook.

    >>> import marginscope as ms
    >>> short = {"network.m": 8, "data.n": 16, "dynamics.until_log10_time": 0.5}
    >>> run = ms.train("telgarsky22-figure-1", **short, **{"recording.frames": 5})
    >>> page = ms.player(run, title="Parity", margins="none")
    >>> page.title, page.html[:15]
    ('Parity', '<!doctype html>')

    Raises InputError for views, curves and options that there are not, numbers of frames that are
    not possible, more than ten runs, and a run without frames.
    """
    with ExitStack() as stack:
        return play(lambda: _opened(_read(shown, stack), stack), options)


def _scene(shown: Any, options: Options, dark: bool, stack: ExitStack) -> FigureScene:
    """Return what is drawn of what was given; a study's own layout is only the default."""
    shown, palette = _read(shown, stack), DARK if dark else LIGHT
    if isinstance(shown, Path) and options == PLAIN:
        scene = folder_figure(shown, stack.enter_context, palette)
        if scene is not None:
            return scene
    if isinstance(shown, Sweep) and options == PLAIN and core_study(shown.study).figure:
        keep = kept_once(stack.enter_context)
        ledger = shown._plan.ledger
        verdicts, known = results_in(shown.folder, ledger, True, opener_of(keep))
        paths = [cell.path for cell in shown.cells if cell.state == "done"]
        study = core_study(shown.study)
        return figure_of_runs(study, paths, keep, palette, verdicts, known)
    return scene_of(_opened(shown, stack), options, dark)


def _read(shown: Any, stack: ExitStack) -> Any:
    """Return the run or folder that a path or a study leads to; return all else unchanged."""
    if isinstance(shown, str | os.PathLike):
        shown = _of_path(shown, stack)
    return _trained(shown, stack) if isinstance(shown, Study) else shown


def _opened(shown: Any, stack: ExitStack) -> list[Run]:
    """Return the runs of what was read; each is open until no object holds it."""
    if isinstance(shown, Sweep):
        shown = list(shown.runs)
    if isinstance(shown, Path):
        shown = [stack.enter_context(open_run(path)) for path in runs_in(shown)]
    runs = list(shown) if isinstance(shown, Sequence) else [shown]
    wrong = next((one for one in runs if not isinstance(one, Run)), None)
    if wrong is not None:
        raise InputError(f"{wrong!r:.60} is no run; give a Run, several, a Sweep or a study.")
    return runs


def _of_path(shown: str | os.PathLike[str], stack: ExitStack) -> Run | Study | Path:
    """Return the run, the folder of runs, or the study of a path."""
    text = os.fspath(shown)
    path = Path(text)
    if text in shipped_ids() or path.suffix == ".toml":
        return found(text, {})
    if path.is_dir():
        runs_in(path)  # raises where there are none
        return path
    if path.suffix != RUN and not path.is_file():
        return found(text, {})  # says what there is, and what was meant
    return stack.enter_context(open_run(path))


def _trained(study: Study, stack: ExitStack) -> Path:
    """Train a study for one figure, and return the folder of its runs."""
    folder = Folder("figure")
    stack.callback(folder.close)  # the stack holds it until the figure is drawn
    made = train(study, out=folder.path)
    for run in [made] if isinstance(made, Run) else made:
        run.close()
    return folder.path
