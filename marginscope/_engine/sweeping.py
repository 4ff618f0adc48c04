"""`marginscope.sweep`: all cells of a study, in processes or on Dask; `check`: its claims."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final, overload

from core.compiled.kernel_groups import compiling_words
from core.errors import InputError
from core.studies.cell_table import Row, rows_of
from core.studies.study import shipped_ids
from core.sweep.control import SweepControl, SweepStatus
from core.sweep.loop import sweep as statuses
from core.sweep.plan import Ledger, Plan, plan
from core.sweep.pools import pool_for
from marginscope._engine.boundary import (
    Folder,
    TrainingWarning,
    import_optional,
    interruptible,
    is_interactive,
    progress,
    public,
)
from marginscope._engine.run import Run, hold_object, open_run
from marginscope._engine.studies import Study, core_study, find_study, size_of

if TYPE_CHECKING:
    from core.studies.verdicts import JudgedClaim


@final
@dataclass(frozen=True, slots=True)
class SweptCell:
    """Result of one cell of a sweep.

    Attributes
    ----------
    name : str
        Name of its run file without suffix.
    place : mapping of str to value
        Value of each axis, by dotted keys.
    path : Path
        Run file.
    state : str
        "done" (also of runs that diverged), "failed" or "cancelled".
    reason : str
        How the run ended, or why there is none.
    seconds : float
        Time of the training.
    values : mapping of str to float
        Observables of the study's columns at the last frame; NaN where undefined.
    """

    name: str
    place: Mapping[str, Any]
    path: Path
    state: str
    reason: str
    seconds: float
    values: Mapping[str, float]


@final
class Runs(Sequence[Run]):
    """Run files in the order of their cells; each access opens the file again."""

    def __init__(self, paths: Sequence[Path], folder: Folder | None) -> None:
        self._paths, self._folder = tuple(paths), folder

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> Runs: ...
    def __getitem__(self, index: int | slice) -> Run | Runs:
        if isinstance(index, slice):
            return Runs(self._paths[index], self._folder)
        return hold_object(open_run(self._paths[index]), self._folder)

    def __len__(self) -> int:
        return len(self._paths)

    def __repr__(self) -> str:
        return f"<{len(self)} runs, opened one by one>"


@final
class Sweep:
    """Result of `marginscope.sweep`: `cells` in the order of the grid, and their `runs`.

    `len(sweep)` is the number of cells that have ended.
    """

    def __init__(self, study: Study, plan: Plan, folder: Folder | None) -> None:
        self.study, self._plan, self._folder = study, plan, folder

    @property
    def folder(self) -> Path:
        """Folder of the run files."""
        return Path(self._plan.folder)

    @property
    def cells(self) -> tuple[SweptCell, ...]:
        """All cells that have ended, in the order of the grid."""
        return tuple(
            SweptCell(
                cell.name,
                dict(cell.values),
                self._plan.paths[cell.name],
                row.state,
                row.reason,
                row.seconds,
                dict(row.values),
            )
            for cell in core_study(self.study).cells()
            if (row := self._rows.get(cell.name)) is not None
        )

    @property
    def runs(self) -> Runs:
        """Recorded runs in the order of the grid; each is opened when it is taken."""
        return Runs([cell.path for cell in self.cells if cell.state == "done"], self._folder)

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each cell: its axes, how it ended, and the study's columns at the end.

        Returns
        -------
        list of dict
            Values by the names of the columns.
        """
        rows = rows_of(core_study(self.study), self._rows)
        return [{"cell": row.name, **row.flat()} for row in rows]

    @public
    def to_pandas(self) -> Any:
        """Return `table` as a pandas.DataFrame. Raises InputError where pandas is not installed."""
        return import_optional("pandas", "to_pandas").DataFrame(self.table())

    @property
    def _rows(self) -> dict[str, Row]:
        return self._plan.ledger.rows

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        states = [row.state for row in self._rows.values()]
        words = [f"{states.count(one)} {one}" for one in dict.fromkeys(states)]
        return f"<Sweep of {self.study.name!r} in {str(self.folder)!r}: {', '.join(words)}>"


