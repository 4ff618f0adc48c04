"""Tables of a run: scalar observables of each frame, neuron observables, optionally parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError, did_you_mean
from core.files import write_whole
from core.observables.observable import Observable, Shape
from core.observables.registry import PREDICTIONS, find_observable, scalars_of, shown_of
from core.observables.table_formats import (
    csv_bytes,
    npz_bytes,
    parquet_bytes,
    require_pyarrow,
    tensor_bytes,
)
from core.program.version import __version__
from core.runs import Run

Columns = dict[str, NDArray[Any]]
MOST_BYTES = 4e9
PARQUET, TENSORS = ".parquet", ".safetensors"
SCALARS = (".csv", PARQUET)
SUFFIXES = (".npz", *SCALARS, TENSORS)


def available_observables(run: Run, nodes: bool = True) -> tuple[Observable, ...]:
    """Return the observables that a run's table may have, those of neurons for an NPZ included."""
    return (*scalars_of(run), *(shown_of(run, Shape.NODE) if nodes else ()))


def default_observables(run: Run, nodes: bool = True) -> tuple[Observable, ...]:
    """Return the observables that a run's table has if none is named."""
    return tuple(item for item in available_observables(run, nodes) if not item.on_request)


def left_out(run: Run, nodes: bool = True) -> tuple[str, ...]:
    """Return the names of the columns that a run's table has only on request."""
    return tuple(item.name for item in available_observables(run, nodes) if item.on_request)


def check_columns(run: Run, names: Sequence[str], nodes: bool = True) -> tuple[Observable, ...]:
    """Return the observables of some names, in the order of tables.

    Parameters
    ----------
    run : Run
        Open run.
    names : sequence of str
        Names of columns, also `loop.NAME`.
    nodes : bool
        Allow observables of neurons, for which only an NPZ has room.

    Returns
    -------
    tuple of Observable

    Raises
    ------
    InputError
        The run's table does not have one of the columns.
    """
    by_name = {item.name: item for item in available_observables(run, nodes)}
    for name in names:  # `loop.NAME` of a number listed as NAME
        observable = find_observable(name)
        if (
            name not in by_name
            and observable
            and observable.shape is Shape.SCALAR
            and observable.applies(run)
        ):
            by_name[name] = observable
    wrong = [name for name in names if name not in by_name]
    if wrong:
        is_inside = wrong[0] in {item.name for item in available_observables(run)}
        reason = "has one number per neuron, which only an NPZ can hold" if is_inside else ""
        refused = [one.refusal(run) for one in PREDICTIONS.values() if wrong[0] in one.names]
        if refused:
            reason = f"is a prediction that does not apply: {refused[0]}"
        raise InputError(
            f"the column {wrong[0][:60]!r} {reason or 'does not exist in this run'}; "
            f"{did_you_mean(wrong[0], list(by_name))}",
            where=run.path,
        )
    return tuple(item for name, item in by_name.items() if name in names)


def columns_of(
    run: Run, observables: Sequence[Observable], progress: Callable[[int], None] | None = None
) -> Columns:
    """Return the columns of a run's table.

    Parameters
    ----------
    run : Run
        Open run.
    observables : sequence of Observable
        Columns beside frame, step and log10_time.
    progress : callable, optional
        Called with 1 after each frame.

    Returns
    -------
    dict of str to array
        frame, step and log10_time, each (T,), and the observables by name, (T,) or (T, m).
    """
    frames = run.frames
    columns: Columns = {
        "frame": np.arange(frames, dtype=np.int64),
        "step": np.asarray(run.steps[:frames], dtype=np.int64),
        "log10_time": np.asarray(run.log10_time[:frames], dtype=np.float64),
    }
    values: dict[str, list[Any]] = {item.name: [] for item in observables}
    for index in range(frames):  # by frame, so that each frame's parameters are read once
        for item in observables:
            values[item.name].append(item.value_at(run, index))
        if progress is not None:
            progress(1)
    return columns | {name: np.array(some, dtype=np.float64) for name, some in values.items()}


def parameter_columns(run: Run) -> Columns:
    """Return x, y and the parameters: trained ones with the frame axis first, others without it.

    Trained parameters are at the physical scale, those of a row-space run in R^d. Where e^rho
    overflows they are infinite, and columns `theta_*` (the flat parameters) and `rho` are added.

    Parameters
    ----------
    run : Run
        Open run.

    Returns
    -------
    dict of str to array
        x (n, d), y (n,), trained parameters (T, ...) by name, and fixed ones without the axis T.

    Raises
    ------
    InputError
        The parameters are too large for one file.
    """
    _check_size(run)
    rho = np.asarray(run.rho[: run.frames], dtype=np.float64)
    physical = [weights_at(run, index) for index in range(run.frames)]
    columns: Columns = {"x": run.dataset.x, "y": run.dataset.y, **_stack_frames(run, physical)}
    columns |= {name: _in_full(run, name, array) for name, array in run.network.fixed.items()}
    with np.errstate(over="ignore"):
        overflows = not np.isfinite(np.exp(rho)).all()
    if overflows:
        unit = _stack_frames(run, [_arrays(run, run.parameters(k)) for k in range(run.frames)])
        columns |= {f"theta_{name}": array for name, array in unit.items()} | {"rho": rho}
    return columns


