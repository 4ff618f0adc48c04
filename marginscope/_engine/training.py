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
from core.terminal.bar import say
from core.training.control import Control, FinishReason, ending_sentences
from core.training.trajectory import record, wait_for_kernels
from marginscope._engine.boundary import (
    Folder,
    TrainingWarning,
    interruptible,
    is_interactive,
    progress,
    public,
)
from marginscope._engine.run import Run, keep, open_run
from marginscope._engine.studies import Study, core_study, found, size_of

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
    """Train a study and record it: a Run, or a list of Runs, one for each cell in their order.

    `study` is the name of one that comes with the program, the path of a study file, or a Study.
    Settings are given by their dotted keys, as in study files; one value for each axis leaves one
    run:

    >>> import marginscope as ms
    >>> short = {"network.m": 8, "data.n": 16, "dynamics.until_log10_time": 0.5}
    >>> run = ms.train("telgarsky22-figure-1", **short, **{"recording.frames": 5})
    >>> run.status, run.V.shape, float(run["train_error"][-1])
    ('completed', (5, 8, 20), 0.0)

    The run is recorded into the file `path`, or into the folder `out` under the names that the
    command line gives; without either it lies in a temporary folder as long as it is used. Frames
    are those of `python -m core run`, to the last bit. `size` is "quick" or "paper", for studies
    that have these. `overwrite` replaces old files. A bar is drawn on a terminal or in a notebook,
    unless `progress` is False; kernels that this machine has not compiled yet are waited for.

    A run that diverges, or whose flow can go no further, is recorded up to there and is a
    TrainingWarning. Ctrl-C ends the training, leaves what was recorded in `path` or `out`, and is
    raised as KeyboardInterrupt.

    Raises InputError for settings that are not allowed, files that exist, and runs that this
    machine cannot hold, DiskError where the disk is full.
    """
    chosen = found(study, settings, size)
    places, folder = _places(chosen, path, out)
    for place in places:
        check_free(place, overwrite)
    made = core_study(chosen)
    check_room((cell.experiment for cell in made.cells()), places[0].parent)
    several = len(places) > 1
    for _ in problems(made, say) if several else ():  # all input is read before any is written
        pass
    recorded = []
    for problem, place in zip(problems(made, None if several else say), places, strict=True):
        recorded.append(_recorded(problem, place, overwrite, progress))
    if out is not None:
        note_runs(made, Path(out), size_of(chosen))
    opened = [keep(open_run(run), folder) for run in recorded]
    return opened[0] if len(opened) == 1 else opened


def _places(
    study: Study, path: str | os.PathLike[str] | None, out: str | os.PathLike[str] | None
) -> tuple[list[Path], Folder | None]:
    """Where the runs are recorded, and the temporary folder if that is one."""
    if path is not None and out is not None:
        raise InputError("path and out both name a place; give a file, or a folder.")
    if len(study) > MOST_RUNS:
        raise InputError(
            f"{study.name} has {len(study)} runs, and at most {MOST_RUNS} are opened at once; "
            "train them with sweep, or choose among its axes."
        )
    if path is None:
        folder = None if out is not None else Folder("train")
        into = Path(out) if out is not None else folder.path if folder is not None else Path()
        return [*run_paths(core_study(study), into).values()], folder
    if len(study) > 1:
        axes = ", ".join(study.axes) or "its variants"
        raise InputError(
            f"{study.name} has {len(study)} runs, and path is the file of one; give a value for "
            f"{axes}, or a folder as out."
        )
    return [Path(path)], None


def _recorded(problem: Problem, place: Path, overwrite: bool, watched: bool) -> Path:
    """Train one problem; the file that it is recorded in."""
    control, open_sink = Control(), partial(Recorder, place, force=overwrite)
    frames = problem.experiment.recording.frames
    with interruptible(control.stop):
        wait_for_kernels(problem, control, say if is_interactive(watched) else str)
        with progress(place.stem, frames, "frame", watched) as bar:
            for status in record(problem, open_sink, control):
                bar.to(status.committed + 1, f"log10 t = {status.log10_time:.5g}")
    status = control.status
    made = status.path or place
    if status.reason is FinishReason.CANCELLED:  # by somebody who answers Ctrl-C in another way
        raise KeyboardInterrupt
    for sentence in ending_sentences(status, made):
        warnings.warn(sentence, TrainingWarning, stacklevel=4)
    return made
