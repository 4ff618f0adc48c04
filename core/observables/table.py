"""Tables of a run: all scalar observables a frame, the nodes, and on request the parameters."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.files import write_whole
from core.observables.observable import Shape
from core.observables.registry import of_shape, scalars_of
from core.runs import Run

Columns = dict[str, NDArray[Any]]


def scalar_columns(run: Run, progress: Callable[[int], None] | None = None) -> Columns:
    """frame, step, log10_time and every scalar observable under its name, each (T,)."""
    frames = run.frames
    columns: Columns = {
        "frame": np.arange(frames, dtype=np.int64),
        "step": np.asarray(run.steps[:frames], dtype=np.int64),
        "log10_time": np.asarray(run.log10_time[:frames], dtype=np.float64),
    }
    observables = scalars_of(run)
    values = np.empty((frames, len(observables)))
    for index in range(frames):  # frame by frame, so that its parameters are read only once
        values[index] = [item.at(run, index) for item in observables]
        if progress is not None:
            progress(1)
    return columns | {item.name: values[:, k] for k, item in enumerate(observables)}


def node_columns(run: Run) -> Columns:
    """Per node, in node order: each (T, m)."""
    return {item.name: item.trace(run) for item in of_shape(Shape.NODE)}


def parameter_columns(run: Run) -> Columns:
    """x, y and the trained parameters with the frame axis first, at the physical scale.

    Where e^rho overflows, the physical values are infinite, and `theta_*` and `rho` stand beside.
    """
    flat = np.array([run.parameters(index) for index in range(run.frames)])
    rho = np.asarray(run.rho[: run.frames], dtype=np.float64)
    with np.errstate(over="ignore"):
        factor = np.exp(rho)
        physical = run.network.unpack(factor[:, None] * flat)
    columns: Columns = {"x": run.dataset.x, "y": run.dataset.y, **physical}
    if not np.isfinite(factor).all():
        unit = run.network.unpack(flat)
        columns |= {f"theta_{name}": array for name, array in unit.items()} | {"rho": rho}
    return columns


def write_table(
    run: Run, path: Path, parameters: bool = False, progress: Callable[[int], None] | None = None
) -> None:
    """Write a table as NPZ (everything) or CSV (the scalars only).

    Raises InputError for another ending, or a folder that cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix not in (".npz", ".csv"):
        raise InputError(f"{path} must end in .npz or .csv; tables are written as one of these.")
    if suffix == ".csv" and parameters:
        raise InputError(f"{path}: a CSV holds the scalars only; write an .npz for --parameters.")
    columns = scalar_columns(run, progress)
    if suffix == ".csv":
        write_whole(path, _csv(columns).encode())
        return
    columns |= node_columns(run)
    if parameters:
        columns |= parameter_columns(run)
    buffer = io.BytesIO()
    np.savez(buffer, **columns)  # type: ignore[arg-type]  # no column is named allow_pickle
    write_whole(path, buffer.getbuffer())


def _csv(columns: Columns) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    # repr gives the shortest digits that read back to the same float64
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    return text.getvalue()
