"""A run as a table of pandas or a data set of xarray."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from core.errors import InputError, did_you_mean
from core.observables.observable import Shape
from core.observables.registry import full_name, numbers_of, observable_of
from marginscope._engine.optional import needed
from marginscope._engine.run import Run, core_run

AXES = {Shape.SCALAR: (), Shape.NODE: ("node",), Shape.POINT: ("example",)}


def frame_of(run: Run, names: Iterable[str] | None) -> Any:
    """pandas.DataFrame: a row for each frame."""
    pandas = needed("pandas", "to_pandas")
    chosen = _chosen(run, names, (Shape.SCALAR,))
    columns = {"t": run.t, "log10_t": run.log10_t, "step": run.steps}
    columns |= {name: run[name] for name in chosen}
    return pandas.DataFrame(columns, index=pandas.RangeIndex(len(run), name="frame"))


def dataset_of(run: Run, names: Iterable[str] | None) -> Any:
    """xarray.Dataset: weights and observables over frames, nodes, coordinates and examples."""
    xarray = needed("xarray", "to_xarray")
    chosen = _chosen(run, names, tuple(AXES))
    values: dict[str, Any] = {}
    for name, array in run.frame(0).weights.items():
        axes = _axes(name, array.ndim, run)
        values[name] = (("frame", *axes), run.weights(name))
    for name in chosen:
        values[name] = (("frame", *AXES[observable_of(name).shape]), run[name])
    values["x"] = (("example", "coordinate"), run.x)
    values["y"] = (("example",), run.y)
    coordinates = {"t": ("frame", run.t), "log10_t": ("frame", run.log10_t)}
    coordinates["step"] = ("frame", np.asarray(run.steps, dtype=np.float64))
    facts = {"title": run.title, "path": str(run.path), "status": run.status}
    return xarray.Dataset(values, coords=coordinates, attrs=facts)


def _axes(name: str, count: int, run: Run) -> tuple[str, ...]:
    """The names of the axes of an array of weights."""
    if name == "V":
        return ("node", "coordinate")
    if name == "A":
        return ("node", "class")
    m = int(run.settings["network"]["m"])
    if count == 1 and run.frame(0).weights[name].shape == (m,):
        return ("node",)
    return tuple(f"{name}_{k}" for k in range(count))


def _chosen(run: Run, names: Iterable[str] | None, shapes: tuple[Shape, ...]) -> list[str]:
    """Observables of some shapes; all that are not costly where none are named."""
    known = [name for name in run.observables if observable_of(name).shape in shapes]
    if names is None:
        return [name for name in known if not observable_of(name).costly]
    chosen = [names] if isinstance(names, str) else list(names)
    of_loop = {full_name(item.name) for item in numbers_of(core_run(run))}
    for name in chosen:
        if name not in known and name not in of_loop:
            raise InputError(f"The table has no {name!r:.60}; {did_you_mean(str(name), known)}")
    return chosen