def _check_size(run: Run) -> None:
    network = run.network
    size = network.size if run.reduction is None else network.m * (run.dataset.d + 2)
    total = 8.0 * run.frames * size
    if total > MOST_BYTES:
        raise InputError(
            f"The parameters of {run.frames} frames take {total / 1e9:.1f} GB, more than the "
            f"{MOST_BYTES / 1e9:.0f} GB that a table may have; leave them out, or read them frame "
            "by frame with core.runs.open_run."
        )


def weights_at(run: Run, index: int) -> Columns:
    """Return every array of the network at one frame, by name, trained or not.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame, 0 <= index < run.frames.

    Returns
    -------
    dict of str to ndarray
        At the physical scale, V back in R^d; infinite where e^rho overflows.
    """
    fixed = {name: _in_full(run, name, array) for name, array in run.network.fixed.items()}
    return {**fixed, **_arrays(run, run.physical_parameters(index))}


def _arrays(run: Run, flat: NDArray[Any]) -> Columns:
    return {name: _in_full(run, name, one) for name, one in run.network.unpack(flat).items()}


def _stack_frames(run: Run, frames: Sequence[Columns]) -> Columns:
    """Stack the trained parameters of all frames by name, the frame axis first."""
    names = [block.name for block in run.network.layout]
    return {name: np.array([frame[name] for frame in frames]) for name in names}


def _in_full(run: Run, name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return an array as in the paper: V of a row-space run back in R^d."""
    if run.reduction is None or name != "V":
        return array
    with np.errstate(invalid="ignore"):  # infinite if e^rho overflows
        return run.reduction.full(array)


def write_table(
    run: Run,
    path: Path,
    parameters: bool = False,
    progress: Callable[[int], None] | None = None,
    names: Sequence[str] | None = None,
) -> None:
    """Write a table as NPZ, its scalars as CSV or Parquet, or the states as tensors.

    A file of tensors has data and parameters alone, as `marginscope.load` reads them back.

    Parameters
    ----------
    run : Run
        Open run.
    path : Path
        File to write, ending in .npz, .csv, .parquet or .safetensors.
    parameters : bool
        Write data and parameters too (NPZ only).
    progress : callable, optional
        Called with 1 after each frame.
    names : sequence of str, optional
        Columns beside frame, step and log10_time; by default all but those of `left_out`.

    Raises
    ------
    InputError
        For another ending, a column that the run does not have, or a folder that cannot be written.
    """
    suffix = _check_format(path, parameters, names)
    if suffix == TENSORS:
        write_whole(path, tensor_bytes(_states(run), _notes(run)))
        return
    nodes = suffix == ".npz"
    chosen = default_observables(run, nodes) if names is None else check_columns(run, names, nodes)
    columns = columns_of(run, chosen, progress)
    if suffix == PARQUET:
        write_whole(path, parquet_bytes(columns, _notes(run)))
        return
    if not nodes:
        lists = (column.tolist() for column in columns.values())
        write_whole(path, csv_bytes(columns, zip(*lists, strict=True)))
        return
    if parameters:
        columns |= parameter_columns(run)
    write_whole(path, npz_bytes(columns))


def _check_format(path: Path, parameters: bool, names: Sequence[str] | None) -> str:
    """Return the ending of a table that can be written; raise InputError for another one."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        endings = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
        raise InputError(f"{path} must end in {endings}; tables are written as one of these.")
    if suffix in SCALARS and parameters:
        raise InputError(
            f"a {suffix} file holds scalars only",
            where=path,
            remedy="choose NPZ for the parameters",
            typed="write an .npz for --parameters",
        )
    if suffix == TENSORS and names is not None:
        raise InputError(
            "a file of tensors holds data and parameters only; leave the columns out, or write "
            "an .npz",
            where=path,
        )
    if suffix == PARQUET:
        require_pyarrow()  # before columns are computed, which may take long
    return suffix


def _states(run: Run) -> Columns:
    """Return data, steps, times and parameters of all frames."""
    columns = parameter_columns(run)
    frames = run.frames
    columns["step"] = np.asarray(run.steps[:frames], dtype=np.int64)
    columns["log10_time"] = np.asarray(run.log10_time[:frames], dtype=np.float64)
    return columns


def _notes(run: Run) -> dict[str, str]:
    return {
        "program": f"marginscope {__version__}",
        "title": run.title,
        "source": run.source,
        "experiment": run.experiment.model_dump_json(),
    }
