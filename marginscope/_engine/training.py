"""`marginscope.train`: the program's own training, recorded as the command line records it."""

from __future__ import annotations

import os
import warnings
from functools import partial
from pathlib import Path
from typing import Any, overload

from core.errors import InputError
from core.problem.problem import Problem
from core.run_files.new_file import check_free
from core.runs import Recorder
from core.study_file.weight import check_room
from core.sweep.folder import note_runs
from core.sweep.plan import problems, run_paths
from core.terminal.bar import print_notice
from core.training.control import Control, FinishReason, describe_end
from core.training.trajectory import record, wait_for_kernels
from marginscope._engine.boundary import (
    Folder,
    TrainingWarning,
    interruptible,
    is_interactive,
    progress,
    public,
)
from marginscope._engine.run import Run, hold_object, open_run
from marginscope._engine.studies import Study, core_study, find_study, size_of

MOST_RUNS = 100  # each is an open file


@overload
def train(
    study: str | os.PathLike[str] | Study,
    /,
    *,
    path: str | os.PathLike[str],
    out: None = None,
    size: str | None = None,
    overwrite: bool = False,
    progress: bool = True,
    **settings: Any,
) -> Run: ...


@overload
def train(
    study: str | os.PathLike[str] | Study,
    /,
    *,
    path: None = None,
    out: str | os.PathLike[str] | None = None,
    size: str | None = None,
    overwrite: bool = False,
    progress: bool = True,
    **settings: Any,
) -> Run | list[Run]: ...


@public
def train(
    study: str | os.PathLike[str] | Study,
    /,
    *,
    path: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    size: str | None = None,
    overwrite: bool = False,
    progress: bool = True,
    **settings: Any,
) -> Run | list[Run]:
    """Train a study and record it.

    Frames are those of `python -m core run`, to the last bit. Kernels that this machine has not
    compiled yet are waited for.

    Parameters
    ----------
    study : str, path or Study
        As for `study`.
    path : path, optional
        File of the run, for a study with one run.
    out : path, optional
        Folder of the runs, with the names that the command line gives. Without `path` and `out` a
        temporary folder, for as long as the runs are used.
    size : str, optional
        "quick" or "paper", for studies that have these.
    overwrite : bool
        True to replace old files.
    progress : bool
        False for no bar on a terminal or in a notebook.
    **settings
        Values by dotted keys, as study files have them; one value for each axis leaves one run.

    Returns
    -------
    Run, or list of Run
        One run, or one for each cell in their order, at most 100.

    Warns
    -----
    TrainingWarning
        A run diverged, or its flow could go no further; it is recorded up to there.

    Raises
    ------
    InputError
        Settings that are not allowed, a file that exists, or a run that this machine cannot hold.
    DiskError
        The disk is full.
    KeyboardInterrupt
        Ctrl-C ends the training and leaves what was recorded in `path` or `out`.

    Examples
    --------
    >>> import marginscope as ms
    >>> short = {"network.m": 8, "data.n": 16, "dynamics.until_log10_time": 0.5}
    >>> run = ms.train("telgarsky22-figure-1", **short, **{"recording.frames": 5})
    >>> run.status, run.V.shape, float(run["train_error"][-1])
    ('completed', (5, 8, 20), 0.0)
    """
    chosen = find_study(study, settings, size)
    places, folder = _places(chosen, path, out)
    for place in places:
        check_free(place, overwrite)
    chosen_study = core_study(chosen)
    check_room((cell.experiment for cell in chosen_study.cells()), places[0].parent)
    several = len(places) > 1
    for _ in (
        problems(chosen_study, print_notice) if several else ()
    ):  # read all input before writing anything
        pass
    recorded = []
    for problem, place in zip(
        problems(chosen_study, None if several else print_notice), places, strict=True
    ):
        recorded.append(_record(problem, place, overwrite, progress))
    if out is not None:
        note_runs(chosen_study, Path(out), size_of(chosen))
    opened = [hold_object(open_run(run), folder) for run in recorded]
    return opened[0] if len(opened) == 1 else opened


def _places(
    study: Study, path: str | os.PathLike[str] | None, out: str | os.PathLike[str] | None
) -> tuple[list[Path], Folder | None]:
    """Return the files of the runs, and the temporary folder if they are in one."""
    if path is not None and out is not None:
        raise InputError(
            "path and out exclude each other; give a file as path, or a folder as out."
        )
    if len(study) > MOST_RUNS:
        raise InputError(
            f"{study.name} has {len(study)} runs, but at most {MOST_RUNS} can be opened at once; "
            "train them with sweep, or fix some of its axes."
        )
    if path is None:
        folder = None if out is not None else Folder("train")
        folder_path = (
            Path(out) if out is not None else folder.path if folder is not None else Path()
        )
        return [*run_paths(core_study(study), folder_path).values()], folder
    if len(study) > 1:
        axes = ", ".join(study.axes) or "its variants"
        raise InputError(
            f"{study.name} has {len(study)} runs, but path names one file; give a value for "
            f"{axes}, or a folder as out."
        )
    return [Path(path)], None


def _record(problem: Problem, place: Path, overwrite: bool, watched: bool) -> Path:
    """Train one problem, and return the file of its run."""
    control, open_sink = Control(), partial(Recorder, place, force=overwrite)
    frames = problem.experiment.recording.frames
    with interruptible(control.stop):
        wait_for_kernels(problem, control, print_notice if is_interactive(watched) else str)
        with progress(place.stem, frames, "frame", watched) as bar:
            for status in record(problem, open_sink, control):
                bar.set_done(status.committed + 1, f"log10 t = {status.log10_time:.5g}")
    status = control.status
    path = status.path or place
    if status.reason is FinishReason.CANCELLED:  # stopped by a program that handles Ctrl-C itself
        raise KeyboardInterrupt
    for sentence in describe_end(status, path):
        warnings.warn(sentence, TrainingWarning, stacklevel=4)
    return path
