"""`run`, `continue` and `branch`: training, recorded frame by frame."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from core.cli.output import print_line, print_notice, progress
from core.errors import InputError
from core.numbers import time_text
from core.problem.problem import Problem
from core.program.stopping import answered_elsewhere, first_signal
from core.runs import RecordedRun, Recorder, estimated_bytes, open_run
from core.runs.meta import Changes, changes_text
from core.studies.code import check_code, trust_files
from core.studies.study import Study, load_study
from core.study_file.weight import check_room
from core.sweep.plan import problems, run_paths
from core.terminal.bar import Bar
from core.training.branching import branch, file_stem, frame_of, made_changes
from core.training.continuation import continue_problem, note_of, start_frame, with_settings
from core.training.control import Control, FinishReason, Status, describe_end

RUN = ".msrun"
FEW = 4  # up to 4 cells are recorded one after another, with progress by frame and without a ledger
EXIT = {
    FinishReason.COMPLETED: 0,
    FinishReason.CANCELLED: 130,
    FinishReason.DIVERGED: 3,
    FinishReason.FAILED: 1,
    FinishReason.DISK_FULL: 1,
}


def check_target(path: Path, force: bool) -> None:
    """Raise InputError if a run file exists, unless `force`."""
    if path.exists() and not force:
        raise InputError(
            f"The run file {path} already exists; overwrite it with --force, or choose another "
            "folder with --out."
        )


def train(
    problem: Problem, path: Path, force: bool, bar: Bar, control: Control
) -> tuple[Status, Path]:
    """Record one problem into a run file.

    Parameters
    ----------
    problem : Problem
        Problem to train.
    path : Path
        Run file.
    force : bool
        Replace an existing file when the run has completed; InputError without it.
    bar : Bar
        Progress; notes of the dynamics are printed above it.
    control : Control
        Stopped by the first Ctrl-C or SIGTERM.

    Returns
    -------
    Status, Path
        Last status, and the file of the run. It has another name than `path` if that contains an
        earlier finished run, and this run was cut off.
    """
    from core.training.trajectory import record, wait_for_kernels

    status, n_printed = control.status, 0
    with answered_elsewhere(), first_signal(control.stop):
        wait_for_kernels(problem, control, print_notice)
        for status in record(problem, partial(Recorder, path, force=force), control):
            bar.set_done(status.committed + 1, f"log10 t = {status.log10_time:.5g}")
            for note in status.notes[n_printed:]:  # while the run can still be stopped
                bar.print_above(f"{path.name}: {note}")
            n_printed = len(status.notes)
    run_path = status.path
    # Return the path as typed (the recorder's is absolute), unless an existing run was kept and the
    # new one got another name.
    return status, path if run_path is None or run_path.name == path.name else run_path


def run_study(arguments: argparse.Namespace) -> int:
    """Train every cell of a study, and print the run files; return the exit status.

    More than FEW cells, or an option of sweeps, make a sweep (core.cli.sweeping).
    """
    study = load_study(arguments.study)
    # Check once, naming the study file; `resolve_problem` would refuse it again for every cell.
    check_code(study, arguments.study, files=False)
    study = study.at_size(arguments.size).with_settings(arguments.settings)
    # Typing the study's name after `run` counts as trust in its Python file, as for a script.
    trust_files(study)
    folder, table = Path(arguments.out), arguments.table
    sweep_options = (arguments.jobs, arguments.cluster, table)
    sweeps = arguments.together or any(value is not None for value in sweep_options)
    if not sweeps and study.count <= FEW:
        code = record_cells(study, folder, arguments.force, arguments.quiet)
        from core.sweep.folder import note_runs

        note_runs(study, folder, arguments.size)
        return code
    from core.cli.sweeping import run_sweep

    place = None if table is None else Path(table)
    return run_sweep(study, folder, arguments.size, arguments, place)[0]


def record_cells(
    study: Study, folder: Path, force: bool, quiet: bool, lists_files: bool = True
) -> int:
    """Train the cells one after another; stop after a cancelled one.

    Parameters
    ----------
    study : Study
        Study at its size.
    folder : Path
        Folder of run files.
    force : bool
        Replace existing files.
    quiet : bool
        Show no progress.
    lists_files : bool
        Print the paths of the run files; False for a temporary folder.

    Returns
    -------
    int
        Exit status: 130 if cancelled, else 1 if a cell failed, 3 if one diverged, or 0.

    Raises
    ------
    InputError
        A file exists, cells do not fit on this machine, or their input is wrong; before training.
    """
    paths = [*run_paths(study, folder).values()]
    for path in paths:
        check_target(path, force)
    worst = 0
    check_room((cell.experiment for cell in study.cells()), folder)
    for _ in problems(study, print_notice):  # reads all input once before anything is written
        pass
    for problem, path in zip(problems(study), paths, strict=True):
        code = _record_one(problem, path, force, quiet, lists_files)
        if code == EXIT[FinishReason.CANCELLED]:
            return code
        # A failed cell (1) outranks a diverged one (3).
        worst = code if worst == 0 or code == 1 else worst
    return worst


def _record_one(
    problem: Problem, path: Path, force: bool, quiet: bool, lists_files: bool = True
) -> int:
    """Record a problem with a progress bar, report how it ended, and return the exit status."""
    frames = problem.experiment.recording.frames
    size = estimated_bytes(problem, frames)
    label = path.name.removesuffix(".msrun")
    if size > 100e6:
        print_notice(f"{path.name} will take about {size / 1e6:.0f} MB.")
    with progress(label, frames, quiet) as bar:
        status, run_path = train(problem, path, force, bar, Control())
    if status.committed >= 0 and lists_files:
        print_line(run_path)
    report(status, run_path)
    if run_path != path:
        print_notice(f"The earlier finished run {path} was not replaced.")
    assert status.reason is not None
    return EXIT[status.reason]


def report(status: Status, path: Path) -> None:
    """Print why a run did not complete, and advice."""
    # `train` has printed the notes.
    for sentence in describe_end(status, path, len(status.notes)):
        print_notice(sentence)


def continue_run(arguments: argparse.Namespace) -> int:
    """Continue from a frame of a run, in NAME__from=FRAME.msrun; return the exit status."""
    source = Path(arguments.run)
    with open_run(source) as run:
        problem, index = continue_problem(run, arguments.frame, arguments.settings)
    folder = source.parent if arguments.out is None else Path(arguments.out)
    path = folder / f"{source.stem}__from={index}.msrun"
    check_target(path, arguments.force)
    check_room([problem.experiment], path.parent)
    if note_of(problem):
        print_notice(note_of(problem))
    return _record_one(problem, path, arguments.force, arguments.quiet)


def branch_run(arguments: argparse.Namespace) -> int:
    """Start at any frame of a run with a change, in a new run file; return the exit status."""
    source = Path(arguments.run)
    with open_run(source) as run:
        index = _moment(run, arguments.at, arguments.frame)
        settings = with_settings(run.experiment, arguments.settings, "branch")
        problem = branch(run, index, settings)
        time = time_text(float(run.log10_time[index]))
    changes = made_changes(problem)
    path = _branch_path(source, arguments.out, index, changes)
    if path.exists() and path.samefile(source):
        raise InputError(f"--out {path} is the parent run itself; name another file.")
    check_target(path, arguments.force)
    check_room([problem.experiment], path.parent)
    if note_of(problem):
        print_notice(note_of(problem))
    code = _record_one(problem, path, arguments.force, arguments.quiet)
    words = f"{path.name} branches from frame {index} of {source.name}, {time}"
    print_notice(f"{words}: {changes_text(changes)}.")
    return code


def _moment(run: RecordedRun, at: str | None, frame: int | None) -> int:
    """Return the frame of --at or --frame; by default the last one."""
    if at is not None and frame is not None:
        raise InputError("--at and --frame exclude each other; give one of them.")
    if at is not None:
        return frame_of(run, at)
    return start_frame(run, frame)


def _branch_path(source: Path, out: str | None, index: int, changes: Changes) -> Path:
    """Return the file of a branch: `out` if it ends in .msrun, else a name in that folder.

    Without `out` the folder is the parent's.
    """
    if out is not None and out.endswith(RUN):
        return Path(out)
    folder = source.parent if out is None else Path(out)
    return folder / f"{file_stem(source.stem, index, changes)}{RUN}"


def run_for_figure(name: str, folder: Path, quiet: bool) -> list[Path]:
    """Train a study into a folder, for a figure of it.

    Parameters
    ----------
    name : str
        Id of a shipped study, or a study file.
    folder : Path
        Folder of run files.
    quiet : bool
        Show no progress.

    Returns
    -------
    list of Path

    Raises
    ------
    InputError
        A cell did not complete.
    """
    study = load_study(name)
    check_code(study, name)
    code = record_cells(study, folder, force=False, quiet=quiet, lists_files=False)
    if code:
        raise InputError(f"{name} did not complete (status {code}), so it has no figure.")
    return [*run_paths(study, folder).values()]
