"""All observables by name, in the order of tables."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from core.observables import (
    certificates,
    displacements,
    extremal,
    features,
    fourier,
    integration,
    margins,
    mirror,
    nodes,
    proof_potentials,
    proofs,
    rotations,
    sharpness,
    spectrum,
    testing,
)
from core.observables.observable import Observable, Shape
from core.runs import Run
from core.settings import Registry

MODULES = (
    margins,
    nodes,
    rotations,
    testing,
    spectrum,
    certificates,
    features,
    displacements,
    mirror,
    proofs,
    proof_potentials,
    integration,
    sharpness,
    extremal,
    fourier,
)
OBSERVABLES: Registry[Observable] = Registry(
    attrgetter("name"), *(one for module in MODULES for one in module.OBSERVABLES)
)


def of_shape(shape: Shape) -> tuple[Observable, ...]:
    """All observables of a shape."""
    return tuple(item for item in OBSERVABLES.values() if item.shape is shape)


def shown_of(run: Run, shape: Shape) -> tuple[Observable, ...]:
    """The observables of a shape that a run has."""
    return tuple(item for item in of_shape(shape) if item.applies(run))


def alike(names: Iterable[str]) -> bool:
    """Whether observables are read beside each other, having one unit, as shares have.

    >>> alike(["train_error", "test_error"]), alike(["train_error", "risk"])
    (True, False)
    """
    units = {OBSERVABLES[name].unit for name in names}
    return len(units) == 1 and "" not in units


def scalars_of(run: Run) -> tuple[Observable, ...]:
    """The scalar observables that a run's table may have."""
    return shown_of(run, Shape.SCALAR)


def usual_of(run: Run) -> tuple[Observable, ...]:
    """The scalar observables that a run's table has where none is named."""
    return tuple(item for item in scalars_of(run) if not item.on_request)


def last_values(run: Run) -> dict[str, float]:
    """Every usual scalar at the last frame; empty for a run without frames."""
    if run.frames == 0:
        return {}
    return {item.name: float(item.at(run, run.frames - 1)) for item in usual_of(run)}
