"""Observables of a run by name; a run as tables, and as a notebook shows it."""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np

from core.errors import InputError, did_you_mean
from core.numbers import time_text
from core.observables.observable import Shape
from core.observables.order_parameters import OrderParameterCurves
from core.observables.order_parameters import order_parameters as curves_of
from core.observables.prediction import PredictedCurve
from core.observables.registry import (
    OBSERVABLES,
    find_observable,
    full_name,
    numbers_of,
    observable_of,
)
from core.observables.registry import predict as predict_curve
from core.observables.table import weights_at
from core.runs import Run
from core.runs.settings import known_settings
from marginscope._engine.boundary import import_optional

AXES = {Shape.SCALAR: (), Shape.NODE: ("node",), Shape.POINT: ("example",)}


def names_of(run: Run) -> tuple[str, ...]:
    """Return the names of a run's observables; numbers that its loop passed come last."""
    registered = (item for item in OBSERVABLES.values() if item.applies(run))
    return tuple(item.name for item in (*registered, *numbers_of(run)))


def values_of(run: Run, name: str) -> Any:
    """Return an observable at all frames, an array (T,), (T, m) or (T, n) by its `shape`.

    Raises InputError for a name that the run has not.
    """
    observable = find_observable(str(name))
    if observable is None or not observable.applies(run):
        hint = did_you_mean(str(name), names_of(run))
        raise InputError(f"This run has no {str(name)[:60]!r}; {hint}")
    return observable.trace(run)


def array_names(run: Run) -> tuple[str, ...]:
    """Return the names of the network's arrays as for `weights_of`, trained ones first."""
    return (*(block.name for block in run.network.layout), *run.network.fixed)


def weights_of(run: Run, name: str) -> Any:
    """Return an array of the network at all frames, the frame first, at the physical scale.

    Untrained arrays are repeated, and numbers beyond float64 infinite. Raises InputError for a name
    that the network has not.
    """
    names = array_names(run)
    if name not in names:
        raise InputError(f"The network has no {name!r}; {did_you_mean(name, names)}")
    return np.array([weights_at(run, index)[name] for index in range(run.frames)])


def frame_of(run: Run, names: Iterable[str] | None) -> Any:
    """Return a pandas.DataFrame with a row for each frame: t, log10_t, step, and observables.

    By default the scalar ones that are not costly. Raises InputError for an unknown name, or
    without pandas.
    """
    pandas = import_optional("pandas", "to_pandas")
    chosen = _select_observables(run, names, (Shape.SCALAR,))
    columns = {"t": run.t, "log10_t": run.log10_time, "step": run.steps}
    columns |= {name: values_of(run, name) for name in chosen}
    return pandas.DataFrame(columns, index=pandas.RangeIndex(run.frames, name="frame"))


def dataset_of(run: Run, names: Iterable[str] | None) -> Any:
    """Return an xarray.Dataset of weights, data and observables of all frames.

    Its dimensions are frame, node, coordinate, class and example. By default observables that are
    not costly. Raises InputError for an unknown name, without frames, or without xarray.
    """
    xarray = import_optional("xarray", "to_xarray")
    chosen = _select_observables(run, names, tuple(AXES))
    if not run.frames:
        raise InputError(f"{run.path} has no frames yet.")
    values: dict[str, Any] = {
        name: (("frame", *_axes(name, array.shape, run.network.m)), weights_of(run, name))
        for name, array in weights_at(run, 0).items()
    }
    for name in chosen:
        values[name] = (("frame", *AXES[observable_of(name).shape]), values_of(run, name))
    values["x"] = (("example", "coordinate"), run.dataset.x)
    values["y"] = (("example",), run.dataset.y)
    coordinates = {"t": ("frame", run.t), "log10_t": ("frame", run.log10_time)}
    coordinates["step"] = ("frame", np.asarray(run.steps, dtype=np.float64))
    facts = {"title": run.title, "path": str(run.path), "status": run.status}
    return xarray.Dataset(values, coords=coordinates, attrs=facts)


