"""Registry of all observables, in the order of tables, and definitions of what the views show.

`loop.NAME` is always a number that a recorded loop passed. NAME alone is such a number only if it
names nothing else, so that a loop that passes `risk` replaces no computed risk.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from operator import attrgetter

import numpy as np

from core.errors import InputError, did_you_mean
from core.network.parametrisation import Network
from core.observables import (
    certificates,
    collapse,
    depth_mode,
    displacements,
    extremal,
    features,
    fourier,
    linear_modes,
    margins,
    matrix_modes,
    matrix_solution,
    nodes,
    norm_margins,
    order_parameters,
    population,
    proof_potentials,
    proofs,
    saxe_mode,
    sharpness,
    spectrum,
    tangent_kernel,
    testing,
)
from core.observables.observable import (
    HOMOGENEOUS,
    LOOP,
    PLAIN,
    Observable,
    Shape,
    cached_per_frame,
)
from core.observables.prediction import PredictedCurve, Prediction
from core.observables.view_help import VIEWS, Help
from core.run_files.schema import NUMBER_NAME
from core.runs import Run
from core.settings import Registry

WHERE = "recordings whose loop passed this number to `frame`"
# Names of columns and arrays other than observables.
TAKEN = {
    *("frame", "step", "time", "t", "log10_time", "log10_t", "rho"),
    *("x", "y", "x_test", "y_test", "W", "V", "a", "A", "b", "c"),
    *("node", "coordinate", "example", "class"),
}


@lru_cache(1024)
def loop_number(name: str, known_as: str) -> Observable:
    """Return the observable, named `known_as`, of the number that a loop passed as `name`."""
    words = name.replace("_", " ")
    return Observable(
        known_as,
        words if known_as == name else f"{words}, passed by the loop",
        f"{name}, as the recorded loop passed it with the frame",
        "the recorded loop",
        partial(_value, name),
        applies=partial(_has, name),
        where=WHERE,
        normalisation="as the loop passed it",
    )


def name_in(name: str) -> str | None:
    """Return NAME of `loop.NAME`; None for any other name."""
    inner = name.removeprefix(LOOP)
    return inner if inner != name and NUMBER_NAME.fullmatch(inner) else None


@cached_per_frame
def _numbers(run: Run, index: int) -> dict[str, float]:
    return run.diagnostics(index)


def _value(name: str, run: Run, index: int) -> float:
    return _numbers(run, index).get(name, float("nan")) if run.is_external else float("nan")


def _has(name: str, run: Run) -> bool:
    return name in run.loop_names


# ------------------------------------------------------------------------------- all observables

OBSERVABLES: Registry[Observable] = Registry(
    attrgetter("name"),
    *margins.OBSERVABLES,
    *nodes.OBSERVABLES,
    *spectrum.ROTATIONS,
    *testing.OBSERVABLES,
    *spectrum.OBSERVABLES,
    *certificates.OBSERVABLES,
    *features.OBSERVABLES,
    *displacements.OBSERVABLES,
    *proofs.OBSERVABLES,
    *proof_potentials.OBSERVABLES,
    *certificates.INTEGRATION,
    *sharpness.OBSERVABLES,
    *extremal.OBSERVABLES,
    *fourier.OBSERVABLES,
    *norm_margins.OBSERVABLES,
    *linear_modes.OBSERVABLES,
    *matrix_modes.OBSERVABLES,
    *tangent_kernel.OBSERVABLES,
    *collapse.OBSERVABLES,
    *population.OBSERVABLES,
    *order_parameters.OBSERVABLES,
)


def _add_columns(prediction: Prediction) -> None:
    """Register the observables that a prediction adds, for tables, studies and views."""
    for item in prediction.make_observables(OBSERVABLES[prediction.of]):
        OBSERVABLES.add(item)


PREDICTIONS: Registry[Prediction] = Registry(
    attrgetter("name"),
    *saxe_mode.PREDICTIONS,
    *matrix_solution.PREDICTIONS,
    *depth_mode.PREDICTIONS,
    *matrix_modes.PREDICTIONS,
    *population.PREDICTIONS,
    on_added=_add_columns,
)


def predictions_of(run: Run, name: str) -> tuple[Prediction, ...]:
    """Return the predictions of an observable that are about the sort of a run."""
    return tuple(one for one in PREDICTIONS.values() if one.of == name and one.suits(run))


def predict(run: Run, name: str) -> PredictedCurve:
    """Return a prediction at the frames of a run, and the residual.

    Parameters
    ----------
    run : Run
        Open run.
    name : str
        Name of a prediction.

    Returns
    -------
    PredictedCurve

    Raises
    ------
    InputError
        An unknown name, or a prediction that does not apply to the run.
    """
    if name not in PREDICTIONS:
        raise InputError(f"There is no prediction {name!r:.60}; {did_you_mean(name, PREDICTIONS)}")
    prediction = PREDICTIONS[name]
    if sentence := prediction.refusal(run):
        raise InputError(sentence, where=run.path)
    values, *ends, residual = (OBSERVABLES[column].trace(run) for column in prediction.names)
    t, band = np.array(run.t[: run.frames]), np.array(ends) if ends else None
    return PredictedCurve(prediction, t, values, residual, band)


def of_shape(shape: Shape) -> tuple[Observable, ...]:
    """Return all observables of a shape, in the registry's order."""
    return tuple(item for item in OBSERVABLES.values() if item.shape is shape)