@public
def sweep(
    study: str | os.PathLike[str] | Study,
    /,
    *,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    dask: Any = None,
    size: str | None = None,
    overwrite: bool = False,
    progress: bool = True,
    **settings: Any,
) -> Sweep:
    """Train every cell of a study, several at a time.

    The same call continues a sweep that was stopped. Scripts need no `if __name__ == "__main__"`:
    workers do not import them.

    Parameters
    ----------
    study : str, path or Study
        As for `study`.
    out : path, optional
        Folder of the run files. Finished runs of the same settings in it are kept. By default a
        temporary folder, for as long as the Sweep is used.
    workers : int, optional
        Number of processes of one thread each; by default one for each processor.
    dask : str, Client or Cluster, optional
        Dask scheduler (or its address) whose workers train instead; they must see the folder.
    size : str, optional
        "quick" or "paper", for studies that have these.
    overwrite : bool
        True to replace finished runs.
    progress : bool
        False for no bar on a terminal or in a notebook.
    **settings
        Values by dotted keys; a list of values is an axis.

    Returns
    -------
    Sweep

    Warns
    -----
    TrainingWarning
        Cells failed, which stops no other cell.

    Raises
    ------
    InputError
        Settings that are not allowed, a folder that holds other runs, or an unreachable cluster.
    DiskError
        The disk is full.
    KeyboardInterrupt
        Ctrl-C ends the workers and leaves the finished runs.

    Examples
    --------
    >>> import marginscope as ms
    >>> short = {"data.n": 16, "dynamics.until_log10_time": 0.0, "recording.frames": 5}
    >>> done = ms.sweep("telgarsky22-figure-1", workers=1, **{"network.m": [4, 8]}, **short)
    >>> [(row["network.m"], row["state"]) for row in done.table()]
    [(4, 'done'), (8, 'done')]
    >>> [run.V.shape for run in done.runs]
    [(5, 4, 20), (5, 8, 20)]
    """
    chosen = find_study(study, settings, size)
    return run_sweep(chosen, out, (workers, dask), overwrite, progress)


def run_sweep(
    study: Study,
    out: str | os.PathLike[str] | None,
    who: tuple[int | None, Any],
    overwrite: bool,
    watched: bool,
) -> Sweep:
    """Train the cells of a study in processes, or on Dask.

    Parameters
    ----------
    study : Study
        Study with its settings.
    out : path or None
        Folder of the runs; None for a temporary one.
    who : (int or None, any)
        Number of processes, and the Dask scheduler in place of them.
    overwrite : bool
        True to replace finished runs.
    watched : bool
        True for a bar on a terminal or in a notebook.

    Returns
    -------
    Sweep
    """
    workers, dask = who
    if workers is not None and workers < 1:
        raise InputError(f"workers = {workers}; give 1 or more.")
    folder = Folder("sweep") if out is None else None
    folder_path = (
        Path(out) if folder is None and out is not None else folder.path if folder else Path()
    )
    address = None if dask is None else _address(dask)
    sweep_plan = plan(
        core_study(study), folder_path, size_of(study), overwrite, shared=address is not None
    )
    if sweep_plan.tasks:
        sweep_plan.tasks[0].problem()  # reports errors in the data before anything is started
    control = SweepControl()
    pool = pool_for(sweep_plan.tasks, workers, address, control.cell)
    with interruptible(control.stop):
        total = len(sweep_plan.paths)
        with progress(study.name, total, "run", watched) as bar:
            announced = lacking = False
            for status in statuses(sweep_plan, pool, control):
                if status.compiling and not announced and is_interactive(watched):
                    print(compiling_words(status.compiling), file=sys.stderr, flush=True)
                    announced = True
                if status.lacks_workers and not lacking:
                    warnings.warn(NO_WORKERS, TrainingWarning, stacklevel=4)
                lacking = status.lacks_workers
                bar.set_done(status.done + status.failed, _words(status))
    if control.stop_requested:
        raise KeyboardInterrupt
    result = Sweep(study, sweep_plan, folder)
    _warn(result)
    return result


