"""All observables by name, in the order of tables."""

from __future__ import annotations

from core.observables import certificates, margins, nodes, testing
from core.observables.observable import Observable, Shape
from core.runs import Run

OBSERVABLES: dict[str, Observable] = {
    observable.name: observable
    for module in (margins, nodes, testing, certificates)
    for observable in module.OBSERVABLES
}


def of_shape(shape: Shape) -> tuple[Observable, ...]:
    """All observables of a shape."""
    return tuple(item for item in OBSERVABLES.values() if item.shape is shape)


def scalars_of(run: Run) -> tuple[Observable, ...]:
    """The scalar observables worth computing for a whole run."""
    n = run.dataset.n
    return tuple(
        item
        for item in of_shape(Shape.SCALAR)
        if item.most_examples is None or n <= item.most_examples
    )


def last_values(run: Run) -> dict[str, float]:
    """Every scalar at the last frame; empty for a run without frames."""
    if run.frames == 0:
        return {}
    return {item.name: float(item.at(run, run.frames - 1)) for item in scalars_of(run)}