def _axes(name: str, shape: tuple[int, ...], m: int) -> tuple[str, ...]:
    """Return the names of the axes of an array of weights."""
    if name == "V":
        return ("node", "coordinate")
    if name == "A":
        return ("node", "class")
    if shape == (m,):
        return ("node",)
    return tuple(f"{name}_{k}" for k in range(len(shape)))


def _select_observables(
    run: Run, names: Iterable[str] | None, shapes: tuple[Shape, ...]
) -> list[str]:
    """Return observables of some shapes; all that are not costly where none are named."""
    allowed = [name for name in names_of(run) if observable_of(name).shape in shapes]
    if names is None:
        return [name for name in allowed if not observable_of(name).costly]
    chosen = [names] if isinstance(names, str) else list(names)
    of_loop = {full_name(item.name) for item in numbers_of(run)}
    for name in chosen:
        if name not in allowed and name not in of_loop:
            raise InputError(
                f"The table has no column {name!r:.60}; {did_you_mean(str(name), allowed)}"
            )
    return chosen


def predict(run: Run, name: str) -> PredictedCurve:
    """Return the curve that theory predicts for an observable, beside what was measured.

    Parameters
    ----------
    run : Run
        Open run; left out of `run.predict(NAME)`.
    name : str
        Name of a prediction, such as "mode_saxe".

    Returns
    -------
    PredictedCurve
        `t`, `values` and `residual`, each (T,), `band` (2, T) or None, and the `largest` and
        the `last` residual.

    Raises
    ------
    InputError
        An unknown name, or a run to which the prediction does not apply; the sentence says why.
    """
    return predict_curve(run, name)


def order_parameters(run: Run) -> OrderParameterCurves:
    """Return the order parameters of a run with a teacher on Gaussian inputs.

    Parameters
    ----------
    run : Run
        Open run; left out of `run.order_parameters()`.

    Returns
    -------
    OrderParameterCurves
        `t` (F,), and at each of the F frames the outer weights `a` (F, m) and the inner products
        `Q` (F, m, m) of the student's neurons and `R` (F, m, M) with the teacher's; `c` (M,) and
        `T` (M, M) of the teacher.

    Raises
    ------
    InputError
        The run has no teacher, or a teacher of other neurons.
    """
    return curves_of(run)


# --------------------------------------------------------------------------------- in a notebook

LAST_VALUES = ("risk", "hard_margin", "train_error")
STYLE = "max-width: 100%; background: white"


def html(run: Run, png: bytes | None) -> str:
    """Return HTML with the table of `facts`, and a PNG below it, embedded; None for no picture.

    All texts are escaped, since titles come from files.
    """
    rows = "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in facts(run))
    table = f'<table class="marginscope">{rows}</table>'
    if png is None:
        return table
    words = escape(f"{run.title}: the figure of the run", quote=True)
    data = b64encode(png).decode()
    return f'{table}<img style="{STYLE}" alt="{words}" src="data:image/png;base64,{data}">'


def facts(run: Run) -> list[tuple[str, str]]:
    """Return (name, words) for each row of the run's summary, as plain text."""
    settings, count = known_settings(run), run.frames
    reached = f"{count} frames"
    if count:
        # Not t itself, which is infinite beyond 10^308.
        end = time_text(float(run.log10_time[-1]))
        reached += f" to step {run.steps[-1]}" if run.counts_steps else f" to {end}"
    rows = [
        ("run", run.title),
        ("data", f"{settings['data']['kind']}, n = {run.dataset.n}, d = {run.dataset.d}"),
        ("network", f"{settings['network']['kind']}, m = {settings['network']['m']}"),
        ("loss", str(settings["loss"]["kind"])),
        ("dynamics", str(settings["dynamics"]["kind"])),
        ("state", f"{run.status}, {reached}"),
    ]
    if count:
        names = names_of(run)  # real targets have no margins
        last = {
            k: float(observable_of(k).value_at(run, count - 1)) for k in LAST_VALUES if k in names
        }
        words = [f"{k} = {v:.4g}" for k, v in last.items() if not math.isnan(v)]
        rows += [("at the end", ", ".join(words))] if words else []
    return [*rows, ("file", str(run.path))]