NO_WORKERS = (
    "The cluster has no workers left; its cells wait for one. Start workers, or interrupt this "
    "call and repeat it later, if it names a folder by `out`."
)


def _words(status: SweepStatus) -> str:
    failed = f", {status.failed} failed" if status.failed else ""
    return f"{status.running} running{failed}"


def _warn(result: Sweep) -> None:
    failed = [cell for cell in result.cells if cell.state == "failed"]
    if failed:
        first = failed[0]
        text = f"{len(failed)} of {len(result)} cells failed; {first.name}: {first.reason}"
        warnings.warn(text, TrainingWarning, stacklevel=5)


def _address(dask: Any) -> str:
    """Return the address of a Dask scheduler: given itself, or that of a client or a cluster."""
    if isinstance(dask, str):
        return dask
    for part in (getattr(dask, "scheduler", None), dask):
        for name in ("address", "addr", "scheduler_address"):
            if isinstance(found_ := getattr(part, name, None), str):
                return found_
    raise InputError(f"dask = {dask!r:.80} is not an address, client or cluster of Dask.")


# ---------------------------------------------------------------------------------------- claims


@public
def check(
    study: str | os.PathLike[str] | Study | Sweep,
    /,
    folder: str | os.PathLike[str] | None = None,
    *,
    workers: int | None = None,
    dask: Any = None,
    size: str | None = None,
    overwrite: bool = False,
    progress: bool = True,
    **settings: Any,
) -> list[JudgedClaim]:
    r"""Judge the claims of a study by its runs.

    Parameters
    ----------
    study : str, path, Study or Sweep
        A study, whose cells are trained first as by `sweep`; or runs that exist: a Sweep, or the
        folder of one.
    folder : path, optional
        Folder of the runs. Finished runs in it are not trained again.
    workers, dask, overwrite, progress
        As for `sweep`.
    size : str, optional
        "quick" (by default) or "paper".
    **settings
        Values by dotted keys, for a study that is trained.

    Returns
    -------
    list of Claim
        In the order of the study file, each "confirmed", "refuted" or "not at this size".

    Raises
    ------
    InputError
        As for `sweep`, and for a folder that holds no sweep.

    Examples
    --------
    >>> import marginscope as ms
    >>> text = (
    ...     'title = "mine"\n[data]\nd = 4\nn = 8\n[network]\nm = 4\n'
    ...     '[dynamics]\nuntil_log10_time = 0.0\n[recording]\nframes = 2\n'
    ...     '[[claims]]\ntext = "The risk falls."\nmeasure = "risk - risk_0"\n'
    ...     'compare = "<="\nvalue = 0.0\n'
    ... )
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name) / "mine.toml"
    >>> _ = file.write_text(text)
    >>> ms.check(file, workers=1)
    [<confirmed: The risk falls.>]
    >>> folder.cleanup()
    """
    if isinstance(study, Sweep):
        return _judge_all(study.folder, [study._plan.ledger], size_of(study.study))
    if not isinstance(study, Study) and _is_sweep_folder(study):
        if folder is not None or settings:
            raise InputError("The folder of a sweep has its own settings; give no others.")
        from core.sweep.folder import existing_sweeps  # loads Numba, as do verdicts

        return _judge_all(Path(study), existing_sweeps(Path(study), values=False), size)
    chosen = find_study(study, {}, size)
    if size_of(chosen) is None:
        chosen = find_study(chosen, {}, "quick")
    sweep = run_sweep(find_study(chosen, settings), folder, (workers, dask), overwrite, progress)
    return _judge_all(sweep.folder, [sweep._plan.ledger], size_of(sweep.study))


def _is_sweep_folder(target: str | os.PathLike[str]) -> bool:
    return os.fspath(target) not in shipped_ids() and Path(target).is_dir()


def _judge_all(folder: Path, ledgers: Iterable[Ledger], size: str | None) -> list[JudgedClaim]:
    from core.sweep.folder import judged_in

    return [one for each in ledgers for one in judged_in(folder, each, size)]
