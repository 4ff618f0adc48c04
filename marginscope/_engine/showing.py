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
from core.sweep.folder import folder_figure, one_per_path, opener_of, results_in
from marginscope._engine.boundary import Folder, public
from marginscope._engine.figures import (
    PLAIN,
    Kind,
    Options,
    PlayerOptions,
    draw,
    options_of,
    play,
    scene_of,
)
from marginscope._engine.player import Player
from marginscope._engine.run import Run, open_run
from marginscope._engine.studies import Study, core_study, find_study
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
    """Draw runs, one a row, or a study as its paper arranges it.

    Equal runs give equal bytes.

    Parameters
    ----------
    shown : Run, sequence of Run, Sweep, Study, str or path
        One to ten runs, a study (which is trained first) or its name, or the path of a run file or
        of a folder of them.
    path : path, optional
        File to write (.pdf, .svg or .png).
    kind : str
        "png", "svg" or "pdf": format of the bytes without a path.
    dark : bool
        True for a dark ground.
    dpi : float
        Resolution of PNGs in dots per inch.
    **options
        Options of the panels of runs, below; with any of them a study is drawn run by run.

    Other Parameters
    ----------------
    panels : sequence of str
        neurons, rotations, norms, margins, curves, spectrum, predictor, kernel, waves, phases; by
        default the first four.
    until : float or str
        Last time shown: t, or a text such as "10^2.5".
    plane : str
        Plane of the neurons.
    curves : str or sequence of str
        Observables of one number a frame, of the panel "curves".
    against : str
        Horizontal axis of the curves: log10_time, step or norm_squared.
    margins : sequence of str
        Names of reference margins, or "all", drawn among those of the run; by default none.
    limit : float
        Most seconds for each reference margin.
    width_mm, height_mm : float
        Size in millimetres, 20 to 1000; by default as the panels need.
    caption : bool
        False for no caption.
    notes : bool
        True to mark the notes at moments of the runs on curves, and to list them below.

    Returns
    -------
    Path or bytes
        The path, or the bytes if there is none.

    Raises
    ------
    InputError
        Unknown panels, curves or options; no run, more than ten, or one without frames; another
        suffix.
    DiskError
        The disk is full.

    Examples
    --------
    >>> import marginscope as ms
    >>> short = {"network.m": 8, "data.n": 16, "dynamics.until_log10_time": 0.5}
    >>> run = ms.train("telgarsky22-figure-1", **short, **{"recording.frames": 5})
    >>> ms.figure(run, kind="svg", panels=["margins"])[:5]
    b'<?xml'
    """
    chosen = options_of(options)
    with ExitStack() as stack:
        return draw(partial(_scene, shown, chosen, dark, stack), path, kind, dpi)


@public
def player(shown: Shown, /, **options: Unpack[PlayerOptions]) -> Player:
    """Make a page that plays runs side by side, for a notebook or any browser.

    The page has the frames that a run has now. As the last value of a notebook's cell it shows
    itself.

    Parameters
    ----------
    shown : Run, sequence of Run, Sweep, Study, str or path
        As for `figure`.
    **options
        Options of the page, below.

    Other Parameters
    ----------------
    views : str or sequence of str
        neurons, rotations, norms, margins, curves, spectrum, waves, phases; by default those that
        suit the runs.
    frames : int
        Most moments of the page, 2 to 2000, evenly chosen; 400 by default.
    title : str
        Title in place of the runs' own.
    colours : str
        "system", "light" or "dark" at the start.
    plane : str
        Plane of the neurons.
    curves : str or sequence of str
        Observables of one number a frame.
    against : str
        Horizontal axis of the curves: log10_time, step or norm_squared.
    margins : str or sequence of str
        Names of reference margins drawn among those of the run, "all" (by default) or "none".
    limit : float
        Most seconds for each reference margin.
    height : int
        Height of the frame in a notebook, 200 to 4000 pixels.

    Returns
    -------
    Player

    Raises
    ------
    InputError
        Unknown views, curves or options; a number of frames out of range; no run, more than ten, or
        one without frames.

    Examples
    --------
    >>> import marginscope as ms
    >>> short = {"network.m": 8, "data.n": 16, "dynamics.until_log10_time": 0.5}
    >>> run = ms.train("telgarsky22-figure-1", **short, **{"recording.frames": 5})
    >>> page = ms.player(run, title="Parity", margins="none")
    >>> page.title, page.html[:15]
    ('Parity', '<!doctype html>')
    """
    with ExitStack() as stack:
        return play(lambda: _open_runs(_read(shown, stack), stack), options)


def _scene(subject: Any, options: Options, dark: bool, stack: ExitStack) -> FigureScene:
    """Return the scene of the given objects; a study's own layout is only the default."""
    subject, palette = _read(subject, stack), DARK if dark else LIGHT
    if isinstance(subject, Path) and options == PLAIN:
        scene = folder_figure(subject, stack.enter_context, palette)
        if scene is not None:
            return scene
    if isinstance(subject, Sweep) and options == PLAIN and core_study(subject.study).figure:
        open_once = one_per_path(stack.enter_context)
        ledger = subject._plan.ledger
        verdicts, known_values = results_in(subject.folder, ledger, True, opener_of(open_once))
        paths = [cell.path for cell in subject.cells if cell.state == "done"]
        study = core_study(subject.study)
        return figure_of_runs(study, paths, open_once, palette, verdicts, known_values)
    return scene_of(_open_runs(subject, stack), options, dark)


def _read(subject: Any, stack: ExitStack) -> Any:
    """Return the run or folder of a path or study; return all else unchanged."""
    if isinstance(subject, str | os.PathLike):
        subject = _of_path(subject, stack)
    return _train_study(subject, stack) if isinstance(subject, Study) else subject


def _open_runs(subject: Any, stack: ExitStack) -> list[Run]:
    """Return the runs of what was read; each is open until no object holds it."""
    if isinstance(subject, Sweep):
        subject = list(subject.runs)
    if isinstance(subject, Path):
        subject = [stack.enter_context(open_run(path)) for path in runs_in(subject)]
    runs = list(subject) if isinstance(subject, Sequence) else [subject]
    wrong = next((one for one in runs if not isinstance(one, Run)), None)
    if wrong is not None:
        raise InputError(f"{wrong!r:.60} is not a run; give a Run, several, a Sweep or a study.")
    return runs


def _of_path(place: str | os.PathLike[str], stack: ExitStack) -> Run | Study | Path:
    """Return the run, the folder of runs, or the study of a path."""
    text = os.fspath(place)
    path = Path(text)
    if text in shipped_ids() or path.suffix == ".toml":
        return find_study(text, {})
    if path.is_dir():
        runs_in(path)  # raises if the folder has none
        return path
    if path.suffix != RUN and not path.is_file():
        return find_study(text, {})  # raises an error with the closest names
    return stack.enter_context(open_run(path))


def _train_study(study: Study, stack: ExitStack) -> Path:
    """Train a study for one figure, and return the folder of its runs."""
    folder = Folder("figure")
    stack.callback(folder.close)  # the stack keeps the folder until the figure is drawn
    sweep = train(study, out=folder.path)
    for run in [sweep] if isinstance(sweep, Run) else sweep:
        run.close()
    return folder.path