def shown_of(run: Run, shape: Shape) -> tuple[Observable, ...]:
    """Return a run's observables of a shape, followed by the numbers that its loop passed."""
    own = tuple(item for item in of_shape(shape) if item.applies(run))
    return (*own, *numbers_of(run)) if shape is Shape.SCALAR else own


def numbers_of(run: Run) -> tuple[Observable, ...]:
    """Return the numbers that a recorded loop passed beside its frames.

    Each is called NAME, or `loop.NAME` if NAME is the name of something else.
    """
    return tuple(
        loop_number(name, name if _is_free(name) else f"{LOOP}{name}") for name in run.loop_names
    )


def _is_free(name: str) -> bool:
    """Return True if no observable is called NAME, so that NAME alone can be a loop's number."""
    reserved = name in TAKEN or name.startswith((LOOP, "gamma_", "theta_"))
    return is_loop_number(name) and not reserved


def find_observable(name: str) -> Observable | None:
    """Return the observable of a name; None for a name that no observable can have.

    A name that is not registered may be a number that loops pass: `applies` decides for each run.
    """
    if name in OBSERVABLES:
        return OBSERVABLES[name]
    inner = name_in(name)
    if inner is None and NUMBER_NAME.fullmatch(name) and _is_free(name):
        inner = name
    return None if inner is None else loop_number(inner, name)


def observable_of(name: str) -> Observable:
    """Return the observable of a checked name. Raises KeyError for other names."""
    observable = find_observable(name)
    if observable is None:
        raise KeyError(name)
    return observable


def is_loop_number(name: str) -> bool:
    """Return True if a checked name denotes a number that a loop passed."""
    return name not in OBSERVABLES and name not in OBSERVABLES.aside


def full_name(name: str) -> str:
    """Return the name of a checked observable that is also unique outside its run.

    A number that a loop passed as NAME is `loop.NAME`.
    """
    return f"{LOOP}{name}" if is_loop_number(name) and not name.startswith(LOOP) else name


def title_with_unit(name: str) -> str:
    """Return an observable's title and unit for an axis; for any other name, the name in words.

    >>> title_with_unit("test_error"), title_with_unit("log10_risk")
    ('test error (share)', 'log10 risk')
    """
    item = find_observable(name)
    if item is None:
        return name.replace("_", " ")
    unit = "" if item.unit in ("", *item.title.split()) else f" ({item.unit})"
    return item.title.replace("log10 of the ", "log10 ") + unit


def observable_in(runs: Sequence[Run], name: str) -> Observable | None:
    """Return the observable of a name that is registered, or that one of the runs has."""
    observable = find_observable(name)
    is_known = name in OBSERVABLES or (observable and any(observable.applies(run) for run in runs))
    return observable if is_known else None


def scalars_of(run: Run) -> tuple[Observable, ...]:
    """Return the scalar observables that a run's table may have."""
    return shown_of(run, Shape.SCALAR)


def usual_of(run: Run) -> tuple[Observable, ...]:
    """Return the scalar observables that a run's table has if none is named."""
    return tuple(item for item in scalars_of(run) if not item.on_request)


def last_values(run: Run) -> dict[str, float]:
    """Return every usual scalar at the last frame, by name; empty for a run without frames."""
    if run.frames == 0:
        return {}
    return {item.name: float(item.value_at(run, run.frames - 1)) for item in usual_of(run)}


# ------------------------------------------------------------------------------------------ help

POWER = "|W|^L"  # divisor of normalised margins, for any network


def explain(name: str, network: Network | None = None) -> Help:
    """Return the definition of an observable, a reference margin or a view.

    Parameters
    ----------
    name : str
        Name in a registry, of a view, or `loop.NAME` of a number of a recorded loop.
    network : Network, optional
        Network whose margins are explained: what they are divided by is written out.

    Returns
    -------
    Help
        Title, formula, source and normalisation.

    Raises
    ------
    InputError
        The name is not known.

    Examples
    --------
    >>> explain("risk").normalisation
    'with 1/n'
    """
    from core.reference.registry import REFERENCES

    if name in OBSERVABLES:
        return _make_help(OBSERVABLES[name], network)
    number = find_observable(name) if name.startswith(LOOP) else None
    if number is not None:
        return _make_help(number, network)
    if name in VIEWS:
        return VIEWS[name]
    if name in REFERENCES:
        margin = REFERENCES[name]
        form = "listed, not drawn"
        if margin.factor is not None:
            norm = POWER if network is None else network.margin_norm[0]
            form = f"drawn as {margin.factor:g} of it, among margins over {norm}"
        return Help(margin.title, "", margin.formula, margin.source, form)
    names = [*OBSERVABLES, *VIEWS, *REFERENCES]
    raise InputError(f"{name!r} is not an observable, view or margin; {did_you_mean(name, names)}")


def _make_help(item: Observable, network: Network | None) -> Help:
    usual = "none, at each neuron" if item.shape is Shape.NODE else PLAIN
    normalisation, tex, formula = item.normalisation or usual, item.tex, item.formula
    if network is not None and normalisation.startswith(HOMOGENEOUS):
        norm, typeset = network.margin_norm
        tex, formula = tex.replace(POWER, typeset), formula.replace(POWER, norm)
        trained = f", W = ({', '.join(block.name for block in network.layout)})"
        sentence = normalisation.removeprefix(HOMOGENEOUS)
        normalisation = f"divided by {norm}{trained if '|W|' in norm else ''}{sentence}"
    return Help(item.title, tex, formula, item.source, normalisation, item.unit)
